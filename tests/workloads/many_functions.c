// SPDX-License-Identifier: GPL-2.0-or-later
/* Some hundred functions that are called in turn, and then the pages of their definitions that the
 * process has: "definitions: N of M pages". Exits with 77 if it cannot see them. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define PRESENT (UINT64_C(1) << 63)
#define ROUNDS  400

static volatile int data[64];

#define ONE(n)  data[(n) % 64]++;
#define FOUR(n) ONE(n) ONE((n) + 1) ONE((n) + 2) ONE((n) + 3)
#define MANY(n) FOUR(n) FOUR((n) + 4) FOUR((n) + 8) FOUR((n) + 12)
#define MAKE(n)                                                \
	static __attribute__((noinline)) void work_##n(void)   \
	{                                                      \
		MANY(n) MANY(n + 16) MANY(n + 32) MANY(n + 48) \
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

/* The linker's. */
extern const char __start_loci_def[], __stop_loci_def[];

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)__start_loci_def / (uintptr_t)page,
		  end = (uintptr_t)__stop_loci_def / (uintptr_t)page + 1;
	int n = 0, pagemap;

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
	return 0;
}
