/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A short queue of batches between threads: one fills them, the others, which start with the first
 * full one, use them, each after the one before it. */
#ifndef LOCI_ANALYSE_RELAY_H
#define LOCI_ANALYSE_RELAY_H

#include "analyse/batch.h"
#include "base/err.h"

struct loci_relay;

typedef int (*loci_relay_use)(void *data, struct loci_batch *batch, struct loci_err *err);

#define LOCI_RELAY_USERS 3 /* at most */
int loci_relay_new(const loci_relay_use *use, unsigned n_users, void *data, struct loci_relay **ret,
	struct loci_err *err);
void loci_relay_free(struct loci_relay *relay); /* NULL allowed; ends the threads */
/* The batch to fill. */
struct loci_batch *loci_relay_batch(struct loci_relay *relay);
/* It is filled: another takes its place, empty. What went wrong on the other side is told here, or
 * at the end; after an error the relay is good only for being freed. */
int loci_relay_pass(struct loci_relay *relay, struct loci_err *err);
/* Passes the last one and waits until all have been used. */
int loci_relay_finish(struct loci_relay *relay, struct loci_err *err);

#endif
