// SPDX-License-Identifier: GPL-2.0-or-later
/* Rings: between threads (for ThreadSanitizer), between processes, and with either end killed at
 * any moment. An argument multiplies the number of kills. */
#define _GNU_SOURCE
#include "check.h"
#include "stream_listing.h"
#include "stream_random.h"

#include "stream/ring.h"
#include "stream/ring_producer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OTHER_KIND 0x7e

static const struct loci_stream_info info = { .version = LOCI_STREAM_VERSION, .origin = "test" };

static struct loci_source *create(const struct loci_rundir *dir, size_t n_words)
{
	struct loci_err err = { "" };
	struct loci_source *source = NULL;

	CHECK(loci_ring_create(dir, "ring", &info, n_words, &source, &err) == 0);
	CHECK_STR(err.text, "");
	return source;
}

static struct loci_rundir *rundir(void)
{
	struct loci_err err = { "" };
	struct loci_rundir *dir = NULL;

	CHECK(loci_rundir_new(&dir, &err) == 0);
	CHECK_STR(err.text, "");
	return dir;
}

/* A stream whose items say which they are: item i is the word i or, every seventh time, a marker
 * with raw words i. */
static unsigned item_words(uint64_t i)
{
	return i % 7 ? 1 : 1 + (unsigned)(i * 31 % 256);
}

static void put_item(struct loci_ring_producer *producer, uint64_t i)
{
	unsigned n = item_words(i);
	uint64_t *at = loci_ring_reserve(producer, n);

	if (i % 7) {
		*at = i;
	} else {
		*at = loci_mark_word(OTHER_KIND, n - 1, 0);
		for (unsigned k = 1; k < n; k++)
			at[k] = i;
	}
	loci_ring_commit(producer, at + n);
}

/* Checks words against the items from *next on; whole markers. Returns false at the first fault. */
static bool check_items(const uint64_t *words, size_t n_words, uint64_t *next)
{
	for (size_t k = 0; k < n_words; (*next)++) {
		while (k < n_words && loci_word_is_marker(words[k]) &&
			loci_word_kind(words[k]) == LOCI_MARK_PAD)
			k += 1 + loci_word_n_raw(words[k]);
		if (k >= n_words)
			return k == n_words;
		if (*next % 7) {
			if (words[k++] != *next)
				return false;
			continue;
		}
		if (words[k] != loci_mark_word(OTHER_KIND, item_words(*next) - 1, 0) ||
			k + item_words(*next) > n_words)
			return false;
		k++;
		for (unsigned i = 1; i < item_words(*next); i++)
			if (words[k++] != *next)
				return false;
	}
	return true;
}

/* Reads to the end; returns how many items came. */
static uint64_t drain(struct loci_source *source, size_t cap)
{
	static uint64_t words[1 << 16];
	struct loci_err err = { "" };
	uint64_t next = 1;
	bool good = true;
	ssize_t n;

	while ((n = source->ops->read(source, words, cap, &err)) > 0)
		good = good && check_items(words, (size_t)n, &next);
	CHECK(n == 0);
	CHECK_STR(err.text, "");
	CHECK(good);
	return next - 1;
}

struct job {
	struct loci_source *source;
	uint64_t n_items;
	bool dawdle;
};

/* Through the consumer's own mapping: a sanitizer knows words by their address. */
static void *produce(void *data)
{
	const struct job *job = data;
	struct loci_ring_producer producer;
	size_t bytes;
	void *memory = loci_ring_memory(job->source, &bytes);

	if (loci_ring_producer_attach(&producer, memory, bytes) < 0)
		return NULL;
	for (uint64_t i = 1; i <= job->n_items; i++) {
		put_item(&producer, i);
		if (job->dawdle && i % 5000 == 0) {
			loci_ring_producer_flush(&producer);
			usleep(1000);
		}
	}
	loci_ring_producer_close(&producer);
	return data;
}

static void check_threads(void)
{
	struct loci_rundir *dir = rundir();

	for (unsigned round = 0; round < 8; round++) {
		struct loci_source *source = create(dir, round % 2 ? 0 : 4096);
		struct job job = { source, 60000, round % 4 == 3 };
		pthread_t thread;
		void *done;

		CHECK(pthread_create(&thread, NULL, produce, &job) == 0);
		CHECK_U64(drain(source, round < 4 ? 1024 : 1 << 16), job.n_items);
		CHECK(pthread_join(thread, &done) == 0 && done);
		CHECK_STR(source->note, "");
		loci_source_close(source);
	}
	loci_rundir_free(dir);
}

