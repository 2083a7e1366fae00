/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A runtime for tests of the pass alone: keeps each thread's words, reads them as stream.h says,
 *and at the end compares how many references they are with how many the code counted. Environment:
 *
 *	WORD_LOG	the file to write: "counted N traced M errors K runs L idle I", errors
 *			before it; idle: traced though to be counted
 *	WORD_LOG_MODE	count; trace; windows: changes between the two every few references;
 *			brief: traces a few references and counts some thousands;
 *			list: as trace, and writes every reference: L|S|F BYTES ADDRESS, R for a
 *range; and A|R ADDRESS for the numbers of atomic operations
 *	EXECUTIONS	the file to write how often each block of each function that was compiled
 *			with operations executed, as the words and the counters say: NAME BLOCK N
 *	WORD_LOG_RUNS	0: no loop is told by a RUN
 *
 * It knows nothing of signal handlers. Built by the clang whose pass it tests. */
#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#define WORDS    (1u << 14)
#define BLOCKS   (1u << 20)
#define COUNTERS (1u << 20)
#define BETWEEN  5000
#define SINK     128
#define FAR_AWAY ((int64_t)1 << 62)

enum mode { COUNT, TRACE, WINDOWS, BRIEF, LIST };

struct log {
	struct loci_cc_state state;
	uint64_t words[WORDS];
	const struct loci_cc_block *block; /* current, and its definition */
	const struct loci_cc_definition *definition;
	uint64_t id;
	uint32_t n_given; /* of its references */
	int64_t given;    /* budget when it was last set */
	uint64_t counted, traced, spoilt;
	uint64_t idle; /* traced though it was to count */
	uint64_t random;
	bool is_range; /* the next word is a length */
	bool is_tracing;
	uint64_t address;
	uint64_t *quiet; /* where words begin that go nowhere, but were executed */
	uint64_t counter[COUNTERS];
	uint64_t run[LOCI_RAW_MAX];   /* raw words of a RUN .. */
	unsigned n_run, n_raw;        /* .. so far, and at its end */
	uint64_t n_atomics, n_synced; /* SYNCs: given a number, and seen in the words */
	bool is_atomic;               /* an operation is on its way */
	bool is_sync;                 /* the raw words are a SYNC's, of this kind */
	uint64_t sync;
	uint64_t runs;
};

struct block {
	const struct loci_cc_definition *definition;
	const struct loci_cc_block *block;
};

static struct log nobody = { .state = { .cursor = nobody.words + 1, .limit = nobody.words } };
uint32_t __loci_shared = 1;
uint32_t __loci_runs = 1;
__thread struct loci_cc_thread __loci_thread = {
	.budget = -1, .state = &nobody.state, .counters = LOCI_CC_COUNTERS_UNKNOWN
};
static __thread struct log *own;
static struct block known[BLOCKS];
static uint64_t n_known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum mode mode;
static FILE *out;
static uint64_t counted, traced, spoilt, runs, idle;
static struct log *main_log;
static uint64_t executed[BLOCKS];
static struct counted {
	const struct loci_cc_definition *definition;
	uint64_t first, at;
} counting[BLOCKS / 16];
static unsigned n_counting;
static uint64_t n_counters;

static const struct loci_cc_block *blocks_of(const struct loci_cc_definition *definition)
{
	return (const struct loci_cc_block *)(definition + 1);
}

static void complain(struct log *log, const char *what, uint64_t word)
{
	if (log->spoilt++ < 20)
		fprintf(out, "error: %s: %#llx\n", what, (unsigned long long)word);
}

