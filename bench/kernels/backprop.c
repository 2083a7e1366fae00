// SPDX-License-Identifier: GPL-2.0-or-later
/* One hidden layer trained by backpropagation: size inputs, HIDDEN units, a weight matrix with a
 * row for each input, walked down its columns (unit by unit) or along its rows. */
#include "kernels.h"

#include <math.h>

enum { HIDDEN = 64 };

struct layer {
	size_t inputs;
	double *input, *weight, *before; /* before: the last change of each weight */
	double hidden[HIDDEN], delta[HIDDEN];
};

static void squash(struct layer *l)
{
	for (size_t j = 0; j < HIDDEN; j++) {
		l->hidden[j] = 1 / (1 + exp(-l->hidden[j]));
		l->delta[j] = (0.5 - l->hidden[j]) * l->hidden[j] * (1 - l->hidden[j]);
	}
}

static inline void change(struct layer *l, size_t i, size_t j)
{
	double by = 0.3 * l->delta[j] * l->input[i] + 0.3 * l->before[i * HIDDEN + j];

	l->weight[i * HIDDEN + j] += by;
	l->before[i * HIDDEN + j] = by;
}

static void columns(struct layer *l)
{
	for (size_t j = 0; j < HIDDEN; j++) {
		double sum = 0;

		for (size_t i = 0; i < l->inputs; i++)
			sum += l->weight[i * HIDDEN + j] * l->input[i];
		l->hidden[j] = sum;
	}
	squash(l);
	for (size_t j = 0; j < HIDDEN; j++)
		for (size_t i = 0; i < l->inputs; i++)
			change(l, i, j);
}

static void rows(struct layer *l)
{
	for (size_t j = 0; j < HIDDEN; j++)
		l->hidden[j] = 0;
	for (size_t i = 0; i < l->inputs; i++)
		for (size_t j = 0; j < HIDDEN; j++)
			l->hidden[j] += l->weight[i * HIDDEN + j] * l->input[i];
	squash(l);
	for (size_t i = 0; i < l->inputs; i++)
		for (size_t j = 0; j < HIDDEN; j++)
			change(l, i, j);
}

static uint64_t train(size_t n, unsigned rounds, void (*step)(struct layer *))
{
	struct layer *l = kernel_memory(1, sizeof(*l));

	l->inputs = n;
	l->input = kernel_memory(n, sizeof(double));
	l->weight = kernel_memory(n * HIDDEN, sizeof(double));
	l->before = kernel_memory(n * HIDDEN, sizeof(double));
	kernel_fill(l->input, n, 3);
	kernel_fill(l->weight, n * HIDDEN, 5);
	for (size_t i = 0; i < n * HIDDEN; i++)
		l->weight[i] = (l->weight[i] - 2) / (double)n;
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		step(l);
	kernel_stop();
	return kernel_checksum(l->weight, n * HIDDEN);
}

static uint64_t run_columns(size_t size, unsigned rounds)
{
	return train(size, rounds, columns);
}

static uint64_t run_rows(size_t size, unsigned rounds)
{
	return train(size, rounds, rows);
}

const struct kernel kernels_backprop[] = {
	{ "backprop", "column", 16384, 8, run_columns },
	{ "backprop", "row", 16384, 8, run_rows },
	KERNEL_END,
};
