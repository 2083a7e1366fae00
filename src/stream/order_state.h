/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside an order: thread_order.c is the source, order_sort.c puts words that arrive into lanes,
 * one for each thread, order_turn.c lets them out in turns, order_lane.c is a lane's memory,
 * order_gate.c what keeps numbers in order, order_pace.c how time passes in a lane. */
#ifndef LOCI_STREAM_ORDER_STATE_H
#define LOCI_STREAM_ORDER_STATE_H

#include "stream/cursor.h"
#include "stream/thread_order.h"

#define LOCI_ORDER_CHUNK 510 /* words; more than a marker and its raw words */
#define LOCI_ORDER_READ  16384
/* What is held, of the most that may be, before others go on without a thread that is BLOCKED: it
 * may be back, and its words on their way. */
#define LOCI_ORDER_AHEAD 2

/* In a lane SWITCH means something else: the number of a gate, and as raw word the number that the
 * marker after it has there. With a second raw word it is none of the gate's numbers, and only
 * waits until this one is the next. */
#define LOCI_ORDER_GATED 2 /* words that stand before such a marker */

struct loci_order_chunk {
	struct loci_order_chunk *next;
	size_t n;
	uint64_t word[LOCI_ORDER_CHUNK];
};

/* Words in a queue. Markers are not cut apart. */
struct loci_order_queue {
	struct loci_order_chunk *first, *last;
	size_t at; /* in the first */
	size_t n_words;
	struct loci_order_chunk *ahead; /* where the walk ahead is; NULL: at the front */
	size_t ahead_at;
};

/* Where a walk along a lane is, for counting references. */
struct loci_order_place {
	struct loci_threads cursors; /* one thread, and the code that signals interrupted */
	bool plain;                  /* the current block has a word for each reference */
};

/* How time passes in a lane. References are counted from its beginning. */
struct loci_order_pace {
	struct loci_order_place place; /* of the walk ahead .. */
	uint64_t ahead, given;         /* .. and how far it is, and the lane */
	uint64_t from_ns, from_refs;   /* the last time stamp, .. */
	uint64_t to_ns, to_refs;       /* .. and the next, if it is known */
	double ns_per_ref;
	bool begun, known;
};

struct loci_order_lane {
	uint32_t thread;
	struct loci_order_queue queue;
	uint64_t fence; /* the module that stands before the words that come next */
	struct loci_order_place place;
	uint64_t clock;                 /* where it is among the others: references, or ns */
	int64_t left;                   /* references of its turn */
	struct loci_order_start *start; /* that has to wait for the words after it */
	bool lives;    /* it has started and not ended: if it has no words they are to come */
	bool expected; /* it was made, and has not started */
	bool blocked;
	bool passes;  /* a gate: the marker that has the number is next */
	bool returns; /* parked, and was away before */
	enum { LANE_AWAY, LANE_READY, LANE_PARKED, LANE_TURN } where;
	uint32_t gate; /* that it passed last, or is parked at: */
	struct loci_order_lane *next;
	uint64_t number;
	struct loci_order_pace pace; /* by time stamps */
};

struct loci_order_gate {
	uint64_t next;     /* the number that is due */
	uint64_t arrived;  /* markers */
	uint64_t released; /* where who let others go was then, the furthest */
	struct loci_order_lane *parked;
};
enum { LOCI_GATE_PROCESS, LOCI_GATE_MODULES, LOCI_GATES };

struct loci_ordered {
	struct loci_source source; /* first */
	struct loci_source *from;
	enum loci_order order;
	uint32_t turn_refs;
	size_t held_max, ahead;
	bool numbers_arrive_in_order; /* LOCI_CAP_ORDER */
	bool samples;                 /* LOCI_CAP_SAMPLES: between windows threads have no words */

	struct loci_definitions defs;
	uint32_t *accesses; /* before each reference of the definitions, from the first on */
	size_t n_accesses, accesses_cap;
	struct loci_idmap strings; /* that are complete */

	/* What arrives: a read of it. */
	uint64_t *in;
	size_t in_at, n_in;
	uint32_t in_thread;
	bool through;    /* there is one thread, if any: words pass */
	bool only_known; /* and its id is */
	bool only_blocked;
	uint32_t only;
	bool ended;     /* no more will arrive */
	bool barrier;   /* no more may arrive until all is out */
	bool redefines; /* the last DEFINE was of a block that there was */
	int failed;     /* why it ended */
	struct loci_err failure;

	struct loci_order_lane **lane;
	size_t n_lanes, lanes_cap;
	struct loci_idmap lane_ids;
	struct loci_order_lane **heap; /* those that are ready, the first to go first */
	size_t n_ready;
	struct loci_order_lane *turn; /* whose turn it is, or NULL */
	size_t n_blocked;             /* away, and BLOCKED */
	uint64_t now;                 /* where the round is of the lane that went last */
	uint64_t origin;              /* where rounds began, if they have */
	bool in_rounds;
	struct loci_order_queue at_once, at_end;
	struct loci_order_chunk *spare;
	size_t held, n_chunks; /* words in lanes; chunks in use */
	uint32_t out_thread;   /* whose words the reader takes them for */
	bool told_time;        /* there was a time stamp */
	bool lacks_time;       /* and should have been */

	struct loci_order_gate *gate;
	size_t n_gates, gates_cap;
	struct loci_idmap gate_ids;
	struct loci_order_counts counts;
};

struct loci_order_out {
	uint64_t *words;
	size_t n, cap;
};

