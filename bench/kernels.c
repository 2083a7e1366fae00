// SPDX-License-Identifier: GPL-2.0-or-later
/* Two kernels to record: a 2-D stencil, regular, and a hash join, irregular.	kernels NAME ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIDE = 1000, BUILD = 1 << 17, PROBE = 1 << 20 };

static double stencil(int rounds)
{
	double *from = calloc(SIDE * SIDE, sizeof(*from)), *to = calloc(SIDE * SIDE, sizeof(*to));
	double *swap, sum = 0;

	for (int i = 0; i < SIDE * SIDE; i++)
		from[i] = i % 13;
	for (int r = 0; r < rounds; r++) {
		for (int i = 1; i < SIDE - 1; i++)
			for (int j = 1; j < SIDE - 1; j++)
				to[i * SIDE + j] = 0.25 *
					(from[(i - 1) * SIDE + j] + from[(i + 1) * SIDE + j] +
						from[i * SIDE + j - 1] + from[i * SIDE + j + 1]);
		swap = from;
		from = to;
		to = swap;
	}
	for (int i = 0; i < SIDE * SIDE; i++)
		sum += from[i];
	return sum;
}

struct tuple {
	uint32_t key, value, next;
};

static double join(int rounds)
{
	struct tuple *table = calloc(BUILD + 1, sizeof(*table));
	uint32_t *head = calloc(BUILD, sizeof(*head)), seed = 12345;
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= BUILD; i++) {
		uint32_t home = (i * 2654435761u) >> 15;

		table[i] = (struct tuple){ i, i * 3, head[home] };
		head[home] = i;
	}
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < PROBE; i++) {
			uint32_t key;

			seed = seed * 1664525 + 1013904223;
			key = seed >> 14;
			for (uint32_t at = head[(key * 2654435761u) >> 15]; at; at = table[at].next)
				if (table[at].key == key)
					sum += table[at].value;
		}
	return (double)sum;
}

/* Reads of memory never written are all of one page: the program itself stays small. */
static double sweep(int million)
{
	size_t n = (size_t)million * 1000000;
	volatile char *v =
		mmap(NULL, n * 64, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	double sum = 0;

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < n; i++)
			sum += v[i * 64];
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 1 && !strcmp(argv[1], "stencil"))
		printf("%g\n", stencil(rounds));
	else if (argc > 1 && !strcmp(argv[1], "join"))
		printf("%g\n", join(rounds));
	else if (argc > 1 && !strcmp(argv[1], "sweep"))
		printf("%g\n", sweep(rounds));
	else
		return 2;
	return 0;
}
