// SPDX-License-Identifier: GPL-2.0-or-later
/* Braids: the rings of many threads, which define blocks, allocate and are interrupted, read as one
 * stream. What comes out is decoded, and compared with what each thread is known to have done and
 * with the order that the process's numbers give. An argument multiplies the number of kills. */
#define _GNU_SOURCE
#include "check.h"

#include "stream/braid.h"
#include "stream/decode.h"
#include "stream/ring_producer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS    12
#define BLOCKS     400
#define BLOCK_REFS 3
#define RING_WORDS 4096
#define HANDLER    THREADS /* handlers' rings stand behind */
#define OF_HANDLER (1ull << 40)
#define COUNT_MASK ((1ull << 20) - 1)

static const struct loci_stream_info info = { .version = LOCI_STREAM_VERSION, .origin = "test" };

/* What the producing threads share; in memory that a child process shares with its parent. */
struct program {
	struct loci_source *process, *ring[2 * THREADS];
	struct loci_ring_producer said;
	struct loci_source *braid;
	unsigned n_threads;
	unsigned steps;
	bool handlers, dawdle, added;
	bool appends;   /* references without a call, as compiled code does */
	unsigned asked; /* times that more() was */
	pthread_mutex_t lock;
	atomic_ullong number;
	atomic_uint defined[BLOCKS];
	/* References written: at least, and at most. */
	atomic_ullong least[2 * THREADS], most[2 * THREADS];
	atomic_ullong numbers_least[THREADS];
	atomic_ullong n_heard; /* references, of the first thread */
};

static void write_words(struct loci_ring_producer *producer, const uint64_t *words, size_t n)
{
	uint64_t *at = loci_ring_reserve(producer, n);

	memcpy(at, words, n * sizeof(*words));
	loci_ring_commit(producer, at + n);
}

/* Only the place in the header says that there is another word. */
static void append_word(struct loci_ring_producer *producer, uint64_t word)
{
	uint64_t *at = loci_ring_reserve(producer, 1);
	struct loci_ring_inline *place = &producer->shared->inline_;

	*at = word;
	producer->cursor = at + 1;
	if (place->chunk != (uintptr_t)producer->chunk || place->base != producer->base) {
		__atomic_store_n(&place->chunk, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&place->base, producer->base, __ATOMIC_RELEASE);
		__atomic_store_n(&place->cursor, (uintptr_t)(at + 1), __ATOMIC_RELEASE);
		__atomic_store_n(&place->chunk, (uintptr_t)producer->chunk, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&place->cursor, (uintptr_t)(at + 1), __ATOMIC_RELEASE);
}

/* Block b has references of 1 + b bytes. Sometimes a module comes with it, which has a number. */
static void define(struct program *program, unsigned b)
{
	uint64_t words[3 + 2 * BLOCK_REFS] = {
		loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * BLOCK_REFS, b), 0, b
	};

	pthread_mutex_lock(&program->lock);
	if (!atomic_load(&program->defined[b])) {
		if (b % 8 == 0) {
			uint64_t module[7] = { loci_mark_word(LOCI_MARK_MODULE_LOAD, 6, b) };

			module[5] = atomic_fetch_add(&program->number, 1);
			write_words(&program->said, module, 7);
		}
		for (unsigned i = 0; i < BLOCK_REFS; i++)
			words[3 + 2 * i] = loci_ref_word(1 + b, LOCI_OP_LOAD, 0);
		write_words(&program->said, words, 3 + 2 * BLOCK_REFS);
		atomic_store(&program->defined[b], 1);
	}
	pthread_mutex_unlock(&program->lock);
}

struct actor {
	struct program *program;
	unsigned index;
	struct loci_ring_producer own, handler;
	uint64_t done, handled; /* references */
	uint64_t seed;
};

