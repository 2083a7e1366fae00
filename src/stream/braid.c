// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader looks at the threads' rings first, then takes all that the process's ring has, then
 * the threads' words as far as it had looked: so no block comes before its definition, which was
 * written before. */
#define _GNU_SOURCE
#include "stream/braid.h"

#include "stream/braid_state.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS     50000000u   /* then take what there is, and look whether the process lives */
#define NAP_NS      100000u     /* where nothing rings */
#define PATIENCE_NS 1000000000u /* for a sequence number */
#define IDLE_ROUNDS 3           /* handlers know from one round what they may in the next */
#define RETIRE_ROOM 2           /* words */

/* Of linux/futex.h, which older systems lack. */
#define FUTEX_WAITV_NR  449
#define FUTEX_WAITV_MAX 128
#define FUTEX_32_BITS   2
struct waiter {
	uint64_t value, address;
	uint32_t flags, reserved;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int append(struct loci_braid *braid, struct loci_strand *strand)
{
	if (braid->n_strands == braid->cap) {
		size_t cap = braid->cap ? 2 * braid->cap : 4;
		void *larger = realloc(braid->strand, cap * sizeof(*braid->strand));

		if (!larger)
			return -ENOMEM;
		braid->strand = larger;
		braid->cap = cap;
	}
	braid->strand[braid->n_strands++] = strand;
	return 0;
}

static void end_ring(struct loci_source *ring, int how, bool *told)
{
	if (!*told && how == BRAID_STOPPED)
		loci_ring_stop(ring);
	else if (!*told && how == BRAID_CUT)
		loci_ring_cut(ring);
	*told = how != BRAID_GOES_ON;
}

/* Takes in what other threads have said. Rings that come later end as the others did. */
static int receive(struct loci_braid *braid, struct loci_err *err)
{
	struct loci_strand *strand;
	int how, r = 0;

	pthread_mutex_lock(&braid->lock);
	strand = braid->arrived;
	braid->arrived = NULL;
	how = braid->end_asked;
	pthread_mutex_unlock(&braid->lock);
	while (strand) {
		struct loci_strand *next = strand->next;

		if (r == 0)
			r = append(braid, strand);
		if (r < 0)
			loci_strand_free(strand);
		strand = next;
	}
	end_ring(braid->process, how, &braid->process_told);
	for (size_t i = 0; i < braid->n_strands; i++)
		end_ring(braid->strand[i]->ring, how, &braid->strand[i]->told);
	return r < 0 ? loci_err_nomem(err) : 0;
}

static void remove_ended(struct loci_braid *braid, struct loci_braid_out *out)
{
	size_t n = 0;

	for (size_t i = 0; i < braid->n_strands; i++) {
		struct loci_strand *strand = braid->strand[i];

		if (strand->view.ended && !loci_strand_words(strand) &&
			out->cap - out->n >= RETIRE_ROOM) {
			loci_braid_retire(braid, strand, out);
			loci_strand_free(strand);
		} else {
			braid->strand[n++] = strand;
		}
	}
	braid->n_strands = n;
}

static int look_from(struct loci_braid *braid, size_t first, struct loci_err *err)
{
	int r = 0;

	for (size_t i = first; r == 0 && i < braid->n_strands; i++) {
		struct loci_strand *strand = braid->strand[i];

		r = loci_ring_look(strand->ring, &strand->view, err);
		if (r == 0 && !strand->started)
			r = loci_braid_start(braid, strand, err);
	}
	return r;
}

static bool has_words(const struct loci_braid *braid)
{
	for (size_t i = 0; i < braid->n_strands; i++)
		if (loci_strand_words(braid->strand[i]))
			return true;
	return false;
}

/* Among the words that can be seen there may be some that come after a handler's, whose ring was
 * made before them and is there by now. To look for it takes longer than to read a few words. */
static int look_all(struct loci_braid *braid, struct loci_err *err)
{
	size_t n = braid->n_strands;
	int r = look_from(braid, 0, err);
	uint32_t others;

	if (r < 0 || !braid->more || !has_words(braid))
		return r;
	others = loci_ring_others(braid->process);
	if (others && others == braid->others)
		return 0;
	braid->others = others;
	r = braid->more(braid->more_data, &braid->source, err);
	if (r >= 0) /* another thread may have added some */
		r = receive(braid, err);
	return r < 0 ? r : look_from(braid, n, err);
}

/* Once around. */
static int turn_all(struct loci_braid *braid, struct loci_braid_out *out, struct loci_err *err)
{
	int r = look_all(braid, err);

	if (r == 0)
		r = loci_braid_process(braid, out, err);
	if (r != 0)
		return r < 0 ? r : 0;
	for (size_t i = 0; r == 0 && i < braid->n_strands; i++)
		r = loci_braid_turn(
			braid, braid->strand[(braid->turn + i) % braid->n_strands], out, err);
	if (braid->n_strands)
		braid->turn = (braid->turn + 1) % braid->n_strands;
	if (r == 0)
		remove_ended(braid, out);
	return r;
}

static bool all_ended(const struct loci_braid *braid)
{
	if (!braid->process_view.ended || braid->process_view.n_words)
		return false;
	for (size_t i = 0; i < braid->n_strands; i++)
		if (!braid->strand[i]->view.ended)
			return false;
	return true;
}

/* A number that nobody will bring, or has not for long, is passed over. */
static int pass_missing(struct loci_braid *braid, bool ended, struct loci_err *err)
{
	uint64_t now;

	braid->hungry = loci_braid_waiting(braid);
	if (!braid->hungry) {
		braid->late_ns = 0;
		return 0;
	}
	now = now_ns();
	if (!braid->late_ns || braid->late_due != braid->due) {
		braid->late_ns = now;
		braid->late_due = braid->due;
	}
	if (!ended && now - braid->late_ns <= PATIENCE_NS)
		return 0;
	braid->late_ns = 0;
	return loci_braid_pass(braid, err);
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

/* False where the kernel cannot wait for several, or there are too many. */
static bool wait_for_any(const struct waiter *waiters, unsigned n)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return syscall(FUTEX_WAITV_NR, waiters, n, 0, &until, CLOCK_MONOTONIC) >= 0 ||
		errno != ENOSYS;
}

static void wait_for_words(struct loci_braid *braid)
{
	struct waiter waiters[FUTEX_WAITV_MAX];
	bool quiet = true, fits = braid->n_strands < FUTEX_WAITV_MAX;
	size_t n = fits ? braid->n_strands : 0;

	for (size_t i = 0; i <= n; i++) {
		struct loci_ring_bell bell;

		quiet &= loci_ring_await(i == n ? braid->process : braid->strand[i]->ring, &bell);
		waiters[i] = (struct waiter){ bell.value, (uintptr_t)bell.bell, FUTEX_32_BITS, 0 };
	}
	pthread_mutex_lock(&braid->lock);
	quiet &= !braid->arrived;
	pthread_mutex_unlock(&braid->lock);
	if (quiet && (!fits || !wait_for_any(waiters, (unsigned)n + 1)))
		nap();
	for (size_t i = 0; i <= n; i++)
		loci_ring_awaited(i == n ? braid->process : braid->strand[i]->ring);
}

static void wait_for_more(struct loci_braid *braid)
{
	uint64_t now;

	if (braid->hungry)
		nap();
	else
		wait_for_words(braid);
	braid->hungry = true;
	now = now_ns();
	if (now - braid->looked_ns < WAIT_NS)
		return;
	braid->looked_ns = now;
	if (!loci_ring_has_died(braid->process))
		return;
	for (size_t i = 0; i < braid->n_strands; i++)
		loci_ring_stop(braid->strand[i]->ring);
}

/* All rings have ended. 1: others have come. */
static int find_more(struct loci_braid *braid, struct loci_err *err)
{
	int r = braid->more ? braid->more(braid->more_data, &braid->source, err) : 0;

	pthread_mutex_lock(&braid->lock);
	if (r == 0 && braid->arrived)
		r = 1;
	/* what comes with a process that has ended has ended */
	if (r > 0 && braid->end_asked == BRAID_GOES_ON && loci_ring_has_died(braid->process))
		braid->end_asked = BRAID_STOPPED;
	pthread_mutex_unlock(&braid->lock);
	return r;
}

static ssize_t braid_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct loci_braid *braid = (struct loci_braid *)source;
	struct loci_braid_out out = { words, 0, cap };

