// SPDX-License-Identifier: GPL-2.0-or-later
/* Words and the decoder, against expectations written by hand. */
#include "check.h"
#include "stream_listing.h"
#include "stream_random.h"

#include <errno.h>

#define MARK(kind, n, payload) loci_mark_word(LOCI_MARK_##kind, n, payload)
#define REF(size, op, flags)   loci_ref_word(size, LOCI_OP_##op, flags)
#define WORDS(...)             (const uint64_t[]){ __VA_ARGS__ }, COUNT(__VA_ARGS__)
#define COUNT(...)             (sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define DEFINE_LOAD8(id)       MARK(DEFINE, 4, id), 0, 0, REF(8, LOAD, 0), 0
#define DEFINE_LOAD_STORE(id)  MARK(DEFINE, 6, id), 0, 0, REF(8, LOAD, 0), 1, REF(4, STORE, 0), 2
#define DEFINE_RANGE_STORE(id) MARK(DEFINE, 6, id), 0, 0, REF(0, LOAD, 4), 1, REF(4, STORE, 0), 2

/* "t0 load 10 8 1.0" per reference, "event 25" per event. */
static char *list(const uint64_t *words, size_t n_words, size_t cap, int *ret, struct loci_err *err)
{
	static const char *const ops[] = { "load", "store", "fetch", "frame" };
	struct loci_decoder *decoder;
	struct loci_ref refs[16];
	struct loci_event event;
	size_t pos = 0, bytes, n;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	*ret = loci_decoder_new(&decoder, err);
	while (*ret == 0 && pos < n_words) {
		*ret = loci_decoder_next(decoder, words, n_words, &pos, refs, cap, &n, &event, err);
		for (size_t i = 0; i < n; i++) {
			struct loci_ref_site site;

			CHECK(loci_decoder_site(decoder, refs[i].definition, &site) == 0);
			fprintf(out, "t%u %s %" PRIx64 " %" PRIu64 " %" PRIu64 ".%u\n",
				refs[i].thread, ops[refs[i].op & 3], refs[i].address,
				refs[i].size_bytes, site.block, site.ordinal);
		}
		if (*ret == 0 && event.kind != LOCI_MARK_PAD)
			fprintf(out, "t%u event %02x\n", event.thread, event.kind);
	}
	CHECK(loci_decoder_site(decoder, UINT32_MAX, &(struct loci_ref_site){ 0 }) == -ENOENT);
	loci_decoder_free(decoder);
	fclose(out);
	return text;
}

static void expect(
	const char *file, int line, const uint64_t *words, size_t n_words, const char *want)
{
	for (size_t cap = 1; cap <= 16; cap += 5) {
		struct loci_err err = { "" };
		int r;
		char *got = list(words, n_words, cap, &r, &err);

		check_count++;
		if (r || strcmp(got, want)) {
			fprintf(stderr, "%s:%d: got %d %s\n%swant\n%s", file, line, r, err.text,
				got, want);
			check_failures++;
		}
		free(got);
	}
}

static void reject(const char *file, int line, const uint64_t *words, size_t n_words,
	const char *says, const char *before)
{
	struct loci_err err = { "" };
	int r;
	char *got = list(words, n_words, 16, &r, &err);

	check_count++;
	if (r != -EBADMSG || !strstr(err.text, says) || strcmp(got, before)) {
		fprintf(stderr, "%s:%d: got %d \"%s\" after\n%swant \"%s\"\n", file, line, r,
			err.text, got, says);
		check_failures++;
	}
	free(got);
}

#define EXPECT(want, ...)         expect(__FILE__, __LINE__, WORDS(__VA_ARGS__), want)
#define REJECT(says, before, ...) reject(__FILE__, __LINE__, WORDS(__VA_ARGS__), says, before)

