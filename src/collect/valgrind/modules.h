/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program's file and its libraries, as MODULE_LOAD and MODULE_UNLOAD: told when their code is
 * mapped or, at the latest, translated. All is read from the mapped file's own headers. */
#ifndef LOCI_COLLECT_VALGRIND_MODULES_H
#define LOCI_COLLECT_VALGRIND_MODULES_H

#include "collect/valgrind/core.h"

/* Id of the module that has this address, found and told if need be; 0: none. */
UInt module_at(Addr address);
void module_unmapped(Addr start, SizeT bytes);
/* Tells a new stream of all there are. */
void module_tell_all(void);

#endif
