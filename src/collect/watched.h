/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stream of one process of a run: a ring, or several as one, that ends where the run ends, and
 * says how it ended. */
#ifndef LOCI_COLLECT_WATCHED_H
#define LOCI_COLLECT_WATCHED_H

#include "stream/rundir.h"
#include "stream/source.h"

#include <pthread.h>
#include <stdbool.h>

struct loci_watched;

/* The processes whose streams are being read, and what became of the program. */
struct loci_watch {
	pthread_mutex_t lock;
	struct loci_watched *first;
	int pidfd; /* of the program */
	int status;
	bool ended; /* the program has been waited for; status is set before */
};

/* "PID.N.ring", or "PID.N.T.ring" of a thread: *ret_thread is not 0. */
bool loci_watched_name(const char *name, pid_t *ret_pid, unsigned *ret_image, unsigned *ret_thread);

/* Earlier images of the same process have been replaced by exec: their streams end with what they
 * hold. is_program: not one that the program started. Closing the source takes it from the list.
 */
int loci_watched_open(struct loci_watch *watch, const struct loci_rundir *dir, const char *name,
	bool is_program, struct loci_source **ret, struct loci_err *err);
bool loci_watch_has(struct loci_watch *watch, pid_t pid, unsigned image);

/* A ring of a thread, which becomes part of its process's stream. 0, also if it has been found
 * before; -ESRCH: there is no such process. */
int loci_watch_add(struct loci_watch *watch, const struct loci_rundir *dir, const char *name,
	struct loci_err *err);
/* Lets a ring be that nobody reads, and its producer know. */
void loci_watch_refuse(const struct loci_rundir *dir, const char *name);

/* The program has ended: all streams end with what they hold now. */
void loci_watch_stop(struct loci_watch *watch);

pid_t loci_watched_pid(const struct loci_source *source);
unsigned loci_watched_image(const struct loci_source *source);

#endif
