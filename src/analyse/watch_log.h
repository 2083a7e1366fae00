/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was told of watched samples, until it is asked for: nothing depends on it while the program
 * runs, and what is made of it takes several times as much memory. Words are kept as differences to
 * those of the event of their kind before, seven bits a byte. */
#ifndef LOCI_ANALYSE_WATCH_LOG_H
#define LOCI_ANALYSE_WATCH_LOG_H

#include "stream/decode.h"

enum {
	LOCI_WATCH_LOG_KINDS = LOCI_MARK_SAMPLE_LOT - LOCI_MARK_SAMPLE_OPEN + 1,
};

struct loci_watch_log {
	struct loci_watch_piece *first, *last;
	uint64_t before[LOCI_WATCH_LOG_KINDS][UINT8_MAX + 2]; /* payload, then raw words */
};

void loci_watch_log_fini(struct loci_watch_log *log); /* all zero is empty */
/* A SAMPLE_OPEN, EVICT, FIRE or LOT, up to so many of its raw words; of others that it has only
 * their number is kept. 0 or -ENOMEM. */
int loci_watch_log_add(struct loci_watch_log *log, const struct loci_event *event, unsigned n_raw);
/* In their order, and empties it. The first that does not give 0 is returned. */
int loci_watch_log_replay(struct loci_watch_log *log,
	int (*hear)(void *data, const struct loci_event *event), void *data);

#endif
