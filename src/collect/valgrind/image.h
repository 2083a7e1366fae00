/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process and the program in it: the beginning and end of its stream, fork and exec. */
#ifndef LOCI_COLLECT_VALGRIND_IMAGE_H
#define LOCI_COLLECT_VALGRIND_IMAGE_H

#include "collect/valgrind/core.h"

void image_init(void); /* registers its callbacks */
void image_begin(void);
void image_end(void);

#endif