static void check_blocks(void)
{
	EXPECT("t0 load 10 8 1.0\nt0 load 20 8 2.0\nt0 load 30 8 1.0\n", DEFINE_LOAD8(1),
		DEFINE_LOAD8(2), MARK(BLOCK, 0, 1), 0x10, MARK(BLOCK, 0, 2), 0x20,
		MARK(BLOCK, 0, 1), 0x30);
	/* Repeats without BLOCK; a side exit; a block without an address; raw words that grew. */
	EXPECT("t0 load 1 8 1.0\nt0 store 2 4 1.1\nt0 load 3 8 1.0\nt0 load 4 8 1.0\nt0 store 5 4 "
	       "1.1\n",
		DEFINE_LOAD_STORE(1), MARK(BLOCK, 0, 1), 1, 2, 3, MARK(BLOCK, 0, 1),
		MARK(BLOCK, 2, 1), 77, 78, 4, 5);
	/* Sparse ids, the largest one included, and one just beyond the table. */
	EXPECT("t0 load 1 8 281474976710655.0\nt0 load 2 8 4194304.0\nt0 load 3 8 4194303.0\n",
		DEFINE_LOAD8(LOCI_PAYLOAD_MASK), DEFINE_LOAD8(1 << 22), DEFINE_LOAD8((1 << 22) - 1),
		MARK(BLOCK, 0, LOCI_PAYLOAD_MASK), 1, MARK(BLOCK, 0, 1 << 22), 2,
		MARK(BLOCK, 0, (1 << 22) - 1), 3);
	/* 64-bit addresses; WIDE may hold a small one, too. */
	EXPECT("t0 load ffffffffffffffff 8 1.0\nt0 load 5 8 1.0\n", DEFINE_LOAD8(1),
		MARK(BLOCK, 0, 1), MARK(WIDE, 1, 0), UINT64_MAX, MARK(WIDE, 2, 9), 5, 99);
	/* An op this version does not know has words all the same. */
	EXPECT("t0 load 10 8 1.0\nt0 store 20 4 1.1\n", MARK(DEFINE, 6, 1), 0, 0,
		8 | 0xf4ull << 32 | 0xffull << 56, 0, REF(4, STORE, 0), 0, MARK(BLOCK, 0, 1), 0x10,
		0x20);
}

static void check_ranges(void)
{
	EXPECT("t0 load 100 64 1.0\nt0 store 200 4 1.1\nt0 load 300 0 1.0\n", DEFINE_RANGE_STORE(1),
		MARK(BLOCK, 0, 1), 0x100, 64, 0x200, 0x300, 0);
	/* Markers between address and length; WIDE for either. */
	EXPECT("t0 event 25\nt0 load 8000000000000000 18446744073709551615 1.0\n",
		DEFINE_RANGE_STORE(1), MARK(BLOCK, 0, 1), MARK(WIDE, 1, 0), 1ull << 63,
		MARK(TIME, 1, 0), 5, MARK(PAD, 1, 0), 1, MARK(WIDE, 1, 0), UINT64_MAX);
	/* A side exit between the two: the reference did not happen. */
	EXPECT("t0 load 300 1 1.0\n", DEFINE_RANGE_STORE(1), MARK(BLOCK, 0, 1), 0x100,
		MARK(BLOCK, 0, 1), 0x300, 1);
	/* A frame is one word whatever its size. */
	EXPECT("t0 frame 7f00 0 1.0\nt0 load 10 8 1.1\n", MARK(DEFINE, 6, 1), LOCI_BLOCK_ENTRY, 0,
		REF(0, FRAME, 0), 0, REF(8, LOAD, 0), 0, MARK(BLOCK, 0, 1), 0x7f00, 0x10);
}

