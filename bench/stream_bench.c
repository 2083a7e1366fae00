// SPDX-License-Identifier: GPL-2.0-or-later
/* What a word costs on its way: decoded, written to a trace, read from it, through a ring.
 *
 *	stream_bench [LACKEY]
 *
 * LACKEY is the log of `valgrind --tool=lackey --trace-mem=yes`; its data references are taken as
 *an importer would. Times are CPU time, the median of 5; the ring's is that of both processes. */
#define _GNU_SOURCE
#include "stream/decode.h"
#include "stream/ring.h"
#include "stream/ring_producer.h"
#include "stream/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS  5
#define WORDS 20000000u
#define BATCH 16384

struct stream {
	uint64_t *words;
	size_t n, cap, refs;
};

static void put(struct stream *s, uint64_t word)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 1 << 20;
		s->words = realloc(s->words, s->cap * sizeof(*s->words));
		if (!s->words)
			exit(1);
	}
	s->words[s->n++] = word;
}

static void define(struct stream *s, uint64_t id, unsigned n_refs, const uint64_t *descriptor)
{
	put(s, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * n_refs, id));
	put(s, 0);
	put(s, 0);
	for (unsigned i = 0; i < n_refs; i++) {
		put(s, descriptor[i]);
		put(s, 0);
	}
}

/* BLOCK before every address. */
static void pairs(struct stream *s)
{
	for (uint64_t id = 1; id <= 2; id++)
		define(s, id, 1, (uint64_t[]){ loci_ref_word(8, id == 2, 0) });
	for (uint64_t i = 0; s->n < WORDS; i++, s->refs++) {
		put(s, loci_mark_word(LOCI_MARK_BLOCK, 0, 1 + i % 2));
		put(s, i * 0x9e3779b97f4a7c15ull >> 40 << 3);
	}
}

/* One block of three references, as in the inner loop of a matrix product. */
static void loop(struct stream *s)
{
	define(s, 1, 3,
		(uint64_t[]){ loci_ref_word(8, LOCI_OP_LOAD, 0), loci_ref_word(8, LOCI_OP_LOAD, 0),
			loci_ref_word(8, LOCI_OP_STORE, 0) });
	put(s, loci_mark_word(LOCI_MARK_BLOCK, 0, 1));
	for (uint64_t i = 0; s->n < WORDS; i++, s->refs += 3) {
		put(s, 0x100000 + i % 800 * 8);
		put(s, 0x900000 + i % 800 * 6400 + i / 800 % 800 * 8);
		put(s, 0x1100000 + i / 800 % 800 * 8);
	}
}

static void lackey(struct stream *s, const char *path)
{
	static uint64_t ids[4096];
	FILE *in = fopen(path, "r");
	uint64_t n_ids = 0, current = 0;
	char line[256];

	if (!in) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof(line), in)) {
		unsigned kind = line[1] == 'L' ? 0 : line[1] == 'S' ? 1 : line[1] == 'M' ? 2 : 3;
		uint64_t address, key;
		unsigned size;
		char *end;

		if (line[0] != ' ' || kind == 3)
			continue;
		address = strtoull(line + 3, &end, 16);
		size = (unsigned)atoi(end + 1) % 1024;
		key = kind << 10 | size;
		if (!ids[key]) {
			ids[key] = ++n_ids;
			define(s, n_ids, kind == 2 ? 2 : 1,
				(uint64_t[]){ loci_ref_word(size, kind == 1, 0),
					loci_ref_word(size, LOCI_OP_STORE, 0) });
		}
		if (ids[key] != current)
			put(s, loci_mark_word(LOCI_MARK_BLOCK, 0, current = ids[key]));
		for (unsigned i = 0; i < 1 + (kind == 2); i++, s->refs++)
			put(s, address);
	}
	fclose(in);
}

static double cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return 1e9 * (double)ts.tv_sec + (double)ts.tv_nsec;
}

static void fail(const struct loci_err *err)
{
	fprintf(stderr, "stream_bench: %s\n", err->text);
	exit(1);
}

static double time_decode(const struct stream *s, const char *unused)
{
	static struct loci_ref refs[4096];
	struct loci_err err = { "" };
	struct loci_decoder *decoder;
	size_t n = 0, total = 0, pos = 0;
	double start;

	(void)unused;
	if (loci_decoder_new(&decoder, &err) < 0)
		fail(&err);
	start = cpu();
	while (pos < s->n) {
		struct loci_event event;

		if (loci_decoder_next(decoder, s->words, s->n, &pos, refs, 4096, &n, &event, &err) <
			0)
			fail(&err);
		total += n;
	}
	start = cpu() - start;
	loci_decoder_free(decoder);
	if (total != s->refs)
		exit(1);
	return start;
}

static const struct loci_stream_info info = { .version = LOCI_STREAM_VERSION };

