// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary words: the decoder never crashes, says where it stops, and what it takes survives
 * packing and unpacking; and put in order each thread tells what it told before. */
#include "stream/decode.h"
#include "stream/pack.h"
#include "stream/thread_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REFS_MAX    100000 /* a RUN may stand for any number */
#define THREADS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
	if (!good)
		abort();
}

static void check_packing(const struct loci_decoder *decoder, const uint64_t *words, size_t n_words)
{
	const uint8_t *column[LOCI_PACK_COLUMNS];
	size_t bytes[LOCI_PACK_COLUMNS], total = 0, done = 0;
	struct loci_unpacker *unpacker;
	struct loci_packer *packer;
	struct loci_err err = { "" };
	uint64_t out[1024];
	uint8_t *content;
	ssize_t n;

	check(loci_packer_new(&packer, &err) == 0 && loci_unpacker_new(&unpacker, &err) == 0);
	check(loci_packer_add(packer, decoder, words, n_words, &err) == 0);
	loci_packer_columns(packer, column, bytes);
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++)
		total += bytes[c];
	content = calloc(1, total + LOCI_PACK_PADDING);
	check(content != NULL);
	total = 0;
	for (unsigned c = 0; c < LOCI_PACK_COLUMNS; c++) {
		memcpy(content + total, column[c], bytes[c]);
		total += bytes[c];
	}
	loci_unpacker_start(unpacker, content, bytes);
	while ((n = loci_unpacker_read(unpacker, out, 1024, &err)) > 0) {
		check(done + (size_t)n <= n_words &&
			!memcmp(out, words + done, (size_t)n * sizeof(*out)));
		done += (size_t)n;
	}
	check(n == 0 && done == n_words);
	free(content);
	loci_packer_free(packer);
	loci_unpacker_free(unpacker);
}

/* The words as a source, and in order. */
struct memory {
	struct loci_source source; /* first */
	const uint64_t *words;
	size_t n_words, at;
};

static ssize_t memory_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct memory *memory = (struct memory *)source;
	size_t n = 0;

	(void)err;
	while (memory->at < memory->n_words) {
		uint64_t word = memory->words[memory->at];
		size_t k = 1 + (size_t)(loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);

		if (n + k > cap || k > memory->n_words - memory->at)
			break;
		memcpy(words + n, memory->words + memory->at, k * sizeof(*words));
		memory->at += k;
		n += k;
	}
	return (ssize_t)n;
}

static void memory_progress(const struct loci_source *source, uint64_t *done, uint64_t *total)
{
	*done = *total = ((const struct memory *)source)->at;
}

static void memory_close(struct loci_source *source)
{
	(void)source;
}

/* What each thread refers to, in its order. */
struct told {
	size_t n;
	struct {
		uint32_t thread;
		uint64_t hash;
	} of[THREADS_MAX];
};

/* False: there are too many threads. */
static bool tell(struct told *told, const struct loci_ref *ref)
{
	size_t i = 0;

	while (i < told->n && told->of[i].thread != ref->thread)
		i++;
	if (i == THREADS_MAX)
		return false;
	if (i == told->n) {
		told->of[told->n++].thread = ref->thread;
		told->of[i].hash = 0;
	}
	told->of[i].hash = told->of[i].hash * 31 + (ref->address ^ ref->size_bytes);
	return true;
}

static bool is_told(const struct told *told, uint32_t thread, uint64_t hash)
{
	for (size_t i = 0; i < told->n; i++)
		if (told->of[i].thread == thread)
			return told->of[i].hash == hash;
	return false;
}

static bool tell_the_same(const struct told *a, const struct told *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = is_told(b, a->of[i].thread, a->of[i].hash);
	return same;
}

/* False: it tells of too much, or has a fault. */
static bool digest(struct loci_source *source, struct told *ret)
{
	struct loci_decoder *decoder;
	uint64_t words[1024];
	size_t n_all = 0;
	ssize_t n;
	int r = 0;

	check(loci_decoder_new(&decoder, NULL) == 0);
	while (r == 0 && n_all < REFS_MAX && (n = source->ops->read(source, words, 1024, NULL)) > 0)
		for (size_t pos = 0; r == 0 && n_all < REFS_MAX && pos < (size_t)n;) {
			struct loci_event event;
			struct loci_ref refs[64];
			size_t n_refs;

			r = loci_decoder_next(
				decoder, words, (size_t)n, &pos, refs, 64, &n_refs, &event, NULL);
			for (size_t i = 0; r == 0 && i < n_refs; i++)
				r = tell(ret, &refs[i]) ? 0 : -ENOSPC;
			n_all += n_refs;
		}
	loci_decoder_free(decoder);
	return r == 0 && n_all < REFS_MAX;
}

static void check_order(const uint64_t *words, size_t n_words)
{
	static const struct loci_source_ops ops = { memory_read, memory_progress, memory_close };
	struct memory memory = { .source.ops = &ops, .words = words, .n_words = n_words };
	struct loci_order_options options = { .order = n_words % 2 ? LOCI_ORDER_REFS
								   : LOCI_ORDER_TIME,
		.held_words = n_words % 3 ? 0 : 100 };
	struct told before = { .n = 0 }, after = { .n = 0 };
	struct loci_source *order;
	bool good = digest(&memory.source, &before), still;

	memory.at = 0;
	memory.source.info.capabilities = n_words % 5 ? 0 : LOCI_CAP_ORDER;
	check(loci_order_new_take(&memory.source, &options, &order, NULL) == 0);
	still = digest(order, &after);
	check(!good || (still && tell_the_same(&before, &after)));
	loci_source_close(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loci_decoder *decoder;
	struct loci_err err = { "" };
	struct loci_ref refs[7];
	size_t n_words = size / sizeof(uint64_t), pos = 0, n_refs, n_all = 0;
	uint64_t *words = malloc(size + 1), state[64];
	int r = 0;

	check(words != NULL && loci_decoder_new(&decoder, &err) == 0);
	if (n_words)
		memcpy(words, data, n_words * sizeof(*words));
	while (r == 0 && pos < n_words) {
		struct loci_event event;
		size_t before = pos;

		if (n_all > REFS_MAX)
			loci_decoder_keep_runs(decoder);
		r = loci_decoder_next(
			decoder, words, n_words, &pos, refs, 7, &n_refs, &event, &err);
		check(r == 0 || (r == -EBADMSG && err.text[0]));
		check(r < 0 || pos > before || n_refs == 7);
		check(n_refs <= 7 && pos <= n_words);
		n_all += n_refs;
		for (size_t i = 0; i < n_refs; i++) {
			struct loci_ref_site site;

			check(loci_decoder_site(decoder, refs[i].definition, &site) == 0);
		}
	}
	loci_decoder_state(decoder, state, 64);
	for (uint64_t id = 0; id < 4; id++)
		loci_decoder_string(decoder, id);
	check_packing(decoder, words, pos);
	check_order(words, n_words);
	loci_decoder_free(decoder);
	free(words);
	return 0;
}
