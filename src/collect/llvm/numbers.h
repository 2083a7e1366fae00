/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for things of LLVM's, and arrays that grow. As in LLVM itself there is no way on without
 * memory. */
#ifndef LOCI_COLLECT_LLVM_NUMBERS_H
#define LOCI_COLLECT_LLVM_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define LOCI_NUMBER_NONE UINT32_MAX

struct loci_numbers {
	const void **key;
	uint32_t *number;
	size_t n, capacity;
};

void loci_numbers_set(struct loci_numbers *numbers, const void *key, uint32_t number);
/* LOCI_NUMBER_NONE, if it has none. */
uint32_t loci_numbers_get(const struct loci_numbers *numbers, const void *key);
void loci_numbers_fini(struct loci_numbers *numbers);

void *loci_zeroed(size_t n, size_t size);
/* Room for one more of n elements. */
void *loci_grown(void *array, size_t n, size_t size);

#endif
