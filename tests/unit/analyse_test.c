// SPDX-License-Identifier: GPL-2.0-or-later
/* The way from words to a profile, on hand-counted streams and, at several block sizes, with every
 * touch compared with the naive stack. */
#include "check.h"

#include "analyse/analyse.h"
#include "base/cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct memory_source {
	struct loci_source source;
	const uint64_t *words;
	size_t n, pos, step;
};

static ssize_t memory_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct memory_source *m = (struct memory_source *)source;
	size_t n = 0;

	/* whole markers, as a source must give them */
	while (m->pos + n < m->n && n < m->step) {
		uint64_t word = m->words[m->pos + n];

		n += 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);
	}
	CHECK(n <= cap);
	memcpy(words, m->words + m->pos, n * sizeof(*words));
	m->pos += n;
	return (ssize_t)n;
}

static void memory_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = ((const struct memory_source *)source)->pos;
	*ret_total = ((const struct memory_source *)source)->n;
}

static void memory_close(struct loci_source *source)
{
}

static struct memory_source memory_source(const uint64_t *words, size_t n)
{
	static const struct loci_source_ops ops = { memory_read, memory_progress, memory_close };

	return (struct memory_source){
		.source = { .ops = &ops,
			.info = { .version = LOCI_STREAM_VERSION,
				.capabilities = LOCI_CAP_COMPLETE | LOCI_CAP_STORES,
				.origin = "test" } },
		.words = words,
		.n = n,
		.step = 500,
	};
}

#define DEFINE(id, size, op, flags) \
	loci_mark_word(LOCI_MARK_DEFINE, 4, id), 0, 0, loci_ref_word(size, op, flags), 0
#define BLOCK(id)   loci_mark_word(LOCI_MARK_BLOCK, 0, id)
#define SWITCH(tid) loci_mark_word(LOCI_MARK_SWITCH, 0, tid)

static const char path[] = "analyse_test.loci";

static double at(struct loci_profile *profile, enum loci_distance distance, uint64_t block_bytes,
	uint64_t value)
{
	struct loci_hist_key key = { .distance = distance, .block_bytes = block_bytes };
	const struct loci_hist *hist = NULL;
	uint32_t bin = loci_bin_of(LOCI_SCHEME_FINE, value);

	if (loci_profile_hist(profile, &key, &hist, NULL) < 0) {
		CHECK_FAIL("no %s histogram", loci_distance_name(distance));
		return -1;
	}
	if (value == LOCI_INFINITE)
		return hist->cold;
	return bin < hist->n_bins ? hist->weight[bin] : 0;
}

static void check_hand_counted(void)
{
	const uint64_t words[] = {
		DEFINE(1, 8, LOCI_OP_LOAD, 0),
		DEFINE(2, 8, LOCI_OP_STORE, 0),
		DEFINE(3, 0, LOCI_OP_STORE, LOCI_REF_BULK),
		DEFINE(4, 4, LOCI_OP_FETCH, 0),
		BLOCK(1),
		0x1000, /* block 0x40: cold */
		0x103c, /* straddles 0x40 (distance 0), 0x41 (cold) */
		BLOCK(2),
		0x1000, /* 0x40: distance 1, first write */
		SWITCH(7),
		BLOCK(3),
		0x1010,
		120, /* 0x40 (distance 0, dirty 0), 0x41 (1), 0x42 (cold): 0x1010 to 0x1087 */
		0x1010,
		0, /* an empty range touches nothing */
		SWITCH(0),
		BLOCK(4),
		0x2000, /* cold */
		loci_mark_word(LOCI_MARK_LOST, 0, 5),
	};
	struct memory_source m = memory_source(words, LOCI_ARRAY_SIZE(words));
	struct loci_analyse_options options = { .block_bytes = { 4096, 64 },
		.n_block_bytes = 2,
		.verify = 1000,
		.command = "hand",
		.caches = "L1=32K/8" };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_summary summary;
	struct loci_err err = { 0 };
	const struct loci_grain *grain;
	const struct loci_thread_totals *threads;
	const struct loci_run *run;
	size_t n;

	CHECK(loci_analyse(&m.source, &options, path, &summary, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK_U64(summary.verified, 8 + 5);
	if (loci_profile_open(path, &profile, &err) < 0) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	run = loci_profile_run(profile);
	CHECK_U64(run->references, 6);
	CHECK_U64(run->loads, 2);
	CHECK_U64(run->stores, 3);
	CHECK_U64(run->fetches, 1);
	CHECK_U64(run->bulk, 2);
	CHECK_U64(run->lost, 5);
	CHECK(!run->complete);
	CHECK_STR(run->unit, "byte");
	CHECK_STR(run->mode, "exact");
	CHECK_STR(run->command, "hand");
	CHECK_STR(run->caches, "L1=32K/8");
	CHECK_U64(run->threads, 2);
	threads = loci_profile_threads(profile, &n);
	CHECK_U64(n, 2);
	CHECK_U64(threads[0].thread, 0);
	CHECK_U64(threads[0].references, 4);
	CHECK_U64(threads[1].thread, 7);
	CHECK_U64(threads[1].references, 2);

	grain = loci_profile_grain(profile, 64);
	CHECK_U64(grain->touches, 8);
	CHECK_U64(grain->writes, 4);
	CHECK_U64(grain->straddles, 1);
	CHECK_NEAR(grain->blocks, 4, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_STACK, 64, LOCI_INFINITE), 4, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_STACK, 64, 0), 2, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_STACK, 64, 1), 2, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_TIME, 64, 1), 2, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_TIME, 64, 2), 1, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_TIME, 64, 3), 1, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_DIRTY, 64, LOCI_INFINITE), 3, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_DIRTY, 64, 0), 1, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_SET_BOTH, 64, 0), 1, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_SET_BOTH, 64, LOCI_INFINITE), 0, 0);

	grain = loci_profile_grain(profile, 4096);
	CHECK_U64(grain->touches, 5);
	CHECK_U64(grain->straddles, 0);
	CHECK_NEAR(grain->blocks, 2, 0);
	remove(path);
}

