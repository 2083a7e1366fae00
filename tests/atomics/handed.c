// SPDX-License-Identifier: GPL-2.0-or-later
/* Four threads that hand data to each other by atomic operations alone, in C11 or C++, and write
 * down every one of them:	handed LOG WHAT TIMES
 *
 * WHAT: lock (a spinlock), stack (Treiber 1986), queue (Vyukov 2010), flags (message passing). A
 * line of LOG is "THREAD KIND ADDRESS READ WROTE", in the order each thread made them; KIND is L, S
 * or M,
 * "-" a value that was not; "= ADDRESS VALUE" is what was there first. What arrives is checked. */
#include <inttypes.h>
#ifdef __cplusplus
#include <atomic>
using namespace std;
typedef std::atomic<uint64_t> cell;
#else
#include <stdatomic.h>
typedef _Atomic uint64_t cell;
#endif
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, OPS_MAX = 8000000, SLOTS = 8, NODES = 64 };

struct op {
	char kind, has_read, has_written;
	cell *address;
	uint64_t read, wrote;
};

struct member {
	pthread_t id;
	unsigned number;
	struct op *op;
	size_t n_ops;
};

static struct member member[THREADS];
static __thread struct member *self;
static unsigned times;
static FILE *log_file;

static void note(
	char kind, cell *address, int has_read, uint64_t read, int has_written, uint64_t wrote)
{
	struct op op = { kind, (char)has_read, (char)has_written, address, read, wrote };

	if (self->n_ops == OPS_MAX) {
		fprintf(stderr, "handed: too many operations\n");
		exit(3);
	}
	self->op[self->n_ops++] = op;
}

static uint64_t get(cell *at)
{
	uint64_t value = atomic_load_explicit(at, memory_order_acquire);

	note('L', at, 1, value, 0, 0);
	return value;
}

static void set(cell *at, uint64_t value)
{
	atomic_store_explicit(at, value, memory_order_release);
	note('S', at, 0, 0, 1, value);
}

static uint64_t swap(cell *at, uint64_t value)
{
	uint64_t was = atomic_exchange_explicit(at, value, memory_order_acquire);

	note('M', at, 1, was, 1, value);
	return was;
}

static int replace(cell *at, uint64_t *was, uint64_t value)
{
	int done = atomic_compare_exchange_strong_explicit(
		at, was, value, memory_order_acq_rel, memory_order_acquire);

	note('M', at, 1, *was, done, value);
	return done;
}

static void wrong(const char *what)
{
	fprintf(stderr, "handed: %s\n", what);
	exit(1);
}

/* A lock, and two counters that agree under it. */
static cell lock;
static uint64_t guarded[2];

static void work_lock(void)
{
	for (unsigned i = 0; i < times; i++) {
		while (swap(&lock, 1 + self->number))
			sched_yield();
		if (guarded[0] != guarded[1])
			wrong("two threads under one lock");
		guarded[0]++;
		guarded[1]++;
		set(&lock, 0);
	}
}

/* A stack of nodes by number, 0: none; above it a count of changes. */
static cell top;
static uint64_t next_of[NODES + 1], payload[NODES + 1];
static uint64_t taken[THREADS];

static uint64_t pop(void)
{
	uint64_t was = get(&top);

	while ((uint32_t)was &&
		!replace(&top, &was,
			((was >> 32) + 1) << 32 |
				(uint32_t)__atomic_load_n(
					&next_of[(uint32_t)was], __ATOMIC_RELAXED)))
		;
	return (uint32_t)was;
}

static void push(uint64_t node)
{
	uint64_t was = get(&top);

	do
		__atomic_store_n(&next_of[node], (uint32_t)was, __ATOMIC_RELAXED);
	while (!replace(&top, &was, ((was >> 32) + 1) << 32 | node));
}

static void work_stack(void)
{
	for (unsigned i = 0; i < times; i++) {
		uint64_t node = pop();

		if (!node) {
			sched_yield();
			continue;
		}
		payload[node]++;
		taken[self->number]++;
		push(node);
	}
}

/* A ring of slots, each with the number of who may use it next. */
static cell head, tail, turn[SLOTS];
static uint64_t slot[SLOTS], received[THREADS];