static void put_ref(struct actor *actor, bool in_handler)
{
	struct program *program = actor->program;
	unsigned i = actor->index + (in_handler ? HANDLER : 0);
	uint64_t *count = in_handler ? &actor->handled : &actor->done;
	/* a handler's tells how much it interrupted */
	uint64_t word = (uint64_t)actor->index << 44 | (*count & COUNT_MASK) |
		(in_handler ? OF_HANDLER | (actor->done & COUNT_MASK) << 20 : 0);
	struct loci_ring_producer *to = in_handler ? &actor->handler : &actor->own;

	atomic_store_explicit(&program->most[i], ++*count, memory_order_relaxed);
	if (program->appends)
		append_word(to, word);
	else
		write_words(to, &word, 1);
	atomic_store_explicit(&program->least[i], *count, memory_order_relaxed);
}

static void put_block(struct actor *actor, bool in_handler, unsigned b)
{
	uint64_t word = loci_mark_word(LOCI_MARK_BLOCK, 0, b);

	if (!atomic_load(&actor->program->defined[b]))
		define(actor->program, b);
	if (actor->program->appends)
		append_word(in_handler ? &actor->handler : &actor->own, word);
	else
		write_words(in_handler ? &actor->handler : &actor->own, &word, 1);
}

static void put_number(struct actor *actor, bool in_handler)
{
	uint64_t words[4] = { loci_mark_word(LOCI_MARK_ALLOC, 3, 1), actor->index };

	words[2] = atomic_fetch_add(&actor->program->number, 1);
	write_words(in_handler ? &actor->handler : &actor->own, words, 4);
}

static unsigned pick(struct actor *actor, unsigned n)
{
	actor->seed = actor->seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's */
	return (unsigned)((actor->seed >> 33) % n);
}

static void handle(struct actor *actor)
{
	uint64_t enter[2] = { loci_mark_word(LOCI_MARK_SIGNAL_ENTER, 1, 10),
		actor->own.base + (uint64_t)(actor->own.cursor - actor->own.chunk) };
	uint64_t leave = loci_mark_word(LOCI_MARK_SIGNAL_LEAVE, 0, 10);

	write_words(&actor->handler, enter, 2);
	for (unsigned k = pick(actor, 4); k < 4; k++) {
		put_block(actor, true, pick(actor, BLOCKS));
		for (unsigned i = 0; i < BLOCK_REFS; i++)
			put_ref(actor, true);
		if (pick(actor, 2))
			put_number(actor, true);
	}
	write_words(&actor->handler, &leave, 1);
}

static void step(struct actor *actor)
{
	unsigned b = pick(actor, BLOCKS);

	put_block(actor, false, b);
	for (unsigned i = 0; i < BLOCK_REFS; i++) {
		if (actor->program->handlers && pick(actor, 200) == 0)
			handle(actor);
		put_ref(actor, false);
	}
	if (pick(actor, 5) == 0)
		put_number(actor, false);
	if (actor->program->dawdle && pick(actor, 3000) == 0)
		usleep(500);
}

static void attach(struct loci_ring_producer *producer, const struct loci_source *ring)
{
	size_t bytes;
	void *memory = loci_ring_memory(ring, &bytes);

	if (loci_ring_producer_attach(producer, memory, bytes) < 0)
		abort();
}

static void *act(void *data)
{
	struct actor *actor = data;
	struct program *program = actor->program;
	uint64_t owner = loci_mark_word(LOCI_MARK_SWITCH, 0, actor->index + 1);

	attach(&actor->own, program->ring[actor->index]);
	if (program->handlers) {
		attach(&actor->handler, program->ring[HANDLER + actor->index]);
		write_words(&actor->handler, &owner, 1);
	}
	for (unsigned i = 0; i < program->steps; i++)
		step(actor);
	if (program->handlers)
		loci_ring_producer_close(&actor->handler);
	loci_ring_producer_close(&actor->own);
	return NULL;
}

