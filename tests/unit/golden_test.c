// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces that must be readable for ever, with the listing of their words and of what they mean.
 * `golden_test --write DIR` made them; they are never made anew: a new version of the format adds
 * files. */
#define _GNU_SOURCE
#include "check.h"
#include "stream_listing.h"

#include "stream/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct words {
	uint64_t word[4096];
	size_t n;
};

static void put(struct words *w, uint64_t word)
{
	w->word[w->n++] = word;
}

static void put_marker(struct words *w, unsigned kind, unsigned n_raw, uint64_t payload)
{
	put(w, loci_mark_word(kind, n_raw, payload));
	for (unsigned i = 0; i < n_raw; i++)
		put(w, (uint64_t)kind << 32 | i);
}

static void put_string(struct words *w, uint64_t id, const char *text)
{
	size_t n = strlen(text) / 8 + 1;
	uint64_t raw[8] = { 0 };

	memcpy(raw, text, strlen(text));
	put(w, loci_mark_word(LOCI_MARK_STRING, (unsigned)n, id));
	for (size_t i = 0; i < n; i++)
		put(w, raw[i]);
}

/* Every kind of marker, op and flag, ranges, wide addresses, threads, signals. */
static void every_marker(struct words *w)
{
	static const uint8_t events[][2] = { { LOCI_MARK_THREAD_EXIT, 2 }, { LOCI_MARK_FORK, 0 },
		{ LOCI_MARK_EXEC, 0 }, { LOCI_MARK_PROCESS, 3 }, { LOCI_MARK_ALLOC, 3 },
		{ LOCI_MARK_FREE, 2 }, { LOCI_MARK_RESIZE, 4 }, { LOCI_MARK_MAP, 5 },
		{ LOCI_MARK_UNMAP, 3 }, { LOCI_MARK_OBJECT, 3 }, { LOCI_MARK_OBJECT_END, 2 },
		{ LOCI_MARK_MODULE_UNLOAD, 1 }, { LOCI_MARK_SYNC, 2 }, { LOCI_MARK_BLOCKED, 0 },
		{ LOCI_MARK_RUNNING, 0 }, { LOCI_MARK_TIME, 1 }, { LOCI_MARK_REGION_BEGIN, 0 },
		{ LOCI_MARK_REGION_END, 0 }, { LOCI_MARK_WINDOW_BEGIN, 1 },
		{ LOCI_MARK_WINDOW_END, 1 }, { LOCI_MARK_SAMPLE_OPEN, 6 },
		{ LOCI_MARK_SAMPLE_EVICT, 2 }, { LOCI_MARK_SAMPLE_FIRE, 6 }, { LOCI_MARK_STACK, 5 },
		{ LOCI_MARK_COUNT, 1 }, { LOCI_MARK_UNSEEN, 2 }, { LOCI_MARK_LOST, 0 }, { 0x7f, 9 },
		{ LOCI_MARK_END, 0 } };

	put_string(w, 1, "/usr/bin/example");
	put_string(w, 2, "abcdefg");
	put(w, loci_mark_word(LOCI_MARK_MODULE_LOAD, 9, 5));
	for (uint64_t i = 0; i < 5; i++)
		put(w, 0x400000 + i);
	put(w, 20); /* bytes of build-id */
	put(w, 0x1122334455667788);
	put(w, 0x99aabbccddeeff00);
	put(w, 0x12345678);
	put(w, loci_mark_word(LOCI_MARK_THREAD_START, 4, 3));
	for (uint64_t i = 0; i < 4; i++)
		put(w, i);

	put(w, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * 4, 1));
	put(w, 5ull << 32 | LOCI_BLOCK_ENTRY | LOCI_BLOCK_LOOP);
	put(w, 0x401000);
	for (unsigned i = 0; i < 4; i++) {
		put(w, loci_ref_word(1u << i, (LOCI_OP_FRAME + i) % 4, 1u << i));
		put(w, 0x401000 + 4 * i);
	}
	put(w, loci_mark_word(LOCI_MARK_DEFINE_MORE, 4, 1));
	put(w, loci_ref_word(0, LOCI_OP_STORE, LOCI_REF_BULK));
	put(w, 0x401020);
	put(w,
		loci_ref_word(
			64, LOCI_OP_LOAD, LOCI_REF_VECTOR | LOCI_REF_MODIFY | LOCI_REF_PREFETCH));
	put(w, 0x401024);
	put(w, loci_mark_word(LOCI_MARK_DEFINE, 4, 0x7fff12345678));
	put(w, LOCI_BLOCK_KERNEL);
	put(w, 0);
	put(w, loci_ref_word(8, LOCI_OP_LOAD, LOCI_REF_KERNEL));
	put(w, UINT64_MAX);

	put(w, loci_mark_word(LOCI_MARK_BLOCK, 0, 1));
	put(w, 0x7ffe0000); /* frame */
	put(w, 0x10000);
	put_marker(w, LOCI_MARK_PAD, 3, 0);
	put(w, loci_mark_word(LOCI_MARK_WIDE, 1, 0));
	put(w, 0xffff888000001000);
	put(w, 0x401040);
	put(w, 0x20000);
	put(w, loci_mark_word(LOCI_MARK_SIGNAL_ENTER, 0, 11)); /* between address and length */
	put(w, loci_mark_word(LOCI_MARK_BLOCK, 0, 0x7fff12345678));
	put(w, 0x30000);
	put(w, loci_mark_word(LOCI_MARK_SWITCH, 0, 3));
	put(w, loci_mark_word(LOCI_MARK_RESUME, 1, 1));
	put(w, 6);
	put(w, 0x40000);
	put(w, loci_mark_word(LOCI_MARK_SWITCH, 0, 0));
	put(w, 0x30008);
	put(w, loci_mark_word(LOCI_MARK_SIGNAL_LEAVE, 0, 11));
	put(w, 4096); /* the length */
	put(w, 0x20040);
	put(w, loci_mark_word(LOCI_MARK_UNDEFINE, 0, 0x7fff12345678));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		put_marker(w, events[i][0], events[i][1], i);
}

