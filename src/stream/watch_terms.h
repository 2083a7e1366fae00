/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How samples were watched, which is the first word of a trace of them: so that it can be analysed
 * by itself, as the run was. */
#ifndef LOCI_STREAM_WATCH_TERMS_H
#define LOCI_STREAM_WATCH_TERMS_H

#include "stream/source.h"

#define LOCI_WATCH_TERMS_WORDS 8

struct loci_watch_terms {
	uint64_t block_bytes;
	uint64_t period, seed;
	bool writes_only, by_pages;
	uint64_t burst_refs; /* for which each was followed before */
	uint64_t weighting;  /* enum loci_weighting */
};

/* Whether the stream has watched samples, and nothing else of references. */
bool loci_watch_terms_belong(const struct loci_stream_info *info);
/* As words of a stream. */
void loci_watch_terms_put(
	const struct loci_watch_terms *terms, uint64_t words[LOCI_WATCH_TERMS_WORDS]);
/* Takes source, also on failure; *ret has the same words. Reads the first of them: *terms is what
 * these say. One that ends before it begins, as a torn one may, has zeros for terms; -EBADMSG: it
 * says something else first. */
int loci_watch_terms_read_take(struct loci_source *source, struct loci_watch_terms *terms,
	struct loci_source **ret, struct loci_err *err);

#endif
