// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/relay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Waking a thread costs as much as a quarter of a batch, so who has slept is woken only when there
 * is something to do for a while: half of all batches, the end, or anything if who fills them waits
 * for an empty one, since each user may have less than half. */
#define BATCHES 16
#define WORTH   (BATCHES / 2)

struct user {
	struct loci_relay *relay;
	unsigned number; /* from 1 */
	loci_relay_use use;
	pthread_t thread;
	bool started;
	/* Under the lock. */
	pthread_cond_t ready;
	bool waits;
	int error;
	struct loci_err err;
};

struct loci_relay {
	void *data;
	struct user user[LOCI_RELAY_USERS];
	unsigned n_users;
	bool started, inline_only;
	pthread_mutex_t lock;
	pthread_cond_t emptied;
	/* Under the lock. Batches that who fills them, or a user, is done with, and whether that
	 * was the last; there are never more of a later one. */
	uint64_t n_done[1 + LOCI_RELAY_USERS];
	bool ended[1 + LOCI_RELAY_USERS];
	bool filler_waits;
	struct loci_batch *batch[BATCHES]; /* allocated when first needed */
};

int loci_relay_new(const loci_relay_use *use, unsigned n_users, void *data, struct loci_relay **ret,
	struct loci_err *err)
{
	struct loci_relay *relay = calloc(1, sizeof(*relay));

	if (relay)
		relay->batch[0] = calloc(1, sizeof(*relay->batch[0]));
	if (!relay || !relay->batch[0]) {
		free(relay);
		return loci_err_nomem(err);
	}
	relay->data = data;
	relay->n_users = n_users;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->emptied, NULL);
	for (unsigned i = 0; i < n_users; i++) {
		relay->user[i] = (struct user){ .relay = relay, .number = i + 1, .use = use[i] };
		pthread_cond_init(&relay->user[i].ready, NULL);
	}
	*ret = relay;
	return 0;
}

struct loci_batch *loci_relay_batch(struct loci_relay *relay)
{
	return relay->batch[relay->n_done[0] % BATCHES];
}

/* With the lock held: batches that wait for a user. */
static uint64_t waiting(const struct loci_relay *relay, unsigned user)
{
	return relay->n_done[user - 1] - relay->n_done[user];
}

/* With the lock held: batches that are not empty. */
static uint64_t pending(const struct loci_relay *relay)
{
	return relay->n_done[0] - relay->n_done[relay->n_users];
}

/* With the lock held: batches that are worth waking up for. */
static uint64_t worth(const struct loci_relay *relay)
{
	return relay->filler_waits ? 1 : WORTH;
}

static int error_of(const struct loci_relay *relay)
{
	for (unsigned i = 0; i < relay->n_users; i++)
		if (relay->user[i].error)
			return relay->user[i].error;
	return 0;
}

/* With the lock held: who is done with a batch, or with all, tells who comes after. */
static void tell_next(struct loci_relay *relay, unsigned who)
{
	if (who < relay->n_users) {
		struct user *next = &relay->user[who];

		if (next->waits &&
			(waiting(relay, next->number) >= worth(relay) || relay->ended[who]))
			pthread_cond_signal(&next->ready);
	} else if (relay->filler_waits && pending(relay) <= WORTH) {
		pthread_cond_signal(&relay->emptied);
	}
}

/* With the lock held. */
static void await_batches(struct loci_relay *relay, struct user *user)
{
	user->waits = true;
	while (waiting(relay, user->number) < worth(relay) && !relay->ended[user->number - 1])
		pthread_cond_wait(&user->ready, &relay->lock);
	user->waits = false;
}

