// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocations that are told late or not at all: whatever address a sample meets, what has been told
 * by then says which allocation it is in; numbers and sizes come out right in the end. Also where
 * threads free what others allocated. */
#include "collect/runtime/untold.h"
#include "check.h"
#include "rnd.h"

#include <pthread.h>

#define THREADS 4
#define PLACES  1500 /* for blocks, more than are kept */
#define STEP    256  /* from one place to the next */
#define SITES   200  /* more than are counted at a time */
#define BASE    0x10000

struct rt_image rt;

/* What is told, by ring: of each thread, and of the process. */
struct told {
	uint64_t kind, bytes, address, sequence, site, n;
};
static struct log {
	struct told *told;
	size_t n, cap;
} logs[THREADS + 1];
static struct rt_thread threads[THREADS];

static void note(struct log *log, uint64_t kind, uint64_t payload, unsigned n, const uint64_t *raw)
{
	if (log->n == log->cap) {
		log->cap = log->cap ? 2 * log->cap : 1024;
		log->told = realloc(log->told, log->cap * sizeof(*log->told));
	}
	log->told[log->n++] = (struct told){ kind, payload, raw[0], raw[1], n > 2 ? raw[2] : 0,
		n > 3 ? raw[3] : 0 };
}

void rt_mark(struct rt_thread *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw,
	const uint64_t *raw)
{
	note(&logs[thread - threads], kind, payload, n_raw, raw);
}

void rt_process_mark(enum loci_marker kind, uint64_t payload, unsigned n_raw, const uint64_t *raw)
{
	note(&logs[THREADS], kind, payload, n_raw, raw);
}

/* What an analysis knows of them. */
struct block {
	uint64_t bytes, site; /* 0: none */
};
static struct block known[PLACES];
static uint64_t known_n[SITES], known_most[SITES];
static size_t n_applied; /* of all told, by sequence */
static size_t taken[THREADS + 1];

static size_t place_of(uint64_t address)
{
	return (address - BASE) / STEP;
}

static void count(uint64_t site, uint64_t n, uint64_t bytes)
{
	known_n[site - 1] += n;
	if (known_most[site - 1] < bytes)
		known_most[site - 1] = bytes;
}

static void apply(const struct told *told)
{
	struct block *block = told->address ? &known[place_of(told->address)] : NULL;

	if (told->kind == LOCI_MARK_FREE && block) {
		CHECK(block->site);
		*block = (struct block){ 0 };
	} else if (told->kind == LOCI_MARK_ALLOC && block) {
		CHECK(!block->site && !told->n);
		*block = (struct block){ told->bytes, told->site };
		count(told->site, 1, told->bytes);
	} else if (told->kind == LOCI_MARK_ALLOC) {
		count(told->site, told->n, told->bytes);
	}
}

/* What was told by this number: no number lacks. */
static void apply_until(uint64_t sequence)
{
	while (n_applied < sequence) {
		size_t i;

		for (i = 0; i <= THREADS; i++)
			if (taken[i] < logs[i].n &&
				logs[i].told[taken[i]].sequence == n_applied + 1)
				break;
		if (i > THREADS) {
			CHECK_FAIL("number %zu was not told", n_applied + 1);
			return;
		}
		apply(&logs[i].told[taken[i]++]);
		n_applied++;
	}
}

static int by_sequence(const void *a, const void *b)
{
	const struct told *one = a, *other = b;

	return one->sequence < other->sequence ? -1 : one->sequence > other->sequence;
}

static void sort(void)
{
	for (size_t i = 0; i <= THREADS; i++)
		if (logs[i].n)
			qsort(logs[i].told, logs[i].n, sizeof(struct told), by_sequence);
}

static void begin(void)
{
	rt_untold_forget();
	rt = (struct rt_image){ .threads = &threads[0] };
	for (size_t i = 0; i <= THREADS; i++)
		logs[i].n = taken[i] = 0;
	for (size_t i = 0; i < THREADS; i++)
		threads[i] = (struct rt_thread){ .next = i + 1 < THREADS ? &threads[i + 1] : NULL };
	memset(known, 0, sizeof(known));
	memset(known_n, 0, sizeof(known_n));
	memset(known_most, 0, sizeof(known_most));
	n_applied = 0;
}

static struct block blocks[PLACES]; /* that are alive */
static uint64_t n[SITES], most[SITES];

static struct block any_block(void)
{
	return (struct block){ rnd(4) ? 1 + rnd(STEP) : 0, 1 + rnd(rnd(2) ? SITES : 3) };
}

static uintptr_t address_of(size_t place)
{
	return BASE + place * STEP;
}

static void allocate(struct rt_thread *thread, size_t place)
{
	struct block block = any_block();

	blocks[place] = block;
	n[block.site - 1]++;
	if (most[block.site - 1] < block.bytes)
		most[block.site - 1] = block.bytes;
	rt_untold_keep(thread, address_of(place), block.bytes, block.site);
}

static void release(struct rt_thread *thread, size_t place)
{
	uint64_t raw[2] = { address_of(place) };

	blocks[place] = (struct block){ 0 };
	if (rt_untold_drop(thread, raw[0]))
		return;
	raw[1] = rt_next_sequence();
	rt_mark(thread, LOCI_MARK_FREE, 0, 2, raw);
}

/* An empty block has a byte. */
static void meet(size_t place, uint64_t offset)
{
	bool is_within = blocks[place].site && offset < blocks[place].bytes + !blocks[place].bytes;

	rt_untold_met(address_of(place) + offset);
	apply_until(rt.sequence);
	if (is_within) {
		CHECK_U64(known[place].site, blocks[place].site);
		CHECK_U64(known[place].bytes, blocks[place].bytes);
	}
	if (!blocks[place].site)
		CHECK_U64(known[place].site, 0);
}