/* A loop that needs no BLOCK, in two threads, over frames of 50 words. */
static void repeats(struct words *w)
{
	for (uint64_t id = 1; id <= 2; id++) {
		put(w, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * 3, id));
		put(w, 0);
		put(w, 0x400000 * id);
		for (unsigned i = 0; i < 3; i++) {
			put(w, loci_ref_word(i == 2 && id == 2 ? 0 : 8, i == 2, 0));
			put(w, 0x400000 * id + i);
		}
	}
	for (uint64_t i = 0; i < 400; i++) {
		uint64_t thread = i / 130 % 2;

		if (i % 130 == 0)
			put(w, loci_mark_word(LOCI_MARK_SWITCH, 0, thread));
		if (i == 0 || i == 130 || i == 300)
			put(w, loci_mark_word(LOCI_MARK_BLOCK, 0, 1 + thread));
		put(w, 0x10000 * (thread + 1) + i % 3 * 0x1000 + i / 3 * 8);
	}
	put(w, loci_mark_word(LOCI_MARK_END, 0, 0));
}

/* Version 2: blocks that ran many times, and the other markers that came with it. */
static void runs(struct words *w)
{
	put_string(w, 1, "phase");
	put(w, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * 3, 1));
	put(w, LOCI_BLOCK_LOOP);
	put(w, 0x400000);
	for (unsigned i = 0; i < 3; i++) {
		put(w, loci_ref_word(8, i == 2, 0));
		put(w, 0x400000 + i);
	}
	put(w, loci_mark_word(LOCI_MARK_DEFINE, 2, 2));
	put(w, LOCI_BLOCK_PLAIN);
	put(w, 0x500000);
	for (uint64_t i = 0; i < 12; i++) {
		if (i % 5 == 4)
			put(w, loci_mark_word(LOCI_MARK_SWITCH, 0, i % 2));
		put(w, loci_mark_word(LOCI_MARK_RUN, 2 + 2 * 3, 1));
		put(w, 1 + i);
		put(w, 0);
		for (uint64_t k = 0; k < 3; k++) {
			put(w, 0x10000 * k + i * 0x800);
			put(w, k == 2 ? 0 - i : 8 * k);
		}
		for (uint64_t k = 0; k < i % 4; k++) /* goes on with the block */
			put(w, 0x30000 + 8 * k);
	}
	put(w, loci_mark_word(LOCI_MARK_RUN, 2, 2));
	put(w, 1ull << 40);
	put(w, 0);
	put_marker(w, LOCI_MARK_OBJECT, 4, 64);
	put_marker(w, LOCI_MARK_OBJECT_PART, 4, 8);
	put_marker(w, LOCI_MARK_PHASE, 1, 1);
	put_marker(w, LOCI_MARK_EXECUTED, 1, 1);
	put_marker(w, LOCI_MARK_MISTAKE, 1, 1);
	put(w, loci_mark_word(LOCI_MARK_END, 0, 0));
}

