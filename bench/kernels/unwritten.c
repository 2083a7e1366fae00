// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads size million lines of memory that was never written, which are all of one page: many blocks
 * for a recorder to remember, and a program that stays small. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static uint64_t unwritten(size_t million, unsigned rounds)
{
	size_t n = million * 1000000;
	volatile char *v =
		mmap(NULL, n * 64, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t sum = 0;

	if (v == MAP_FAILED) {
		perror("kernels: mmap");
		exit(1);
	}
	kernel_start();
	for (unsigned round = 0; round < rounds; round++)
		for (size_t i = 0; i < n; i++)
			sum += (uint64_t)v[i * 64];
	kernel_stop();
	return sum;
}

const struct kernel kernels_unwritten[] = {
	{ "unwritten", "read", 1, 2, unwritten },
	KERNEL_END,
};
