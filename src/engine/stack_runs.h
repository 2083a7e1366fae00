/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of touches of one block, two in five touches of programs, found before anything is looked
 * up. Included by stack_kernel.h only.
 *
 * After its first touch a run holds nothing but distances of 0 and times of 1. Of its writes, the
 * first has the dirty level that the run's first touch would have as a write, because no distance
 * lies between the two; the others have 0. So a run is one touch, a write if there is any in it. */
#ifndef LOCI_ENGINE_STACK_RUNS_H
#define LOCI_ENGINE_STACK_RUNS_H

#include "engine/stack_vector.h"

/* Of 64 touches, a bit each. */
struct kernel_ends {
	uint64_t end;   /* the last of its run; the 64th always is: runs are cut there */
	uint64_t write; /* a write */
};

/* Of n <= 64 touches, the last of which ends a run. */
static inline struct kernel_ends kernel_last_ends(
	const uint64_t *block, const uint8_t *is_write, size_t n)
{
	struct kernel_ends ends = { 1ull << (n - 1), 0 };

	for (size_t i = 0; i + 1 < n; i++)
		ends.end |= (uint64_t)(block[i] != block[i + 1]) << i;
	for (size_t i = 0; is_write && i < n; i++)
		ends.write |= (uint64_t)is_write[i] << i;
	return ends;
}

#if defined(__AVX512VBMI__)

/* Of 64 touches that are not the last. */
static inline __attribute__((always_inline)) struct kernel_ends kernel_ends(
	const uint64_t *block, const uint8_t *is_write)
{
	struct kernel_ends ends = { 1ull << 63, 0 };

	for (unsigned i = 0; i < 64; i += 8)
		ends.end |= (uint64_t)_mm512_cmpneq_epi64_mask(_mm512_loadu_si512(block + i),
				    _mm512_loadu_si512(block + i + 1))
			<< i;
	if (is_write) {
		__m512i v = _mm512_loadu_si512(is_write);

		ends.write = _mm512_test_epi8_mask(v, v);
	}
	return ends;
}

static inline __attribute__((always_inline)) __m512i kernel_hashes(__m512i block)
{
	block = _mm512_mullo_epi64(block, _mm512_set1_epi64((long long)LOCI_STACK_HASH_1));
	block = _mm512_xor_si512(block, _mm512_srli_epi64(block, 32));
	return _mm512_mullo_epi64(block, _mm512_set1_epi64((long long)LOCI_STACK_HASH_2));
}

