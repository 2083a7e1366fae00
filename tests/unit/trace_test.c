// SPDX-License-Identifier: GPL-2.0-or-later
/* Trace files: what is written comes back, from any frame on; damage of every kind is found. */
#define _GNU_SOURCE
#include "check.h"
#include "stream_listing.h"
#include "stream_random.h"

#include "stream/trace.h"
#include "stream/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/loci-trace-test-XXXXXX";
static char path[64];

static const struct loci_stream_info info = { .version = LOCI_STREAM_VERSION,
	.arch = LOCI_ARCH_X86_64,
	.capabilities = LOCI_CAP_COMPLETE,
	.origin = "test" };

static void write_file(const struct random_stream *s, size_t frame_words, size_t piece)
{
	struct loci_trace_writer *writer;
	struct loci_err err = { "" };
	size_t from = 0, to;

	CHECK(loci_trace_create(path, &info, &writer, &err) == 0);
	if (frame_words)
		loci_trace_set_frame(writer, frame_words);
	for (from = to = 0; from < s->n; from = to) {
		while (to < s->n && to - from < piece)
			to += 1 +
				(loci_word_is_marker(s->words[to]) ? loci_word_n_raw(s->words[to])
								   : 0);
		CHECK(loci_trace_write(writer, s->words + from, to - from, &err) == 0);
	}
	CHECK(loci_trace_close(writer, &err) == 0);
	CHECK_STR(err.text, "");
}

static char *list_words(const struct random_stream *s)
{
	struct loci_decoder *decoder;
	struct loci_err err = { "" };
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	CHECK(loci_decoder_new(&decoder, &err) == 0);
	CHECK(listing_words(out, decoder, s->words, s->n, 64, &err) == 0);
	CHECK_STR(err.text, "");
	loci_decoder_free(decoder);
	fclose(out);
	return text;
}

static struct loci_source *open_trace(void)
{
	struct loci_err err = { "" };
	struct loci_source *source = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(loci_trace_open_fd(fd, "t.trace", &source, &err) == 0);
	CHECK_STR(err.text, "");
	return source;
}

static char *list_source(struct loci_source *source, size_t cap, struct loci_err *err, int *ret)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	*ret = listing_source(out, source, cap, err);
	fclose(out);
	return text;
}

/* The very words, not only their meaning, and those of random streams. */
static void check_words(const struct random_stream *s)
{
	struct loci_source *source = open_trace();
	struct loci_err err = { "" };
	uint64_t words[1024];
	size_t at = 0;
	ssize_t n;

	CHECK_STR(source->info.origin, "test");
	CHECK_U64(source->info.capabilities, LOCI_CAP_COMPLETE);
	while ((n = source->ops->read(source, words, 1024, &err)) > 0) {
		CHECK(at + (size_t)n <= s->n && !memcmp(words, s->words + at, (size_t)n * 8));
		at += (size_t)n;
		CHECK_U64(loci_trace_tell(source), at);
	}
	CHECK(n == 0);
	CHECK_U64(at, s->n);
	CHECK_STR(source->note, "");
	loci_source_close(source);
}

/* From a word on, the listing is the tail of the whole one. Where it starts is found by decoding
 * the words before. */
static void check_seek(const struct random_stream *s, const char *whole, uint64_t word)
{
	struct loci_source *source = open_trace();
	struct loci_err err = { "" };
	struct loci_decoder *decoder;
	uint64_t n_words, n_frames, first;
	char *head, *tail;
	size_t bytes;
	FILE *out = open_memstream(&head, &bytes);
	int r;

	CHECK(loci_trace_extent(source, &n_words, &n_frames, &err) == 0);
	CHECK_U64(n_words, s->n);
	CHECK(loci_trace_seek(source, s->n, &err) == -ERANGE);
	err.text[0] = 0;
	CHECK(loci_trace_seek(source, word, &err) == 0);
	first = loci_trace_tell(source);
	CHECK(first <= word);
	CHECK(loci_decoder_new(&decoder, &err) == 0);
	CHECK(listing_words(out, decoder, s->words, first, 64, &err) == 0);
	fclose(out);
	tail = list_source(source, 1024 + word % 100, &err, &r);
	CHECK(r == 0);
	CHECK_STR(err.text, "");
	CHECK(!strncmp(whole, head, strlen(head)));
	if (first == 0) {
		CHECK(!strcmp(tail, whole));
	} else {
		/* Handlers and threads that were there before the frame are announced again. */
		const char *rest = whole + strlen(head);
		size_t extra = strlen(tail) - strlen(rest);

		CHECK(strlen(tail) >= strlen(rest));
		if (strlen(tail) >= strlen(rest))
			CHECK(!strcmp(tail + extra, rest));
		for (char *line = strtok(tail, "\n"); line && line < tail + extra;
			line = strtok(NULL, "\n"))
			CHECK(strstr(line, " kind 23 ") || strstr(line, " kind 09 "));
	}
	loci_decoder_free(decoder);
	free(head);
	free(tail);
	loci_source_close(source);
}

