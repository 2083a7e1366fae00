// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing a profile. The database is built beside its target without journal or syncs, since
 * nobody sees it before it is whole; commit syncs once and renames. */
#include "profile/column.h"
#include "profile/schema.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Small pages: most tables of most profiles are empty or short, and each takes a page. */
static const char settings[] = "PRAGMA page_size = 1024;"
			       "PRAGMA locking_mode = EXCLUSIVE;"
			       "PRAGMA journal_mode = OFF;"
			       "PRAGMA synchronous = OFF;"
			       "PRAGMA temp_store = MEMORY;"
			       "BEGIN;";

static const char insert_hist[] =
	"INSERT INTO histogram (owner, owner_id, distance, block_bytes, set_bits, scheme, sampled,"
	" cold, coherence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char insert_bin[] =
	"INSERT INTO bin (histogram_id, low, high, weight, square) VALUES (?, ?, ?, ?, ?)";

static int open_database(struct loci_profile *profile, struct loci_err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

	if (sqlite3_open_v2(profile->replace.temporary, &profile->db, flags, NULL) != SQLITE_OK ||
		sqlite3_exec(profile->db, settings, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(profile->db, loci_schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_prepare_v2(profile->db, insert_hist, -1, &profile->hist, NULL) !=
			SQLITE_OK ||
		sqlite3_prepare_v2(profile->db, insert_bin, -1, &profile->bins, NULL) != SQLITE_OK)
		return loci_profile_db_error(profile, err);
	return 0;
}

int loci_profile_create(const char *path, struct loci_profile **ret, struct loci_err *err)
{
	struct loci_profile *profile = calloc(1, sizeof(*profile));
	int r;

	if (!profile)
		return loci_err_nomem(err);
	profile->replace.fd = -1;
	profile->version = LOCI_PROFILE_VERSION;
	profile->path = strdup(path);
	r = profile->path ? loci_replace_begin(&profile->replace, path, err) : loci_err_nomem(err);
	if (r == 0)
		r = open_database(profile, err);
	if (r < 0) {
		loci_profile_close(profile);
		return r;
	}
	*ret = profile;
	return 0;
}

static int invalid(const struct loci_profile *profile, const char *what, struct loci_err *err)
{
	return loci_err_set(err, EINVAL, "%s: cannot write: %s", profile->path, what);
}

int loci_profile_put_run(
	struct loci_profile *profile, const struct loci_run *run, struct loci_err *err)
{
	struct loci_run row = *run;
	int r;

	if (!row.unit)
		row.unit = (char *)"byte";
	if (strcmp(row.unit, "byte") && strcmp(row.unit, "object"))
		return invalid(profile, "the unit is neither byte nor object", err);
	r = loci_table_insert(profile, &loci_table_run, &row, err);
	if (r == 0)
		r = loci_table_insert(profile, &loci_table_machine, &row, err);
	profile->has_run = r == 0;
	return r;
}

int loci_profile_put_grain(
	struct loci_profile *profile, const struct loci_grain *grain, struct loci_err *err)
{
	struct loci_grain row = *grain;
	int r;

	if (!loci_is_power_of_2(row.block_bytes))
		return invalid(profile, "a block size is no power of two", err);
	if (row.sampling_rate == 0)
		row.sampling_rate = 1;
	r = loci_table_insert(profile, &loci_table_grain, &row, err);
	profile->has_grain |= r == 0;
	return r;
}

int loci_profile_put_thread(
	struct loci_profile *profile, const struct loci_thread_totals *totals, struct loci_err *err)
{
	return loci_table_insert(profile, &loci_table_thread, totals, err);
}

int loci_profile_put_unseen(
	struct loci_profile *profile, const struct loci_unseen_calls *unseen, struct loci_err *err)
{
	return loci_table_insert(profile, &loci_table_unseen, unseen, err);
}

static bool valid_weight(double weight)
{
	return isfinite(weight) && weight >= 0;
}

static bool valid_hist(const struct loci_hist *hist)
{
	if (!valid_weight(hist->cold) || !valid_weight(hist->coherence))
		return false;
	for (uint32_t i = 0; i < hist->n_bins; i++)
		if (!valid_weight(hist->weight[i]) ||
			(hist->square && !valid_weight(hist->square[i])))
			return false;
	return true;
}

/* An exact weight is stored as a whole number, a sampled one as REAL (NUMERIC affinity makes whole
 * ones compact, without loss). */
static int put_bin(
	struct loci_profile *profile, sqlite3_int64 id, const struct loci_hist *hist, uint32_t bin)
{
	sqlite3_stmt *stmt = profile->bins;

	if (!hist->weight[bin] && !(hist->square && hist->square[bin]))
		return SQLITE_DONE;
	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, id);
	loci_bind_edge(stmt, 2, loci_bin_low(hist->scheme, bin));
	loci_bind_edge(stmt, 3, loci_bin_high(hist->scheme, bin));
	loci_bind_number(stmt, 4, hist->weight[bin]);
	if (hist->square)
		loci_bind_number(stmt, 5, hist->square[bin]);
	else
		sqlite3_bind_null(stmt, 5);
	return sqlite3_step(stmt);
}

int loci_profile_put_hist(struct loci_profile *profile, const struct loci_hist_key *key,
	const struct loci_hist *hist, struct loci_err *err)
{
	sqlite3_stmt *stmt = profile->hist;
	sqlite3_int64 id;

	if (!valid_hist(hist))
		return invalid(
			profile, "a histogram has a weight that is negative or no number", err);
	sqlite3_reset(stmt);
	sqlite3_bind_text(stmt, 1, loci_owner_name(key->owner), -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, key->owner_id);
	sqlite3_bind_text(stmt, 3, loci_distance_name(key->distance), -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)key->block_bytes);
	sqlite3_bind_int64(stmt, 5, key->set_bits);
	sqlite3_bind_text(stmt, 6, loci_scheme_name(hist->scheme), -1, SQLITE_STATIC);
	sqlite3_bind_int(stmt, 7, hist->square != NULL);
	loci_bind_number(stmt, 8, hist->cold);
	loci_bind_number(stmt, 9, hist->coherence);
	if (sqlite3_step(stmt) != SQLITE_DONE)
		return loci_profile_db_error(profile, err);
	id = sqlite3_last_insert_rowid(profile->db);
	for (uint32_t bin = 0; bin < hist->n_bins; bin++)
		if (put_bin(profile, id, hist, bin) != SQLITE_DONE)
			return loci_profile_db_error(profile, err);
	return 0;
}

/* What a reader would refuse must not be written. */
static int check_whole(struct loci_profile *profile, struct loci_err *err)
{
	static const char orphans[] =
		"SELECT 1 FROM histogram WHERE block_bytes NOT IN (SELECT block_bytes FROM grain)";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(profile->db, orphans, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	if (rc == SQLITE_ROW)
		return invalid(profile, "a histogram's block size has no totals", err);
	if (rc != SQLITE_DONE)
		return loci_profile_db_error(profile, err);
	if (!profile->has_run)
		return invalid(profile, "nothing says what was run", err);
	if (!profile->has_grain)
		return invalid(profile, "there are no totals at any block size", err);
	return loci_profile_check_dimensions(profile, err);
}

int loci_profile_commit(struct loci_profile *profile, struct loci_err *err)
{
	int r = check_whole(profile, err);

	if (r < 0)
		return r;
	loci_profile_finalize(profile);
	if (sqlite3_exec(profile->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_close(profile->db) != SQLITE_OK)
		return loci_profile_db_error(profile, err);
	profile->db = NULL;
	return loci_replace_commit(&profile->replace, err);
}