static void check_definitions(void)
{
	EXPECT("t0 load 1 8 1.0\nt0 store 2 4 1.1\nt0 fetch 3 2 1.2\nt0 load 4 8 1.0\n",
		DEFINE_LOAD_STORE(1), MARK(DEFINE_MORE, 2, 1), REF(2, FETCH, 0), 0,
		MARK(BLOCK, 0, 1), 1, 2, 3, 4);
	/* Replaced: the new one counts from the next BLOCK on. */
	EXPECT("t0 load 1 8 1.0\nt0 load 2 8 1.0\nt0 store 3 4 1.1\n", DEFINE_LOAD8(1),
		MARK(BLOCK, 0, 1), 1, DEFINE_LOAD_STORE(1), MARK(BLOCK, 0, 1), 2, 3);
	/* The same again changes nothing, even in the middle, and may be extended. */
	EXPECT("t0 load 1 8 1.0\nt0 store 2 4 1.1\n", DEFINE_LOAD_STORE(1), MARK(BLOCK, 0, 1), 1,
		DEFINE_LOAD_STORE(1), 2);
	EXPECT("t0 load 1 8 1.0\nt0 load 2 1 1.1\nt0 load 3 8 2.0\n", DEFINE_LOAD8(1),
		DEFINE_LOAD8(2), DEFINE_LOAD8(1), MARK(DEFINE_MORE, 2, 1), REF(1, LOAD, 0), 0,
		MARK(BLOCK, 0, 1), 1, 2, MARK(BLOCK, 0, 2), 3);
	REJECT("no block is current", "t0 load 1 8 1.0\n", DEFINE_LOAD8(1), MARK(BLOCK, 0, 1), 1,
		DEFINE_LOAD_STORE(1), 2);
	REJECT("no block is current", "", DEFINE_LOAD8(1), MARK(BLOCK, 0, 1), MARK(UNDEFINE, 0, 1),
		1);
	REJECT("does not follow its definition", "", DEFINE_LOAD8(1), DEFINE_LOAD8(2),
		MARK(DEFINE_MORE, 2, 1), 0, 0);
	REJECT("does not follow its definition", "", DEFINE_LOAD8(1), MARK(UNDEFINE, 0, 3),
		MARK(DEFINE_MORE, 2, 1), 0, 0);
	REJECT("has 3 raw words", "", MARK(DEFINE, 3, 1), 0, 0, 0);
	REJECT("has 1 raw words, expected 2", "", MARK(DEFINE, 1, 1), 0);
	REJECT("has 1 raw words", "", DEFINE_LOAD8(1), MARK(DEFINE_MORE, 1, 1), 0);
	REJECT("block 2 has no definition", "", DEFINE_LOAD8(1), MARK(BLOCK, 0, 2));
	REJECT("block 4294967296 has no definition", "", MARK(BLOCK, 0, 1ull << 32));
	REJECT("block 1 has no definition", "", DEFINE_LOAD8(1), MARK(UNDEFINE, 0, 1),
		MARK(BLOCK, 0, 1));
	REJECT("which has no references", "", MARK(DEFINE, 2, 1), 0, 0, MARK(BLOCK, 0, 1), 5);
}

