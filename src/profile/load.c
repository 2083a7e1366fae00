// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading histograms: which there are is known from opening on, their bins are read on first use.
 */
#include "profile/column.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SET_BITS 40

static int compare_keys(const void *left, const void *right)
{
	const struct loci_hist_key *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->owner_id != b->owner_id)
		return a->owner_id < b->owner_id ? -1 : 1;
	if (a->block_bytes != b->block_bytes)
		return a->block_bytes < b->block_bytes ? -1 : 1;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return (a->set_bits > b->set_bits) - (a->set_bits < b->set_bits);
}

/* A kind of histogram that came after this reader is let alone; words that are none of a kind are
 * damage. */
static bool is_foreign(sqlite3_stmt *stmt)
{
	const char *owner = loci_column_text(stmt, 1), *distance = loci_column_text(stmt, 3);
	const char *scheme = loci_column_text(stmt, 6);
	enum loci_owner known_owner;
	enum loci_distance known_distance;
	enum loci_scheme known_scheme;

	return owner && *owner && distance && *distance && scheme && *scheme &&
		(loci_owner_from_name(owner, &known_owner) < 0 ||
			loci_distance_from_name(distance, &known_distance) < 0 ||
			loci_scheme_from_name(scheme, &known_scheme) < 0);
}

/* Of the histogram in the current row. The key is the entry's first member. */
static int fetch_entry(const struct loci_profile *profile, sqlite3_stmt *stmt,
	struct hist_entry *entry, struct loci_err *err)
{
	uint64_t id, owner_id, set_bits, sampled;
	const char *scheme = loci_column_text(stmt, 6);

	if (!loci_column_u64(stmt, 0, &id) || !loci_column_u64(stmt, 2, &owner_id) ||
		!loci_column_u64(stmt, 4, &entry->key.block_bytes) ||
		!loci_column_u64(stmt, 5, &set_bits) || set_bits > MAX_SET_BITS ||
		!loci_column_u64(stmt, 7, &sampled) || sampled > 1 ||
		!loci_column_number(stmt, 8, &entry->hist.cold) ||
		!loci_column_number(stmt, 9, &entry->hist.coherence) ||
		loci_owner_from_name(loci_column_text(stmt, 1), &entry->key.owner) < 0 ||
		loci_distance_from_name(loci_column_text(stmt, 3), &entry->key.distance) < 0 ||
		!scheme || loci_scheme_from_name(scheme, &entry->hist.scheme) < 0)
		return loci_profile_damaged(profile, err, "a row of histogram holds nonsense");
	if (!loci_profile_grain(profile, entry->key.block_bytes))
		return loci_profile_damaged(profile, err,
			"it has a histogram of %" PRIu64 "-byte blocks but no totals of them",
			entry->key.block_bytes);
	entry->id = (sqlite3_int64)id;
	entry->key.owner_id = (int64_t)owner_id;
	entry->key.set_bits = (unsigned)set_bits;
	entry->sampled = sampled;
	return 0;
}

static int append_entry(struct loci_profile *profile, size_t *room, struct loci_err *err)
{
	if (profile->n_entries == *room) {
		size_t larger = *room ? 2 * *room : 64;
		struct hist_entry *moved = realloc(profile->entry, larger * sizeof(*moved));

		if (!moved)
			return loci_err_nomem(err);
		profile->entry = moved;
		*room = larger;
	}
	profile->entry[profile->n_entries++] = (struct hist_entry){ 0 };
	return 0;
}

static int index_keys(struct loci_profile *profile, struct loci_err *err)
{
	size_t n = profile->n_entries;

	if (!n)
		return 0;
	qsort(profile->entry, n, sizeof(*profile->entry), compare_keys);
	profile->key = malloc(n * sizeof(*profile->key));
	if (!profile->key)
		return loci_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		profile->key[i] = profile->entry[i].key;
		if (i && !compare_keys(&profile->key[i - 1], &profile->key[i]))
			return loci_profile_damaged(profile, err, "it has a histogram twice");
	}
	return 0;
}

