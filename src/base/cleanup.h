/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cleanup attributes, so that functions return early instead of climbing down ladders. */
#ifndef LOCI_BASE_CLEANUP_H
#define LOCI_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define loci_cleanup(fn) __attribute__((cleanup(fn)))

static inline void loci_freep(void *pointer)
{
	free(*(void **)pointer);
}

static inline void loci_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void loci_fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define loci_autofree   loci_cleanup(loci_freep)
#define loci_autoclose  loci_cleanup(loci_closep)
#define loci_autofclose loci_cleanup(loci_fclosep)

#define LOCI_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