static void take_marker(struct log *log, uint64_t word)
{
	uint64_t id = loci_word_payload(word);
	bool is_run = loci_word_kind(word) == LOCI_MARK_RUN;
	log->is_sync = loci_word_kind(word) == LOCI_MARK_SYNC;
	if (log->is_sync) {
		log->sync = id;
		log->n_run = 0;
		log->n_raw = loci_word_n_raw(word);
		return;
	}
	if ((loci_word_kind(word) != LOCI_MARK_BLOCK && !is_run) ||
		(loci_word_n_raw(word) != 0) != is_run || id >= n_known) {
		complain(log, "not a block", word);
		return;
	}
	if (log->is_range)
		complain(log, "a range without a length", word);
	log->block = known[id].block;
	log->definition = known[id].definition;
	log->id = id;
	log->n_given = 0;
	executed[id]++;
	log->n_run = 0;
	log->n_raw = loci_word_n_raw(word);
}

static void list(uint64_t bytes, const struct loci_cc_site *site, uint64_t address)
{
	if (mode != LIST || site->op >= LOCI_OP_FRAME)
		return;
	fprintf(out, "%s%c %llu %#llx\n", site->size_bytes ? "" : "R", "LS"[site->op & 1],
		(unsigned long long)bytes, (unsigned long long)address);
}

static void take_address(struct log *log, uint64_t word)
{
	if (!log->block || log->block->n_sites == 0) {
		complain(log, "an address without a block", word);
		return;
	}
	if (log->n_given == log->block->n_sites) {
		log->n_given = 0;
		executed[log->id]++;
	}
	const struct loci_cc_site *site = (const struct loci_cc_site *)(blocks_of(log->definition) +
						  log->definition->n_blocks) +
		log->block->first_site + log->n_given;
	if (log->is_range) {
		log->is_range = false;
		list(word, site, log->address);
	} else if (site->size_bytes == 0) {
		log->is_range = true;
		log->address = word;
		log->traced++;
		return;
	} else {
		log->traced += site->op < LOCI_OP_FRAME;
		if (site->op == LOCI_OP_FRAME && (word & 7))
			complain(log, "not a frame", word);
		list(site->size_bytes, site, word);
	}
	log->n_given++;
}

/* A RUN is the same as its block and all its addresses. */
static void take_run(struct log *log)
{
	uint64_t times = log->run[0];
	unsigned n_refs = log->block->n_sites;
	if (times == 0 || times > LOCI_CC_RUN_TIMES || log->run[1] != 0 ||
		log->n_raw != 2 + 2 * n_refs) {
		complain(log, "not a run", times);
		return;
	}
	log->runs++;
	if (n_refs == 0)
		executed[log->id] += times - 1;
	for (uint64_t i = 0; i < times; i++)
		for (unsigned k = 0; k < n_refs; k++)
			take_address(log, log->run[2 + 2 * k] + i * log->run[3 + 2 * k]);
	if (log->n_given != n_refs || log->is_range)
		complain(log, "a run that is not complete", times);
}

static void take_raw(struct log *log, uint64_t word)
{
	log->run[log->n_run++] = word;
	if (log->n_run < log->n_raw)
		return;
	if (!log->is_sync)
		take_run(log);
	else if (log->n_raw != 2 || log->run[1] != ++log->n_synced)
		complain(log, "a number is missing", log->run[1]);
	else if (mode == LIST)
		fprintf(out, "%c %#llx\n", log->sync == LOCI_SYNC_ACQUIRE ? 'A' : 'R',
			(unsigned long long)log->run[0]);
	log->n_run = log->n_raw = 0;
}

static void drain(struct log *log)
{
	struct log before = { .traced = log->traced };
	if (log->is_atomic)
		complain(log, "an atomic operation without an end", 0);
	pthread_mutex_lock(&lock);
	log->block = NULL;
	for (uint64_t *at = log->quiet ? log->quiet : log->words; at < log->state.cursor; at++)
		if (log->n_raw > 0)
			take_raw(log, *at);
		else if (loci_word_is_marker(*at))
			take_marker(log, *at);
		else
			take_address(log, *at);
	if (log->quiet) {
		log->idle += log->traced - before.traced;
		log->traced = before.traced;
	}
	if (log->n_synced != log->n_atomics)
		complain(log, "numbers are missing", log->n_atomics);
	pthread_mutex_unlock(&lock);
	if (log->state.cursor > log->words + WORDS)
		complain(log, "more words than there was room for", 0);
	log->state.cursor = log->words;
}

