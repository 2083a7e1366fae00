// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/annotate_screen.h"

#include "report/approximate_line.h"
#include "report/by_table.h"
#include "report/owner_name.h"
#include "report/pairs.h"
#include "report/report_json.h"

#include <math.h>

static const char *const texts[] = {
	[LOCI_LISTING_UNKNOWN] = NULL,
	[LOCI_LISTING_RECORDED] = "profile",
	[LOCI_LISTING_FILE] = "file",
	[LOCI_LISTING_NEWER_FILE] = "newer file",
};

static void put_detail(const struct loci_blame *blame, const struct loci_blame_detail *detail,
	struct loci_json *json)
{
	const struct loci_object_row *object =
		loci_catalogue_find_object(blame->catalogue, detail->object_id);
	char name[LOCI_NAME_MAX];

	loci_pair_string(json, "cause", loci_by_cause(detail->cause));
	loci_pair_number(json, "distance_bytes",
		detail->far_blocks ? (double)detail->far_blocks * (double)blame->levels.block_bytes
				   : NAN);
	loci_pair_string(json, "object",
		object ? loci_name_object(blame->catalogue, object, name, sizeof(name)) : NULL);
	loci_pair_u64(json, "objects", detail->n_objects);
}

static void put_line(const struct loci_blame *lines, const struct loci_listing_line *line,
	struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_u64(json, "line", line->number);
	loci_pair_string(json, "text", line->text);
	if (line->row) {
		loci_pair_number(json, "references", line->refs);
		loci_pair_number(json, "misses", line->misses);
		loci_pair_number(json, "share", loci_blame_share(lines, line->misses));
		put_detail(lines, &line->detail, json);
	}
	loci_json_object_end(json);
}

static void put_link(
	const struct loci_blame *links, const struct loci_listing *listing, struct loci_json *json)
{
	const struct loci_catalogue *c = links->catalogue;
	const struct loci_pair_row *pair;
	char name[2 * LOCI_NAME_MAX];

	loci_json_key(json, "reuse");
	if (!listing->link) {
		loci_json_string(json, NULL);
		return;
	}
	pair = listing->link->owner;
	loci_json_object(json);
	loci_pair_string(json, "name", loci_name_pair(c, pair, "->", name, sizeof(name)));
	loci_pair_string(json, "kind", pair->kind);
	loci_pair_string(json, "object",
		pair->object_id
			? loci_name_object(c, loci_catalogue_find_object(c, pair->object_id), name,
				  sizeof(name))
			: NULL);
	loci_name_carrier(c, pair, name, sizeof(name));
	loci_pair_string(json, "carrier", name[0] ? name : NULL);
	loci_pair_number(json, "misses", listing->link->misses);
	loci_pair_number(json, "share", loci_blame_share(links, listing->link->misses));
	loci_pair_number(json, "distance_bytes",
		listing->link_detail.far_blocks ? (double)listing->link_detail.far_blocks *
				(double)links->levels.block_bytes
						: NAN);
	loci_json_object_end(json);
}

static void put_listing(
	const struct loci_listings *all, const struct loci_listing *listing, struct loci_json *json)
{
	loci_json_object(json);
	loci_pair_string(json, "function", listing->function ? listing->function->name : NULL);
	loci_pair_string(json, "file", listing->source ? listing->source->path : NULL);
	loci_pair_string(json, "text_from", texts[listing->text]);
	loci_pair_number(json, "references", listing->refs);
	loci_pair_number(json, "misses", listing->misses);
	loci_pair_number(json, "share", loci_blame_share(all->lines, listing->misses));
	loci_pair_number(json, "unlisted_references", listing->unlined_refs);
	loci_pair_array(json, "lines");
	for (size_t i = 0; i < listing->n_lines; i++)
		if (listing->line[i].number)
			put_line(all->lines, &listing->line[i], json);
	loci_json_array_end(json);
	put_link(all->links, listing, json);
	loci_json_object_end(json);
}

void loci_annotate_json(const struct loci_subject *subject, const struct loci_listings *listings,
	struct loci_json *json)
{
	const struct loci_blame *lines = listings->lines;

	loci_json_object(json);
	loci_pair_format(json, "loci-annotate");
	loci_pair_string(json, "path", loci_profile_path(subject->profile));
	loci_pair_string(json, "command", subject->run->command);
	loci_approximate_json(subject->run, json);
	loci_pair_object(json, "level");
	loci_report_json_cache(json, &lines->levels.level[lines->levels.chosen].cache);
	loci_pair_string(json, "basis", lines->is_estimate ? lines->basis : "exact");
	loci_json_object_end(json);
	loci_pair_number(json, "references", lines->refs);
	loci_pair_number(json, "misses", lines->misses);
	loci_pair_array(json, "listings");
	for (size_t i = 0; i < listings->n; i++)
		put_listing(listings, &listings->listing[i], json);
	loci_json_array_end(json);
	loci_json_object_end(json);
}