static void check_objects(void)
{
	const uint64_t words[] = {
		DEFINE(1, 4096, LOCI_OP_LOAD, 0),
		BLOCK(1),
		1,
		2,
		loci_mark_word(LOCI_MARK_WIDE, 1, 0),
		UINT64_MAX,
		1,
	};
	struct memory_source m = memory_source(words, LOCI_ARRAY_SIZE(words));
	struct loci_analyse_options options = { .verify = 1000 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_summary summary;

	snprintf(m.source.note, sizeof(m.source.note), "3 lines left out");
	m.source.info.unit = LOCI_UNIT_OBJECT;
	CHECK(loci_analyse(&m.source, &options, path, &summary, NULL) == 0);
	CHECK(loci_profile_open(path, &profile, NULL) == 0);
	CHECK_STR(loci_profile_run(profile)->unit, "object");
	CHECK(loci_profile_run(profile)->complete); /* a note alone takes nothing away */
	CHECK_STR(loci_profile_run(profile)->note, "3 lines left out");
	CHECK_U64(loci_profile_grain(profile, 1)->touches, 4);
	CHECK_U64(loci_profile_grain(profile, 1)->straddles, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_STACK, 1, 2), 1, 0);
	remove(path);
}

static void fails(const uint64_t *words, size_t n, int code, const char *text)
{
	struct memory_source m = memory_source(words, n);
	struct loci_analyse_options options = { 0 };
	struct loci_analyse_summary summary;
	struct loci_err err = { 0 };

	CHECK(loci_analyse(&m.source, &options, path, &summary, &err) == -code);
	CHECK(strstr(err.text, text) != NULL);
	CHECK(access(path, F_OK) < 0);
}

static void check_failures_leave_nothing(void)
{
	const uint64_t no_block[] = { 0x1000 };
	const uint64_t empty[] = { DEFINE(1, 8, LOCI_OP_LOAD, 0) };
	const uint64_t absurd[] = { DEFINE(3, 0, LOCI_OP_LOAD, 0), BLOCK(3), 0x1000, 1ull << 50 };

	fails(no_block, LOCI_ARRAY_SIZE(no_block), EBADMSG, "");
	fails(empty, LOCI_ARRAY_SIZE(empty), ENODATA, "no references");
	fails(absurd, LOCI_ARRAY_SIZE(absurd), EBADMSG, "damaged");
}

static void check_interrupted(void)
{
	const uint64_t words[] = { DEFINE(1, 8, LOCI_OP_LOAD, 0), BLOCK(1), 64, 128, 64 };
	struct memory_source m = memory_source(words, LOCI_ARRAY_SIZE(words));
	volatile sig_atomic_t stop = 1;
	struct loci_analyse_options options = { .stop = &stop };
	struct loci_analyse_summary summary;

	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	m.step = 7; /* DEFINE, BLOCK and the first address: then stop is looked at */
	CHECK(loci_analyse(&m.source, &options, path, &summary, NULL) == 0);
	CHECK(summary.interrupted);
	CHECK(loci_profile_open(path, &profile, NULL) == 0);
	CHECK_U64(loci_profile_run(profile)->references, 1);
	CHECK(!loci_profile_run(profile)->complete);
	CHECK(strstr(loci_profile_run(profile)->note, "interrupted after 1 ") != NULL);
	remove(path);
}