static double time_write(const struct stream *s, const char *path)
{
	double start = cpu();
	struct loci_trace_writer *writer;
	struct loci_err err = { "" };

	if (loci_trace_create(path, &info, &writer, &err) < 0 ||
		loci_trace_write(writer, s->words, s->n, &err) < 0 ||
		loci_trace_close(writer, &err) < 0)
		fail(&err);
	return cpu() - start;
}

static double time_source(struct loci_source *source, size_t *ret_words)
{
	static uint64_t words[BATCH];
	double start = cpu();
	struct loci_err err = { "" };
	ssize_t n;

	*ret_words = 0;
	while ((n = source->ops->read(source, words, BATCH, &err)) > 0)
		*ret_words += (size_t)n;
	if (n < 0)
		fail(&err);
	start = cpu() - start;
	loci_source_close(source);
	return start;
}

static double time_read(const struct stream *s, const char *path)
{
	struct loci_source *source;
	struct loci_err err = { "" };
	size_t n;
	double ns;

	if (loci_trace_open_fd(open(path, O_RDONLY | O_CLOEXEC), path, &source, &err) < 0)
		fail(&err);
	ns = time_source(source, &n);
	if (n != s->n)
		exit(1);
	return ns;
}

/* The producer appends in pieces of the size of a block's words. */
static void produce(const struct stream *s, const char *path)
{
	struct loci_ring_producer *producer;

	if (loci_ring_producer_open(path, &producer) < 0)
		_exit(1);
	for (size_t i = 0, n; i < s->n; i += n) {
		uint64_t *at;

		n = 1 + (loci_word_is_marker(s->words[i]) ? loci_word_n_raw(s->words[i]) : 0);
		if (n == 1 && i + 4 <= s->n &&
			!((s->words[i + 1] | s->words[i + 2] | s->words[i + 3]) >> 63))
			n = 4;
		at = loci_ring_reserve(producer, n);
		for (size_t k = 0; k < n; k++)
			at[k] = s->words[i + k];
		loci_ring_commit(producer, at + n);
	}
	loci_ring_producer_close(producer);
	_exit(0);
}

static double cpu_of(const struct rusage *usage)
{
	return 1e9 * (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
		1e3 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static double time_ring(const struct stream *s, const char *unused)
{
	struct loci_rundir *dir;
	struct loci_source *source = NULL;
	struct loci_err err = { "" };
	struct rusage usage;
	size_t n;
	double ns, before;
	pid_t child;

	(void)unused;
	if (loci_rundir_new(&dir, &err) < 0 ||
		loci_ring_create(dir, "bench", &info, 0, &source, &err) < 0)
		fail(&err);
	getrusage(RUSAGE_CHILDREN, &usage);
	before = cpu_of(&usage);
	child = fork();
	if (child == 0)
		produce(s, loci_ring_path(source));
	ns = time_source(source, &n);
	waitpid(child, NULL, 0);
	getrusage(RUSAGE_CHILDREN, &usage);
	ns += cpu_of(&usage) - before;
	loci_rundir_free(dir);
	if (n < s->n)
		exit(1);
	return ns;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double (*time)(const struct stream *, const char *), const struct stream *s,
	const char *path)
{
	double ns[RUNS];

	for (unsigned i = 0; i < RUNS; i++)
		ns[i] = time(s, path);
	qsort(ns, RUNS, sizeof(ns[0]), by_value);
	return ns[RUNS / 2];
}

static void report(const char *name, struct stream *s)
{
	char path[] = "/dev/shm/loci-stream-bench.trace";
	double n = (double)s->n, refs = (double)s->refs, decode, write, read, ring;
	struct stat st;

	decode = median(time_decode, s, path);
	write = median(time_write, s, path);
	read = median(time_read, s, path);
	ring = median(time_ring, s, path);
	if (stat(path, &st) < 0)
		exit(1);
	printf("%-8s %7.1f M %7.1f M %10.2f %8.2f %8.2f %8.2f %8.2f %11.3f\n", name, refs / 1e6,
		n / 1e6, decode / refs, decode / n, write / n, read / n, ring / n,
		(double)st.st_size / refs);
	unlink(path);
	free(s->words);
	*s = (struct stream){ 0 };
}

int main(int argc, char **argv)
{
	struct stream s = { 0 };

	printf("%-8s %9s %9s %10s %8s %8s %8s %8s %11s\n", "stream", "refs", "words", "decode",
		"decode", "write", "read", "ring", "trace");
	printf("%-8s %9s %9s %10s %8s %8s %8s %8s %11s\n", "", "", "", "ns/ref", "ns/word",
		"ns/word", "ns/word", "ns/word", "bytes/ref");
	pairs(&s);
	report("pairs", &s);
	loop(&s);
	report("loop", &s);
	if (argc > 1) {
		lackey(&s, argv[1]);
		report("lackey", &s);
	}
	return 0;
}
