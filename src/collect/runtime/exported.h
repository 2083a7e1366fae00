/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LOCI_COLLECT_RUNTIME_EXPORTED_H
#define LOCI_COLLECT_RUNTIME_EXPORTED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* The code that a module, which is loaded, gives others under that name; 0: none. */
uintptr_t rt_exported(const struct dl_phdr_info *info, const char *name);
/* Whether it asks for a function of that name. */
bool rt_is_imported(const struct dl_phdr_info *info, const char *name);

#endif