int loci_profile_load_index(struct loci_profile *profile, struct loci_err *err)
{
	static const char select[] = "SELECT id, owner, owner_id, distance, block_bytes, set_bits,"
				     " scheme, sampled, cold, coherence FROM histogram";
	sqlite3_stmt *stmt = NULL;
	size_t room = 0;
	int r = 0, rc = sqlite3_prepare_v2(profile->db, select, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	for (; r == 0 && rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
		if (is_foreign(stmt))
			continue;
		r = append_entry(profile, &room, err);
		if (r == 0)
			r = fetch_entry(
				profile, stmt, &profile->entry[profile->n_entries - 1], err);
	}
	if (r == 0 && rc != SQLITE_DONE)
		r = loci_profile_db_error(profile, err);
	sqlite3_finalize(stmt);
	return r < 0 ? r : index_keys(profile, err);
}

void loci_profile_free_index(struct loci_profile *profile)
{
	for (size_t i = 0; i < profile->n_entries; i++)
		loci_hist_fini(&profile->entry[i].hist);
	free(profile->entry);
	free(profile->key);
	for (struct hist_list *next, *list = profile->lists; list; list = next) {
		next = list->next;
		free(list);
	}
}

/* Rows come with the largest distance first, so that the histogram is allocated once. */
static int fetch_bin(struct loci_profile *profile, sqlite3_stmt *stmt, struct hist_entry *entry,
	struct loci_err *err)
{
	struct loci_hist *hist = &entry->hist;
	double weight, square = 0;
	uint64_t low, high;
	uint32_t bin;

	if (!loci_column_edge(stmt, 0, &low) || !loci_column_edge(stmt, 1, &high) ||
		!loci_column_number(stmt, 2, &weight) ||
		(entry->sampled ? !loci_column_number(stmt, 3, &square)
				: sqlite3_column_type(stmt, 3) != SQLITE_NULL))
		return loci_profile_damaged(profile, err, "a row of bin holds nonsense");
	bin = loci_bin_of(hist->scheme, low);
	if (loci_bin_low(hist->scheme, bin) != low || loci_bin_high(hist->scheme, bin) != high)
		return loci_profile_damaged(profile, err,
			"%" PRIu64 " to %" PRIu64 " is no bin of a %s histogram", low, high,
			loci_scheme_name(hist->scheme));
	if (loci_hist_reserve(hist, bin + 1) < 0)
		return loci_err_nomem(err);
	hist->weight[bin] += weight;
	if (hist->square)
		hist->square[bin] += square;
	return 0;
}

/* Before the first bin: from here on reserving keeps square as long as weight. */
static int begin_bins(struct hist_entry *entry, struct loci_err *err)
{
	if (entry->sampled && !(entry->hist.square = calloc(1, sizeof(double))))
		return loci_err_nomem(err);
	return 0;
}

static void drop_bins(struct loci_hist *hist)
{
	free(hist->weight);
	free(hist->square);
	hist->weight = hist->square = NULL;
	hist->n_bins = 0;
}

static int load_bins(struct loci_profile *profile, struct hist_entry *entry, struct loci_err *err)
{
	static const char select[] = "SELECT low, high, weight, square FROM bin"
				     " WHERE histogram_id = ? ORDER BY low DESC";
	int r = begin_bins(entry, err), rc = SQLITE_OK;

	if (r < 0)
		return r;
	if (!profile->bins)
		rc = sqlite3_prepare_v2(profile->db, select, -1, &profile->bins, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_reset(profile->bins);
		sqlite3_bind_int64(profile->bins, 1, entry->id);
		rc = sqlite3_step(profile->bins);
	}
	for (; r == 0 && rc == SQLITE_ROW; rc = sqlite3_step(profile->bins))
		r = fetch_bin(profile, profile->bins, entry, err);
	if (r == 0 && rc != SQLITE_DONE)
		r = loci_profile_db_error(profile, err);
	sqlite3_reset(profile->bins);
	if (r < 0)
		drop_bins(&entry->hist);
	return r;
}

int loci_profile_hist(struct loci_profile *profile, const struct loci_hist_key *key,
	const struct loci_hist **ret, struct loci_err *err)
{
	struct hist_entry *entry = profile->n_entries
		? bsearch(key, profile->entry, profile->n_entries, sizeof(*entry), compare_keys)
		: NULL;
	int r;

	if (!entry)
		return -ENOENT;
	if (!entry->loaded) {
		r = load_bins(profile, entry, err);
		if (r < 0)
			return r;
		entry->loaded = true;
	}
	*ret = &entry->hist;
	return 0;
}

const struct loci_hist_key *loci_profile_hist_keys(
	const struct loci_profile *profile, size_t *ret_n)
{
	*ret_n = profile->n_entries;
	return profile->key;
}

static struct hist_entry *entry_of(const struct loci_hist *hist)
{
	return (struct hist_entry *)((char *)hist - offsetof(struct hist_entry, hist));
}

static int compare_ids(const void *left, const void *right)
{
	const struct hist_entry *const *a = left, *const *b = right;

	return ((*a)->id < (*b)->id) - ((*a)->id > (*b)->id);
}

/* Reads the bins of entries, which are descending by id, in one pass over their part of the table.
 * Writers put histograms of one kind side by side, so little of what is passed is not wanted. */
static int scan_bins(struct loci_profile *profile, struct hist_entry *const *entry, size_t n,
	struct loci_err *err)
{
	static const char select[] =
		"SELECT low, high, weight, square, histogram_id FROM bin WHERE histogram_id "
		"BETWEEN ? AND ? ORDER BY histogram_id DESC, low DESC";
	sqlite3_stmt *stmt = NULL;
	int r = 0, rc = sqlite3_prepare_v2(profile->db, select, -1, &stmt, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(stmt, 1, entry[n - 1]->id);
		sqlite3_bind_int64(stmt, 2, entry[0]->id);
		rc = sqlite3_step(stmt);
	}
	for (; r == 0 && rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
		sqlite3_int64 id = sqlite3_column_int64(stmt, 4);

		for (; n && (*entry)->id > id; n--)
			entry++;
		if (n && (*entry)->id == id)
			r = fetch_bin(profile, stmt, *entry, err);
	}
	if (r == 0 && rc != SQLITE_DONE)
		r = loci_profile_db_error(profile, err);
	sqlite3_finalize(stmt);
	return r;
}

/* Loads those of the list's histograms that are not yet. */
static int load_list(
	struct loci_profile *profile, const struct hist_list *list, struct loci_err *err)
{
	loci_autofree struct hist_entry **entry =
		malloc((list->n + 1) * sizeof(struct hist_entry *));
	size_t n = 0;
	int r = entry ? 0 : loci_err_nomem(err);

	for (size_t i = 0; r == 0 && i < list->n; i++) {
		struct hist_entry *one = entry_of(list->hist[i].hist);

		if (one->loaded)
			continue;
		r = begin_bins(one, err);
		entry[n++] = one;
	}
	if (r == 0 && n) {
		qsort(entry, n, sizeof(struct hist_entry *), compare_ids);
		r = scan_bins(profile, entry, n, err);
	}
	for (size_t i = 0; i < n; i++) {
		if (r < 0)
			drop_bins(&entry[i]->hist);
		entry[i]->loaded = r == 0;
	}
	return r;
}

static bool in_list(const struct hist_entry *entry, const struct loci_hist_key *key)
{
	return entry->key.owner == key->owner && entry->key.distance == key->distance &&
		entry->key.block_bytes == key->block_bytes && entry->key.set_bits == 0;
}

static int make_list(struct loci_profile *profile, const struct loci_hist_key *key,
	struct hist_list **ret, struct loci_err *err)
{
	loci_autofree struct hist_list *list = NULL;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < profile->n_entries; i++)
		n += in_list(&profile->entry[i], key);
	list = malloc(sizeof(*list) + n * sizeof(list->hist[0]));
	if (!list)
		return loci_err_nomem(err);
	list->key = *key;
	list->n = 0;
	for (size_t i = 0; r == 0 && i < profile->n_entries; i++) {
		struct hist_entry *entry = &profile->entry[i];

		if (!in_list(entry, key))
			continue;
		list->hist[list->n++] =
			(struct loci_owner_hist){ entry->key.owner_id, &entry->hist };
		r = loci_profile_check_owner(
			profile, "histogram", key->owner, entry->key.owner_id, err);
	}
	if (r == 0)
		r = load_list(profile, list, err);
	if (r < 0)
		return r;
	list->next = profile->lists;
	*ret = profile->lists = list;
	list = NULL;
	return 0;
}

int loci_profile_hists(struct loci_profile *profile, enum loci_distance distance,
	enum loci_owner owner, uint64_t block_bytes, const struct loci_owner_hist **ret,
	size_t *ret_n, struct loci_err *err)
{
	struct loci_hist_key key = { distance, block_bytes, 0, owner, 0 };
	struct hist_list *list = profile->lists;
	int r = 0;

	while (list && compare_keys(&list->key, &key))
		list = list->next;
	if (!list)
		r = make_list(profile, &key, &list, err);
	*ret = r < 0 ? NULL : list->hist;
	*ret_n = r < 0 ? 0 : list->n;
	return r;
}