static void check_run(void)
{
	EXPECT("t0 load 10 8 1.0\nt0 store fff 4 1.1\nt0 load 18 8 1.0\nt0 store ffe 4 1.1\n"
	       "t0 load 20 8 1.0\nt0 store ffd 4 1.1\nt0 load 7 8 1.0\nt0 store 8 4 1.1\n",
		DEFINE_LOAD_STORE(1), MARK(RUN, 6, 1), 3, 0, 0x10, 8, 0xfff, -1ull, 7, 8);
	/* Interrupts a block, which is not gone on with. */
	EXPECT("t0 load 1 8 1.0\nt0 load 5 8 2.0\nt0 load 5 8 2.0\nt0 load 6 8 2.0\n",
		DEFINE_LOAD_STORE(1), DEFINE_LOAD8(2), MARK(BLOCK, 0, 1), 1, MARK(RUN, 4, 2), 2, 0,
		5, 0, 6);
	/* Addresses of 64 bits; what follows belongs to the thread that it ran in. */
	EXPECT("t3 load 8000000000000000 8 1.0\nt3 load 0 8 1.0\nt3 event 25\nt3 load 9 8 1.0\n",
		DEFINE_LOAD8(1), MARK(SWITCH, 0, 3), MARK(RUN, 4, 1), 2, 0, 1ull << 63, 1ull << 63,
		MARK(TIME, 1, 0), 5, 9);
	/* Of no references nothing comes, however often. */
	EXPECT("t0 event 25\n", MARK(DEFINE, 2, 1), 0, 0, MARK(RUN, 2, 1), UINT64_MAX, 0,
		MARK(TIME, 1, 0), 5);
	REJECT("block 2 has no definition", "", DEFINE_LOAD8(1), MARK(RUN, 4, 2), 1, 0, 0, 0);
	REJECT("block 4294967296 has no definition", "", MARK(RUN, 2, 1ull << 32), 1, 0);
	REJECT("for 0 times", "t0 load 1 8 1.0\n", DEFINE_LOAD8(1), MARK(BLOCK, 0, 1), 1,
		MARK(RUN, 4, 1), 0, 0, 0, 0);
	REJECT("0x1 where zero should be", "", DEFINE_LOAD8(1), MARK(RUN, 4, 1), 1, 1, 0, 0);
	REJECT("which has 1 references, with 3 raw words", "", DEFINE_LOAD8(1), MARK(RUN, 3, 1), 1,
		0, 0);
	REJECT("which has 1 references, with 6 raw words", "", DEFINE_LOAD8(1), MARK(RUN, 6, 1), 1,
		0, 0, 0, 0, 0);
	REJECT("has 1 raw words, expected 2", "", DEFINE_LOAD8(1), MARK(RUN, 1, 1), 1);
	REJECT("is cut off", "", DEFINE_LOAD8(1), MARK(RUN, 4, 1), 1, 0, 0);
	REJECT("whose reference 0 is a range", "", DEFINE_RANGE_STORE(1), MARK(RUN, 6, 1), 1, 0, 0,
		0, 0, 0);
	for (unsigned op = LOCI_OP_FRAME; op <= LOCI_OP_TURN; op++)
		REJECT("whose reference 1 is a range or no access", "", MARK(DEFINE, 6, 1), 0, 0,
			REF(8, LOAD, 0), 0, loci_ref_word(8, op, 0), 0, MARK(RUN, 6, 1), 1, 0, 0, 0,
			0, 0);
}

/* A run of any length needs no more room than is given; where it is an event it is one. */
static void check_long_run(void)
{
	const uint64_t words[] = { DEFINE_LOAD_STORE(1), MARK(RUN, 6, 1), 1 << 24, 0, 0x1000, 8, 0,
		0, MARK(END, 0, 0) };
	uint64_t n_all = 0, bad = 0;
	struct loci_decoder *decoder;
	struct loci_ref refs[1000];
	struct loci_event event;
	size_t pos = 0, n;

	CHECK(loci_decoder_new(&decoder, NULL) == 0);
	do {
		CHECK(loci_decoder_next(decoder, words, sizeof(words) / sizeof(*words), &pos, refs,
			      1000, &n, &event, NULL) == 0);
		for (size_t i = 0; i < n; i++, n_all++)
			bad += refs[i].address != (n_all % 2 ? 0 : 0x1000 + n_all / 2 * 8) ||
				refs[i].op != n_all % 2;
	} while (event.kind != LOCI_MARK_END && n_all <= 2u << 24);
	CHECK_U64(n_all, 2u << 24);
	CHECK_U64(bad, 0);
	loci_decoder_free(decoder);

	CHECK(loci_decoder_new(&decoder, NULL) == 0);
	loci_decoder_keep_runs(decoder);
	pos = 0;
	CHECK(loci_decoder_next(decoder, words, 15, &pos, refs, 1000, &n, &event, NULL) == 0);
	CHECK(n == 0 && event.kind == LOCI_MARK_RUN && event.payload == 1 && event.n_raw == 6);
	CHECK(event.raw == words + 8 && pos == 14);
	loci_decoder_free(decoder);
}

