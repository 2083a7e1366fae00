/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libloci: the reuse distances of a program's data, and the misses of any cache.
 *
 *	cc prog.c $(pkg-config --cflags --libs loci)
 *
 * Three things can be done with it. Feed an engine with addresses and ask it about caches; open a
 * profile that `loci analyse` wrote and read its totals; ask either about a cache hierarchy. The
 * terms are those of loci(1): a *touch* is the use of one block, its *stack distance* the number of
 * distinct other blocks touched since that block's last use.
 *
 * Functions that return int return 0, or more where it is said, or a negative errno value; the
 * struct loci_error then says why, in words. It may be NULL. Handles are opaque, belong to the
 * caller, and serve one thread at a time; different handles are independent. Nothing prints, exits
 * or installs signal handlers.
 *
 * Within one SONAME functions are only added, and structs grow only into their reserved members,
 * which are zero until then. */
#ifndef LOCI_H
#define LOCI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LOCI_PUBLIC __attribute__((visibility("default")))
#else
#define LOCI_PUBLIC
#endif

/* The library's version, "0.1.0". */
LOCI_PUBLIC const char *loci_version(void);

struct loci_error {
	char text[1024]; /* what, where and what to do; no newline */
};

/* What was counted. */
struct loci_totals {
	uint64_t references; /* loads, stores and fetches; touches, for an engine */
	uint64_t loads, stores;
	uint64_t block_bytes;
	uint64_t touches, writes; /* at this block size */
	double blocks;            /* distinct ones touched */
	double sampling_rate;     /* 1: every block was followed, and all is exact */
	double error_points;      /* of miss ratios, in percentage points, 95 %; 0: exact */
	uint64_t reserved[8];
};

/* What one cache does. */
struct loci_answer {
	char name[16];       /* of the level, "L1" */
	char basis[32];      /* what the numbers rest on: "exact", "binomial model", ... */
	uint64_t size_bytes; /* objects, where the profile counts objects */
	uint64_t line_bytes;
	uint64_t ways;   /* 0: fully associative */
	double accesses; /* every level sees every touch */
	double misses;
	double hits; /* satisfied at this level and none further in */
	double cold, capacity;
	double conflict;     /* negative where LRU does worse fully associative */
	double writebacks;   /* the final flush included; negative: not known */
	double moved_bytes;  /* misses and write-backs */
	double error_points; /* how far misses / accesses may be off; 0: exact */
	double reserved[8];
};

/* How to answer. */
enum {
	LOCI_ASK_RANDOM = 1,    /* random replacement (StatCache), not LRU */
	LOCI_ASK_FROM_TIME = 2, /* from time distances (StatStack), not stack distances */
	LOCI_ASK_LEVELS = 8     /* no hierarchy has more */
};

/* An engine. block_bytes is a power of two, at most 2 MiB; 0 means 64. Memory grows with the
 * distinct blocks touched; an engine that would need more than max_bytes (0: no limit) follows a
 * random sample of the blocks from there on, and its answers become estimates. */
struct loci_engine;
LOCI_PUBLIC int loci_engine_new(uint64_t block_bytes, uint64_t max_bytes, struct loci_engine **ret,
	struct loci_error *error);
LOCI_PUBLIC void loci_engine_free(struct loci_engine *engine); /* NULL is allowed */

/* One touch per address, in order, of the block that holds it; a reference that straddles two
 * blocks is given as two addresses. is_write has 0 or 1 for each, or is NULL: all reads. Large
 * batches are faster. */
LOCI_PUBLIC int loci_engine_touch(struct loci_engine *engine, const uint64_t *address,
	const uint8_t *is_write, size_t n, struct loci_error *error);

/* Answers are about the touches so far; the engine may go on. */
LOCI_PUBLIC int loci_engine_totals(
	const struct loci_engine *engine, struct loci_totals *ret, struct loci_error *error);
/* A point of the miss-ratio curve: of a fully associative LRU cache of so many bytes. */
LOCI_PUBLIC int loci_engine_miss_ratio(const struct loci_engine *engine, uint64_t cache_bytes,
	double *ret, struct loci_error *error);
/* caches: "L1=32K/8,L2=1M/16", "host", or a machine that `loci cache --machines` names. flags: of
 * LOCI_ASK_*. Fills ret, which has room for n, innermost level first, and returns how many levels
 * there are. */
LOCI_PUBLIC int loci_engine_ask(const struct loci_engine *engine, const char *caches,
	unsigned flags, struct loci_answer *ret, size_t n, struct loci_error *error);

/* A profile, read only. */
struct loci_file;
LOCI_PUBLIC int loci_file_open(const char *path, struct loci_file **ret, struct loci_error *error);
LOCI_PUBLIC void loci_file_close(struct loci_file *file); /* NULL is allowed */

/* The block sizes it has, ascending: fills at most n and returns how many there are. */
LOCI_PUBLIC size_t loci_file_block_sizes(const struct loci_file *file, uint64_t *ret, size_t n);
/* At one of these block sizes. */
LOCI_PUBLIC int loci_file_totals(const struct loci_file *file, uint64_t block_bytes,
	struct loci_totals *ret, struct loci_error *error);
LOCI_PUBLIC int loci_file_miss_ratio(struct loci_file *file, uint64_t block_bytes,
	uint64_t cache_bytes, double *ret, struct loci_error *error);
/* As loci_engine_ask; the line sizes must be among the block sizes. */
LOCI_PUBLIC int loci_file_ask(struct loci_file *file, const char *caches, unsigned flags,
	struct loci_answer *ret, size_t n, struct loci_error *error);

#ifdef __cplusplus
}
#endif

#endif
