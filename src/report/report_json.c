// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report_json.h"

#include "base/cleanup.h"
#include "model/bins.h"
#include "model/verdict.h"
#include "report/approximate_line.h"
#include "report/by_table.h"
#include "report/pairs.h"
#include "report/marks_line.h"
#include "report/unseen_line.h"
#include "report/report_verdict.h"

#include <math.h>
#include <string.h>

#define WORST 10 /* owners shown */

static const unsigned percents[] = { 50, 70, 80, 90, 95, 99 };

static const char *const kinds[] = {
	[LOCI_VERDICT_NOTHING] = "nothing",
	[LOCI_VERDICT_UNKNOWN] = "unknown",
	[LOCI_VERDICT_ALL_NEW] = "all-new",
	[LOCI_VERDICT_ONE_BLOCK] = "one-block",
	[LOCI_VERDICT_FITS] = "fits",
	[LOCI_VERDICT_NEW] = "new",
	[LOCI_VERDICT_NEAR] = "near",
	[LOCI_VERDICT_FAR] = "far",
};

void loci_report_json_size(
	struct loci_json *json, const struct loci_subject *subject, double blocks)
{
	loci_pair_number(json, "blocks", blocks);
	loci_pair_number(json, "bytes",
		subject->is_object ? NAN : blocks * (double)subject->grain->block_bytes);
}

void loci_report_json_cache(struct loci_json *json, const struct loci_cache *cache)
{
	loci_pair_string(json, "name", cache->name);
	loci_pair_u64(json, "size_bytes", cache->size_bytes);
	loci_pair_u64(json, "ways", cache->ways);
	loci_pair_u64(json, "line_bytes", cache->line_bytes);
}

void loci_report_json_machine(struct loci_json *json, const struct loci_subject *subject)
{
	const struct loci_hierarchy *h = &subject->hierarchy;
	char spec[LOCI_HIERARCHY_MAX];

	loci_json_key(json, "hierarchy");
	if (!h->n_levels) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_pair_string(json, "specification", loci_hierarchy_format(h, spec, sizeof(spec)));
	loci_pair_bool(json, "given", subject->is_given);
	loci_json_object_end(json);
}

static void put_run(const struct loci_subject *subject, struct loci_json *json)
{
	const struct loci_run *run = subject->run;
	const struct loci_grain *grain = subject->grain;

	loci_pair_string(json, "path", loci_profile_path(subject->profile));
	loci_pair_string(json, "command", run->command);
	loci_pair_string(json, "collector", run->collector);
	loci_pair_string(json, "mode", run->mode);
	loci_approximate_json(run, json);
	loci_pair_string(json, "unit", subject->is_object ? "object" : "byte");
	loci_pair_string(json, "machine", run->machine);
	loci_pair_bool(json, "complete", run->complete);
	loci_pair_string(json, "note", run->note && run->note[0] ? run->note : NULL);
	loci_pair_u64(json, "references", run->references);
	loci_pair_u64(json, "loads", run->loads);
	loci_pair_u64(json, "stores", run->stores);
	loci_pair_u64(json, "lost", run->lost);
	loci_unseen_json(subject->profile, json);
	loci_marks_json(subject->profile, json);
	loci_pair_u64(json, "block_bytes", grain->block_bytes);
	loci_pair_u64(json, "touches", grain->touches);
	loci_pair_u64(json, "straddles", grain->straddles);
	loci_pair_object(json, "touched");
	loci_report_json_size(json, subject, grain->blocks);
	loci_json_object_end(json);
	loci_pair_number(json, "sampling_rate", grain->sampling_rate);
	loci_pair_number(json, "error_points", grain->error_points);
	loci_report_json_machine(json, subject);
}

static void put_verdict_size(struct loci_json *json, const struct loci_subject *subject,
	const struct loci_verdict *v, const char *key, const struct loci_verdict_size *size)
{
	loci_json_key(json, key);
	if (!size->blocks) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_report_json_size(json, subject, (double)size->blocks);
	loci_pair_string(json, "level", size->level >= 0 ? v->level[size->level].name : NULL);
	loci_pair_string(json, "fits", size->holder >= 0 ? v->level[size->holder].name : NULL);
	loci_pair_number(json, "share", size->share);
	loci_json_object_end(json);
}