	for (;;) {
		bool ended = false, found;
		int r = receive(braid, err);

		if (r == 0)
			r = turn_all(braid, &out, err);
		braid->idle_rounds = out.n ? 0 : braid->idle_rounds + 1;
		if (r == 0 && braid->idle_rounds && braid->idle_rounds < IDLE_ROUNDS &&
			braid->n_handlers)
			continue;
		if (r == 0 && !out.n && all_ended(braid)) {
			r = find_more(braid, err);
			ended = r == 0;
		}
		if (r < 0)
			return out.n ? (ssize_t)out.n : r;
		found = r > 0;
		if (ended && !braid->n_strands && !braid->n_held && braid->end) {
			words[out.n++] = braid->end;
			braid->end = 0;
		}
		r = pass_missing(braid, ended, err);
		if (r < 0)
			return r;
		if (out.n) {
			braid->given_words += out.n;
			return (ssize_t)out.n;
		}
		if (ended && !braid->n_strands && !braid->n_held) {
			memcpy(source->note, braid->process->note, sizeof(source->note));
			return 0;
		}
		if (!ended && !found)
			wait_for_more(braid);
	}
}

static void braid_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = ((const struct loci_braid *)source)->given_words * sizeof(uint64_t);
	*ret_total = 0;
}

static void braid_close(struct loci_source *source)
{
	struct loci_braid *braid = (struct loci_braid *)source;

	while (braid->arrived) {
		struct loci_strand *strand = braid->arrived;

		braid->arrived = strand->next;
		loci_strand_free(strand);
	}
	for (size_t i = 0; i < braid->n_strands; i++)
		loci_strand_free(braid->strand[i]);
	loci_source_close(braid->process);
	pthread_mutex_destroy(&braid->lock);
	free(braid->strand);
	free(braid->held);
	free(braid);
}