static void check_random(void)
{
	static const size_t frames[] = { 0, 1, 7, 100, 1000, 5000 };

	for (uint64_t seed = 1; seed <= check_turns(60); seed++) {
		struct random_stream s;
		struct loci_source *source;
		struct loci_err err = { "" };
		char *whole, *text;
		int r;

		random_generate(&s, seed, seed % 4 ? 3000 : 30000);
		whole = list_words(&s);
		write_file(&s, frames[seed % 6], 1 + seed * 37 % 3000);
		check_words(&s);
		source = open_trace();
		text = list_source(source, 1024 + seed, &err, &r);
		CHECK(r == 0);
		CHECK(!strcmp(text, whole));
		loci_source_close(source);
		for (unsigned i = 0; i < 6; i++)
			check_seek(&s, whole, random_below(&s, (unsigned)s.n));
		free(text);
		free(whole);
		free(s.words);
	}
}

static uint8_t *slurp(size_t *ret_bytes)
{
	struct stat st;
	uint8_t *bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	bytes = malloc((size_t)st.st_size + 1);
	CHECK(read(fd, bytes, (size_t)st.st_size) == st.st_size);
	close(fd);
	*ret_bytes = (size_t)st.st_size;
	return bytes;
}

static void spill(const uint8_t *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);

	CHECK(write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

/* Reads all; returns the reader's status and the number of words that came and were right. */
static int read_words(const struct random_stream *s, int fd, size_t *ret_words, char note[256],
	struct loci_err *err)
{
	struct loci_source *source;
	uint64_t words[1024];
	size_t at = 0;
	ssize_t n;
	int r = loci_trace_open_fd(fd, "t.trace", &source, err);

	*ret_words = 0;
	note[0] = 0;
	if (r < 0) {
		close(fd);
		return r;
	}
	while ((n = source->ops->read(source, words, 1024, err)) > 0) {
		CHECK(at + (size_t)n <= s->n && !memcmp(words, s->words + at, (size_t)n * 8));
		at += (size_t)n;
	}
	strcpy(note, source->note);
	loci_source_close(source);
	*ret_words = at;
	return (int)n;
}

/* Cut at every byte: all whole frames are read and a note says so. */
static void check_torn(void)
{
	struct random_stream s;
	struct loci_trace_frame frame;
	uint8_t *bytes;
	size_t n, next_end = 0, good = 0;

	random_generate(&s, 99, 700);
	write_file(&s, 100, 50);
	bytes = slurp(&n);
	memcpy(&frame, bytes + 128, sizeof(frame));
	next_end = 128 + sizeof(frame) + frame.stored_bytes;
	for (size_t cut = 0; cut < n; cut++) {
		struct loci_err err = { "" };
		char note[256];
		size_t words;
		int r;

		spill(bytes, cut);
		r = read_words(&s, open(path, O_RDONLY | O_CLOEXEC), &words, note, &err);
		if (cut < 128) {
			CHECK(r == -EBADMSG && err.text[0]);
			continue;
		}
		if (cut == next_end && frame.magic == LOCI_TRACE_FRAME_MAGIC) {
			good += frame.n_words;
			memcpy(&frame, bytes + cut, sizeof(frame));
			next_end += sizeof(frame) + frame.stored_bytes;
		}
		CHECK(r == 0);
		CHECK_STR(err.text, "");
		CHECK_U64(words, good);
		CHECK(strstr(note, "torn"));
	}
	CHECK_U64(good, s.n);
	free(bytes);
	free(s.words);
}

/* Any flipped bit is an error, or hurts nothing. */
static void check_flips(void)
{
	struct random_stream s;
	uint8_t *bytes;
	size_t n;
	unsigned found = 0, harmless = 0;

	random_generate(&s, 77, 600);
	write_file(&s, 150, 50);
	bytes = slurp(&n);
	for (size_t i = 0; i < n; i++) {
		struct loci_err err = { "" };
		char note[256];
		size_t words;
		int r;

		bytes[i] ^= (uint8_t)(1u << i % 8);
		spill(bytes, n);
		r = read_words(&s, open(path, O_RDONLY | O_CLOEXEC), &words, note, &err);
		CHECK((r < 0) == (err.text[0] != 0));
		if (r < 0)
			found++;
		else
			harmless += words == s.n && !note[0];
		bytes[i] ^= (uint8_t)(1u << i % 8);
	}
	CHECK_U64(found + harmless, n);
	CHECK(harmless < n / 100);
	free(bytes);
	free(s.words);
}

static void check_opens(const void *bytes, size_t n, int code, const char *says)
{
	struct random_stream s = { 0 };
	struct loci_err err = { "" };
	char note[256];
	size_t words;
	int r;

	spill(bytes, n);
	r = read_words(&s, open(path, O_RDONLY | O_CLOEXEC), &words, note, &err);
	CHECK(r == code);
	if (!strstr(err.text, says))
		CHECK_FAIL("\"%s\" does not say \"%s\"", err.text, says);
}

static void check_foreign(void)
{
	struct random_stream s;
	struct loci_trace_header *header;
	struct loci_err err = { "" };
	struct loci_source *source;
	uint8_t *bytes;
	size_t n;
	int fd;

	check_opens("", 0, -EBADMSG, "is empty");
	check_opens("0 12ab\n", 7, -EBADMSG, "is not a loci trace");
	check_opens("\x89loc", 4, -EBADMSG, "torn within its header");
	check_opens("\x89loci\n\x1a", 7, -EBADMSG, "text");
	random_generate(&s, 5, 100);
	write_file(&s, 0, 100);
	bytes = slurp(&n);
	header = (void *)bytes;
	header->version = 2;
	check_opens(bytes, n, -EPROTONOSUPPORT, "newer loci (trace version 2");
	header->version = 1;
	header->info.version = 9;
	header->crc = loci_trace_crc(header, sizeof(*header), &header->crc);
	check_opens(bytes, n, -EPROTONOSUPPORT, "newer loci (stream version 9");
	fd = open(dir, O_RDONLY | O_CLOEXEC);
	CHECK(loci_trace_open_fd(fd, dir, &source, &err) == -EISDIR);
	CHECK(strstr(err.text, "irectory"));
	close(fd);
	free(bytes);
	free(s.words);
}

/* A frame taken out or given twice, each whole in itself. */
static void check_missing_frame(void)
{
	struct random_stream s;
	struct loci_trace_frame frame;
	struct loci_err err = { "" };
	uint8_t *bytes, *edited;
	size_t n, first, second, words;
	char note[256];
	int r;

	random_generate(&s, 55, 700);
	write_file(&s, 100, 50);
	bytes = slurp(&n);
	memcpy(&frame, bytes + 128, sizeof(frame));
	first = 128 + sizeof(frame) + frame.stored_bytes;
	memcpy(&frame, bytes + first, sizeof(frame));
	second = first + sizeof(frame) + frame.stored_bytes;
	edited = malloc(2 * n);
	memcpy(edited, bytes, first);
	memcpy(edited + first, bytes + second, n - second);
	spill(edited, n - (second - first));
	r = read_words(&s, open(path, O_RDONLY | O_CLOEXEC), &words, note, &err);
	CHECK(r == -EBADMSG && strstr(err.text, "missing or repeated"));
	memcpy(edited + first, bytes + 128, n - 128);
	spill(edited, first + n - 128);
	err.text[0] = 0;
	r = read_words(&s, open(path, O_RDONLY | O_CLOEXEC), &words, note, &err);
	CHECK(r == -EBADMSG && strstr(err.text, "missing or repeated"));
	free(edited);
	free(bytes);
	free(s.words);
}

/* Columns that no packer makes. */
static void check_columns(void)
{
	static const struct {
		uint8_t content[16 + LOCI_PACK_PADDING];
		size_t bytes[LOCI_PACK_COLUMNS];
	} cases[] = {
		{ { 0x40, 5 }, { 1, 1, 0, 0 } },          /* a block that was not introduced */
		{ { 0x40, 0 }, { 1, 1, 0, 0 } },          /* introduced by nothing */
		{ { 0x40 }, { 1, 0, 0, 0 } },             /* no number */
		{ { 0x40, 0xff, 0, 0 }, { 1, 3, 0, 0 } }, /* half a number */
		{ { 0x02, 0xff }, { 1, 0, 1, 0 } },       /* half a difference */
		{ { 0x09 }, { 1, 0, 0, 0 } },             /* nine bytes */
		{ { 0x08, 1, 0, 0, 0, 0, 0, 0, 0x80 }, { 1, 0, 8, 0 } }, /* an address of 64 bits */
		{ { 0x42, 0x80, 0, 0 }, { 1, 0, 0, 3 } },                /* no such kind */
		{ { 0x42, 0x25, 1, 0 }, { 1, 0, 0, 3 } },                /* no raw word */
		{ { 0x42, 0x25, 1, 0, 0xff }, { 1, 0, 0, 4 } },          /* half of one */
		{ { 0x43 }, { 1, 0, 0, 0 } },                            /* no such token */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct loci_unpacker *unpacker;
		struct loci_err err = { "" };
		uint64_t words[1024];

		CHECK(loci_unpacker_new(&unpacker, &err) == 0);
		loci_unpacker_start(unpacker, cases[i].content, cases[i].bytes);
		CHECK(loci_unpacker_read(unpacker, words, 1024, &err) == -EBADMSG);
		CHECK(err.text[0]);
		loci_unpacker_free(unpacker);
	}
}

/* Through a pipe, in odd pieces; seeking is refused. */
static void check_pipe(void)
{
	struct random_stream s;
	struct loci_err err = { "" };
	struct loci_source *source;
	uint8_t *bytes;
	size_t n, words;
	char note[256];
	int fds[2];
	pid_t child;

	random_generate(&s, 12, 40000);
	write_file(&s, 3000, 5000);
	bytes = slurp(&n);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	child = fork();
	if (child == 0) {
		for (size_t i = 0; i < n; i += 777)
			if (write(fds[1], bytes + i, n - i < 777 ? n - i : 777) < 0)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	CHECK(read_words(&s, fds[0], &words, note, &err) == 0);
	CHECK_U64(words, s.n);
	CHECK_STR(note, "");
	CHECK(waitpid(child, NULL, 0) == child);

	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	CHECK(write(fds[1], bytes, 4000) == 4000);
	CHECK(loci_trace_open_fd(fds[0], "pipe", &source, &err) == 0);
	CHECK(loci_trace_seek(source, 5, &err) == -ESPIPE);
	loci_source_close(source);
	close(fds[1]);
	free(bytes);
	free(s.words);
}

/* A torn file can be searched, too. */
static void check_torn_seek(void)
{
	struct random_stream s;
	struct loci_err err = { "" };
	struct loci_source *source;
	uint64_t words, frames;
	uint8_t *bytes;
	size_t n;
	char *text;
	int r;

	random_generate(&s, 31, 5000);
	write_file(&s, 500, 5000);
	bytes = slurp(&n);
	spill(bytes, n * 2 / 3);
	source = open_trace();
	CHECK(loci_trace_extent(source, &words, &frames, &err) == 0);
	CHECK(words > 0 && words < s.n && frames > 2);
	CHECK(loci_trace_seek(source, words - 1, &err) == 0);
	text = list_source(source, 1024, &err, &r);
	CHECK(r == 0 && text[0]);
	CHECK(strstr(source->note, "torn"));
	CHECK_U64(loci_trace_tell(source), words);
	loci_source_close(source);
	free(text);
	free(bytes);
	free(s.words);
}

static unsigned files_in_dir(void)
{
	char command[128], line[16] = "";
	FILE *ls;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", dir);
	ls = popen(command, "r");
	CHECK(fgets(line, sizeof(line), ls) != NULL);
	pclose(ls);
	return (unsigned)atoi(line);
}

/* A full disk and a freed writer leave nothing behind; words that are no stream are refused. */
static void check_failures_to_write(void)
{
	struct loci_err err = { "" };
	struct loci_trace_writer *writer;
	struct random_stream s;
	struct rlimit limit, old;
	uint64_t cut = loci_mark_word(LOCI_MARK_TIME, 1, 0), stray = 4096;

	random_generate(&s, 8, 200000);
	unlink(path);
	CHECK(loci_trace_create("/nonexistent/t.trace", &info, &writer, &err) == -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/t.trace: cannot create: No such file"));

	err.text[0] = 0;
	CHECK(loci_trace_create("/dev/full", &info, &writer, &err) == -ENOSPC);
	CHECK(strstr(err.text, "No space left"));

	signal(SIGXFSZ, SIG_IGN);
	CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
	limit = old;
	limit.rlim_cur = 40000;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	err.text[0] = 0;
	CHECK(loci_trace_create(path, &info, &writer, &err) == 0);
	loci_trace_set_frame(writer, 1000);
	CHECK(loci_trace_write(writer, s.words, s.n, &err) == -EFBIG);
	CHECK(strstr(err.text, "File too large"));
	err.text[0] = 0;
	CHECK(loci_trace_close(writer, &err) == -EFBIG);
	CHECK(err.text[0]);
	CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
	CHECK_U64(files_in_dir(), 0);

	err.text[0] = 0;
	CHECK(loci_trace_create(path, &info, &writer, &err) == 0);
	CHECK_U64(files_in_dir(), 1);
	CHECK(access(path, F_OK) < 0);
	CHECK(loci_trace_write(writer, &cut, 1, &err) == -EBADMSG);
	err.text[0] = 0;
	CHECK(loci_trace_write(writer, &stray, 1, &err) == -EBADMSG);
	CHECK(strstr(err.text, "no block is current"));
	loci_trace_free(writer);
	CHECK_U64(files_in_dir(), 0);
	free(s.words);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/t.trace", dir);
	check_failures_to_write();
	check_random();
	check_torn();
	check_flips();
	check_missing_frame();
	check_columns();
	check_foreign();
	check_pipe();
	check_torn_seek();
	unlink(path);
	rmdir(dir);
	return check_status();
}
