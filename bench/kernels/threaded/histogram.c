// SPDX-License-Identifier: GPL-2.0-or-later
/* How often each of four values occurs among size samples: every thread counts its share in a tally
 * of its own, four words long, so that two of them stand in a line of the cache (false sharing), or
 * padded to two lines each. */
#include "threaded.h"

enum { VALUES = 4 };

struct tally {
	uint64_t times[VALUES];
};

struct padded_tally {
	uint64_t times[VALUES];
	uint64_t own_lines[2 * LINE_BYTES / sizeof(uint64_t) - VALUES];
};

_Alignas(2 * LINE_BYTES) static struct tally tallies[THREADS_MAX];
_Alignas(2 * LINE_BYTES) static struct padded_tally padded_tallies[THREADS_MAX];

struct samples {
	const uint8_t *value;
	size_t n;
	unsigned threads;
};

static void count_packed(void *with, unsigned thread)
{
	const struct samples *s = with;
	size_t end = threaded_share(s->n, s->threads, thread + 1);

	for (size_t i = threaded_share(s->n, s->threads, thread); i < end; i++)
		tallies[thread].times[s->value[i]]++;
}

static void count_padded(void *with, unsigned thread)
{
	const struct samples *s = with;
	size_t end = threaded_share(s->n, s->threads, thread + 1);

	for (size_t i = threaded_share(s->n, s->threads, thread); i < end; i++)
		padded_tallies[thread].times[s->value[i]]++;
}

static uint64_t count(
	size_t n, unsigned rounds, unsigned threads, void (*work)(void *with, unsigned thread))
{
	uint8_t *value = kernel_memory(n, 1);
	struct samples samples = { value, n, threads };
	double total[VALUES] = { 0 };
	uint64_t state = 3, all = 0;

	for (size_t i = 0; i < n; i++)
		value[i] = (uint8_t)(kernel_random(&state) % VALUES);
	kernel_start();
	for (unsigned r = 0; r < rounds; r++)
		threaded_team(threads, work, &samples);
	kernel_stop();
	for (unsigned t = 0; t < threads; t++)
		for (unsigned v = 0; v < VALUES; v++) {
			uint64_t times = tallies[t].times[v] + padded_tallies[t].times[v];

			total[v] += (double)times;
			all += times;
		}
	if (all != (uint64_t)n * rounds)
		threaded_wrong("histogram: samples are missing");
	return kernel_checksum(total, VALUES);
}

static uint64_t run_packed(size_t size, unsigned rounds, unsigned threads)
{
	return count(size, rounds, threads, count_packed);
}

static uint64_t run_padded(size_t size, unsigned rounds, unsigned threads)
{
	return count(size, rounds, threads, count_padded);
}

const struct threaded_kernel threaded_histogram[] = {
	{ "histogram", "packed", 1000000, 100, run_packed },
	{ "histogram", "padded", 1000000, 100, run_padded },
	THREADED_END,
};
