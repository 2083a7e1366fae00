/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that make profiles have in common: block sizes, where the profile and the trace
 * go without anything being lost, and what is said in the end. */
#ifndef LOCI_CLI_PRODUCT_H
#define LOCI_CLI_PRODUCT_H

#include "analyse/analyse.h"
#include "model/cache.h"
#include "stream/thread_order.h"

#define LOCI_VERIFY_TOUCHES 100000 /* of --verify without a number */

/* -b SIZE,.. */
int loci_product_blocks(
	const char *text, struct loci_analyse_options *options, struct loci_err *err);
/* --share N,.. */
int loci_product_share(
	const char *text, struct loci_analyse_options *options, struct loci_err *err);
/* --max-memory SIZE */
int loci_product_memory(
	const char *text, struct loci_analyse_options *options, struct loci_err *err);

/* --order NAME */
int loci_product_order(const char *text, enum loci_order *ret, struct loci_err *err);

/* What the options leave open: memory, and what the profile says of this machine. The strings are
 * kept here. */
struct loci_product_host {
	char caches[640], machine[128];
};
void loci_product_host(struct loci_product_host *host, struct loci_analyse_options *options);

/* The caches to simulate while reading: spec as --cache has it, NULL: the host's. Those of the host
 * whose lines are not of the first block size are left out; of a specification that is an error. */
struct loci_product_levels {
	struct loci_hierarchy caches;
	struct loci_level_row row[LOCI_LEVELS_MAX];
	char share[LOCI_LEVELS_MAX][16];
};
int loci_product_levels(struct loci_product_levels *levels, const char *spec,
	struct loci_analyse_options *options, struct loci_err *err);

/* The profile replaces profiles, and nothing else. */
int loci_product_check(const char *path, struct loci_err *err);
/* The trace replaces traces of loci's own, and nothing else: what it keeps of another's is less. */
int loci_product_check_trace(const char *path, const char *output, struct loci_err *err);
/* A run may take hours: what would keep its files from being written is found out before. */
int loci_product_check_files(const char *output, const char *trace, struct loci_err *err);

/* On standard error: how much, how fast, what a reader must know, the verdict, and what next.
 * nouns: what was counted, plural. processes: 0 or 1 are not worth a word. */
struct loci_product_end {
	const char *path, *nouns;
	const struct loci_analyse_summary *summary;
	double seconds;
	unsigned processes;
};
void loci_product_say(const struct loci_product_end *end);

/* Symbols are looked for on this machine only: libdwfl would ask the servers of DEBUGINFOD_URLS for
 * every library without, which takes minutes and tells a stranger what is recorded. Not before the
 * program has got its environment, nor when there are threads. */
void loci_product_offline(void);
double loci_product_seconds(void); /* monotonic */

#endif
