/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which programs can be run under Valgrind: not those for another processor, nor those that run
 * with rights of their own, nor those that may not be read. They are left to the kernel, which the
 * core would not do by itself: it fails their exec, or ends the process. */
#ifndef LOCI_COLLECT_VALGRIND_WATCHABLE_H
#define LOCI_COLLECT_VALGRIND_WATCHABLE_H

#include "collect/valgrind/core.h"

/* Of a file that can be executed, as far as access(2) tells. */
Bool watchable(const HChar *path);

#endif