static const struct loci_cc_term *terms_of(const struct loci_cc_definition *d)
{
	return (const void *)((const char *)(d + 1) + d->n_blocks * sizeof(struct loci_cc_block) +
		d->n_sites * sizeof(struct loci_cc_site) +
		d->n_scopes * sizeof(struct loci_cc_scope) +
		d->n_loops * sizeof(struct loci_cc_loop) +
		d->n_calls * sizeof(struct loci_cc_call) +
		d->n_blocks * sizeof(struct loci_cc_block_ops) +
		d->n_ops * sizeof(struct loci_cc_op) +
		d->n_invocations * sizeof(struct loci_cc_invocation));
}

static void tell_executions(struct log *log)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n_counting; i++) {
		const struct loci_cc_definition *d = counting[i].definition;
		const struct loci_cc_term *term = terms_of(d);
		for (uint32_t k = 0; k < d->n_terms; k++) {
			uint64_t n = log->counter[counting[i].at +
				(term[k].counter & ~LOCI_CC_TERM_MINUS)];
			executed[counting[i].first + term[k].block] +=
				term[k].counter & LOCI_CC_TERM_MINUS ? -n : n;
		}
	}
	memset(log->counter, 0, n_counters * sizeof(*log->counter));
	pthread_mutex_unlock(&lock);
}

static void write_executions(void)
{
	const char *path = getenv("EXECUTIONS");
	FILE *file = path ? fopen(path, "w") : NULL;
	for (uint64_t i = 0; file && i < n_known; i++) {
		const struct loci_cc_definition *d = known[i].definition;
		if (d->n_ops && executed[i])
			fprintf(file, "%s %u %lld\n", (const char *)&d->name + d->name,
				(unsigned)(known[i].block - blocks_of(d)), (long long)executed[i]);
	}
	if (file)
		fclose(file);
}

static void finish(void *thread)
{
	struct log *log = thread;
	log->counted += (uint64_t)(log->given - __loci_thread.budget);
	drain(log);
	tell_executions(log);
	pthread_mutex_lock(&lock);
	counted += log->counted;
	traced += log->traced;
	spoilt += log->spoilt;
	runs += log->runs;
	idle += log->idle;
	pthread_mutex_unlock(&lock);
	__loci_thread.budget = FAR_AWAY;
	__loci_thread.state = &nobody.state;
}

static void at_exit(void)
{
	if (own)
		finish(own);
	write_executions();
	fprintf(out, "counted %llu traced %llu errors %llu runs %llu idle %llu\n",
		(unsigned long long)counted, (unsigned long long)traced, (unsigned long long)spoilt,
		(unsigned long long)runs, (unsigned long long)idle);
	fclose(out);
}

static void begin(void)
{
	static const char *const name[] = { "count", "trace", "windows", "brief", "list" };
	const char *asked = getenv("WORD_LOG_MODE"), *path = getenv("WORD_LOG");
	for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (asked && strcmp(asked, name[i]) == 0)
			mode = i;
	out = fopen(path ? path : "/dev/null", "w");
	__loci_runs = !getenv("WORD_LOG_RUNS") || atoi(getenv("WORD_LOG_RUNS"));
	pthread_key_create(&key, finish);
	atexit(at_exit);
}