static void check_end(void)
{
	for (size_t i = 0; i < THREADS; i++)
		rt_untold_say_gone(&threads[i]);
	rt_untold_say_all();
	sort();
	apply_until(rt.sequence);
	CHECK(!memcmp(known, blocks, sizeof(known)));
	CHECK(!memcmp(known_n, n, sizeof(n)));
	CHECK(!memcmp(known_most, most, sizeof(most)));
}

static void test_alone(size_t turns)
{
	size_t places = 1 + rnd(PLACES), told;

	begin();
	memset(blocks, 0, sizeof(blocks));
	memset(n, 0, sizeof(n));
	memset(most, 0, sizeof(most));
	for (size_t i = 0; i < turns; i++) {
		size_t place = rnd(rnd(3) ? places : 1 + places / 20);

		if (!rnd(50))
			meet(place, rnd(STEP));
		else if (!rnd(50))
			rt_untold_say(&threads[0], address_of(place));
		else if (blocks[place].site)
			release(&threads[0], place);
		else
			allocate(&threads[0], place);
	}
	check_end();
	/* What comes and goes is not told. */
	told = rt.sequence;
	for (size_t i = 0; i < 4000; i++) {
		struct block block = { 8, 1 };

		rt_untold_keep(&threads[1], address_of(PLACES) + i % 7 * STEP, 8, block.site);
		CHECK(rt_untold_drop(&threads[1], address_of(PLACES) + i % 7 * STEP));
	}
	CHECK_U64(rt.sequence, told);
}

/* Each thread allocates at places of its own, with its own site and size, and hands some to the
 * next one to free. */
static size_t handed[THREADS][128]; /* a place, and one more; 0: none */
static uint32_t is_taken[PLACES];
static size_t turns_of_threads;
static struct seen {
	size_t place;
	uint64_t site, after;
} * seen;
static size_t n_seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the runtime's */

/* A sample in it; nobody frees it now. */
static void see(size_t place, uint64_t site)
{
	pthread_mutex_lock(&lock);
	rt_untold_met(address_of(place) + 7);
	seen[n_seen++] =
		(struct seen){ place, site, __atomic_load_n(&rt.sequence, __ATOMIC_SEQ_CST) };
	pthread_mutex_unlock(&lock);
}

static void let_go(struct rt_thread *thread, size_t place)
{
	release(thread, place);
	__atomic_store_n(&is_taken[place], 0, __ATOMIC_RELEASE);
}

static void *run_thread(void *data)
{
	size_t self = (size_t)(uintptr_t)data, share = PLACES / THREADS, none, got;
	struct rt_thread *thread = &threads[self];

	for (size_t i = 0; i < turns_of_threads; i++) {
		size_t place = self * share + i * 7 % share, *hand = &handed[self][i % 128];

		got = __atomic_exchange_n(
			&handed[(self + 1) % THREADS][i % 128], 0, __ATOMIC_ACQ_REL);
		if (got)
			let_go(thread, got - 1);
		if (__atomic_load_n(&is_taken[place], __ATOMIC_ACQUIRE))
			continue;
		__atomic_store_n(&is_taken[place], 1, __ATOMIC_RELAXED);
		rt_untold_keep(thread, address_of(place), 8 * (self + 1), self + 1);
		n[self]++;
		if (i % 13 == 0)
			see(place, self + 1);
		none = 0;
		if (i % 3 ||
			!__atomic_compare_exchange_n(
				hand, &none, place + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			let_go(thread, place);
	}
	return NULL;
}

static int by_after(const void *a, const void *b)
{
	const struct seen *one = a, *other = b;

	return one->after < other->after ? -1 : one->after > other->after;
}

static void test_threads(size_t turns)
{
	pthread_t thread[THREADS];
	size_t handovers = 0;

	begin();
	memset(blocks, 0, sizeof(blocks));
	memset(n, 0, sizeof(n));
	memset(most, 0, sizeof(most));
	memset(handed, 0, sizeof(handed));
	memset(is_taken, 0, sizeof(is_taken));
	turns_of_threads = turns;
	seen = calloc(THREADS * turns, sizeof(*seen));
	n_seen = 0;
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run_thread, (void *)(uintptr_t)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; i < THREADS; i++)
		most[i] = n[i] ? 8 * (i + 1) : 0;
	for (size_t i = 0; i < PLACES; i++) /* what nobody has freed */
		if (is_taken[i]) {
			uint64_t owner = i / (PLACES / THREADS) + 1;

			blocks[i] = (struct block){ 8 * owner, owner };
			handovers++;
		}
	CHECK(handovers <= THREADS * 128);
	for (size_t i = 0; i <= THREADS; i++)
		qsort(logs[i].told, logs[i].n, sizeof(struct told), by_sequence);
	qsort(seen, n_seen, sizeof(*seen), by_after);
	for (size_t i = 0; i < n_seen; i++) {
		apply_until(seen[i].after);
		CHECK_U64(known[seen[i].place].site, seen[i].site);
	}
	check_end();
	free(seen);
}

int main(void)
{
	for (size_t i = 0; i < check_amount(30); i++)
		test_alone(check_turns(30000));
	for (size_t i = 0; i < check_amount(6); i++)
		test_threads(check_turns(60000));
	for (size_t i = 0; i <= THREADS; i++)
		free(logs[i].told);
	return check_status();
}