static uint64_t random64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void check_verified(bool local)
{
	enum { MOST = 20000 };
	static uint64_t words[2 * MOST + 64];
	const size_t count = check_amount(MOST - 1);
	struct loci_analyse_options options = {
		.block_bytes = { 1, 8, 64, 4096, 2 << 20 }, .n_block_bytes = 5, .verify = UINT64_MAX
	};
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_summary summary;
	struct memory_source m;
	struct loci_err err = { 0 };
	uint64_t state = 88172645463325252ull, touches = 0;
	const struct loci_grain *grains;
	size_t n = 0, n_grains;

	for (uint64_t id = 0; id < 4; id++) {
		const uint64_t define[] = { DEFINE(id, 1u << id, id & 1, 0) };

		memcpy(words + n, define, sizeof(define));
		n += LOCI_ARRAY_SIZE(define);
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t r = random64(&state);

		words[n++] = BLOCK(r & 3);
		words[n++] = local ? (r >> 8) % (1 + (r >> 40 & 0x3ff)) : (r >> 8) & 0xfffff;
	}
	m = memory_source(words, n);
	CHECK(loci_analyse(&m.source, &options, path, &summary, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK(loci_profile_open(path, &profile, NULL) == 0);
	grains = loci_profile_grains(profile, &n_grains);
	CHECK_U64(n_grains, 5);
	for (size_t i = 0; i < n_grains; i++)
		touches += grains[i].touches;
	CHECK_U64(summary.verified, touches);
	CHECK_U64(summary.references, count);
	remove(path);
}

struct reader {
	struct loci_analysis *analysis;
	struct memory_source m;
	int r;
};

static void *read_one(void *data)
{
	struct reader *reader = data;

	reader->r = loci_analysis_read(reader->analysis, &reader->m.source, NULL);
	return NULL;
}

/* Each process has its own address space: the same block is cold in each. A stream that breaks off
 * counts up to the fault. */
static void check_processes(void)
{
	enum { N = 8 };
	const uint64_t words[] = { loci_mark_word(LOCI_MARK_PROCESS, 3, 100), 1, 50, 0,
		DEFINE(1, 8, LOCI_OP_LOAD, 0), BLOCK(1), 64, 128, 64 };
	const uint64_t faulty[] = { DEFINE(1, 8, LOCI_OP_STORE, 0), SWITCH(3), BLOCK(1), 64, 64,
		BLOCK(2) };
	struct loci_analyse_options options = { 0 };
	struct loci_analyse_summary summary;
	struct loci_analysis *analysis = NULL;
	struct reader reader[N];
	pthread_t thread[N];
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	const struct loci_thread_totals *threads;
	struct loci_err err = { 0 };
	size_t n;

	CHECK(loci_analysis_new(&options, &analysis, &err) == 0);
	for (int i = 0; i < N; i++) {
		reader[i] = (struct reader){ .analysis = analysis,
			.m = i ? memory_source(words, LOCI_ARRAY_SIZE(words))
			       : memory_source(faulty, LOCI_ARRAY_SIZE(faulty)) };
		CHECK(pthread_create(&thread[i], NULL, read_one, &reader[i]) == 0);
	}
	for (int i = 0; i < N; i++) {
		pthread_join(thread[i], NULL);
		CHECK(reader[i].r == (i ? 0 : -EBADMSG));
	}
	CHECK_U64(loci_analysis_references(analysis), 3 * (N - 1) + 2);
	loci_analysis_note(analysis, "killed");
	CHECK(loci_analysis_write(analysis, path, &summary, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK_U64(summary.references, 3 * (N - 1) + 2);
	loci_analysis_free(analysis);
	CHECK(loci_profile_open(path, &profile, NULL) == 0);
	CHECK_U64(loci_profile_run(profile)->references, 3 * (N - 1) + 2);
	CHECK_U64(loci_profile_run(profile)->stores, 2);
	CHECK_U64(loci_profile_run(profile)->threads, N);
	CHECK_STR(loci_profile_run(profile)->note, "killed");
	CHECK(!loci_profile_run(profile)->complete);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_STACK, 64, LOCI_INFINITE), 2 * (N - 1) + 1, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_STACK, 64, 1), N - 1, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_STACK, 64, 0), 1, 0);
	CHECK_NEAR(at(profile, LOCI_DISTANCE_SET, 64, 1), N - 1, 0);
	CHECK_U64(loci_profile_grain(profile, 64)->touches, 3 * (N - 1) + 2);
	threads = loci_profile_threads(profile, &n);
	CHECK_U64(n, N);
	CHECK_U64(threads[0].thread, 3); /* no PROCESS marker: started at 0 */
	CHECK_U64(threads[0].references, 2);
	CHECK_U64(threads[1].thread, 4);
	CHECK_U64(threads[1].references, 3);
	remove(path);
}

int main(void)
{
	char dir[] = "/tmp/analyse_test.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	check_hand_counted();
	check_objects();
	check_failures_leave_nothing();
	check_interrupted();
	check_verified(true);
	check_verified(false);
	check_processes();
	rmdir(dir);
	return check_status();
}
