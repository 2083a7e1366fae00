// SPDX-License-Identifier: GPL-2.0-or-later
/* How samples were watched: a trace begins with it, its reader sees it and gives all words on; what
 * begins with something else is refused, and what has no words is left to others. */
#include "check.h"

#include "stream/tee.h"
#include "stream/trace.h"
#include "stream/watch_terms.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { MANY = 3000, SAMPLES = LOCI_CAP_SAMPLES | LOCI_CAP_SITES };

struct some {
	struct loci_source source; /* first */
	size_t n, at;
	const uint64_t *word;
};

static ssize_t some_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct some *some = (struct some *)source;
	size_t n = some->n - some->at < cap ? some->n - some->at : cap;

	(void)err;
	n -= n % 2; /* markers of one raw word */
	memcpy(words, some->word + some->at, n * sizeof(*words));
	some->at += n;
	if (!n)
		strcpy(source->note, "that was all");
	return (ssize_t)n;
}

static void some_progress(const struct loci_source *source, uint64_t *done, uint64_t *total)
{
	(void)source;
	*done = *total = 0;
}

static void some_close(struct loci_source *source)
{
	free(source);
}

static struct loci_source *some_words(const uint64_t *word, size_t n)
{
	static const struct loci_source_ops ops = { some_read, some_progress, some_close };
	struct some *some = calloc(1, sizeof(*some));

	if (!some)
		abort();
	*some = (struct some){
		.source = { .ops = &ops,
			.info = { .version = LOCI_STREAM_VERSION, .capabilities = SAMPLES } },
		.n = n,
		.word = word
	};
	return &some->source;
}

/* Reads all of it and closes it. */
static size_t drain(struct loci_source *source, uint64_t *words)
{
	struct loci_err err = { "" };
	size_t n = 0;
	ssize_t r;

	while ((r = source->ops->read(source, words + n, 1024, &err)) > 0)
		n += (size_t)r;
	CHECK(r == 0);
	CHECK_STR(err.text, "");
	loci_source_close(source);
	return n;
}

static void check_belong(void)
{
	static const struct {
		uint32_t capabilities;
		bool belongs;
	} all[] = { { SAMPLES, true }, { SAMPLES | LOCI_CAP_WINDOWS, false },
		{ SAMPLES | LOCI_CAP_COMPLETE, false }, { LOCI_CAP_COMPLETE, false },
		{ 0, false } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		CHECK(loci_watch_terms_belong(&(struct loci_stream_info){
			      .capabilities = all[i].capabilities }) == all[i].belongs);
}

/* Through a trace file; the reader of the run itself does not see them. */
static void check_trace(const uint64_t *word, const struct loci_watch_terms *terms)
{
	static uint64_t words[MANY + LOCI_WATCH_TERMS_WORDS + 1024];
	char path[] = "/tmp/loci-watch-terms-test-XXXXXX";
	struct loci_err err = { "" }, failure = { "" };
	struct loci_watch_terms found;
	struct loci_source *source;
	int fd = mkstemp(path);

	close(fd);
	CHECK(loci_tee_new(some_words(word, MANY), path, terms, &failure, &source, &err) == 0);
	CHECK(drain(source, words) == MANY);
	CHECK(memcmp(words, word, MANY * sizeof(*word)) == 0);
	CHECK_STR(failure.text, "");

	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(loci_trace_open_fd(fd, path, &source, &err) == 0);
	CHECK(loci_watch_terms_belong(&source->info));
	CHECK(loci_watch_terms_read_take(source, &found, &source, &err) == 0);
	CHECK(found.block_bytes == terms->block_bytes && found.period == terms->period);
	CHECK(found.seed == terms->seed && found.writes_only == terms->writes_only);
	CHECK(found.by_pages == terms->by_pages);
	CHECK(found.burst_refs == terms->burst_refs && found.weighting == terms->weighting);
	CHECK(drain(source, words) == MANY + LOCI_WATCH_TERMS_WORDS);
	CHECK(memcmp(words + LOCI_WATCH_TERMS_WORDS, word, MANY * sizeof(*word)) == 0);
	unlink(path);
}

static int take(const uint64_t *word, size_t n, struct loci_watch_terms *terms,
	struct loci_source **ret, struct loci_err *err)
{
	err->text[0] = 0;
	return loci_watch_terms_read_take(some_words(word, n), terms, ret, err);
}

int main(void)
{
	static uint64_t word[MANY];
	const struct loci_watch_terms all[] = { { 8, 20000, 7, false, false, 4096, 0 },
		{ 64, 1, UINT64_MAX, true, false, 0, 3 },
		{ 4096, 1ull << 48, 0, false, true, 1, 4 } };
	struct loci_watch_terms terms;
	struct loci_source *source;
	struct loci_err err = { "" };

	for (size_t i = 0; i < MANY; i += 2) {
		word[i] = loci_mark_word(LOCI_MARK_COUNT, 1, 0);
		word[i + 1] = i;
	}
	check_belong();
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		check_trace(word, &all[i]);

	CHECK(take(word, MANY, &terms, &source, &err) == -EBADMSG);
	CHECK(strstr(err.text, "does not begin with"));
	CHECK(take(word, 0, &terms, &source, &err) == 0);
	CHECK(!terms.block_bytes);
	CHECK(drain(source, word) == 0);
	/* no block has that size */
	for (uint64_t bytes = 0; bytes < 1ull << 40; bytes = bytes ? bytes << 20 | 24 : 24) {
		uint64_t wrong[LOCI_WATCH_TERMS_WORDS];

		loci_watch_terms_put(&(struct loci_watch_terms){ .block_bytes = bytes }, wrong);
		CHECK(take(wrong, LOCI_WATCH_TERMS_WORDS, &terms, &source, &err) == -EBADMSG);
	}
	return check_status();
}
