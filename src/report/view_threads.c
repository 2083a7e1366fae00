// SPDX-License-Identifier: GPL-2.0-or-later
/* What threads have to themselves and take from each other, for the viewer. */
#include "report/view_tables.h"

#include "base/cleanup.h"
#include "model/thread_hist.h"
#include "model/topology.h"
#include "report/pairs.h"

/* One way to share caches of one line size: what its members met. */
static int put_shared_by(struct loci_profile *profile, const struct loci_grain *grain,
	enum loci_share share, uint64_t n, struct loci_json *json, struct loci_err *err)
{
	static const char *const names[] = { "private", "shared", "some" };
	const struct loci_predict_options options = { .policy = LOCI_POLICY_LRU };
	const struct loci_cache cache = { .size_bytes = grain->block_bytes,
		.line_bytes = grain->block_bytes,
		.share = share,
		.share_n = (uint32_t)n };
	loci_cleanup(loci_topology_fini) struct loci_topology topology = { 0 };
	/* of all touches in one cache the page has the histogram */
	static const struct loci_hist none = { .scheme = LOCI_SCHEME_LINEAR };
	struct loci_predict_input input = { .touches = (double)grain->touches, .stack = &none };
	int r = loci_topology_input(profile, &cache, &options, &topology, &input, err);

	if (r < 0)
		return r;
	loci_json_object(json);
	loci_pair_u64(json, "block_bytes", grain->block_bytes);
	loci_pair_string(json, "share", names[share]);
	loci_pair_u64(json, "n", n);
	loci_pair_number(json, "touches", input.touches);
	loci_pair_bool(json, "has_sharing", input.has_sharing);
	loci_pair_number(json, "true_sharing", input.true_sharing);
	loci_pair_number(json, "false_sharing", input.false_sharing);
	loci_pair_number(json, "remote", input.remote);
	loci_json_key(json, "histogram");
	if (input.is_private)
		loci_view_hist(input.stack, json);
	else
		loci_json_string(json, NULL);
	loci_json_object_end(json);
	return 0;
}

static int put_shares(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	const struct loci_catalogue *c = &shown->catalogue;
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(c->profile, &n);
	int r = 0;

	loci_pair_array(json, "shares");
	for (size_t i = 0; r == 0 && i < n; i++) {
		uint64_t last = 0;

		if (!loci_thread_hist_known(c->profile, grain[i].block_bytes))
			continue;
		r = put_shared_by(c->profile, &grain[i], LOCI_SHARE_PRIVATE, 0, json, err);
		if (r == 0)
			r = put_shared_by(c->profile, &grain[i], LOCI_SHARE_ALL, 0, json, err);
		/* groups of one size stand together */
		for (size_t k = 0; r == 0 && k < c->n_thread_group; k++) {
			if (c->thread_group[k].share != last)
				r = put_shared_by(c->profile, &grain[i], LOCI_SHARE_SOME,
					c->thread_group[k].share, json, err);
			last = c->thread_group[k].share;
		}
	}
	loci_json_array_end(json);
	return r;
}

static void put_blocks(const struct loci_catalogue *c, struct loci_json *json)
{
	loci_pair_array(json, "shared_blocks");
	for (size_t i = 0; i < c->n_shared_blocks; i++) {
		loci_json_object(json);
		loci_pair_u64(json, "block_bytes", c->shared_blocks[i].block_bytes);
		loci_pair_u64(json, "alone", c->shared_blocks[i].alone);
		loci_pair_u64(json, "read_only", c->shared_blocks[i].read_only);
		loci_pair_u64(json, "written", c->shared_blocks[i].written);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}

static void put_place(struct loci_json *json, uint32_t place)
{
	loci_json_number(json, place == LOCI_HIDDEN ? -1 : (double)place);
}

/* Who takes what from whom, by column. */
static void put_takes(const struct loci_shown *shown, struct loci_json *json)
{
	const struct loci_catalogue *c = &shown->catalogue;

#define COLUMN(key, put)                                             \
	loci_pair_array(json, key);                                  \
	for (size_t i = 0; i < c->n_sharing; i++) {                  \
		const struct loci_sharing_row *row = &c->sharing[i]; \
		if (shown->sharing.place[i] == LOCI_HIDDEN)          \
			continue;                                    \
		put;                                                 \
	}                                                            \
	loci_json_array_end(json)
	loci_pair_object(json, "sharings");
	COLUMN("write", put_place(json, loci_shown_place(shown, site, row->write_site_id)));
	COLUMN("miss", put_place(json, loci_shown_place(shown, site, row->miss_site_id)));
	COLUMN("object", put_place(json, loci_shown_place(shown, object, row->object_id)));
	COLUMN("write_object",
		put_place(json, loci_shown_place(shown, object, row->write_object_id)));
	COLUMN("field", put_place(json, loci_shown_place(shown, field, row->field_id)));
	COLUMN("write_field", put_place(json, loci_shown_place(shown, field, row->write_field_id)));
	COLUMN("kind", loci_json_string(json, row->kind));
	COLUMN("count", loci_json_u64(json, row->misses));
	COLUMN("threads", loci_json_u64(json, row->threads));
	loci_json_object_end(json);
#undef COLUMN
}

void loci_view_met_of_others(
	const struct loci_shown *shown, enum loci_owner owner, int64_t id, struct loci_json *json)
{
	const struct loci_catalogue *c = &shown->catalogue;

	loci_json_key(json, "coherence");
	for (size_t i = 0; i < c->n_coherence; i++) {
		const struct loci_coherence_row *row = &c->coherence[i];

		if (row->owner != owner || row->owner_id != id ||
			row->block_bytes != shown->block_bytes)
			continue;
		loci_json_object(json);
		loci_pair_u64(json, "touches", row->touches);
		loci_pair_u64(json, "true_sharing", row->true_sharing);
		loci_pair_u64(json, "false_sharing", row->false_sharing);
		loci_pair_u64(json, "remote", row->remote);
		loci_json_object_end(json);
		return;
	}
	loci_json_string(json, NULL);
}

int loci_view_threads(const struct loci_shown *shown, struct loci_json *json, struct loci_err *err)
{
	put_blocks(&shown->catalogue, json);
	put_takes(shown, json);
	return put_shares(shown, json, err);
}
