/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What write.c, read.c and load.c share: the open file. Private to this room. */
#ifndef LOCI_PROFILE_FILE_H
#define LOCI_PROFILE_FILE_H

#include "base/replace.h"
#include "profile/profile.h"

#include <sqlite3.h>

struct hist_entry {
	struct loci_hist_key key;
	sqlite3_int64 id;
	bool sampled, loaded;
	struct loci_hist hist; /* cold and coherence from the start, bins once loaded */
};

struct loci_profile {
	char *path; /* as given */
	sqlite3 *db;
	sqlite3_stmt *bins; /* inserts or selects bins */

	/* being written */
	struct loci_replace replace;
	sqlite3_stmt *hist;
	bool has_run, has_grain;

	/* read */
	int version;
	struct loci_run run;
	struct loci_grain *grain;
	size_t n_grains;
	struct loci_thread_totals *thread;
	size_t n_threads;
	struct hist_entry *entry;  /* ascending by key */
	struct loci_hist_key *key; /* of the entries, in their order */
	size_t n_entries;
};

/* load.c */
int loci_profile_load_index(struct loci_profile *profile, struct loci_err *err);
void loci_profile_free_index(struct loci_profile *profile);

/* read.c: checked access to columns. The file may hold anything. */
int loci_profile_damaged(const struct loci_profile *profile, struct loci_err *err, const char *fmt,
	...) __attribute__((format(printf, 3, 4)));
int loci_profile_db_error(const struct loci_profile *profile, struct loci_err *err);

/* name.c */
int loci_distance_from_name(const char *name, enum loci_distance *ret);
int loci_owner_from_name(const char *name, enum loci_owner *ret);

#endif
