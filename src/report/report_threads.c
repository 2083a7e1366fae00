// SPDX-License-Identifier: GPL-2.0-or-later
/* The screen's part on threads: what each misses in caches of its own and in shared ones, and what
 * they take from each other. */
#include "report/report_screen.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "model/sharing.h"
#include "report/pairs.h"
#include "report/report_json.h"
#include "report/sharing_table.h"
#include "report/table.h"

#include <inttypes.h>

#define CASES   3
#define NOTABLE 0.0005 /* of the touches: worth a row */

/* The subject's levels, all of them private, or all shared. */
static int predict_as(const struct loci_subject *subject, enum loci_share share,
	struct loci_prediction *ret, struct loci_err *err)
{
	const struct loci_predict_options options = { .policy = LOCI_POLICY_LRU };
	struct loci_hierarchy h = { .n_levels = subject->n_levels };

	for (unsigned i = 0; i < h.n_levels; i++) {
		h.level[i] = subject->level[i].cache;
		h.level[i].share = share;
	}
	return loci_predict(subject->profile, &h, &options, ret, err);
}

static void add_ratio(struct loci_table *table, const struct loci_prediction *p)
{
	char points[LOCI_TEXT_NUMBER];

	loci_text_points(points, p->accesses > 0 ? p->misses / p->accesses : 0);
	loci_table_add(
		table, LOCI_STYLE_PLAIN, "%s%s", p->basis != LOCI_BASIS_EXACT ? "~" : "", points);
}

static int print_levels(const struct loci_screen *screen, struct loci_err *err)
{
	const struct loci_subject *subject = screen->subject;
	struct loci_prediction own[LOCI_LEVELS_MAX], shared[LOCI_LEVELS_MAX];
	char title[48], label[64];
	struct loci_table_column columns[] = {
		{ title, LOCI_ALIGN_LEFT },
		{ "private %", LOCI_ALIGN_RIGHT },
		{ "coherence", LOCI_ALIGN_RIGHT },
		{ "shared %", LOCI_ALIGN_RIGHT },
	};
	struct loci_table table;
	int r = predict_as(subject, LOCI_SHARE_PRIVATE, own, err);

	if (r == 0)
		r = predict_as(subject, LOCI_SHARE_ALL, shared, err);
	if (r < 0)
		return r;
	snprintf(title, sizeof(title), "%" PRIu64 " threads", subject->run->threads);
	loci_table_init(&table, columns, LOCI_ARRAY_SIZE(columns));
	for (unsigned i = 0; i < subject->n_levels; i++) {
		char points[LOCI_TEXT_NUMBER];

		if (subject->level[i].cache.is_tlb)
			continue;
		loci_table_add(&table, LOCI_STYLE_BOLD, "%s",
			loci_cache_label(&subject->level[i].cache, label));
		add_ratio(&table, &own[i]);
		loci_text_points(
			points, own[i].accesses > 0 ? own[i].coherence / own[i].accesses : 0);
		loci_table_add(&table, LOCI_STYLE_PLAIN, "%s", points);
		add_ratio(&table, &shared[i]);
	}
	r = loci_table_print(&table, screen->text, 2);
	loci_table_fini(&table);
	return r < 0 ? loci_err_nomem(err) : 0;
}

static size_t notable(const struct loci_sharing *sharing)
{
	size_t n = 0;

	while (n < CASES && n < sharing->n_rows &&
		(double)sharing->row[n].misses >= NOTABLE * (double)sharing->whole->touches)
		n++;
	return n;
}

int loci_screen_threads(const struct loci_screen *screen, struct loci_err *err)
{
	loci_cleanup(loci_sharing_fini) struct loci_sharing sharing = { 0 };
	const struct loci_subject *subject = screen->subject;
	char words[1024];
	size_t n;
	int r = loci_sharing_new(subject->profile, subject->grain->block_bytes, &sharing, err);

	if (r < 0 || !sharing.whole)
		return r;
	fputc('\n', screen->text->out);
	if (subject->n_levels) {
		r = print_levels(screen, err);
		if (r < 0)
			return r;
	}
	loci_text_paragraph(screen->text, LOCI_STYLE_DIM, 2,
		loci_sharing_words(&sharing, words, sizeof(words)));
	n = notable(&sharing);
	if (!n)
		return 0;
	fputc('\n', screen->text->out);
	if (loci_sharing_rows(&sharing, n, screen->text) < 0)
		return loci_err_nomem(err);
	loci_text_paragraph(screen->text, LOCI_STYLE_PLAIN, 2,
		loci_sharing_advice(&sharing, &sharing.row[0], words, sizeof(words)));
	return 0;
}

static void put_level(struct loci_json *json, const struct loci_prediction *own,
	const struct loci_prediction *shared)
{
	loci_json_object(json);
	loci_report_json_cache(json, &own->cache);
	loci_pair_number(json, "private_misses", own->misses);
	loci_pair_string(json, "private_basis", loci_basis_name(own->basis));
	loci_pair_number(json, "coherence", own->coherence);
	loci_pair_number(json, "shared_misses", shared->misses);
	loci_pair_string(json, "shared_basis", loci_basis_name(shared->basis));
	loci_json_object_end(json);
}

void loci_report_json_threads(const struct loci_subject *subject, struct loci_json *json)
{
	loci_cleanup(loci_sharing_fini) struct loci_sharing sharing = { 0 };
	struct loci_prediction own[LOCI_LEVELS_MAX], shared[LOCI_LEVELS_MAX];

	loci_json_key(json, "threads");
	if (loci_sharing_new(subject->profile, subject->grain->block_bytes, &sharing, NULL) < 0 ||
		!sharing.whole) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_pair_u64(json, "threads", subject->run->threads);
	loci_sharing_totals_json(&sharing, json);
	loci_pair_array(json, "levels");
	if (predict_as(subject, LOCI_SHARE_PRIVATE, own, NULL) == 0 &&
		predict_as(subject, LOCI_SHARE_ALL, shared, NULL) == 0)
		for (unsigned i = 0; i < subject->n_levels; i++)
			put_level(json, &own[i], &shared[i]);
	loci_json_array_end(json);
	loci_json_key(json, "sharing");
	loci_sharing_rows_json(&sharing, CASES, json);
	loci_json_object_end(json);
}
