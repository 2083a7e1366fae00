// SPDX-License-Identifier: GPL-2.0-or-later
/* Some hundred functions that are called in turn, and then the pages of their definitions that the
 * process has: "definitions: N of M pages". Exits with 77 if it cannot see them. With an argument
 * they are moved to memory that is of no file before, as those of a program that was packed; it
 * exits with 1 if they are not as they were. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PRESENT (UINT64_C(1) << 63)
#define ROUNDS  400

static volatile int data[64];

#define ONE(n)  data[(n) % 64]++;
#define FOUR(n) ONE(n) ONE((n) + 1) ONE((n) + 2) ONE((n) + 3)
#define MANY(n) FOUR(n) FOUR((n) + 4) FOUR((n) + 8) FOUR((n) + 12)
#define MAKE(n)                                                      \
	static __attribute__((noinline)) void work_##n(void)         \
	{                                                            \
		MANY(n) MANY((n) + 16) MANY((n) + 32) MANY((n) + 48) \
	}
#define NAME(n) work_##n,

/* clang-format off */
#define EIGHT(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7)
#define MORE(f, n)  EIGHT(f, n##0) EIGHT(f, n##1) EIGHT(f, n##2) EIGHT(f, n##3) \
		    EIGHT(f, n##4) EIGHT(f, n##5) EIGHT(f, n##6) EIGHT(f, n##7)
#define ALL(f)      MORE(f, 10) MORE(f, 11) MORE(f, 12) MORE(f, 13) MORE(f, 14) MORE(f, 15) MORE(f, 16) MORE(f, 17)
/* clang-format on */

ALL(MAKE)
static void (*const work[])(void) = { ALL(NAME) };

/* The linker's; without loci cc there are none. */
extern __attribute__((weak)) const char __start_loci_def[], __stop_loci_def[];

static char *copy;

static int unpack(char *low, size_t bytes)
{
	copy = malloc(bytes);
	if (!copy)
		return -1;
	memcpy(copy, low, bytes);
	if (mmap(low, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) != low)
		return -1;
	memcpy(low, copy, bytes);
	return mprotect(low, bytes, PROT_READ);
}

int main(int argc, char **argv)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
		  first = ((uintptr_t)__start_loci_def + page - 1) / page,
		  end = (uintptr_t)__stop_loci_def / page;
	char *low = (char *)(first * page);
	int n = 0, pagemap;

	(void)argv;
	if (argc > 1 && unpack(low, (end - first) * page) < 0)
		return 1;
	for (int i = 0; i < ROUNDS; i++)
		for (size_t k = 0; k < sizeof(work) / sizeof(*work); k++)
			work[k]();
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	for (uintptr_t i = first; i < end; i++) {
		uint64_t entry;

		if (pread(pagemap, &entry, sizeof(entry), (off_t)(i * sizeof(entry))) !=
			sizeof(entry))
			return 77;
		n += (entry & PRESENT) != 0;
	}
	printf("definitions: %d of %d pages\n", n, (int)(end - first));
	return copy && memcmp(copy, low, (end - first) * page) != 0;
}