static void *perform(void *data)
{
	struct program *program = data;
	const uint64_t end = loci_mark_word(LOCI_MARK_END, 0, 0);
	static struct actor actor[THREADS];
	pthread_t thread[THREADS];

	attach(&program->said, program->process);
	for (unsigned i = 0; i < program->n_threads; i++) {
		actor[i] = (struct actor){ .program = program, .index = i, .seed = i + 1 };
		pthread_create(&thread[i], NULL, act, &actor[i]);
	}
	for (unsigned i = 0; i < program->n_threads; i++)
		pthread_join(thread[i], NULL);
	write_words(&program->said, &end, 1);
	loci_ring_producer_close(&program->said);
	return NULL;
}

/* The reader's knowledge. */
struct listener {
	struct program *program;
	uint64_t refs[2 * THREADS];
	uint64_t last_number, numbers;
	bool in_order, dense, sound, in_place, ended, after_end;
	size_t most_kept;
	bool module[BLOCKS];
	double last_ref_s;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void hear_ref(struct listener *listener, const struct loci_ref *ref)
{
	unsigned i = (unsigned)(ref->address >> 44);
	uint64_t *next;

	listener->after_end |= listener->ended;
	if (i >= THREADS || ref->thread != i + 1 || ref->size_bytes > BLOCKS) {
		listener->sound = false;
		return;
	}
	if ((ref->size_bytes - 1) % 8 == 0)
		listener->sound &= listener->module[ref->size_bytes - 1];
	next = &listener->refs[i + (ref->address & OF_HANDLER ? HANDLER : 0)];
	listener->sound &= (ref->address & COUNT_MASK) == ((*next)++ & COUNT_MASK);
	listener->in_place &= !(ref->address & OF_HANDLER) ||
		(ref->address >> 20 & COUNT_MASK) == (listener->refs[i] & COUNT_MASK);
}

static void hear_event(struct listener *listener, const struct loci_event *event)
{
	uint64_t number = 0;

	if (event->kind == LOCI_MARK_ALLOC) {
		number = event->raw[1];
		listener->sound &= event->thread == event->raw[0] + 1;
	} else if (event->kind == LOCI_MARK_MODULE_LOAD) {
		number = event->raw[4];
		listener->module[event->payload] = true;
	} else if (event->kind == LOCI_MARK_END) {
		listener->ended = true;
	}
	if (!number)
		return;
	listener->in_order &= number > listener->last_number;
	listener->dense &= number == listener->last_number + 1;
	listener->last_number = number;
	listener->numbers++;
}

static void hear(struct listener *listener, struct loci_source *source, size_t cap)
{
	static uint64_t words[1 << 15];
	static struct loci_ref refs[4096];
	struct loci_decoder *decoder = NULL;
	struct loci_err err = { "" };
	ssize_t n;

	listener->in_order = listener->dense = listener->sound = listener->in_place = true;
	CHECK(loci_decoder_new(&decoder, &err) == 0);
	while ((n = source->ops->read(source, words, cap, &err)) > 0) {
		size_t pos = 0, n_refs, kept = loci_braid_kept_words(source);

		listener->most_kept = kept > listener->most_kept ? kept : listener->most_kept;
		while (pos < (size_t)n) {
			struct loci_event event;
			int r = loci_decoder_next(
				decoder, words, (size_t)n, &pos, refs, 4096, &n_refs, &event, &err);

			for (size_t i = 0; i < n_refs; i++)
				hear_ref(listener, &refs[i]);
			if (n_refs)
				listener->last_ref_s = now_s();
			listener->program->n_heard = listener->refs[0];
			if (r < 0) {
				listener->sound = false;
				break;
			}
			hear_event(listener, &event);
		}
		if (!listener->sound)
			break;
	}
	CHECK(n == 0);
	CHECK_STR(err.text, "");
	CHECK(listener->sound);
	CHECK(listener->in_order);
	CHECK(listener->in_place);
	loci_decoder_free(decoder);
}

static struct loci_rundir *dir;

/* A producer rings once more when it has said that it is gone. In another process it does so in its
 * own mapping; here both share one, which must therefore outlive the reader's closing it. */
static const struct loci_source_ops *ring_ops;
static struct loci_source_ops kept_ops;
static struct loci_source *kept[2 * THREADS + 1];
static unsigned n_kept;

static void keep(struct loci_source *source)
{
	kept[n_kept++] = source;
}

static void close_kept(void)
{
	while (n_kept > 0)
		ring_ops->close(kept[--n_kept]);
}

static struct loci_source *ring(const char *kind, unsigned i, size_t n_words)
{
	struct loci_source *source = NULL;
	struct loci_err err = { "" };
	char name[32];