/* What is wanted of the thread next. */
static void turn(struct log *log)
{
	int64_t left = __loci_thread.budget;
	log->is_tracing = mode == TRACE || mode == LIST;
	log->given = log->is_tracing ? -FAR_AWAY : FAR_AWAY;
	log->state.limit = log->words + WORDS - 2 * LOCI_CC_ROOM_WORDS;
	if (mode == WINDOWS || mode == BRIEF) {
		static __thread bool next;
		log->random = log->random * 6364136223846793005ull + 1442695040888963407ull;
		uint64_t n = log->random >> 58;
		if (mode == WINDOWS || __loci_thread.budget < 0) {
			next = !next;
			left = (int64_t)n + (mode == BRIEF ? BETWEEN : 0);
		}
		log->is_tracing = next;
		log->given = next ? -FAR_AWAY : left;
		log->state.limit = log->words + n + (mode == BRIEF && !next ? SINK : 0);
	}
	log->state.cursor = log->words;
	/* While counting there is none; words of a copy that has not crossed yet go nowhere. */
	log->quiet = log->is_tracing ? NULL : mode == BRIEF ? log->words : log->state.limit + 1;
	if (!log->is_tracing)
		log->state.cursor = log->quiet;
	__loci_thread.budget = log->given;
}

void log_room(void);
__attribute__((visibility("hidden"))) void log_room(void)
{
	pthread_once(&once, begin);
	if (!own) {
		own = mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
		own->given = __loci_thread.budget;
		own->state.cursor = own->words;
		__loci_thread.state = &own->state;
		pthread_setspecific(key, own);
		if (!main_log)
			main_log = own;
	}
	own->counted += (uint64_t)(own->given - __loci_thread.budget);
	drain(own);
	turn(own);
}

