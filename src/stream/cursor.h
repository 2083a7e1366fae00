/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the threads of a stream are: each in a block, at a reference, perhaps with code that
 * signals interrupted below it. */
#ifndef LOCI_STREAM_CURSOR_H
#define LOCI_STREAM_CURSOR_H

#include "base/err.h"
#include "stream/definition.h"

/* first <= next < last, or all equal where no block is current or it has no references: a block
 * used up stands at its start again. */
struct loci_cursor {
	uint64_t block;   /* id; meaningful while current */
	uint64_t address; /* of the range whose length comes next, if half */
	uint32_t first, last, next;
	bool current, half;
};

struct loci_interrupted {
	struct loci_cursor cursor;
	uint64_t signal;
};

struct loci_thread {
	uint32_t id;
	unsigned depth, cap;
	struct loci_cursor cursor; /* while another thread is current */
	struct loci_interrupted *interrupted;
};

struct loci_threads {
	struct loci_thread *thread;
	size_t n, cap;
	size_t at; /* the current one */
	struct loci_idmap ids;
	struct loci_cursor cursor; /* of the current thread */
};

int loci_threads_init(struct loci_threads *threads); /* thread 0 is current */
void loci_threads_fini(struct loci_threads *threads);

/* A block's start. The block is defined. */
static inline void loci_cursor_start(
	struct loci_cursor *cursor, const struct loci_block *block, uint64_t id)
{
	*cursor = (struct loci_cursor){ .block = id,
		.first = block->first,
		.last = block->first + block->n_refs,
		.next = block->first,
		.current = true };
}

/* Forgets the block if it is not defined any more as it was when it started. */
void loci_cursor_check(struct loci_cursor *cursor, const struct loci_definitions *defs);

/* RESUME with its raw words. */
int loci_cursor_resume(struct loci_cursor *cursor, const struct loci_definitions *defs,
	uint64_t marker, const uint64_t *raw, struct loci_err *err);

/* 0 or -ENOMEM. */
int loci_threads_switch(
	struct loci_threads *threads, const struct loci_definitions *defs, uint32_t id);
int loci_threads_enter(struct loci_threads *threads, uint64_t signal);
void loci_threads_leave(struct loci_threads *threads, const struct loci_definitions *defs);

/* The words that bring a reader who knows the definitions to this state. Returns how many there
 * are; writes them if they fit into cap. */
size_t loci_threads_words(const struct loci_threads *threads, const struct loci_definitions *defs,
	uint64_t *words, size_t cap);

#endif
