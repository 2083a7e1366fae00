// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/coverage_table.h"

#include "base/units.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdio.h>

static const char *cache_words(const struct loci_coverage *c, char *buf, size_t size)
{
	char bytes[LOCI_UNITS_MAX];

	snprintf(buf, size, "%s %s",
		loci_units_bytes(bytes, (double)c->blocks * (double)c->block_bytes),
		c->distance == LOCI_DISTANCE_PRIVATE ? "for each thread" : "for all");
	return buf;
}

static void print_head(const struct loci_coverage *c, const struct loci_text *text)
{
	const struct loci_run *run = loci_profile_run(c->catalogue.profile);
	char line[1024], cache[64], share[LOCI_TEXT_NUMBER], reuses[LOCI_UNITS_MAX];

	snprintf(line, sizeof(line),
		"%.300s  %.200s  a fully associative cache of %s%s: %s of %s reuses miss",
		loci_profile_path(c->catalogue.profile), run->command ? run->command : "",
		cache_words(c, cache, sizeof(cache)), c->is_chosen ? ", chosen by reuses" : "",
		loci_text_percent(share, c->reuses > 0 ? c->missing / c->reuses : 0),
		loci_units_count(reuses, c->reuses));
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 0, line);
}

static void add_site(struct loci_table *out, const struct loci_coverage *c, size_t i, double sum)
{
	const struct loci_coverage_site *site = &c->site[i];
	char name[LOCI_NAME_MAX], number[LOCI_UNITS_MAX], points[LOCI_TEXT_NUMBER];

	loci_table_add(out, LOCI_STYLE_BOLD, "%s",
		loci_name_site(&c->catalogue, site->site, name, sizeof(name)));
	if (site->site->size_bytes)
		loci_table_add(out, LOCI_STYLE_PLAIN, "%s %" PRIu64, site->site->op,
			site->site->size_bytes);
	else
		loci_table_add(out, LOCI_STYLE_PLAIN, "%s", site->site->op);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s%s", c->is_interpolated ? "~" : "",
		loci_units_count(number, site->misses));
	loci_table_add(
		out, LOCI_STYLE_PLAIN, "%s", loci_text_points(points, site->misses / c->misses));
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s", loci_text_points(points, sum / c->misses));
}

int loci_coverage_table_text(
	const struct loci_coverage *c, unsigned percent, const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "sites", LOCI_ALIGN_LEFT },
		{ "", LOCI_ALIGN_LEFT },
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
		{ "sum", LOCI_ALIGN_RIGHT },
	};
	size_t n = loci_coverage_sites(c, percent / 100.);
	char line[512], cold[LOCI_UNITS_MAX];
	struct loci_table out;
	double sum = 0;
	int r;

	print_head(c, text);
	fputc('\n', text->out);
	if (!n) {
		loci_text_paragraph(
			text, LOCI_STYLE_PLAIN, 2, "no reuse of any site misses such a cache");
		return 0;
	}
	loci_table_init(&out, columns, sizeof(columns) / sizeof(columns[0]));
	loci_table_yield(&out, 0, LOCI_CUT_PLACE, 13);
	for (size_t i = 0; i < n; i++) {
		sum += c->site[i].misses;
		add_site(&out, c, i, sum);
	}
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	snprintf(line, sizeof(line),
		"%zu of %zu sites make%s %u %% of the reuses that miss%s; first touches, %s, are "
		"left out%s",
		n, c->catalogue.n_site, n == 1 ? "s" : "", percent,
		c->distance == LOCI_DISTANCE_PRIVATE ? " or are lost to another thread's write"
						     : "",
		loci_units_count(cold, c->cold),
		c->is_interpolated ? ". ~: the size lies within a bin of the sites' histograms, "
				     "whose reuses are thought to be spread evenly"
				   : "");
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, line);
	return 0;
}

