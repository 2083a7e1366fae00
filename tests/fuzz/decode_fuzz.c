// SPDX-License-Identifier: GPL-2.0-or-later
/* Arbitrary words: the decoder never crashes, says where it stops, and what it takes survives
 * packing and unpacking. */
#include "stream/decode.h"
#include "stream/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REFS_MAX 100000 /* a RUN may stand for any number */

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
	loci_decoder_free(decoder);
	free(words);
	return 0;
}
