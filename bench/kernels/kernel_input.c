// SPDX-License-Identifier: GPL-2.0-or-later
/* Inputs of the kernels, and checksums of their results. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *kernel_memory(size_t n, size_t bytes)
{
	void *memory = calloc(n ? n : 1, bytes);

	if (!memory) {
		fprintf(stderr, "kernels: no memory for %zu x %zu bytes\n", n, bytes);
		exit(1);
	}
	return memory;
}

uint64_t kernel_checksum(const double *v, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < n; i++) {
		uint64_t bits;

		memcpy(&bits, &v[i], sizeof(bits));
		sum = (sum ^ bits) * 0x100000001b3;
		sum ^= sum >> 29;
	}
	return sum;
}

void kernel_fill(double *v, size_t n, unsigned modulus)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (double)(i % modulus);
}

uint32_t kernel_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 32);
}

void kernel_shuffle(uint32_t *v, size_t n)
{
	uint64_t state = 42;

	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)i;
	for (size_t i = n; i-- > 1;) {
		size_t j = kernel_random(&state) % (i + 1);
		uint32_t swap = v[i];

		v[i] = v[j];
		v[j] = swap;
	}
}