/* Random streams mean the same after the way through a ring. */
static void check_random(void)
{
	struct loci_rundir *dir = rundir();

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct loci_source *source = create(dir, 4096);
		struct loci_ring_producer *producer;
		struct loci_decoder *decoder;
		struct loci_err err = { "" };
		struct random_stream s;
		char *want, *got;
		size_t bytes;
		FILE *out = open_memstream(&want, &bytes);
		pid_t child;

		random_generate(&s, seed, 20000);
		CHECK(loci_decoder_new(&decoder, &err) == 0);
		CHECK(listing_words(out, decoder, s.words, s.n, 64, &err) == 0);
		fclose(out);
		loci_decoder_free(decoder);
		child = fork();
		if (child == 0) {
			if (loci_ring_producer_open(loci_ring_path(source), &producer) < 0)
				_exit(1);
			for (size_t i = 0, n; i < s.n; i += n) {
				uint64_t *at;

				n = 1 +
					(loci_word_is_marker(s.words[i])
							? loci_word_n_raw(s.words[i])
							: 0);
				at = loci_ring_reserve(producer, n);
				memcpy(at, s.words + i, n * sizeof(*at));
				loci_ring_commit(producer, at + n);
			}
			if (seed % 2)
				loci_ring_producer_close(producer);
			_exit(0);
		}
		out = open_memstream(&got, &bytes);
		CHECK(listing_source(out, source, 1024 + seed * 100, &err) == 0);
		CHECK_STR(err.text, "");
		fclose(out);
		CHECK(!strcmp(want, got));
		CHECK((source->note[0] == 0) == (seed % 2 == 1));
		CHECK(waitpid(child, NULL, 0) == child);
		free(want);
		free(got);
		free(s.words);
		loci_source_close(source);
	}
	loci_rundir_free(dir);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void *shared_memory(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct killed_producer {
	uint64_t ready, committed;
};

static void produce_until_killed(
	const char *path, volatile struct killed_producer *shared, unsigned round)
{
	struct loci_ring_producer *producer;

	if (loci_ring_producer_open(path, &producer) < 0)
		_exit(1);
	shared->ready = 1;
	for (uint64_t i = 1;; i++) {
		put_item(producer, i);
		shared->committed = i;
		if (round % 5 == 0 && i % 1000 == 0)
			usleep(100);
	}
}

/* The producer is killed at a random moment: all it committed arrives, in order, once. Every
 * eighth time it may not even have come, which nobody but its parent knows. */
static void check_kill_producer(unsigned times)
{
	volatile struct killed_producer *shared = shared_memory();
	struct loci_rundir *dir = rundir();

	for (unsigned round = 0; round < times; round++) {
		struct loci_source *source = create(dir, round % 3 ? 4096 : 0);
		bool may_be_absent = round % 8 == 1;
		uint64_t got;
		pid_t child, killer;

		shared->ready = shared->committed = 0;
		child = fork();
		if (child == 0)
			produce_until_killed(loci_ring_path(source), shared, round);
		killer = fork();
		if (killer == 0) {
			while (!may_be_absent && !shared->ready)
				usleep(50);
			usleep(round * 7919 % 12000 * (may_be_absent ? 1 : round % 2));
			kill(child, SIGKILL);
			_exit(0);
		}
		if (round % 4 == 0)
			usleep(20000); /* the ring is full when the producer dies */
		if (may_be_absent) {
			CHECK(waitpid(child, NULL, 0) == child);
			loci_ring_stop(source);
		}
		got = drain(source, round % 2 ? 1024 : 8192);
		CHECK(got == shared->committed || got == shared->committed + 1);
		if (!may_be_absent)
			CHECK(waitpid(child, NULL, 0) == child);
		CHECK(waitpid(killer, NULL, 0) == killer);
		loci_source_close(source);
	}
	loci_rundir_free(dir);
	munmap((void *)shared, 4096);
}

/* Consumes until killed, telling the last item seen. */
static void consume_until_killed(int report, volatile uint64_t *seen, unsigned round)
{
	struct loci_rundir *dir = rundir();
	struct loci_source *source = create(dir, 4096);
	const char *path = loci_ring_path(source);
	uint64_t words[2048], next = 1;
	struct loci_err err = { "" };
	ssize_t n;

	if (write(report, path, strlen(path) + 1) < 0)
		_exit(1);
	while ((n = source->ops->read(source, words, 2048, &err)) > 0) {
		if (!check_items(words, (size_t)n, &next))
			_exit(2);
		*seen = next - 1;
		if (round % 3 == 0)
			usleep(300);
	}
	_exit(3);
}

/* The consumer is killed at a random moment: the producer goes on, quiet, and counts. */
static void check_kill_consumer(unsigned times)
{
	volatile uint64_t *seen = shared_memory();

	for (unsigned round = 0; round < times; round++) {
		struct loci_ring_producer *producer = NULL;
		double start = now();
		uint64_t i = 1;
		char path[256];
		int fds[2], status;
		pid_t child, killer;

		*seen = 0;
		CHECK(pipe2(fds, O_CLOEXEC) == 0);
		child = fork();
		if (child == 0)
			consume_until_killed(fds[1], seen, round);
		close(fds[1]);
		CHECK(read(fds[0], path, sizeof(path)) > 0);
		close(fds[0]);
		CHECK(loci_ring_producer_open(path, &producer) == 0);
		killer = fork();
		if (killer == 0) {
			usleep(round * 7919 % 10000);
			kill(child, SIGKILL);
			/* The next run clears the dead one's directory away, and with it the lock
			 * by which the producer would see. */
			for (unsigned k = 0; k < 20 && round % 2; k++) {
				usleep(500);
				loci_rundir_free(rundir());
			}
			_exit(0);
		}
		while (producer->shared && now() - start < 20)
			for (unsigned k = 0; k < 100; k++)
				put_item(producer, i++);
		CHECK(!producer->shared); /* it noticed */
		for (unsigned k = 0; k < 1000; k++)
			put_item(producer, i++);
		CHECK(*producer->head > 1000); /* words lost */
		CHECK(now() - start < 10);
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		CHECK(waitpid(killer, NULL, 0) == killer);
		CHECK(*seen < i);
		loci_ring_producer_close(producer);
	}
	munmap((void *)seen, 4096);
}

/* A child of the program is quiet and harms nothing. */
static void check_fork(void)
{
	struct loci_rundir *dir = rundir();
	struct loci_source *source = create(dir, 4096);
	pid_t child = fork();

	if (child == 0) {
		struct loci_ring_producer *producer;
		int status;
		pid_t grandchild;

		if (loci_ring_producer_open(loci_ring_path(source), &producer) < 0)
			_exit(1);
		for (uint64_t i = 1; i <= 3000; i++)
			put_item(producer, i);
		grandchild = fork();
		for (uint64_t i = 3001; i <= 30000; i++)
			put_item(producer, grandchild ? i : 7 * i + 1);
		if (grandchild == 0)
			_exit(producer->shared == NULL && producer->lost_words >= 26000 ? 0 : 1);
		if (waitpid(grandchild, &status, 0) != grandchild || status)
			_exit(2);
		loci_ring_producer_close(producer);
		_exit(0);
	} else {
		int status;

		CHECK_U64(drain(source, 1024), 30000);
		CHECK(waitpid(child, &status, 0) == child);
		CHECK_U64((uint64_t)status, 0);
	}
	loci_source_close(source);
	loci_rundir_free(dir);
}

/* A chunk is left wherever its producer likes: what stood there a lap ago does not come again. */
static void check_left_early(void)
{
	static uint64_t words[1 << 15];
	struct loci_rundir *dir = rundir();
	struct loci_source *source = create(dir, 1 << 15);
	struct loci_ring_producer *producer;
	uint64_t next = 1, i = 1;
	bool good = true;

	CHECK(loci_ring_producer_open(loci_ring_path(source), &producer) == 0);
	for (unsigned round = 0; round < 64; round++) {
		for (uint64_t end = i + round * 5 % 97; i < end; i++)
			put_item(producer, i);
		loci_ring_next_chunk(producer, 1);
		for (uint64_t n = loci_ring_chunk_words(source); good && n;) {
			ssize_t got = source->ops->read(source, words, 1 << 15, NULL);

			good = got > 0 && (uint64_t)got <= n &&
				check_items(words, (size_t)got, &next);
			n -= good ? (uint64_t)got : 0;
		}
	}
	CHECK(good);
	loci_ring_producer_close(producer);
	CHECK_U64(next, i);
	loci_source_close(source);
	loci_rundir_free(dir);
}

static void check_misuse(void)
{
	struct loci_rundir *dir = rundir();
	struct loci_source *source = create(dir, 4096), *other;
	struct loci_ring_producer *producer, *second;
	struct loci_ring_shared *shared;
	struct loci_err err = { "" };
	uint64_t words[1024];
	char path[256];
	struct stat st;

	CHECK(stat(loci_ring_path(source), &st) == 0);
	CHECK_U64(st.st_mode & 0777, 0600);
	CHECK(loci_ring_create(dir, "ring", &info, 0, &other, &err) == -EEXIST);
	err.text[0] = 0;
	CHECK(loci_ring_create(dir, "large", &info, (size_t)1 << 44, &other, &err) < 0);
	CHECK(strstr(err.text, "cannot take"));
	err.text[0] = 0;
	snprintf(path, sizeof(path), "%s/lock", loci_rundir_path(dir));
	CHECK(loci_ring_producer_open(path, &producer) < 0);
	CHECK(loci_ring_open(dir, "lock", &other, &err) == -EPROTO);
	err.text[0] = 0;
	CHECK(loci_ring_producer_open("/nonexistent", &producer) == -ENOENT);
	CHECK(loci_ring_producer_open(loci_ring_path(source), &producer) == 0);
	CHECK(loci_ring_producer_open(loci_ring_path(source), &second) == -EBUSY);
	put_item(producer, 1);

	/* A wild store hits the header. */
	shared = producer->shared;
	shared->head = 1 << 20;
	CHECK(source->ops->read(source, words, 1024, &err) == -EBADMSG);
	CHECK(strstr(err.text, "overwritten"));
	/* The consumer leaves in order: the producer is not kept waiting. */
	loci_source_close(source);
	for (uint64_t i = 2; i < 9000; i++)
		put_item(producer, i);
	CHECK(!producer->shared);
	loci_ring_producer_close(producer);

	/* A producer that never comes. */
	source = create(dir, 4096);
	loci_ring_stop(source);
	CHECK_U64(drain(source, 1024), 0);
	loci_source_close(source);
	loci_rundir_free(dir);
}

static void check_rundir(void)
{
	char base[] = "/tmp/loci-ring-test-XXXXXX", foreign[64], command[128];
	struct loci_rundir *live, *next;
	struct loci_err err = { "" };
	int fds[2], status;
	char dead[256] = "", kept[256];
	struct stat st;
	pid_t child;

	CHECK(mkdtemp(base) != NULL);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	child = fork();
	if (child == 0) {
		struct loci_rundir *dir;
		struct loci_source *source;

		if (loci_rundir_new_in(base, &dir, &err) < 0 ||
			loci_ring_create(dir, "ring", &info, 0, &source, &err) < 0 ||
			write(fds[1], loci_rundir_path(dir), 256) < 0)
			_exit(1);
		raise(SIGKILL);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	CHECK(read(fds[0], dead, sizeof(dead)) == sizeof(dead));
	CHECK(stat(dead, &st) == 0);
	CHECK_U64(st.st_mode & 0777, 0700);
	snprintf(foreign, sizeof(foreign), "%s/loci-else", base);
	CHECK(mkdir(foreign, 0700) == 0);

	CHECK(loci_rundir_new_in(base, &live, &err) == 0);
	CHECK(stat(dead, &st) < 0 && errno == ENOENT);
	strcpy(kept, loci_rundir_path(live));
	CHECK(loci_rundir_new_in(base, &next, &err) == 0);
	CHECK(stat(kept, &st) == 0 && stat(foreign, &st) == 0);
	child = fork();
	if (child == 0) {
		loci_rundir_free(next); /* not its own */
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(stat(loci_rundir_path(next), &st) == 0);
	loci_rundir_free(live);
	CHECK(stat(kept, &st) < 0);
	loci_rundir_free(next);
	CHECK(loci_rundir_new_in("/nonexistent", &next, &err) == -ENOENT);
	CHECK(strstr(err.text, "/nonexistent"));
	snprintf(command, sizeof(command), "rm -r %s", base);
	CHECK(system(command) == 0);
	close(fds[0]);
	close(fds[1]);
}

int main(int argc, char **argv)
{
	unsigned factor = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

	alarm(300 * factor); /* a hang is a failure, not a wait */
	check_threads();
	check_random();
	check_fork();
	check_left_early();
	check_misuse();
	check_rundir();
	check_kill_producer((unsigned)check_amount(150) * factor);
	check_kill_consumer((unsigned)check_amount(60) * factor);
	return check_status();
}