static void work_queue(void)
{
	for (unsigned i = 0; i < times; i++) {
		cell *end = self->number % 2 ? &head : &tail;
		uint64_t at = get(end), ready = self->number % 2;

		for (;;) {
			uint64_t now = get(&turn[at % SLOTS]);

			if (now == at + ready && replace(end, &at, at + 1))
				break;
			if (now < at + ready)
				sched_yield();
			if (now != at + ready)
				at = get(end);
		}
		if (ready)
			received[self->number] += slot[at % SLOTS];
		else
			slot[at % SLOTS] = at + 1;
		set(&turn[at % SLOTS], ready ? at + SLOTS : at + 1);
	}
}

/* Round the threads in turn. */
static cell flag[THREADS];
static uint64_t message;

static void work_flags(void)
{
	for (unsigned i = 0; i < times; i++) {
		while (get(&flag[self->number]) != i + 1)
			sched_yield();
		if (message != (uint64_t)i * THREADS + self->number)
			wrong("a message is not there yet");
		message++;
		set(&flag[(self->number + 1) % THREADS], i + 1 + (self->number + 1) / THREADS);
	}
}

static const struct {
	const char *name;
	void (*work)(void);
} kinds[] = { { "lock", work_lock }, { "stack", work_stack }, { "queue", work_queue },
	{ "flags", work_flags } };
static void (*work)(void);

static cell began[THREADS]; /* by which a thread is known */
static pthread_barrier_t all;

static void *begin(void *argument)
{
	self = (struct member *)argument;
	set(&began[self->number], 1);
	pthread_barrier_wait(&all);
	work();
	return NULL;
}

static void start(cell *at, uint64_t value)
{
	atomic_init(at, value);
	fprintf(log_file, "= %" PRIxPTR " %" PRIx64 "\n", (uintptr_t)at, value);
}

static void start_values(void)
{
	start(&top, NODES);
	for (unsigned i = 0; i <= NODES; i++)
		next_of[i] = i ? i - 1 : 0;
	for (unsigned i = 0; i < SLOTS; i++)
		start(&turn[i], i);
	start(&flag[0], 1);
}

static void check(void)
{
	uint64_t sum = 0, all = 0, n = 2 * (uint64_t)times;

	for (unsigned i = 0; i <= NODES; i++)
		sum += payload[i];
	for (unsigned i = 0; i < THREADS; i++)
		all += taken[i];
	if (sum != all)
		wrong("the stack has lost something");
	if (work == work_queue && received[1] + received[3] != n * (n + 1) / 2)
		wrong("the queue has lost something");
	if (work == work_lock && guarded[0] != (uint64_t)THREADS * times)
		wrong("the lock has lost something");
	if (work == work_flags && message != (uint64_t)THREADS * times)
		wrong("a message is lost");
}

static void write_log(void)
{
	for (unsigned t = 0; t < THREADS; t++)
		for (size_t i = 0; i < member[t].n_ops; i++) {
			const struct op *op = &member[t].op[i];

			fprintf(log_file, "%u %c %" PRIxPTR " ", t, op->kind,
				(uintptr_t)op->address);
			if (op->has_read)
				fprintf(log_file, "%" PRIx64 " ", op->read);
			else
				fprintf(log_file, "- ");
			if (op->has_written)
				fprintf(log_file, "%" PRIx64 "\n", op->wrote);
			else
				fprintf(log_file, "-\n");
		}
	fclose(log_file);
}

int main(int argc, char **argv)
{
	if (argc != 4 || !(log_file = fopen(argv[1], "w")))
		return 2;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[2]))
			work = kinds[i].work;
	times = (unsigned)strtoul(argv[3], NULL, 10);
	if (!work)
		return 2;
	start_values();
	pthread_barrier_init(&all, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		member[i].number = i;
		member[i].op = (struct op *)calloc(OPS_MAX, sizeof(struct op));
		if (!member[i].op || pthread_create(&member[i].id, NULL, begin, &member[i]))
			return 2;
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(member[i].id, NULL);
	check();
	write_log();
	return 0;
}
