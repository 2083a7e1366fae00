/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C as compilers meet it: see names_fixture.h. Lines that end in "//= NAME TYPE" say what the
 * result of the call that stands on them is assigned to ("-": nothing is known). */
#define _GNU_SOURCE
#include "names_fixture.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plain = 4;
static double table[6][7];
struct tree_node root;
colour_t palette[16];
const char *const words[] = { "one", "two", "three" };
static __thread int per_thread;
struct flexible {
	int n;
	short items[];
} flexible = { 3, { 1, 2, 3, 4 } };
struct tree_node *list;

static uintptr_t bias;

static int first_module(struct dl_phdr_info *info, size_t size, void *data)
{
	bias = info->dlpi_addr;
	return 1;
}

/* Its own code under its own name, whatever the compiler knows of its callers. */
#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

#define FRAME ((char *)__builtin_dwarf_cfa() - 8)

KEEP static void probe(
	const char *function, const char *name, void *variable, size_t bytes, char *frame)
{
	printf("local %s %s %ld %zu %lx\n", function, name, (long)((char *)variable - frame), bytes,
		(unsigned long)((uintptr_t)__builtin_return_address(0) - 1 - bias));
	__asm__ volatile("" ::: "memory");
}

#define PROBE(variable) probe(__func__, #variable, &(variable), sizeof(variable), frame)

KEEP static void *my_malloc(size_t bytes)
{
	printf("alloc %lx\n", (unsigned long)((uintptr_t)__builtin_return_address(0) - bias));
	return calloc(1, bytes);
}

/* What it returns is assigned to something better where it is inlined. */
static inline __attribute__((always_inline)) void *wrapped(size_t bytes)
{
	void *memory = my_malloc(bytes);

	return memory;
}

KEEP static char *pass(char *text)
{
	return text;
}

KEEP static int count_calls(void)
{
	static int counter;
	static char buffer[100];

	buffer[counter % 100]++;
	return ++counter + buffer[1];
}

static inline __attribute__((always_inline)) long inlined_sum(const int *values, int n, char *frame)
{
	long partial[5] = { 0 };

	for (int i = 0; i < n; i++)
		partial[i % 5] += values[i];
	probe("locals", "partial", partial, sizeof(partial), frame);
	return partial[0] + partial[1] + partial[4];
}

static inline __attribute__((always_inline)) long twice_inlined(
	const int *values, int n, char *frame)
{
	return inlined_sum(values, n, frame) * 2 + inlined_sum(values, n / 2, frame);
}

KEEP static int locals(int argument, long second)
{
	char *frame = FRAME;
	int array[10] = { argument, 2 };
	struct tree_node node = { .key = second };
	int result = 0;

	PROBE(array);
	PROBE(node);
	for (int i = 0; i < 2; i++) {
		double inner[3] = { i, argument };

		PROBE(inner);
		result += (int)inner[1];
	}
	{
		char text[33] = "text";

		PROBE(text);
		result += text[argument & 3];
	}
	result += (int)twice_inlined(array, 10, frame);
	return result + array[1] + (int)node.key;
}

KEEP static int aligned(int argument)
{
	char *frame = FRAME;
	char line[64] __attribute__((aligned(64)));

	(void)frame;
	memset(line, argument, sizeof(line));
	__asm__ volatile("" ::"r"(line) : "memory");
	return line[argument & 7];
}

/* The marks stay on their lines. */
/* clang-format off */
KEEP static struct tree_node *make(int n)
{
	struct tree_node *node = my_malloc(sizeof(*node)); //= node struct tree_node
	double *numbers;
	void *untyped;
	struct tree_node **array;

	numbers = (double *)my_malloc(n * sizeof(double)); //= numbers double
	node->child[0] = my_malloc(sizeof *node); //= node->child[0] struct tree_node
	node->child[0]->child[1] =
		my_malloc(sizeof *node); //= node->child[0]->child[1] struct tree_node
	if ((list = my_malloc(sizeof(*list))) == NULL) //= list struct tree_node
		return NULL;
	untyped = my_malloc(100); //= untyped -
	array = my_malloc(n * sizeof(*array)); //= array struct tree_node *
	array[0] = n ? my_malloc(sizeof(**array)) : NULL; //= array[0] struct tree_node
	colour_t *colours = my_malloc(3 * sizeof(colour_t)); //= colours colour_t
	node->name = pass(my_malloc(3)); /* gcc says of both where the outer one stands */
	struct point *points = wrapped(sizeof(*points)); //= points struct point
	free(points);
	free(untyped);
	free(array[0]);
	free(array);
	free(numbers);
	free(colours);
	return node;
}
/* clang-format on */

int main(int argc, char **argv)
{
	struct tree_node *node;
	int result;

	setvbuf(stdout, NULL, _IONBF, 0);
	dl_iterate_phdr(first_module, NULL);
	result = locals(argc, 7) + aligned(argc) + count_calls() + per_thread;
	node = make(argc + 2);
	table[1][argc] = plain + palette[1].r + words[0][0] + root.key + flexible.items[1];
	return node && result + table[1][1] == 0 ? 3 : 0;
}
