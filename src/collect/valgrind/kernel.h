/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that system calls read and write on the program's behalf: a range each, in a block whose
 * site is the system call's instruction. What is read is told before the call, as much as the
 * program offers; what is written after it, as much as came. */
#ifndef LOCI_COLLECT_VALGRIND_KERNEL_H
#define LOCI_COLLECT_VALGRIND_KERNEL_H

#include "collect/valgrind/core.h"

void kernel_init(void); /* registers its callbacks */
/* Length of a string of the program's with its NUL, 0 if it cannot be read. */
SizeT kernel_string_bytes(Addr text);

#endif