/* The words without RUN: what it says that it stands for. */
static void write_out(const struct random_stream *s, struct random_stream *out)
{
	for (size_t i = 0; i < s->n;) {
		uint64_t word = s->words[i];
		size_t n = 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);
		const uint64_t *raw = s->words + i + 1;

		if (!loci_word_is_marker(word) || loci_word_kind(word) != LOCI_MARK_RUN) {
			for (size_t k = 0; k < n; k++)
				random_put(out, s->words[i + k]);
		} else {
			random_put(out, MARK(BLOCK, 0, loci_word_payload(word)));
			for (uint64_t time = 0; time < raw[0]; time++)
				for (size_t k = 3; k < n; k += 2) {
					random_put(out, MARK(WIDE, 1, 0));
					random_put(out, raw[k - 1] + time * raw[k]);
				}
		}
		i += n;
	}
}

static void check_written_out(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct random_stream s, out = { 0 };
		struct loci_decoder *decoder;
		struct loci_err err = { "" };
		char *text[2];
		size_t bytes;

		random_generate(&s, seed, 20000);
		write_out(&s, &out);
		CHECK(out.n > s.n + 100);
		for (unsigned k = 0; k < 2; k++) {
			FILE *file = open_memstream(&text[k], &bytes);

			CHECK(loci_decoder_new(&decoder, &err) == 0);
			CHECK(listing_words(file, decoder, k ? out.words : s.words, k ? out.n : s.n,
				      1 + seed, &err) == 0);
			loci_decoder_free(decoder);
			fclose(file);
		}
		CHECK_STR(err.text, "");
		CHECK(!strcmp(text[0], text[1]));
		free(text[0]);
		free(text[1]);
		free(s.words);
		free(out.words);
	}
}

static void check_resume(void)
{
	EXPECT("t0 store 2 4 1.1\nt0 load 3 8 1.0\n", DEFINE_LOAD_STORE(1), MARK(RESUME, 1, 1), 1,
		2, 3);
	EXPECT("t0 load 2 8 1.0\n", DEFINE_LOAD_STORE(1), MARK(RESUME, 1, 1), 2, 2);
	EXPECT("t0 load 100 64 1.0\nt0 store 2 4 1.1\n", DEFINE_RANGE_STORE(1), MARK(RESUME, 2, 1),
		1, 0x100, 64, 2);
	EXPECT("t0 store 2 4 1.1\nt0 load 9 1 1.0\n", DEFINE_RANGE_STORE(1), MARK(RESUME, 1, 1), 2,
		2, 9, 1);
	REJECT("without its address", "", DEFINE_RANGE_STORE(1), MARK(RESUME, 1, 1), 1);
	REJECT("after 4 of its 3 words", "", DEFINE_RANGE_STORE(1), MARK(RESUME, 1, 1), 4);
	REJECT("after 18446744073709551615 of", "", DEFINE_LOAD8(1), MARK(RESUME, 1, 1),
		UINT64_MAX);
	REJECT("no definition", "", MARK(RESUME, 1, 1), 0);
	REJECT("has 0 raw words, expected 1", "", DEFINE_LOAD8(1), MARK(RESUME, 0, 1));
}

static void check_threads(void)
{
	EXPECT("t0 load 1 8 1.0\nt7 load 2 8 2.0\nt0 store 3 4 1.1\nt7 load 4 8 2.0\nt7 event 20\n",
		DEFINE_LOAD_STORE(1), DEFINE_LOAD8(2), MARK(BLOCK, 0, 1), 1, MARK(SWITCH, 0, 7),
		MARK(BLOCK, 0, 2), 2, MARK(SWITCH, 0, 0), 3, MARK(SWITCH, 0, 7), 4,
		MARK(SYNC, 2, 0), 0, 0);
	REJECT("no block is current", "t0 load 1 8 1.0\n", DEFINE_LOAD8(1), MARK(BLOCK, 0, 1), 1,
		MARK(SWITCH, 0, 1), 2);
	/* Redefined while another thread was current. */
	REJECT("no block is current", "t0 load 1 8 1.0\n", DEFINE_LOAD8(1), MARK(BLOCK, 0, 1), 1,
		MARK(SWITCH, 0, 1), DEFINE_LOAD_STORE(1), MARK(SWITCH, 0, 0), 2);
	REJECT("thread id 4294967296 has more than 32 bits", "", MARK(SWITCH, 0, 1ull << 32));
}