static void *consume(void *data)
{
	struct user *user = data;
	struct loci_relay *relay = user->relay;

	pthread_mutex_lock(&relay->lock);
	while (!user->error) {
		struct loci_batch *batch;
		int r;

		if (!waiting(relay, user->number))
			await_batches(relay, user);
		if (!waiting(relay, user->number))
			break;
		batch = relay->batch[relay->n_done[user->number] % BATCHES];
		pthread_mutex_unlock(&relay->lock);
		r = user->use(relay->data, batch, &user->err);
		pthread_mutex_lock(&relay->lock);
		user->error = r < 0 ? r : 0;
		relay->n_done[user->number] += r >= 0;
		tell_next(relay, user->number);
	}
	relay->ended[user->number] = true;
	tell_next(relay, user->number);
	if (user->error)
		pthread_cond_signal(&relay->emptied);
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* All stages in one thread, where there is no other. */
static int use_here(struct loci_relay *relay, struct loci_err *err)
{
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < relay->n_users; i++)
		r = relay->user[i].use(relay->data, loci_relay_batch(relay), err);
	return r;
}

static int told(struct loci_relay *relay, struct loci_err *err)
{
	for (unsigned i = 0; i < relay->n_users; i++)
		if (relay->user[i].error)
			return loci_err_set(
				err, -relay->user[i].error, "%s", relay->user[i].err.text);
	return 0;
}

/* With the lock held. */
static void await_room(struct loci_relay *relay)
{
	relay->filler_waits = true;
	for (unsigned i = 0; i < relay->n_users; i++)
		tell_next(relay, i);
	while (pending(relay) > WORTH && !error_of(relay))
		pthread_cond_wait(&relay->emptied, &relay->lock);
	relay->filler_waits = false;
}

/* With the lock held. */
static int next_batch(struct loci_relay *relay, struct loci_err *err)
{
	struct loci_batch **batch;

	if (pending(relay) == BATCHES)
		await_room(relay);
	batch = &relay->batch[relay->n_done[0] % BATCHES];
	if (!*batch)
		*batch = calloc(1, sizeof(**batch));
	return *batch ? told(relay, err) : loci_err_nomem(err);
}

static void stop(struct loci_relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	relay->ended[0] = true;
	pthread_cond_signal(&relay->user[0].ready);
	pthread_mutex_unlock(&relay->lock);
	for (unsigned i = 0; i < relay->n_users; i++)
		if (relay->user[i].started)
			pthread_join(relay->user[i].thread, NULL);
	for (unsigned i = 0; i < relay->n_users; i++)
		relay->user[i].started = false;
	relay->started = false;
	relay->inline_only = true;
}

static void start(struct loci_relay *relay)
{
	relay->started = true;
	for (unsigned i = 0; i < relay->n_users; i++) {
		struct user *user = &relay->user[i];

		user->started = pthread_create(&user->thread, NULL, consume, user) == 0;
		relay->started &= user->started;
	}
	if (!relay->started)
		stop(relay);
}

int loci_relay_pass(struct loci_relay *relay, struct loci_err *err)
{
	struct loci_batch *batch;
	int r;

	if (!relay->started && !relay->inline_only)
		start(relay);
	if (relay->inline_only) {
		r = use_here(relay, err);
	} else {
		pthread_mutex_lock(&relay->lock);
		relay->n_done[0]++;
		tell_next(relay, 0);
		r = next_batch(relay, err);
		pthread_mutex_unlock(&relay->lock);
	}
	if (r < 0)
		return r;
	batch = loci_relay_batch(relay);
	/* what was counted in it goes; one that has not been used is all 0 */
	memset(batch->more, 0, batch->n * sizeof(*batch->more));
	memset(batch->more_writes, 0, batch->n * sizeof(*batch->more_writes));
	batch->n = batch->n_events = batch->n_seconds = batch->n_stage_events = 0;
	batch->n_turns = batch->n_ended = 0;
	return 0;
}

int loci_relay_finish(struct loci_relay *relay, struct loci_err *err)
{
	int r;

	stop(relay);
	r = told(relay, err);
	return r < 0 ? r : use_here(relay, err);
}

void loci_relay_free(struct loci_relay *relay)
{
	if (!relay)
		return;
	stop(relay);
	for (unsigned i = 0; i < BATCHES; i++)
		free(relay->batch[i]);
	pthread_mutex_destroy(&relay->lock);
	pthread_cond_destroy(&relay->emptied);
	for (unsigned i = 0; i < relay->n_users; i++)
		pthread_cond_destroy(&relay->user[i].ready);
	free(relay);
}