void loci_coverage_table_json(
	const struct loci_coverage *c, unsigned percent, struct loci_json *json)
{
	size_t n = loci_coverage_sites(c, percent / 100.);
	char name[LOCI_NAME_MAX];

	loci_json_object(json);
	loci_pair_string(json, "path", loci_profile_path(c->catalogue.profile));
	loci_pair_string(json, "distance", loci_distance_name(c->distance));
	loci_pair_u64(json, "block_bytes", c->block_bytes);
	loci_pair_u64(json, "cache_bytes", c->blocks * c->block_bytes);
	loci_pair_bool(json, "chosen", c->is_chosen);
	loci_pair_bool(json, "interpolated", c->is_interpolated);
	loci_pair_number(json, "reuses", c->reuses);
	loci_pair_number(json, "missing_reuses", c->missing);
	loci_pair_number(json, "cold", c->cold);
	loci_pair_number(json, "misses", c->misses);
	loci_pair_u64(json, "sites", c->catalogue.n_site);
	loci_pair_u64(json, "percent", percent);
	loci_pair_array(json, "coverage");
	for (unsigned i = 0; i < LOCI_COVERAGES; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "percent", loci_coverage_percents[i]);
		loci_pair_u64(
			json, "sites", loci_coverage_sites(c, loci_coverage_percents[i] / 100.));
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_pair_array(json, "rows");
	for (size_t i = 0; i < n; i++) {
		const struct loci_site_row *site = c->site[i].site;

		loci_json_object(json);
		loci_pair_string(
			json, "name", loci_name_site(&c->catalogue, site, name, sizeof(name)));
		loci_pair_string(json, "key", site->site_key);
		loci_pair_string(json, "op", site->op);
		loci_pair_number(json, "misses", c->site[i].misses);
		loci_pair_number(json, "share", c->site[i].misses / c->misses);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_json_object_end(json);
}

int loci_rank_table_text(const struct loci_rank_table *table, const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "distance", LOCI_ALIGN_LEFT },
		{ "cache", LOCI_ALIGN_RIGHT },
		{ "coverage", LOCI_ALIGN_RIGHT },
		{ "sites", LOCI_ALIGN_RIGHT },
		{ "weight match", LOCI_ALIGN_RIGHT },
		{ "key match", LOCI_ALIGN_RIGHT },
	};
	char size[LOCI_UNITS_MAX];
	struct loci_table out;
	int r;

	loci_text_print(text, LOCI_STYLE_DIM, "the worst sites of %s, as %s finds them\n\n",
		loci_profile_path(table->truth), loci_profile_path(table->other));
	loci_table_init(&out, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < table->n; i++) {
		const struct loci_rank_row *row = &table->row[i];

		loci_table_add(&out, LOCI_STYLE_BOLD, "%s", loci_distance_name(row->distance));
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%s",
			loci_units_bytes(size, (double)row->blocks * (double)table->block_bytes));
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%u %%", row->percent);
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%zu", row->sites);
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%.3f", row->weight_match);
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%.3f", row->key_match);
	}
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2,
		"sites: the fewest that cover so much of the reuses that miss the cache. weight "
		"match: true misses of as many that the other profile finds worst, of those of "
		"the worst; key match: share of sites that are the same.");
	return 0;
}

void loci_rank_table_json(const struct loci_rank_table *table, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_format(json, "loci-rank");
	loci_pair_string(json, "truth", loci_profile_path(table->truth));
	loci_pair_string(json, "other", loci_profile_path(table->other));
	loci_pair_u64(json, "block_bytes", table->block_bytes);
	loci_pair_array(json, "rows");
	for (size_t i = 0; i < table->n; i++) {
		const struct loci_rank_row *row = &table->row[i];

		loci_json_object(json);
		loci_pair_string(json, "distance", loci_distance_name(row->distance));
		loci_pair_u64(json, "cache_bytes", row->blocks * table->block_bytes);
		loci_pair_u64(json, "percent", row->percent);
		loci_pair_u64(json, "sites", row->sites);
		loci_pair_number(json, "weight_match", row->weight_match);
		loci_pair_number(json, "key_match", row->key_match);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	loci_json_object_end(json);
}