/* Of 64 touches, where runs end, and which runs are written. Returns how many there are. */
static inline __attribute__((always_inline)) size_t kernel_put_runs(struct loci_stack_chunk *runs,
	size_t n, const uint64_t *block, uint32_t at, uint64_t end, uint64_t written)
{
	__m512i after = _mm512_add_epi32(_mm512_set1_epi32((int)at),
		_mm512_set_epi32(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
	size_t put = n;

	_mm512_storeu_si512(runs->is_write + n,
		_mm512_maskz_set1_epi8(_cvtu64_mask64(_pext_u64(written, end)), 1));
	for (unsigned i = 0; i < 64; i += 16) {
		__mmask16 some = (__mmask16)(end >> i);

		/* Compressing into memory would take ten times as long. */
		_mm512_storeu_si512(
			runs->start + 1 + put, _mm512_maskz_compress_epi32(some, after));
		put += kernel_popcount(some);
		after = _mm512_add_epi32(after, _mm512_set1_epi32(16));
	}
	for (unsigned i = 0; i < 64; i += 8) {
		__mmask8 some = (__mmask8)(end >> i);
		__m512i hash = kernel_hashes(_mm512_maskz_loadu_epi64(some, block + i));

		_mm512_storeu_si512(runs->hash + n, _mm512_maskz_compress_epi64(some, hash));
		n += kernel_popcount(some);
	}
	return n;
}

/* Of n blocks, a multiple of 16. */
static inline __attribute__((always_inline)) void kernel_hash(
	const uint64_t *block, size_t n, uint64_t *ret)
{
	for (size_t i = 0; i < n; i += 8)
		_mm512_storeu_si512(ret + i, kernel_hashes(_mm512_loadu_si512(block + i)));
}

/* The homes of n hashes, a multiple of 16. */
static inline __attribute__((always_inline)) void kernel_homes(const uint64_t *hash, size_t n,
	struct loci_stack_bucket *bucket, uint64_t n_homes, uintptr_t *ret)
{
	for (size_t i = 0; i < n; i += 8) {
		__m512i home = _mm512_srli_epi64(_mm512_loadu_si512(hash + i), 32);

		home = _mm512_mul_epu32(home, _mm512_set1_epi64((long long)n_homes));
		home = _mm512_slli_epi64(_mm512_srli_epi64(home, 32), 6);
		_mm512_storeu_si512(
			ret + i, _mm512_add_epi64(home, _mm512_set1_epi64((long long)bucket)));
	}
}

#else

static inline __attribute__((always_inline)) struct kernel_ends kernel_ends(
	const uint64_t *block, const uint8_t *is_write)
{
	struct kernel_ends ends = { 1ull << 63, 0 };

#if defined(__AVX2__)
	for (unsigned i = 0; i < 64; i += 4) {
		__m256i same = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(block + i)),
			_mm256_loadu_si256((const __m256i *)(block + i + 1)));

		ends.end |= (uint64_t)(~_mm256_movemask_pd(_mm256_castsi256_pd(same)) & 15) << i;
	}
#else
	for (unsigned i = 0; i < 64; i += 8) {
		uint32_t some = 0;

#pragma GCC unroll 8
		for (unsigned j = 0; j < 8; j++)
			some |= (uint32_t)(block[i + j] != block[i + j + 1]) << j;
		ends.end |= (uint64_t)some << i;
	}
#endif
	for (unsigned i = 0; is_write && i < 64; i += 8) {
		uint64_t bytes;

		memcpy(&bytes, is_write + i, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		bytes = __builtin_bswap64(bytes);
#endif
		/* Byte j times the bit 56 - 7j: bit j of the highest byte, and no two meet. */
		ends.write |= bytes * 0x0102040810204080u >> 56 << i;
	}
	return ends;
}

static inline __attribute__((always_inline)) size_t kernel_put_runs(struct loci_stack_chunk *runs,
	size_t n, const uint64_t *block, uint32_t at, uint64_t end, uint64_t written)
{
	if (end == UINT64_MAX) { /* no runs: streams that have none need not look for them */
		for (unsigned i = 0; i < 64; i++, written >>= 1) {
			runs->hash[n + i] = loci_stack_hash(block[i]);
			runs->is_write[n + i] = written & 1;
			runs->start[n + i + 1] = at + i + 1;
		}
		return n + 64;
	}
	for (; end; end &= end - 1) {
		unsigned i = (unsigned)__builtin_ctzll(end);

		runs->hash[n] = loci_stack_hash(block[i]);
		runs->is_write[n] = written >> i & 1;
		runs->start[++n] = at + i + 1;
	}
	return n;
}

static inline __attribute__((always_inline)) void kernel_hash(
	const uint64_t *block, size_t n, uint64_t *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = loci_stack_hash(block[i]);
}

static inline __attribute__((always_inline)) void kernel_homes(const uint64_t *hash, size_t n,
	struct loci_stack_bucket *bucket, uint64_t n_homes, uintptr_t *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = (uintptr_t)(bucket + loci_stack_home(hash[i], n_homes));
}

#endif

/* The last of n hashes goes on for as long as the kernel looks ahead. */
static inline __attribute__((always_inline)) void kernel_pad(
	struct loci_stack_chunk *runs, size_t n)
{
	for (size_t i = n; i < n + 4 * LOCI_STACK_BATCH; i++)
		runs->hash[i] = runs->hash[n - 1];
}

/* Runs that the caller has found: only hashes are wanted. Returns how many writes there are after
 * the first touches. */
static inline __attribute__((always_inline)) uint64_t kernel_hash_runs(
	struct loci_stack_chunk *runs, const struct loci_stack_touches *t)
{
	const uint64_t *block = t->block;
	const uint32_t *more_writes = t->more_writes;
	uint64_t writes[LOCI_STACK_BATCH] = { 0 };
	size_t i = 0, n = t->n;

	for (; i + LOCI_STACK_BATCH <= n; i += LOCI_STACK_BATCH) {
		kernel_hash(block + i, LOCI_STACK_BATCH, runs->hash + i);
		for (size_t k = 0; k < LOCI_STACK_BATCH; k++) /* by vectors */
			writes[k] += more_writes[i + k];
	}
	for (; i < n; i++) {
		runs->hash[i] = loci_stack_hash(block[i]);
		writes[0] += more_writes[i];
	}
	kernel_pad(runs, n);
	for (size_t k = 1; k < LOCI_STACK_BATCH; k++)
		writes[0] += writes[k];
	return writes[0];
}

/* Finds the runs and counts all but their first touches. Returns how many there are. */
static inline __attribute__((always_inline)) size_t kernel_collapse(struct loci_stack_chunk *runs,
	const struct loci_stack_touches *t, struct loci_stack_counts *counts)
{
	uint64_t writes = 0, written_runs = 0;
	size_t n = 0;

	runs->start[0] = 0;
	for (size_t at = 0; at < t->n; at += 64) {
		const uint8_t *is_write = t->is_write ? t->is_write + at : NULL;
		struct kernel_ends ends = t->n - at > 64
			? kernel_ends(t->block + at, is_write)
			: kernel_last_ends(t->block + at, is_write, t->n - at);
		/* The sum carries a write, wherever it is in its run, to the run's end. */
		uint64_t written = (ends.write | ((ends.write & ~ends.end) + ~ends.end)) & ends.end;

		writes += kernel_popcount(ends.write);
		written_runs += kernel_popcount(written);
		n = kernel_put_runs(runs, n, t->block + at, (uint32_t)at, ends.end, written);
	}
	kernel_pad(runs, n);
	counts->stack[0] += t->n - n;
	counts->time[1] += t->n - n;
	counts->dirty[0] += writes - written_runs;
	return n;
}

#endif
