/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose locality is known: each kernel in a slow variant, as it is often written, and in
 * tuned ones that compute the same, to the bit. `kernels NAME VARIANT [SIZE [ROUNDS]]` runs one. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kernel {
	const char *name, *variant;
	size_t size;     /* of the problem, what it means is the kernel's business */
	unsigned rounds; /* that it is repeated by default */
	uint64_t (*run)(size_t size, unsigned rounds); /* returns a checksum of the result */
};

/* Of each file; the first variant is the slow one. Ends with a kernel that has no name. */
#define KERNEL_END                     \
	{                              \
		NULL, NULL, 0, 0, NULL \
	}
extern const struct kernel kernels_adi[], kernels_backprop[], kernels_bfs[], kernels_btree[],
	kernels_cg[], kernels_diffusion[], kernels_fft[], kernels_hydro[], kernels_join[],
	kernels_list[], kernels_lu[], kernels_penta[], kernels_product[], kernels_quicksort[],
	kernels_stencil[], kernels_sweep3d[], kernels_triad[], kernels_unwritten[];

/* Around the part of a run whose time is told. */
void kernel_start(void);
void kernel_stop(void);

/* Zeroed; ends the program if there is none. */
void *kernel_memory(size_t n, size_t bytes);
uint64_t kernel_checksum(const double *v, size_t n);
/* Small whole numbers: sums and products of some of them are exact. */
void kernel_fill(double *v, size_t n, unsigned modulus);
/* 32 bits that look random, from a state. */
uint32_t kernel_random(uint64_t *state);
/* The numbers from 0 in random order. */
void kernel_shuffle(uint32_t *v, size_t n);

#ifdef __cplusplus
}
#endif

#endif
