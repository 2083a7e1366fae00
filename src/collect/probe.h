/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the `any` collector works here, found out by using it. */
#ifndef LOCI_COLLECT_PROBE_H
#define LOCI_COLLECT_PROBE_H

#include "collect/launch.h"

#include <stdint.h>

/* Runs a small program under the collector and counts the references that arrive. *ret_launch holds
 * what was found, also where something fails. */
int loci_probe_any(struct loci_launch *ret_launch, uint64_t *ret_references, struct loci_err *err);

#endif
