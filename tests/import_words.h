/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the tests of imports: runs an importer over bytes and writes the references down, one a line:
 *
 *	L 1ffe 8     a load of 8 bytes at 0x1ffe; S a store, I a fetch
 *	ml, ms       the load and the store of a modify
 *	t 2 21646    what follows belongs to thread 2, whose number in the trace is 21646
 *
 * The reading of words is written from the stream's description alone and strict: it complains of
 * markers cut apart, of definitions and blocks that were not needed, of anything unexpected. */
#ifndef LOCI_TESTS_IMPORT_WORDS_H
#define LOCI_TESTS_IMPORT_WORDS_H

#include "check.h"

#include "import/import.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct import_text {
	char *text;
	size_t n, cap;
};

struct import_result {
	struct import_text refs;
	uint64_t n_refs, n_words;
	char error[1024]; /* "" if none */
	char note[256];
	struct loci_stream_info info;
};

struct import_block {
	unsigned n;
	uint64_t word[2];
};

struct import_reader {
	struct import_block block[4096];
	uint64_t id, last_id; /* current block; the one announced last */
	unsigned at;          /* references of it so far */
	uint64_t system_id[64];
	const char *problem;
};

static void import_add(
	struct import_text *t, const char *format, uint64_t a, uint64_t b, const char *what)
{
	if (t->cap - t->n < 128) {
		t->cap = 2 * t->cap + 4096;
		t->text = realloc(t->text, t->cap);
		if (!t->text)
			abort();
	}
	t->n += (size_t)snprintf(t->text + t->n, t->cap - t->n, format, what, a, b);
}

static void import_reference(struct import_reader *r, struct import_result *ret, uint64_t address)
{
	static const char *const names[2][4] = { { "L", "S", "I", "F" },
		{ "ml", "ms", "mi", "mf" } };
	const struct import_block *block = &r->block[r->id];
	uint64_t word;

	if (!block->n) {
		r->problem = "an address before any block";
		return;
	}
	if (r->at == block->n)
		r->at = 0;
	word = block->word[r->at++];
	import_add(&ret->refs, "%s %" PRIx64 " %" PRIu64 "\n", address, word & 0xffffffff,
		names[(word >> 40) == 32][word >> 32 & 3]);
	ret->n_refs++;
	if (!(word & 0xffffffff) || ((word >> 40) != 0 && (word >> 40) != 32))
		r->problem = "a descriptor that is not expected";
}

static void import_define(struct import_reader *r, uint64_t id, const uint64_t *raw, unsigned n)
{
	struct import_block b = { .n = (n - 2) / 2 };

	if (id >= 4096 || r->block[id].n || (n != 4 && n != 6) || raw[0] || raw[1]) {
		r->problem = "a definition that is not expected";
		return;
	}
	for (unsigned i = 0; i < b.n; i++)
		b.word[i] = raw[2 + 2 * i];
	for (unsigned i = 0; i < 4096; i++)
		if (r->block[i].n == b.n && r->block[i].word[0] == b.word[0])
			r->problem = "the same definition twice";
	r->block[id] = b;
}

static void import_marker(
	struct import_reader *r, struct import_result *ret, uint64_t word, const uint64_t *raw)
{
	uint64_t payload = word & 0xffffffffffffull;
	unsigned kind = word >> 56 & 0x7f, n = word >> 48 & 0xff;

	switch (kind) {
	case 1: /* BLOCK */
		if (payload == r->last_id)
			r->problem = "a block repeated without need";
		if (r->id && r->at != r->block[r->id].n)
			r->problem = "a block cut short";
		r->id = r->last_id = payload < 4096 ? payload : 0;
		r->at = 0;
		break;
	case 2: /* WIDE */
		if (n != 1 || !(raw[0] >> 63))
			r->problem = "a wide address without need";
		import_reference(r, ret, raw[0]);
		break;
	case 4: /* DEFINE */
		import_define(r, payload, raw, n);
		break;
	case 8: /* SWITCH */
		import_add(&ret->refs, "%st %" PRIu64 " %" PRIu64 "\n", payload,
			r->system_id[payload & 63], "");
		r->id = r->last_id = 0; /* a block must be named again */
		break;
	case 9: /* THREAD_START */
		r->system_id[payload & 63] = raw[1];
		break;
	default:
		r->problem = "a marker that is not expected";
	}
}

static void import_words(
	struct import_reader *r, struct import_result *ret, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n && !r->problem; i++) {
		unsigned n_raw = words[i] >> 63 ? words[i] >> 48 & 0xff : 0;

		if (i + n_raw >= n) {
			r->problem = "a marker cut apart";
		} else if (words[i] >> 63) {
			import_marker(r, ret, words[i], words + i + 1);
			i += n_raw;
		} else {
			import_reference(r, ret, words[i]);
		}
	}
}

/* Imports path in reads of cap words. The caller frees refs.text. */
static inline struct import_result import_path(
	const char *path, const char *format, bool instructions, size_t cap)
{
	struct loci_import_options options = { format, instructions };
	struct import_reader *reader = calloc(1, sizeof(*reader));
	uint64_t *words = malloc(cap * sizeof(*words));
	struct import_result ret = { .n_refs = 0 };
	struct loci_source *source = NULL;
	struct loci_err err = { "" };
	ssize_t n = 0;

	if (!reader || !words)
		abort();
	import_add(&ret.refs, "%s", 0, 0, "");
	if (loci_import_open(path, &options, &source, &err) == 0) {
		ret.info = source->info;
		while (!reader->problem && (n = source->ops->read(source, words, cap, &err)) > 0) {
			ret.n_words += (size_t)n;
			import_words(reader, &ret, words, (size_t)n);
		}
		if (n == 0) {
			CHECK(source->ops->read(source, words, cap, &err) == 0);
			CHECK_STR(err.text, "");
		}
		memcpy(ret.note, source->note, sizeof(ret.note));
		loci_source_close(source);
	}
	if (reader->problem)
		CHECK_FAIL("%s: the words: %s", path, reader->problem);
	memcpy(ret.error, err.text, sizeof(ret.error));
	free(words);
	free(reader);
	return ret;
}

static inline void import_write(const char *path, const void *data, size_t n)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, n, file) != n || fclose(file))
		abort();
}

/* An empty directory of our own to work in, removed by import_leave. */
static char import_dir[64];

static inline void import_enter(void)
{
	strcpy(import_dir, "/tmp/loci-import-test-XXXXXX");
	if (!mkdtemp(import_dir) || chdir(import_dir))
		abort();
}

static inline void import_leave(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", import_dir);
	if (chdir("/") || system(command))
		abort();
}

#endif
