/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream's references and events as text, a line each: what tests compare. */
#ifndef LOCI_TESTS_STREAM_LISTING_H
#define LOCI_TESTS_STREAM_LISTING_H

#include "stream/decode.h"
#include "stream/source.h"

#include <inttypes.h>
#include <stdio.h>

static inline void listing_ref(
	FILE *out, const struct loci_decoder *decoder, const struct loci_ref *ref)
{
	static const char *const ops[] = { "load", "store", "fetch", "frame" };
	struct loci_ref_site site = { 0 };

	if (loci_decoder_site(decoder, ref->definition, &site) < 0)
		fprintf(out, "NO SITE ");
	fprintf(out,
		"t%" PRIu32 " %s 0x%" PRIx64 " %" PRIu64 " flags %x block %" PRIu64 ".%" PRIu32
		" module %" PRIu32 " site 0x%" PRIx64 " code 0x%" PRIx64 " %" PRIu32 "\n",
		ref->thread, ref->op < 4 ? ops[ref->op] : "op?", ref->address, ref->size_bytes,
		ref->flags, site.block, site.ordinal, site.module, site.site, site.code_address,
		site.block_flags);
}

static inline void listing_event(FILE *out, const struct loci_event *event)
{
	fprintf(out, "t%" PRIu32 " kind %02x payload %" PRIu64, event->thread, event->kind,
		event->payload);
	for (unsigned i = 0; i < event->n_raw; i++)
		fprintf(out, " %" PRIx64, event->raw[i]);
	fputc('\n', out);
}

/* Lists words; whole markers only. */
static inline int listing_words(FILE *out, struct loci_decoder *decoder, const uint64_t *words,
	size_t n_words, size_t refs_cap, struct loci_err *err)
{
	struct loci_ref refs[64];
	size_t pos = 0;

	while (pos < n_words) {
		struct loci_event event;
		size_t n_refs;
		int r = loci_decoder_next(decoder, words, n_words, &pos, refs,
			refs_cap < 64 ? refs_cap : 64, &n_refs, &event, err);

		for (size_t i = 0; i < n_refs; i++)
			listing_ref(out, decoder, &refs[i]);
		if (r < 0)
			return r;
		if (event.kind != LOCI_MARK_PAD)
			listing_event(out, &event);
	}
	return 0;
}

/* Lists a source to its end, cap (at least 1024) words at a time. */
static inline int listing_source(
	FILE *out, struct loci_source *source, size_t cap, struct loci_err *err)
{
	uint64_t words[4096];
	struct loci_decoder *decoder;
	ssize_t n;
	int r = loci_decoder_new(&decoder, err);

	if (r < 0)
		return r;
	while ((n = source->ops->read(source, words, cap < 4096 ? cap : 4096, err)) > 0 && r == 0)
		r = listing_words(out, decoder, words, (size_t)n, 64, err);
	loci_decoder_free(decoder);
	return r < 0 ? r : (int)n;
}

#endif