static void check_signals(void)
{
	uint64_t deep[5 + 2 + 4 * 200 + 2] = { DEFINE_LOAD_STORE(1) };
	struct loci_err err = { "" };
	size_t n = 7;
	char *text;
	int r;

	EXPECT("t0 load 1 8 1.0\nt0 event 23\nt0 load 2 8 1.0\nt0 event 23\nt0 load 3 8 2.0\n"
	       "t0 event 24\nt0 store 4 4 1.1\nt0 event 24\nt0 store 5 4 1.1\n",
		DEFINE_LOAD_STORE(1), DEFINE_LOAD8(2), MARK(BLOCK, 0, 1), 1,
		MARK(SIGNAL_ENTER, 0, 14), MARK(BLOCK, 0, 1), 2, MARK(SIGNAL_ENTER, 0, 2),
		MARK(BLOCK, 0, 2), 3, MARK(SIGNAL_LEAVE, 0, 2), 4, MARK(SIGNAL_LEAVE, 0, 14), 5);
	/* Handlers of two threads do not mix; one interrupts a range. */
	EXPECT("t0 event 23\nt1 event 23\nt0 event 24\nt0 load 100 8 1.0\n", DEFINE_RANGE_STORE(1),
		MARK(BLOCK, 0, 1), 0x100, MARK(SIGNAL_ENTER, 0, 1), MARK(SWITCH, 0, 1),
		MARK(SIGNAL_ENTER, 0, 1), MARK(SWITCH, 0, 0), MARK(SIGNAL_LEAVE, 0, 1), 8);
	REJECT("no block is current", "t0 event 23\n", DEFINE_LOAD8(1), MARK(BLOCK, 0, 1),
		MARK(SIGNAL_ENTER, 0, 14), 1);
	REJECT("no block is current", "t0 event 24\n", DEFINE_LOAD8(1), MARK(BLOCK, 0, 1),
		MARK(SIGNAL_LEAVE, 0, 14), 1);
	REJECT("no block is current", "t0 event 23\nt0 event 24\n", DEFINE_LOAD8(1),
		MARK(BLOCK, 0, 1), MARK(SIGNAL_ENTER, 0, 1), MARK(UNDEFINE, 0, 1),
		MARK(SIGNAL_LEAVE, 0, 1), 1);

	/* 200 handlers, none left: the innermost 64 are kept. */
	for (unsigned i = 0; i < 200; i++) {
		deep[n++] = MARK(BLOCK, 0, 1);
		deep[n++] = i;
		deep[n++] = MARK(SIGNAL_ENTER, 0, 1);
	}
	for (unsigned i = 0; i < LOCI_SIGNAL_DEPTH; i++)
		deep[n++] = MARK(SIGNAL_LEAVE, 0, 1);
	deep[n++] = 0xabc;
	text = list(deep, n, 16, &r, &err);
	CHECK(r == 0 && strstr(text, "t0 store abc 4 1.1\n"));
	free(text);
	deep[n - 1] = MARK(SIGNAL_LEAVE, 0, 1);
	deep[n++] = 0xabc;
	text = list(deep, n, 16, &r, &err);
	CHECK(r == -EBADMSG);
	free(text);
}

static void check_malformed(void)
{
	REJECT("word 0 of the stream: address 0x5 where no block is current", "", 5);
	REJECT("is cut off after 1", "", MARK(TIME, 3, 0), 1);
	REJECT("is cut off after 0", "", MARK(DEFINE, 2, 0));
	REJECT("marker of kind 0x25 has 0 raw words, expected 1", "", MARK(TIME, 0, 0));
	REJECT("word 6 of the stream: marker of kind 0x02 has 0 raw words", "", DEFINE_LOAD8(1),
		MARK(BLOCK, 0, 1), MARK(WIDE, 0, 0));
	REJECT("build-id of 17 bytes in 2 words", "", MARK(MODULE_LOAD, 8, 1), 0, 0, 0, 0, 0, 17, 0,
		0);
	EXPECT("t0 event 18\n", MARK(MODULE_LOAD, 8, 1), 0, 0, 0, 0, 0, 16, 0, 0);
	REJECT("module id", "", MARK(MODULE_LOAD, 6, 1ull << 32), 0, 0, 0, 0, 0, 0);
	REJECT("parent's id", "", MARK(THREAD_START, 4, 1), 1ull << 32, 0, 0, 0);
	/* Kinds of the future and raw words whatever their bits. */
	EXPECT("t0 event 7f\nt0 event 40\n", MARK(PAD, 1, 0), UINT64_MAX,
		loci_mark_word(0x7f, 2, 1), UINT64_MAX, 5, loci_mark_word(0x40, 0, 0));
}

