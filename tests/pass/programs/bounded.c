/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops that go round at most so many times as is known when they begin: searches that end early,
 * with counters that go up, down, by more than one, and over pointers; loops whose addresses depend
 * on what is read; bounds that are nothing, one, or far more than the loop ever does. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000
static unsigned key[N];
static char text[N];
static long sum;

__attribute__((noinline)) static unsigned first_above(
	const unsigned *at, unsigned n, unsigned asked)
{
	unsigned k = 0;
	while (k < n && asked >= at[k])
		k++;
	return k;
}

__attribute__((noinline)) static long last_below(const unsigned *at, long n, unsigned asked)
{
	for (long k = n - 1; k >= 0; k--)
		if (at[k] < asked)
			return k;
	return -1;
}

/* References before and after each place where it is left. */
__attribute__((noinline)) static uint64_t three_ways(
	const unsigned *at, const unsigned *other, uint64_t n, unsigned asked)
{
	uint64_t k;
	for (k = 0; k < n; k++) {
		if (at[k] == asked)
			return k;
		if (other[n - 1 - k] > asked + 900)
			break;
		if ((at[k] ^ other[k / 2]) == 77)
			return 3 * k;
	}
	return k + asked;
}

__attribute__((noinline)) static const char *find(const char *from, const char *to, char asked)
{
	for (; from != to; from++)
		if (*from == asked)
			return from;
	return NULL;
}

/* By pairs, and told by a counter that goes by two. */
__attribute__((noinline)) static uint64_t find_pair(const unsigned *at, uint64_t n, unsigned asked)
{
	for (uint64_t k = 0; k + 1 < n; k += 2)
		if (at[k] + at[k + 1] >= asked)
			return k;
	return n;
}

/* Goes from place to place, so often at most. */
__attribute__((noinline)) static unsigned follow(const unsigned *at, uint64_t most)
{
	unsigned here = 0;
	for (uint64_t k = 0; k < most; k++)
		here = at[here] % N;
	return here;
}

/* A bound that cannot be multiplied. */
__attribute__((noinline)) static uint64_t until_zero(const char *at, uint64_t most)
{
	uint64_t k = 0;
	while (k < most && at[k])
		k++;
	return k;
}

/* Values that are used long after the loop. */
__attribute__((noinline)) static unsigned used_later(const unsigned *at, unsigned n, unsigned asked)
{
	unsigned k = 0, last = 0, before = 1;
	for (k = 0; k < n; k++) {
		before = last;
		last = at[k];
		if (last >= asked)
			break;
	}
	if (asked % 3)
		sum += before;
	for (unsigned i = 0; i < asked % 5; i++)
		sum += last * i + k;
	return k + last + before;
}

/* In a loop, and after another. */
__attribute__((noinline)) static long nested(const unsigned *at, unsigned n)
{
	long found = 0;
	for (unsigned i = 0; i < n; i += 17) {
		unsigned here = at[i];
		for (unsigned k = i; k < n; k++)
			if (at[k] > here + 50) {
				found += k;
				break;
			}
		found += first_above(at, i, here);
		for (unsigned k = 0; k < i && at[k] < here / 2; k++)
			found++;
	}
	return found;
}

int main(void)
{
	for (unsigned i = 0; i < N; i++) {
		key[i] = 3 * i + i % 2;
		text[i] = (char)('a' + i * 7 % 26);
	}
	text[N - 1] = 0;
	for (unsigned i = 0; i < 2 * N; i += 7) {
		unsigned n = i % 5 ? N : i % 3, asked = i * 2;
		sum += first_above(key, n, asked) + last_below(key, n, asked) * 3;
		sum += (long)three_ways(key, key + 3, n > 4 ? n - 4 : n, asked);
		const char *at = find(text, text + n, (char)('A' + i % 64));
		sum += at ? at - text : -1;
		sum += (long)find_pair(key, n, asked) + follow(key, i % 64);
		sum += (long)until_zero(text + i % N, i % 2 ? UINT64_MAX : i);
		sum += used_later(key, n, asked);
	}
	sum += nested(key, N);
	printf("%ld\n", sum);
	return 0;
}
