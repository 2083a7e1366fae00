/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/numbers.h"

#include <stdlib.h>

static size_t place_of(const struct loci_numbers *numbers, const void *key)
{
	size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20;
	for (;; at++) {
		at &= numbers->capacity - 1;
		if (!numbers->key[at] || numbers->key[at] == key)
			return at;
	}
}

static void enlarge(struct loci_numbers *numbers)
{
	struct loci_numbers old = *numbers;
	numbers->capacity = old.capacity ? old.capacity * 2 : 64;
	numbers->key = loci_zeroed(numbers->capacity, sizeof(*numbers->key));
	numbers->number = loci_zeroed(numbers->capacity, sizeof(*numbers->number));
	for (size_t i = 0; i < old.capacity; i++) {
		if (!old.key[i])
			continue;
		size_t at = place_of(numbers, old.key[i]);
		numbers->key[at] = old.key[i];
		numbers->number[at] = old.number[i];
	}
	loci_numbers_fini(&old);
}

void loci_numbers_set(struct loci_numbers *numbers, const void *key, uint32_t number)
{
	if (numbers->n * 2 >= numbers->capacity)
		enlarge(numbers);
	size_t at = place_of(numbers, key);
	if (!numbers->key[at])
		numbers->n++;
	numbers->key[at] = key;
	numbers->number[at] = number;
}

uint32_t loci_numbers_get(const struct loci_numbers *numbers, const void *key)
{
	if (numbers->capacity == 0)
		return LOCI_NUMBER_NONE;
	size_t at = place_of(numbers, key);
	return numbers->key[at] ? numbers->number[at] : LOCI_NUMBER_NONE;
}

void loci_numbers_fini(struct loci_numbers *numbers)
{
	free(numbers->key);
	free(numbers->number);
}

void *loci_zeroed(size_t n, size_t size)
{
	void *memory = calloc(n ? n : 1, size);
	if (!memory)
		__builtin_trap();
	return memory;
}

void *loci_grown(void *array, size_t n, size_t size)
{
	if (n != 0 && (n < 16 || (n & (n - 1)) != 0))
		return array;
	void *larger = realloc(array, (n ? n * 2 : 16) * size);
	if (!larger)
		__builtin_trap();
	return larger;
}