void log_counters(struct loci_cc_function *function, uint64_t *place);
void log_define(struct loci_cc_function *function);
__attribute__((visibility("hidden"))) void log_define(struct loci_cc_function *function)
{
	const struct loci_cc_definition *definition =
		(const void *)((char *)&function->definition + function->definition);
	pthread_mutex_lock(&lock);
	if (!function->base) {
		uint64_t first = n_known, base = loci_mark_word(LOCI_MARK_BLOCK, 0, first);
		uint64_t *marker = (uint64_t *)((uintptr_t)&definition->markers +
			(uintptr_t)(intptr_t)definition->markers);
		if (definition->magic != LOCI_CC_DEFINITION_MAGIC ||
			first + definition->n_blocks > BLOCKS)
			abort();
		for (uint32_t i = 0; i < definition->n_blocks; i++) {
			known[n_known++] = (struct block){ definition, blocks_of(definition) + i };
			marker[i] = base + i;
		}
		__atomic_store_n(&function->base, base, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

__attribute__((visibility("hidden"))) void log_counters(
	struct loci_cc_function *function, uint64_t *place)
{
	if (!own)
		log_room();
	__loci_thread.counters = (uint64_t)own->counter;
	log_define(function);
	pthread_mutex_lock(&lock);
	if (*place == LOCI_CC_COUNTERS_UNKNOWN) {
		const struct loci_cc_definition *definition =
			known[loci_word_payload(function->base)].definition;
		counting[n_counting++] = (struct counted){ definition,
			loci_word_payload(function->base), n_counters };
		__atomic_store_n(place, n_counters * 8, __ATOMIC_RELEASE);
		n_counters += definition->n_counters;
		if (n_counters > COUNTERS)
			abort();
	}
	pthread_mutex_unlock(&lock);
}

static uint64_t *put_number(uint64_t *at, uint64_t address, enum loci_sync kind)
{
	*at++ = loci_mark_word(LOCI_MARK_SYNC, 2, kind);
	*at++ = address;
	*at++ = ++own->n_atomics;
	return at;
}

uint64_t *log_atomic(uint64_t *at, uint64_t address, uint64_t kind);
__attribute__((visibility("hidden"))) uint64_t *log_atomic(
	uint64_t *at, uint64_t address, uint64_t kind)
{
	if (at < own->state.cursor || at > own->words + WORDS)
		complain(own, "words elsewhere", (uint64_t)at);
	if (own->is_atomic)
		complain(own, "an atomic operation within another", address);
	own->is_atomic = true;
	if (kind != LOCI_CC_ATOMIC_STORE)
		at = put_number(at, address, LOCI_SYNC_ACQUIRE);
	*at++ = address;
	if (kind == LOCI_CC_ATOMIC_MODIFY)
		*at++ = address;
	if (kind != LOCI_CC_ATOMIC_LOAD)
		at = put_number(at, address, LOCI_SYNC_RELEASE);
	if (!own->quiet && at > own->state.limit + LOCI_CC_ROOM_WORDS)
		complain(own, "more words than there was room for", address);
	own->state.cursor = at;
	return at;
}

void log_atomic_end(void);
__attribute__((visibility("hidden"))) void log_atomic_end(void)
{
	if (!own->is_atomic)
		complain(own, "the end of no atomic operation", 0);
	own->is_atomic = false;
}

/* All registers but r11 are the caller's, and where there is a result rax. */
#define KEEPING(name, function) KEEPING_BUT(name, function, "popq %rax\n")
#define KEEPING_BUT(name, function, last)                                               \
	__asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"        \
		"pushq %rbp\n movq %rsp, %rbp\n pushq %rax\n pushq %rcx\n pushq %rdx\n" \
		"pushq %rsi\n pushq %rdi\n pushq %r8\n pushq %r9\n pushq %r10\n"        \
		"call " function "\n"                                                   \
		"popq %r10\n popq %r9\n popq %r8\n popq %rdi\n popq %rsi\n"             \
		"popq %rdx\n popq %rcx\n" last "popq %rbp\n ret\n"                      \
		".size " name ", . - " name "\n")
KEEPING("__loci_room", "log_room");
KEEPING("__loci_define", "log_define");
KEEPING("__loci_counters", "log_counters");
KEEPING_BUT("__loci_atomic_begin", "log_atomic", "addq $8, %rsp\n");
KEEPING("__loci_atomic_end", "log_atomic_end");

struct loci_cc_state *__loci_mark(void)
{
	return __loci_thread.state;
}

void __loci_landed(struct loci_cc_state *state)
{
	if (state != __loci_thread.state && own)
		complain(own, "landed elsewhere", 0);
}

/* Only large ones come here, and with them the budget, which memory may be behind of. */
static void check_large(size_t n, int64_t budget)
{
	if (own && (n < LOCI_CC_LARGE_BYTES || budget > __loci_thread.budget))
		complain(own, "large", n);
}

void *__loci_memcpy(void *to, const void *from, size_t n, int64_t budget)
{
	check_large(n, budget);
	return memcpy(to, from, n);
}

void *__loci_memmove(void *to, const void *from, size_t n, int64_t budget)
{
	check_large(n, budget);
	return memmove(to, from, n);
}

void *__loci_memset(void *to, int value, size_t n, int64_t budget)
{
	check_large(n, budget);
	return memset(to, value, n);
}

size_t __loci_span_string(const char *s)
{
	return strlen(s) + 1;
}

size_t __loci_span_string_n(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	return length < n ? length + 1 : n;
}

size_t __loci_span_memory(const void *a, const void *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const char *)a)[i] != ((const char *)b)[i])
			return i + 1;
	return n;
}

size_t __loci_span_compare_n(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i] || a[i] == '\0')
			return i + 1;
	return n;
}

size_t __loci_span_compare(const char *a, const char *b)
{
	return __loci_span_compare_n(a, b, SIZE_MAX);
}

size_t __loci_span_compare_case_n(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncasecmp(a + i, b + i, 1) != 0 || a[i] == '\0')
			return i + 1;
	return n;
}

size_t __loci_span_compare_case(const char *a, const char *b)
{
	return __loci_span_compare_case_n(a, b, SIZE_MAX);
}

size_t __loci_span_character(const char *s, int c)
{
	const char *found = strchr(s, c);
	return found ? (size_t)(found - s) + 1 : strlen(s) + 1;
}

size_t __loci_span_byte(const void *s, int c, size_t n)
{
	const char *found = memchr(s, c, n);
	return found ? (size_t)(found - (const char *)s) + 1 : n;
}

size_t __loci_span_any(const char *s, const char *accept)
{
	return strcspn(s, accept) + 1;
}

size_t __loci_span_all(const char *s, const char *accept)
{
	return strspn(s, accept) + 1;
}