static const struct {
	const char *name;
	void (*make)(struct words *w);
	size_t frame_words;
	uint32_t version;
} goldens[] = {
	{ "every-marker", every_marker, 40, 1 },
	{ "repeats", repeats, 50, 1 },
	{ "runs", runs, 30, 2 },
};

static int list(FILE *out, const char *path)
{
	uint64_t words[1024];
	struct loci_err err = { "" };
	struct loci_source *source = NULL;
	ssize_t n;
	int fd, r = 0;

	for (unsigned pass = 0; pass < 2 && r == 0; pass++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : loci_trace_open_fd(fd, path, &source, &err);
		if (r == 0 && pass == 0)
			fprintf(out,
				"version %u arch %u collector %u unit %u capabilities %u origin "
				"%s\n",
				source->info.version, source->info.arch, source->info.collector,
				source->info.unit, source->info.capabilities, source->info.origin);
		if (r == 0 && pass == 1)
			r = listing_source(out, source, 1024, &err);
		while (r == 0 && pass == 0 &&
			(n = source->ops->read(source, words, 1024, &err)) != 0) {
			for (ssize_t i = 0; i < n; i++)
				fprintf(out, "%016" PRIx64 "\n", words[i]);
			r = n < 0 ? (int)n : 0;
		}
		loci_source_close(source);
		source = NULL;
	}
	CHECK_STR(err.text, "");
	return r;
}

static char *slurp(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	if (in && text) {
		text[fread(text, 1, (1 << 20) - 1, in)] = 0;
		fclose(in);
	}
	return text;
}

static void check_golden(const char *name)
{
	char path[256], *got, *want;
	size_t bytes;
	FILE *out = open_memstream(&got, &bytes);

	snprintf(path, sizeof(path), "golden/%s.trace", name);
	CHECK(list(out, path) == 0);
	fclose(out);
	snprintf(path, sizeof(path), "golden/%s.txt", name);
	want = slurp(path);
	CHECK(want[0]);
	CHECK(!strcmp(got, want));
	free(want);
	free(got);
}

/* What this version makes of the same words must mean the same. */
static int write_golden(const char *dir, size_t i)
{
	const struct loci_stream_info info = { .version = goldens[i].version,
		.arch = LOCI_ARCH_X86_64,
		.collector = LOCI_COLLECTOR_CC,
		.unit = LOCI_UNIT_BYTE,
		.capabilities = LOCI_CAP_COMPLETE | LOCI_CAP_STORES | LOCI_CAP_SITES,
		.origin = "golden" };
	struct words *w = calloc(1, sizeof(*w));
	struct loci_trace_writer *writer;
	struct loci_err err = { "" };
	char path[256];
	FILE *out;
	int r;

	snprintf(path, sizeof(path), "%s/%s.trace", dir, goldens[i].name);
	goldens[i].make(w);
	r = loci_trace_create(path, &info, &writer, &err);
	if (r == 0) {
		loci_trace_set_frame(writer, goldens[i].frame_words);
		r = loci_trace_write(writer, w->word, w->n, &err);
		r = loci_trace_close(writer, &err) < 0 ? -EIO : r;
	}
	free(w);
	if (r < 0) {
		fprintf(stderr, "%s\n", err.text);
		return r;
	}
	snprintf(path + strlen(path) - strlen("trace"), 6, "txt");
	out = fopen(path, "w");
	snprintf(path + strlen(path) - strlen("txt"), 6, "trace");
	r = out ? list(out, path) : -errno;
	if (out)
		fclose(out);
	return r;
}

static void check_today(size_t i)
{
	char dir[] = "/tmp/loci-golden-XXXXXX", path[256], *got, *want;

	CHECK(mkdtemp(dir) != NULL);
	CHECK(write_golden(dir, i) == 0);
	snprintf(path, sizeof(path), "%s/%s.trace", dir, goldens[i].name);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s.txt", dir, goldens[i].name);
	got = slurp(path);
	unlink(path);
	rmdir(dir);
	snprintf(path, sizeof(path), "golden/%s.txt", goldens[i].name);
	want = slurp(path);
	CHECK(!strcmp(got, want));
	free(got);
	free(want);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		if (argc == 3 && !strcmp(argv[1], "--write"))
			CHECK(write_golden(argv[2], i) == 0);
		else
			check_golden(goldens[i].name);
		if (argc == 1)
			check_today(i);
	}
	return check_status();
}
