/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the machine says of itself. */
#ifndef LOCI_BASE_HOST_H
#define LOCI_BASE_HOST_H

#include <stddef.h>
#include <stdint.h>

/* The processor's name as /proc/cpuinfo gives it, or the architecture's. Returns buf. */
const char *loci_host_processor(char *buf, size_t size);
/* Memory that could be used now without swapping; 0: unknown. */
uint64_t loci_host_available_bytes(void);

#endif
