// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/relay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Waking a thread costs as much as a quarter of a batch, so who has slept is woken only when there
 * is something to do for a while: half of all batches, or the end. */
#define BATCHES 16
#define WORTH   (BATCHES / 2)

struct loci_relay {
	loci_relay_use use;
	void *data;
	pthread_t thread;
	bool started, inline_only;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	/* Under the lock. Batches used <= n < filled wait to be used. */
	uint64_t n_filled, n_used;
	bool user_waits, filler_waits;
	bool done;
	int error;
	struct loci_err err;
	struct loci_batch *batch[BATCHES]; /* allocated when first needed */
};

int loci_relay_new(loci_relay_use use, void *data, struct loci_relay **ret, struct loci_err *err)
{
	struct loci_relay *relay = calloc(1, sizeof(*relay));

	if (relay)
		relay->batch[0] = calloc(1, sizeof(*relay->batch[0]));
	if (!relay || !relay->batch[0]) {
		free(relay);
		return loci_err_nomem(err);
	}
	relay->use = use;
	relay->data = data;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->filled, NULL);
	pthread_cond_init(&relay->emptied, NULL);
	*ret = relay;
	return 0;
}

struct loci_batch *loci_relay_batch(struct loci_relay *relay)
{
	return relay->batch[relay->n_filled % BATCHES];
}

/* With the lock held. */
static void await_batches(struct loci_relay *relay)
{
	relay->user_waits = true;
	while (relay->n_filled - relay->n_used < WORTH && !relay->done)
		pthread_cond_wait(&relay->filled, &relay->lock);
	relay->user_waits = false;
}

static void *consume(void *data)
{
	struct loci_relay *relay = data;

	pthread_mutex_lock(&relay->lock);
	for (;;) {
		struct loci_batch *batch;
		int r;

		if (relay->n_used == relay->n_filled)
			await_batches(relay);
		if (relay->n_used == relay->n_filled)
			break;
		batch = relay->batch[relay->n_used % BATCHES];
		pthread_mutex_unlock(&relay->lock);
		r = relay->use(relay->data, batch, &relay->err);
		pthread_mutex_lock(&relay->lock);
		relay->n_used++;
		if (r < 0)
			relay->error = r;
		if (relay->filler_waits && (r < 0 || relay->n_filled - relay->n_used <= WORTH))
			pthread_cond_signal(&relay->emptied);
		if (r < 0)
			break;
	}
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* Both stages in one thread, where there is no other. */
static int use_here(struct loci_relay *relay, struct loci_err *err)
{
	return relay->use(relay->data, loci_relay_batch(relay), err);
}

static int told(struct loci_relay *relay, struct loci_err *err)
{
	return relay->error ? loci_err_set(err, -relay->error, "%s", relay->err.text) : 0;
}

/* With the lock held. */
static void await_room(struct loci_relay *relay)
{
	relay->filler_waits = true;
	while (relay->n_filled - relay->n_used > WORTH && !relay->error)
		pthread_cond_wait(&relay->emptied, &relay->lock);
	relay->filler_waits = false;
}

/* With the lock held. */
static int next_batch(struct loci_relay *relay, struct loci_err *err)
{
	struct loci_batch **batch;

	if (relay->n_filled - relay->n_used == BATCHES)
		await_room(relay);
	batch = &relay->batch[relay->n_filled % BATCHES];
	if (!*batch)
		*batch = malloc(sizeof(**batch));
	return *batch ? told(relay, err) : loci_err_nomem(err);
}

int loci_relay_pass(struct loci_relay *relay, struct loci_err *err)
{
	struct loci_batch *batch;
	int r;

	if (!relay->started && !relay->inline_only) {
		relay->started = pthread_create(&relay->thread, NULL, consume, relay) == 0;
		relay->inline_only = !relay->started;
	}
	if (relay->inline_only) {
		r = use_here(relay, err);
	} else {
		pthread_mutex_lock(&relay->lock);
		relay->n_filled++;
		if (relay->user_waits && relay->n_filled - relay->n_used >= WORTH)
			pthread_cond_signal(&relay->filled);
		r = next_batch(relay, err);
		pthread_mutex_unlock(&relay->lock);
	}
	if (r < 0)
		return r;
	batch = loci_relay_batch(relay);
	batch->n = batch->n_events = batch->n_seconds = 0;
	memset(batch->more, 0, sizeof(batch->more));
	memset(batch->more_writes, 0, sizeof(batch->more_writes));
	return 0;
}

static void stop(struct loci_relay *relay)
{
	if (!relay->started)
		return;
	pthread_mutex_lock(&relay->lock);
	relay->done = true;
	pthread_cond_signal(&relay->filled);
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
	relay->started = false;
	relay->inline_only = true;
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
	pthread_cond_destroy(&relay->filled);
	pthread_cond_destroy(&relay->emptied);
	free(relay);
}