/* Whether words of threads are held. */
static inline bool loci_order_holds(const struct loci_ordered *order)
{
	return order->held > order->at_once.n_words + order->at_end.n_words;
}

/* order_lane.c */
int loci_order_put(struct loci_ordered *order, struct loci_order_queue *queue,
	const uint64_t *words, size_t n); /* single words */
int loci_order_put_marker(struct loci_ordered *order, struct loci_order_queue *queue,
	const uint64_t *words); /* with its raw words */
void loci_order_used(struct loci_ordered *order, struct loci_order_queue *queue, size_t n_words);
void loci_order_queue_fini(struct loci_ordered *order, struct loci_order_queue *queue);
/* The words at the front that lie next to each other. */
static inline const uint64_t *loci_order_front(const struct loci_order_queue *queue, size_t *ret_n)
{
	*ret_n = queue->first ? queue->first->n - queue->at : 0;
	return queue->first ? queue->first->word + queue->at : NULL;
}
/* The lane of a thread, made if there is none; NULL: no memory. */
struct loci_order_lane *loci_order_lane(struct loci_ordered *order, uint32_t thread);
void loci_order_lanes_fini(struct loci_ordered *order);
/* Among those that are ready. A lane that was away goes on from where the others are. */
void loci_order_ready(struct loci_ordered *order, struct loci_order_lane *lane);
struct loci_order_lane *loci_order_first_ready(struct loci_ordered *order); /* and takes it out */
bool loci_order_goes_first(const struct loci_ordered *order, const struct loci_order_lane *a,
	const struct loci_order_lane *b);
/* There are no time stamps: by references from here on. */
void loci_order_forget_time(struct loci_ordered *order);
/* Not waited for from here on, and again: it has to be ready or parked then. */
void loci_order_away(struct loci_ordered *order, struct loci_order_lane *lane);
void loci_order_return(struct loci_ordered *order, const struct loci_order_lane *lane);

/* order_gate.c */
int loci_order_gate_of(struct loci_ordered *order, uint64_t object, uint32_t *ret);
/* Words have come for a lane that was away: it is ready, or parked. */
void loci_order_back(struct loci_ordered *order, struct loci_order_lane *lane);
/* Ready, and before the one whose turn it is if it is to go first. */
void loci_order_wake(struct loci_ordered *order, struct loci_order_lane *lane);
/* Whether the number may pass; otherwise the lane is parked. */
bool loci_order_pass(struct loci_ordered *order, struct loci_order_lane *lane, uint32_t gate,
	uint64_t number, bool only_waits);
/* The lane has passed a SYNC of this kind. */
void loci_order_synced(struct loci_ordered *order, struct loci_order_lane *lane, uint64_t kind);
/* Goes on without numbers that have not come. False: nobody waits. */
bool loci_order_give_up(struct loci_ordered *order);

/* Where the lane's round began; by time stamps there are none. */
static inline uint64_t loci_order_round(
	const struct loci_ordered *order, const struct loci_order_lane *lane)
{
	if (order->order != LOCI_ORDER_REFS)
		return lane->clock;
	return lane->clock - (lane->clock - order->origin) % order->turn_refs;
}

/* The lane's turn is where it is. One that waited may be behind the others. */
static inline void loci_order_reached(
	struct loci_ordered *order, const struct loci_order_lane *lane)
{
	uint64_t round = loci_order_round(order, lane);

	if (order->now < round)
		order->now = round;
}

/* How long a turn that begins here is. By references it goes to the end of the round, of as many
 * references as a turn has: so it matters little who was served first where threads began. */
static inline int64_t loci_order_turn_of(
	const struct loci_ordered *order, const struct loci_order_lane *lane)
{
	return (int64_t)(order->turn_refs - (lane->clock - loci_order_round(order, lane)));
}

/* A turn that wakes another begins anew by time stamps, and ends with the round otherwise. Rounds
 * begin when there is a second lane: what the first gave before need not be known. */
static inline void loci_order_restart(struct loci_ordered *order)
{
	struct loci_order_lane *lane = order->turn;

	if (!lane || (order->order == LOCI_ORDER_REFS && lane->left <= (int64_t)order->turn_refs))
		return;
	if (!order->in_rounds) {
		order->origin = order->now = lane->clock;
		order->in_rounds = true;
	}
	lane->left = loci_order_turn_of(order, lane);
}

/* order_pace.c: brings the lane's clock up to date. False: its next time stamp is not known. */
bool loci_order_pace(struct loci_ordered *order, struct loci_order_lane *lane);
/* The lane has given references, or a marker. */
void loci_order_pace_given(struct loci_ordered *order, struct loci_order_lane *lane, uint64_t refs);
void loci_order_pace_marker(
	struct loci_ordered *order, struct loci_order_lane *lane, const uint64_t *marker);

/* order_sort.c: as much of what arrived as may be put into lanes. */
int loci_order_sort(struct loci_ordered *order, struct loci_err *err);
/* What waits for more words does so no longer. */
int loci_order_settle(struct loci_ordered *order);
/* How many of the words may pass as they are: all, unless a second thread turns up. */
ssize_t loci_order_through(
	struct loci_ordered *order, const uint64_t *words, size_t n_words, struct loci_err *err);

/* order_turn.c: lets out what may be, as far as there is room. 1: more has to arrive first. */
int loci_order_turns(struct loci_ordered *order, struct loci_order_out *out, struct loci_err *err);

#endif
