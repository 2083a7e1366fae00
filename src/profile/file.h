/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What write.c, read.c and load.c share: the open file. Private to this room. */
#ifndef LOCI_PROFILE_FILE_H
#define LOCI_PROFILE_FILE_H

#include "base/replace.h"
#include "profile/dimension.h"
#include "profile/text_pool.h"

#include <sqlite3.h>

#define TABLE_ID(name, names) TABLE_##name,
enum table_id {
	TABLE_NONE,
	TABLE_run,
	TABLE_machine,
	TABLE_grain,
	TABLE_unseen,
	TABLE_thread,
	LOCI_DIMENSIONS(TABLE_ID) TABLE_END,
};
#undef TABLE_ID

struct rows {
	bool loaded;
	void *row;
	size_t n;
};

struct hist_entry {
	struct loci_hist_key key;
	sqlite3_int64 id;
	bool sampled, loaded;
	struct loci_hist hist; /* cold and coherence from the start, bins once loaded */
};

/* An answer of loci_profile_hists, kept. */
struct hist_list {
	struct hist_list *next;
	struct loci_hist_key key; /* owner_id 0 */
	size_t n;
	struct loci_owner_hist hist[];
};

struct loci_profile {
	char *path; /* as given */
	sqlite3 *db;
	sqlite3_stmt *bins; /* inserts or selects bins */

	/* being written */
	struct loci_replace replace;
	sqlite3_stmt *hist;
	sqlite3_stmt *insert[TABLE_END];
	bool has_run, has_grain;

	/* read */
	int version;
	struct loci_run run;
	struct loci_grain *grain;
	size_t n_grains;
	struct loci_thread_totals *thread;
	size_t n_threads;
	struct loci_unseen_calls *unseen;
	size_t n_unseen;
	struct hist_entry *entry;  /* ascending by key */
	struct loci_hist_key *key; /* of the entries, in their order */
	size_t n_entries;
	struct hist_list *lists;
	struct rows rows[TABLE_END]; /* of dimensions, once asked for */
	struct text_pool texts;      /* theirs */
};

/* load.c */
int loci_profile_load_index(struct loci_profile *profile, struct loci_err *err);
void loci_profile_free_index(struct loci_profile *profile);

/* read.c: all statements; the database can be closed then */
void loci_profile_finalize(struct loci_profile *profile);
/* read.c: checked access to columns. The file may hold anything. */
int loci_profile_damaged(const struct loci_profile *profile, struct loci_err *err, const char *fmt,
	...) __attribute__((format(printf, 3, 4)));
int loci_profile_db_error(const struct loci_profile *profile, struct loci_err *err);

/* rows.c */
int loci_profile_check_dimensions(struct loci_profile *profile, struct loci_err *err);
bool loci_profile_has_table(struct loci_profile *profile, const char *name);
/* The thread's number among the profile's; SIZE_MAX: it has no such thread. */
size_t loci_profile_thread_number(const struct loci_profile *profile, int64_t thread);
/* One of a list of threads, "3,4,7", and on to the next; false: what stands there is none. */
bool loci_next_thread(const char **at, uint32_t *ret);
/* The owner of a row of table is there. */
int loci_profile_check_owner(struct loci_profile *profile, const char *table, enum loci_owner owner,
	int64_t owner_id, struct loci_err *err);
void loci_profile_free_dimensions(struct loci_profile *profile);

/* name.c */
int loci_distance_from_name(const char *name, enum loci_distance *ret);
int loci_owner_from_name(const char *name, enum loci_owner *ret);

#endif
