/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who called whom, in a stream that tells of entries: what a collector finds on the stack. Only of
 * code of `loci cc`, whose entries say where they return to: a caller in other code hides those
 * before it, which a collector would see. */
#ifndef LOCI_COLLECT_REPLAY_CALLS_H
#define LOCI_COLLECT_REPLAY_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCI_REPLAY_CALLS 32 /* the innermost are told */

struct loci_replay_call {
	uint64_t frame, code, back; /* address of the frame, of the function, of the return */
};

/* Of one thread, outermost first. What returns is not told: it stays until another is in its place,
 * or code of a caller runs. */
struct loci_replay_calls {
	struct loci_replay_call *call;
	size_t n, cap;
};

void loci_replay_calls_fini(struct loci_replay_calls *calls);
/* A function has begun. 0 or -ENOMEM. */
int loci_replay_calls_enter(struct loci_replay_calls *calls, uint64_t frame, uint64_t code);
/* And this is where it will return to. */
void loci_replay_calls_called(struct loci_replay_calls *calls, uint64_t back);
/* Code of the function runs: what it called has returned. Nothing changes if it has no frame. */
static inline bool loci_replay_calls_are_at(const struct loci_replay_calls *calls, uint64_t code)
{
	return calls->n && calls->call[calls->n - 1].code == code;
}
void loci_replay_calls_return(struct loci_replay_calls *calls, uint64_t code);
/* And the addresses that it and its callers return to, innermost first. *ret is how many; returns
 * the function's frame. 0: it has none, and there is nothing. */
uint64_t loci_replay_calls_list(const struct loci_replay_calls *calls, uint64_t code,
	uint64_t back[LOCI_REPLAY_CALLS], unsigned *ret);

#endif