static void check_strings(void)
{
	uint64_t words[] = { MARK(STRING, 1, 1), 0x0000636f6c2e61, MARK(STRING, 1, 2),
		0x6867666564636261, MARK(STRING, 1, 2), 0x69, MARK(STRING, 0, 3),
		MARK(STRING, 1, 1), 0x7a };
	struct loci_err err = { "" };
	struct loci_decoder *decoder;
	struct loci_event event;
	struct loci_ref ref;
	size_t pos = 0, n;

	CHECK(loci_decoder_new(&decoder, &err) == 0);
	CHECK(loci_decoder_string(decoder, 1) == NULL);
	CHECK(loci_decoder_next(decoder, words, 2, &pos, &ref, 1, &n, &event, &err) == 0);
	CHECK_STR(loci_decoder_string(decoder, 1), "a.loc");
	CHECK(loci_decoder_next(decoder, words, 9, &pos, &ref, 1, &n, &event, &err) == 0);
	CHECK_STR(loci_decoder_string(decoder, 1), "z");
	CHECK_STR(loci_decoder_string(decoder, 2), "abcdefghi");
	CHECK_STR(loci_decoder_string(decoder, 3), "");
	loci_decoder_free(decoder);
}

/* What a reference's number leads to. */
static void check_site(void)
{
	uint64_t words[] = { MARK(DEFINE, 6, 9), 3ull << 32 | LOCI_BLOCK_LOOP, 0x4000,
		REF(8, LOAD, LOCI_REF_VECTOR), 0x4001, REF(4, STORE, 0), 0x4002, MARK(BLOCK, 0, 9),
		1, 2 };
	struct loci_err err = { "" };
	struct loci_decoder *decoder;
	struct loci_ref_site site;
	struct loci_event event;
	struct loci_ref refs[2];
	size_t pos = 0, n;

	CHECK(loci_decoder_new(&decoder, &err) == 0);
	CHECK(loci_decoder_next(decoder, words, 10, &pos, refs, 2, &n, &event, &err) == 0);
	CHECK_U64(n, 2);
	CHECK_U64(refs[0].flags, LOCI_REF_VECTOR);
	CHECK_U64(loci_decoder_block_words(decoder, 9), 2);
	CHECK_U64(loci_decoder_block_words(decoder, 8), 0);
	CHECK(loci_decoder_site(decoder, refs[1].definition, &site) == 0);
	CHECK_U64(site.block, 9);
	CHECK_U64(site.module, 3);
	CHECK_U64(site.ordinal, 1);
	CHECK_U64(site.site, 0x4002);
	CHECK_U64(site.code_address, 0x4000);
	CHECK_U64(site.block_flags, LOCI_BLOCK_LOOP);
	CHECK_U64(site.op, refs[1].op);
	CHECK_U64(site.size_bytes, refs[1].size_bytes);
	CHECK_U64(site.flags, refs[1].flags);
	loci_decoder_free(decoder);
}