/* For programs a no-break space is a space. */
static void plain_spaces(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (!memcmp(text, "\u00a0", 2)) {
			*to++ = ' ';
			text++;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void put_verdict(const struct loci_subject *subject, struct loci_json *json)
{
	struct loci_verdict v;
	char words[1024];

	loci_verdict(subject, &v);
	loci_report_verdict(subject, &v, words, sizeof(words));
	plain_spaces(words);
	loci_pair_object(json, "verdict");
	loci_pair_string(json, "kind", kinds[v.kind]);
	loci_pair_string(json, "text", words);
	loci_pair_number(json, "cold", v.cold);
	put_verdict_size(json, subject, &v, "near", &v.near);
	put_verdict_size(json, subject, &v, "next", &v.next);
	put_verdict_size(json, subject, &v, "largest", &v.largest);
	loci_pair_number(json, "beyond", v.n_levels ? v.beyond : NAN);
	loci_json_object_end(json);
	loci_pair_array(json, "effective_sizes");
	for (size_t i = 0; i < v.n_knees; i++) {
		loci_json_object(json);
		loci_report_json_size(json, subject, (double)v.knee[i].blocks);
		loci_pair_number(json, "share", v.knee[i].fall);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

/* Every power of two: the share of the touches in its row, and what a cache of that size misses. */
static void put_histogram(const struct loci_subject *subject, struct loci_json *json)
{
	const struct loci_hist *stack = subject->stack;
	double total = loci_hist_total(stack);
	struct loci_bins bins;

	loci_bins_log2(stack, &bins);
	loci_pair_array(json, "histogram");
	for (unsigned i = 0; i < bins.n_rows; i++) {
		const struct loci_bins_row *row = &bins.row[i];

		loci_json_object(json);
		loci_pair_u64(json, "low_blocks", row->low);
		loci_pair_u64(json, "high_blocks", row->high);
		loci_pair_number(json, "share", row->share[0]);
		loci_pair_number(json, "miss_ratio", loci_curve_ratio(stack, row->high));
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_pair_number(json, "cold", total > 0 ? stack->cold / total : 0);
	loci_pair_number(json, "coherence", total > 0 ? stack->coherence / total : 0);
}

static void put_levels(const struct loci_subject *subject, struct loci_json *json)
{
	loci_pair_array(json, "levels");
	for (unsigned i = 0; i < subject->n_levels; i++) {
		const struct loci_prediction *p = &subject->level[i];

		loci_json_object(json);
		loci_report_json_cache(json, &p->cache);
		loci_pair_string(json, "basis", loci_basis_name(p->basis));
		loci_pair_number(json, "error_points", p->error_points);
		loci_pair_number(json, "accesses", p->accesses);
		loci_pair_number(json, "misses", p->misses);
		loci_pair_number(json, "miss_ratio", p->accesses > 0 ? p->misses / p->accesses : 0);
		loci_pair_number(json, "cold", p->has_split ? p->cold : NAN);
		loci_pair_number(json, "capacity", p->has_split ? p->capacity : NAN);
		loci_pair_number(json, "conflict", p->has_split ? p->conflict : NAN);
		loci_pair_number(json, "coherence", p->has_split ? p->coherence : NAN);
		loci_pair_number(json, "writebacks", p->has_writebacks ? p->writebacks : NAN);
		loci_pair_number(json, "moved_bytes",
			subject->is_object || p->cache.is_tlb ? NAN : p->moved_bytes);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_percentiles(const struct loci_subject *subject, struct loci_json *json)
{
	loci_pair_array(json, "percentiles");
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(percents); i++) {
		uint64_t blocks = loci_hist_percentile(subject->stack, percents[i] / 100.);

		loci_json_object(json);
		loci_pair_u64(json, "percent", percents[i]);
		loci_report_json_size(
			json, subject, blocks == LOCI_INFINITE ? INFINITY : (double)blocks);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

/* The first rows of a kind of owner. */
static void put_worst(const struct loci_subject *subject, const struct loci_catalogue *c,
	const struct loci_blame_levels *levels, enum loci_blame_kind kind, const char *key,
	struct loci_json *json)
{
	loci_cleanup(loci_blame_freep) struct loci_blame *blame = NULL;

	loci_pair_array(json, key);
	if (loci_blame_new(c, subject, levels, kind, &blame, NULL) == 0)
		for (size_t i = 0; i < blame->n_rows && i < WORST; i++) {
			if (!(blame->row[i].misses > 0))
				break;
			loci_json_object(json);
			loci_by_json_row(blame, &blame->row[i], json, NULL);
			loci_json_object_end(json);
		}
	loci_json_array_end(json);
}

static void put_blame(const struct loci_subject *subject, struct loci_json *json)
{
	struct loci_blame_levels levels;
	struct loci_catalogue c;

	loci_json_key(json, "blame");
	if (loci_catalogue_load(&c, subject->profile, NULL) < 0 || !c.n_site ||
		loci_blame_levels(subject, &c, NULL, &levels, NULL) < 0) {
		loci_json_string(json, NULL);
		return;
	}
	loci_json_object(json);
	loci_pair_object(json, "level");
	loci_report_json_cache(json, &levels.level[levels.chosen].cache);
	loci_json_object_end(json);
	put_worst(subject, &c, &levels, c.n_access ? LOCI_BLAME_SPOT : LOCI_BLAME_LINE, "lines",
		json);
	put_worst(subject, &c, &levels, LOCI_BLAME_LINK, "pairs", json);
	loci_json_object_end(json);
}

void loci_report_json(const struct loci_subject *subject, struct loci_json *json)
{
	loci_json_object(json);
	put_run(subject, json);
	put_verdict(subject, json);
	put_histogram(subject, json);
	put_levels(subject, json);
	put_percentiles(subject, json);
	loci_report_json_threads(subject, json);
	put_blame(subject, json);
	loci_json_object_end(json);
}