static const struct loci_source_ops braid_ops = {
	.read = braid_read,
	.progress = braid_progress,
	.close = braid_close,
};

int loci_braid_new_take(struct loci_source *process, loci_braid_more *more, void *data,
	struct loci_source **ret, struct loci_err *err)
{
	struct loci_braid *braid = calloc(1, sizeof(*braid));

	if (!braid) {
		loci_source_close(process);
		return loci_err_nomem(err);
	}
	braid->source.ops = &braid_ops;
	braid->source.info = process->info;
	braid->process = process;
	braid->more = more;
	braid->more_data = data;
	braid->due = 1;
	pthread_mutex_init(&braid->lock, NULL);
	*ret = &braid->source;
	return 0;
}

int loci_braid_add_take(
	struct loci_source *source, struct loci_source *ring, uint32_t thread, struct loci_err *err)
{
	struct loci_braid *braid = (struct loci_braid *)source;
	struct loci_strand *strand = calloc(1, sizeof(*strand)), **last;

	if (!strand) {
		loci_source_close(ring);
		return loci_err_nomem(err);
	}
	strand->ring = ring;
	strand->number = strand->thread = thread;
	pthread_mutex_lock(&braid->lock);
	for (last = &braid->arrived; *last; last = &(*last)->next)
		;
	*last = strand;
	pthread_mutex_unlock(&braid->lock);
	loci_ring_wake(braid->process);
	return 0;
}

static void ask_end(struct loci_source *source, int how)
{
	struct loci_braid *braid = (struct loci_braid *)source;

	pthread_mutex_lock(&braid->lock);
	if (braid->end_asked == BRAID_GOES_ON)
		braid->end_asked = how;
	pthread_mutex_unlock(&braid->lock);
	loci_ring_wake(braid->process);
}

void loci_braid_stop(struct loci_source *braid)
{
	ask_end(braid, BRAID_STOPPED);
}

void loci_braid_cut(struct loci_source *braid)
{
	ask_end(braid, BRAID_CUT);
}

bool loci_braid_became_another(const struct loci_source *braid)
{
	return ((const struct loci_braid *)braid)->became_another;
}

size_t loci_braid_kept_words(const struct loci_source *source)
{
	const struct loci_braid *braid = (const struct loci_braid *)source;
	size_t n = 0;

	for (size_t i = 0; i < braid->n_strands; i++)
		n += braid->strand[i]->n_kept - braid->strand[i]->kept_at;
	return n;
}
