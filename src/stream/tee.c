// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/tee.h"

#include "stream/trace.h"
#include "stream/watch_terms.h"

#include <stdlib.h>
#include <string.h>

struct tee {
	struct loci_source source; /* first */
	struct loci_source *from;
	struct loci_trace_writer *writer; /* NULL: given up */
	struct loci_err *failure;
};

static void keep(struct tee *tee, const uint64_t *words, size_t n)
{
	if (!tee->writer || loci_trace_write(tee->writer, words, n, tee->failure) == 0)
		return;
	loci_trace_free(tee->writer);
	tee->writer = NULL;
}

static ssize_t tee_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct tee *tee = (struct tee *)source;
	ssize_t n = tee->from->ops->read(tee->from, words, cap, err);

	memcpy(source->note, tee->from->note, sizeof(source->note));
	source->incomplete = tee->from->incomplete;
	if (n > 0)
		keep(tee, words, (size_t)n);
	return n;
}

static void tee_progress(const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct tee *tee = (const struct tee *)source;

	tee->from->ops->progress(tee->from, ret_done, ret_total);
}

static void tee_close(struct loci_source *source)
{
	struct tee *tee = (struct tee *)source;

	loci_source_close(tee->from);
	if (tee->writer)
		loci_trace_close(tee->writer, tee->failure);
	free(tee);
}

static const struct loci_source_ops tee_ops = {
	.read = tee_read,
	.progress = tee_progress,
	.close = tee_close,
};

int loci_tee_new(struct loci_source *source, const char *path, const struct loci_watch_terms *terms,
	struct loci_err *failure, struct loci_source **ret, struct loci_err *err)
{
	struct tee *tee = calloc(1, sizeof(*tee));
	uint64_t words[LOCI_WATCH_TERMS_WORDS];

	if (!tee) {
		loci_source_close(source);
		return loci_err_nomem(err);
	}
	tee->source.ops = &tee_ops;
	tee->source.info = source->info;
	tee->from = source;
	tee->failure = failure;
	if (loci_trace_create(path, &source->info, &tee->writer, failure) < 0)
		tee->writer = NULL;
	if (terms) {
		loci_watch_terms_put(terms, words);
		keep(tee, words, LOCI_WATCH_TERMS_WORDS);
	}
	*ret = &tee->source;
	return 0;
}