	snprintf(name, sizeof(name), "%s%u.ring", kind, i);
	CHECK(loci_ring_create(dir, name, &info, n_words, &source, &err) == 0);
	CHECK_STR(err.text, "");
	ring_ops = source->ops;
	kept_ops = *ring_ops;
	kept_ops.close = keep;
	source->ops = &kept_ops;
	return source;
}

static void add(struct program *program, unsigned i, unsigned thread)
{
	CHECK(loci_braid_add_take(program->braid, program->ring[i], thread, NULL) == 0);
}

/* Rings that are not added at once are those that more() finds. */
static int add_late(void *data, struct loci_source *braid, struct loci_err *err)
{
	struct program *program = data;
	int n = 0;

	(void)braid;
	(void)err;
	program->asked++;
	if (program->added)
		return 0;
	for (unsigned i = 0; i < program->n_threads; i++, n++)
		add(program, i, i + 1);
	for (unsigned i = 0; program->handlers && i < program->n_threads; i++, n++)
		add(program, HANDLER + i, 100 + i);
	program->added = true;
	return n;
}

static struct program *program_new(unsigned n_threads, bool handlers, size_t n_words)
{
	struct program *program = mmap(
		NULL, sizeof(*program), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	program->n_threads = n_threads;
	program->handlers = handlers;
	program->number = 1;
	pthread_mutex_init(&program->lock, NULL);
	program->process = ring("process", 0, RING_WORDS);
	for (unsigned i = 0; i < n_threads; i++) {
		program->ring[i] = ring("thread", i, n_words);
		if (handlers)
			program->ring[HANDLER + i] = ring("handler", i, RING_WORDS);
	}
	CHECK(loci_braid_new_take(program->process, add_late, program, &program->braid, NULL) == 0);
	return program;
}

static void program_free(struct program *program)
{
	loci_source_close(program->braid);
	close_kept();
	pthread_mutex_destroy(&program->lock);
	munmap(program, sizeof(*program));
}

static void check_threads(
	unsigned n_threads, bool handlers, bool dawdle, bool appends, size_t n_words)
{
	struct program *program = program_new(n_threads, handlers, n_words);
	struct listener listener = { .program = program };
	pthread_t thread;

	program->steps = n_threads > 1 ? 8000 : 40000;
	program->dawdle = dawdle;
	program->appends = appends;
	CHECK(pthread_create(&thread, NULL, perform, program) == 0);
	add_late(program, NULL, NULL);
	hear(&listener, program->braid, 1 << 15);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(listener.dense);
	CHECK(listener.ended && !listener.after_end);
	CHECK_U64(listener.numbers, program->number - 1);
	for (unsigned i = 0; i < 2 * THREADS; i++)
		CHECK_U64(listener.refs[i], program->least[i]);
	program_free(program);
}

/* Rings are seen by the reader when they have a producer. */
static void await_producer(const struct loci_source *source)
{
	size_t bytes;
	const struct loci_ring_shared *shared = loci_ring_memory(source, &bytes);

	while (!__atomic_load_n(&shared->producer_pid, __ATOMIC_ACQUIRE))
		usleep(100);
}

/* Either end of what is known of a killed program: all that was committed has come, and nothing
 * that was not begun. */
static void check_killed(unsigned delay_us, bool handlers)
{
	struct program *program = program_new(4, handlers, RING_WORDS);
	struct listener listener = { .program = program };
	pid_t pid;

	program->steps = UINT32_MAX;
	program->appends = delay_us % 5 < 3;
	pid = fork();
	if (pid == 0) {
		perform(program);
		_Exit(0);
	}
	await_producer(program->process);
	if (delay_us % 2)
		add_late(program, NULL, NULL);
	if (delay_us % 3) {
		usleep(delay_us);
		kill(pid, SIGKILL);
		hear(&listener, program->braid, 4096);
	} else {
		pid_t killer = fork();

		if (killer == 0) {
			usleep(delay_us);
			kill(pid, SIGKILL);
			_Exit(0);
		}
		hear(&listener, program->braid, 4096);
		waitpid(killer, NULL, 0);
	}
	CHECK(!listener.ended);
	CHECK(strstr(program->braid->note, "without closing") != NULL);
	for (unsigned i = 0; i < 2 * THREADS; i++)
		CHECK(listener.refs[i] >= program->least[i] &&
			listener.refs[i] <= program->most[i]);
	waitpid(pid, NULL, 0);
	program_free(program);
}

/* What was appended and never published, in a chunk after the first, and by a handler. */
static void check_appended(void)
{
	struct program *program = program_new(1, true, RING_WORDS);
	struct listener listener = { .program = program };
	struct actor actor = { .program = program };
	pid_t pid;

	program->appends = true;
	pid = fork();
	if (pid == 0) {
		uint64_t owner = loci_mark_word(LOCI_MARK_SWITCH, 0, 1);

		attach(&program->said, program->process);
		attach(&actor.own, program->ring[0]);
		attach(&actor.handler, program->ring[HANDLER]);
		write_words(&actor.handler, &owner, 1);
		for (unsigned i = 0; i < RING_WORDS / 3; i += 1 + BLOCK_REFS) {
			put_block(&actor, false, 1);
			for (unsigned k = 0; k < BLOCK_REFS; k++)
				put_ref(&actor, false);
		}
		handle(&actor);
		put_block(&actor, false, 1);
		put_ref(&actor, false);
		raise(SIGKILL);
	}
	waitpid(pid, NULL, 0);
	hear(&listener, program->braid, 4096);
	CHECK(program->least[0] > RING_WORDS / 6 && program->least[HANDLER] > 0);
	CHECK_U64(listener.refs[0], program->least[0]);
	CHECK_U64(listener.refs[HANDLER], program->least[HANDLER]);
	program_free(program);
}

/* The first thread is far ahead of a number that the second has and does not write before the first
 * is done: its words must be kept, or both wait for ever. Or it never writes it. */
static void *hold_back(void *data)
{
	struct program *program = data;
	struct actor first = { .program = program }, second = { .program = program, .index = 1 };
	uint64_t number[4] = { loci_mark_word(LOCI_MARK_ALLOC, 3, 1), 1, 1, 0 };

	attach(&program->said, program->process);
	attach(&first.own, program->ring[0]);
	attach(&second.own, program->ring[1]);
	program->number = 2;
	put_number(&first, false);
	put_block(&first, false, 1);
	for (unsigned i = 0; i < 10 * RING_WORDS; i++)
		put_ref(&first, false);
	if (program->dawdle)
		while (program->n_heard < 10 * RING_WORDS) /* by patience */
			usleep(1000);
	else
		write_words(&second.own, number, 4);
	put_number(&second, false);
	loci_ring_producer_close(&first.own);
	loci_ring_producer_close(&second.own);
	loci_ring_producer_close(&program->said);
	return NULL;
}

static void check_held_back(bool lost)
{
	struct program *program = program_new(2, false, RING_WORDS);
	struct listener listener = { .program = program };
	double start = now_s();
	pthread_t thread;

	program->dawdle = lost;
	add_late(program, NULL, NULL);
	CHECK(pthread_create(&thread, NULL, hold_back, program) == 0);
	hear(&listener, program->braid, 4096);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(listener.dense == !lost);
	CHECK_U64(listener.numbers, lost ? 2 : 3);
	CHECK_U64(listener.refs[0], 10 * RING_WORDS);
	CHECK(!lost || listener.last_ref_s - start > 0.9);
	CHECK(listener.most_kept > 5 * RING_WORDS);
	program_free(program);
}

/* Ended while the program goes on, and keeps on writing: with what it has written. */
static void go_on(struct program *program)
{
	struct actor actor = { .program = program };
	uint64_t word = 1;

	attach(&program->said, program->process);
	attach(&actor.own, program->ring[0]);
	put_block(&actor, false, 1);
	for (;;)
		write_words(&actor.own, &word, 1);
}

static void check_cut(void)
{
	struct program *program = program_new(1, false, RING_WORDS);
	uint64_t words[2048], n_words = 0;
	struct loci_err err = { "" };
	pid_t pid = fork();
	ssize_t n;

	if (pid == 0)
		go_on(program);
	add_late(program, NULL, NULL);
	while ((n = program->braid->ops->read(program->braid, words, 2048, &err)) > 0) {
		n_words += (uint64_t)n;
		if (n_words > 1000000)
			loci_braid_cut(program->braid);
	}
	CHECK(n == 0);
	CHECK(n_words > 1000000 && n_words < 1000000 + 3 * RING_WORDS);
	CHECK_U64(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	program_free(program);
}

/* How often it is asked for more rings while so many pieces are read. */
static unsigned asked_for(struct program *program, struct actor *actor, unsigned n_pieces)
{
	unsigned before = program->asked;
	uint64_t words[2048];

	for (unsigned i = 0; i < n_pieces; i++) {
		put_block(actor, false, 1);
		loci_ring_producer_flush(&actor->own);
		CHECK(program->braid->ops->read(program->braid, words, 2048, NULL) > 0);
	}
	return program->asked - before;
}

/* Whoever counts its rings is looked for new ones only where that number has changed. */
static void check_counted(void)
{
	struct program *program = program_new(1, false, RING_WORDS);
	struct actor actor = { .program = program };
	struct loci_ring_shared *shared;
	size_t bytes;

	shared = loci_ring_memory(program->process, &bytes);
	attach(&program->said, program->process);
	attach(&actor.own, program->ring[0]);
	add_late(program, NULL, NULL);
	CHECK(asked_for(program, &actor, 5) >= 5);
	__atomic_store_n(&shared->rings, 2, __ATOMIC_SEQ_CST);
	CHECK_U64(asked_for(program, &actor, 5), 1);
	__atomic_store_n(&shared->rings, 3, __ATOMIC_SEQ_CST);
	CHECK_U64(asked_for(program, &actor, 5), 1);
	CHECK_U64(asked_for(program, &actor, 5), 0);
	loci_ring_producer_close(&actor.own);
	loci_ring_producer_close(&program->said);
	program_free(program);
}

int main(int argc, char **argv)
{
	unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

	CHECK(loci_rundir_new(&dir, NULL) == 0);
	for (unsigned appends = 0; appends < 2; appends++) {
		check_threads(1, false, false, appends, 0);
		check_threads(1, true, false, appends, 0);
		check_threads(1, true, true, appends, 0);
		check_threads(THREADS, false, false, appends, RING_WORDS);
		check_threads(THREADS, true, false, appends, RING_WORDS);
		check_threads(THREADS, true, true, appends, 0);
	}
	check_appended();
	check_held_back(false);
	check_held_back(true);
	check_cut();
	check_counted();
	for (unsigned i = 0; i < check_turns(40) * times; i++)
		check_killed(i * 397 % 20000, i % 4 == 1);
	loci_rundir_free(dir);
	return check_status();
}
