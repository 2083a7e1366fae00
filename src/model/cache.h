/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches and hierarchies as people write them:
 *
 *	NAME=SIZE[/WAYS][@LINE][:private|shared|shareN], comma separated, innermost first
 *
 * WAYS omitted: fully associative. LINE omitted: 64. SIZE takes K, M, G (powers of 1024), or a
 * number of entries, "64e": with lines of a page or more that is a TLB, DTLB=64e/4@4K. `host` is
 * this machine, and some machines have names (machine.c). */
#ifndef LOCI_MODEL_CACHE_H
#define LOCI_MODEL_CACHE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCI_LINE_DEFAULT 64
#define LOCI_LINE_MAX     (2u << 20)
#define LOCI_PAGE_MIN     4096 /* entries of at least this many bytes make a TLB */

enum loci_share {
	LOCI_SHARE_PRIVATE,
	LOCI_SHARE_ALL,
	LOCI_SHARE_SOME, /* among share_n threads */
};

struct loci_cache {
	char name[16];
	uint64_t size_bytes;
	uint32_t ways; /* 0: fully associative */
	uint64_t line_bytes;
	enum loci_share share;
	uint32_t share_n;
	bool is_tlb;           /* size was given in entries, of a page or more each */
	double latency_cycles; /* of a hit; 0: unknown */
};

#define LOCI_LEVELS_MAX 8

struct loci_hierarchy {
	char name[64];        /* "host", "skylake-sp", or "" where a specification was given */
	char description[96]; /* a processor's name, or "" */
	struct loci_cache level[LOCI_LEVELS_MAX];
	unsigned n_levels;
	double memory_cycles; /* latency of memory; 0: unknown */
};

static inline uint64_t loci_cache_blocks(const struct loci_cache *cache)
{
	return cache->size_bytes / cache->line_bytes;
}

static inline uint64_t loci_cache_sets(const struct loci_cache *cache)
{
	return cache->ways ? loci_cache_blocks(cache) / cache->ways : 1;
}

/* "host", a machine's name, or a specification. Nonsense is explained: sizes that are not whole
 * sets, lines that are no power of two, levels that shrink outwards, names given twice. */
int loci_hierarchy_parse(const char *text, struct loci_hierarchy *ret, struct loci_err *err);
/* The same for profiles whose unit is object: sizes count objects ("1000", "1000e", "10K"), a line
 * is one object, and machines have no meaning. */
int loci_hierarchy_parse_objects(
	const char *text, struct loci_hierarchy *ret, struct loci_err *err);
/* This machine's data caches, from sysfs_root ("/sys" unless a test has another). */
int loci_hierarchy_host(const char *sysfs_root, struct loci_hierarchy *ret, struct loci_err *err);
/* What loci_hierarchy_parse checks of one level: whole sets, a line that is a power of two. */
int loci_cache_check(const struct loci_cache *cache, struct loci_err *err);
/* The specification in the grammar, so that parse gives the same again. Returns buf. */
#define LOCI_HIERARCHY_MAX 640 /* room enough for any */
const char *loci_hierarchy_format(const struct loci_hierarchy *hierarchy, char *buf, size_t size);
/* One level as a person reads it: "L1 48K/12". Returns buf. */
const char *loci_cache_label(const struct loci_cache *cache, char buf[64]);
/* The same with how it is shared: "L3 48M/12:shared", "L2 1M/16:share2". */
const char *loci_cache_label_shared(const struct loci_cache *cache, char buf[64]);
/* The same where the unit is object: a line is one, which is not worth saying. */
const char *loci_cache_label_objects(const struct loci_cache *cache, char buf[64]);

/* The named machines, ascending; ends with n_levels == 0. */
extern const struct loci_hierarchy loci_machines[];

#endif
