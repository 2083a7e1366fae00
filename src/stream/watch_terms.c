// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/watch_terms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS       1024 /* that a source always gives room for */
#define BLOCK_BYTES (2u << 20)

struct ahead {
	struct loci_source source; /* first */
	struct loci_source *from;
	size_t n; /* words that were read and not given on yet */
	uint64_t words[WORDS];
};

bool loci_watch_terms_belong(const struct loci_stream_info *info)
{
	const uint32_t other = LOCI_CAP_COMPLETE | LOCI_CAP_WINDOWS;

	return info->capabilities & LOCI_CAP_SAMPLES && !(info->capabilities & other);
}

void loci_watch_terms_put(
	const struct loci_watch_terms *terms, uint64_t words[LOCI_WATCH_TERMS_WORDS])
{
	words[0] = loci_mark_word(LOCI_MARK_WATCHED, LOCI_WATCH_TERMS_WORDS - 1, 0);
	words[1] = terms->block_bytes;
	words[2] = terms->period;
	words[3] = terms->seed;
	words[4] = terms->writes_only;
	words[5] = terms->by_pages;
	words[6] = terms->burst_refs;
	words[7] = terms->weighting;
}

static ssize_t ahead_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct ahead *ahead = (struct ahead *)source;
	ssize_t n = (ssize_t)ahead->n;

	if (n)
		memcpy(words, ahead->words, ahead->n * sizeof(*words));
	else
		n = ahead->from->ops->read(ahead->from, words, cap, err);
	ahead->n = 0;
	memcpy(source->note, ahead->from->note, sizeof(source->note));
	source->incomplete = ahead->from->incomplete;
	return n;
}

static void ahead_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct ahead *ahead = (const struct ahead *)source;

	ahead->from->ops->progress(ahead->from, ret_done, ret_total);
}

static void ahead_close(struct loci_source *source)
{
	loci_source_close(((struct ahead *)source)->from);
	free(source);
}

static const struct loci_source_ops ahead_ops = {
	.read = ahead_read,
	.progress = ahead_progress,
	.close = ahead_close,
};

static int understand(const uint64_t *words, size_t n, struct loci_watch_terms *ret)
{
	if (n < LOCI_WATCH_TERMS_WORDS || !loci_word_is_marker(words[0]) ||
		loci_word_kind(words[0]) != LOCI_MARK_WATCHED ||
		loci_word_n_raw(words[0]) < LOCI_WATCH_TERMS_WORDS - 1)
		return -EBADMSG;
	*ret = (struct loci_watch_terms){ .block_bytes = words[1],
		.period = words[2],
		.seed = words[3],
		.writes_only = words[4],
		.by_pages = words[5],
		.burst_refs = words[6],
		.weighting = words[7] };
	if (!ret->block_bytes || ret->block_bytes & (ret->block_bytes - 1) ||
		ret->block_bytes > BLOCK_BYTES)
		return -EBADMSG;
	return 0;
}

static int read_ahead(struct ahead *ahead, struct loci_watch_terms *terms, struct loci_err *err)
{
	struct loci_source *from = ahead->from;
	ssize_t n = from->ops->read(from, ahead->words, WORDS, err);

	if (n <= 0)
		return (int)n;
	ahead->n = (size_t)n;
	if (understand(ahead->words, ahead->n, terms) == 0)
		return 0;
	return loci_err_set(err, EBADMSG,
		"the trace has watched samples, and does not begin with how they were watched: "
		"record it again (loci record -m watch --trace)");
}

int loci_watch_terms_read_take(struct loci_source *source, struct loci_watch_terms *terms,
	struct loci_source **ret, struct loci_err *err)
{
	struct ahead *ahead = calloc(1, sizeof(*ahead));
	int r;

	*terms = (struct loci_watch_terms){ 0 };
	if (!ahead) {
		loci_source_close(source);
		return loci_err_nomem(err);
	}
	ahead->source.ops = &ahead_ops;
	ahead->source.info = source->info;
	ahead->from = source;
	r = read_ahead(ahead, terms, err);
	if (r < 0) {
		ahead_close(&ahead->source);
		return r;
	}
	*ret = &ahead->source;
	return 0;
}