/* However the words are cut, the same comes out; and the state carries over to another decoder. */
static void check_cuts(void)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct random_stream s;
		struct loci_decoder *whole, *pieces;
		struct loci_err err = { "" };
		char *a, *b;
		size_t a_bytes, b_bytes, from = 0, to = 0;
		FILE *out_a = open_memstream(&a, &a_bytes), *out_b = open_memstream(&b, &b_bytes);

		random_generate(&s, seed, 4000);
		CHECK(loci_decoder_new(&whole, &err) == 0 && loci_decoder_new(&pieces, &err) == 0);
		CHECK(listing_words(out_a, whole, s.words, s.n, 64, &err) == 0);
		for (; from < s.n; from = to) {
			size_t n = 1 + random_below(&s, 50);

			while (to < s.n && to - from < n)
				to += 1 +
					(loci_word_is_marker(s.words[to])
							? loci_word_n_raw(s.words[to])
							: 0);
			CHECK(listing_words(out_b, pieces, s.words + from, to - from,
				      1 + random_below(&s, 9), &err) == 0);
		}
		CHECK_STR(err.text, "");
		fclose(out_a);
		fclose(out_b);
		CHECK(!strcmp(a, b));
		CHECK(strlen(a) > 10000);
		loci_decoder_free(whole);
		loci_decoder_free(pieces);
		free(a);
		free(b);
		free(s.words);
	}
}

struct flat {
	uint64_t address;
	uint32_t definition, thread;
};

/* All references, of which runs give as many as they may. Returns how many they gave. */
static size_t flatten(const struct random_stream *s, bool by_runs, struct flat *out, size_t *ret_n)
{
	struct loci_decoder *decoder;
	struct loci_err err = { "" };
	size_t from = 0, n = 0, in_runs = 0;

	CHECK(loci_decoder_new(&decoder, &err) == 0);
	for (size_t to = 0; from < s->n; from = to) {
		size_t pos = 0;

		while (to < s->n && to - from < 700)
			to += 1 +
				(loci_word_is_marker(s->words[to]) ? loci_word_n_raw(s->words[to])
								   : 0);
		while (pos < to - from) {
			struct loci_ref_run runs[3];
			struct loci_event event;
			struct loci_ref ref;
			size_t n_refs, k = 0;

			if (by_runs)
				k = loci_decoder_runs(
					decoder, s->words + from, to - from, &pos, runs, 3);
			for (size_t i = 0; i < k; i++)
				for (uint32_t j = 0; j < runs[i].n; j++, in_runs++)
					out[n++] = (struct flat){ runs[i].address[j],
						runs[i].definition + j,
						loci_decoder_thread(decoder) };
			if (k)
				continue;
			CHECK(loci_decoder_next(decoder, s->words + from, to - from, &pos, &ref, 1,
				      &n_refs, &event, &err) == 0);
			if (n_refs)
				out[n++] = (struct flat){ ref.address, ref.definition, ref.thread };
		}
	}
	CHECK_U64(loci_decoder_definitions(decoder) > 0, 1);
	loci_decoder_free(decoder);
	*ret_n = n;
	return in_runs;
}

static void check_runs(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct random_stream s;
		struct flat *a, *b;
		size_t n_a, n_b, in_runs;

		random_generate(&s, seed, 20000);
		a = calloc(RANDOM_RUN_TIMES * s.n, sizeof(*a));
		b = calloc(RANDOM_RUN_TIMES * s.n, sizeof(*b));
		flatten(&s, false, a, &n_a);
		in_runs = flatten(&s, true, b, &n_b);
		CHECK_U64(n_a, n_b);
		CHECK(n_a > 1000 && in_runs > n_a / 4);
		CHECK(n_a == n_b && !memcmp(a, b, n_a * sizeof(*a)));
		free(a);
		free(b);
		free(s.words);
	}
}

int main(void)
{
	CHECK_U64(MARK(ALLOC, 3, 64), 0x9003000000000040);
	CHECK_U64(loci_mark_word(LOCI_MARK_LOST, 0, UINT64_MAX), 0xba00ffffffffffff);
	CHECK_U64(REF(16, STORE, LOCI_REF_ATOMIC | LOCI_REF_PREFETCH), 0x0000410100000010);
	check_blocks();
	check_ranges();
	check_definitions();
	check_run();
	check_long_run();
	check_written_out();
	check_resume();
	check_threads();
	check_signals();
	check_malformed();
	check_strings();
	check_site();
	check_cuts();
	check_runs();
	return check_status();
}
