// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/attribute_touch.h"

void loci_attribution_complete(struct loci_attribution *a)
{
	a->batch->n_rows = a->rows.n;
	a->batch->n_contexts = a->walk.contexts.n;
	a->batch->n_stages = a->stages.n;
	a->batch->n_events = a->walk.n_log;
	a->batch->n_cells = a->pieces ? a->pieces->n_cells : 0;
	a->batch->n_members = a->members.n;
}

void loci_attribution_put_stage(struct loci_attribution *a)
{
	struct loci_batch *b = a->batch;

	if (!b->n_stage_events && !b->n && !a->stages.now)
		return;
	if (!b->n_stage_events && b->n)
		b->stage[b->n_stage_events++] = (struct loci_stage_event){ 0, 0 };
	b->stage[b->n_stage_events++] = (struct loci_stage_event){ (uint32_t)b->n, a->stages.now };
}

void loci_attribution_begin(struct loci_attribution *a)
{
	a->batch = loci_relay_batch(a->relay);
	a->walk.n_log = 0;
	a->walk.touch = 0;
	if (a->walk.log)
		a->walk.log = a->batch->event;
	loci_attribution_put_stage(a);
	if (a->threaded)
		loci_attribution_put_turn(a);
}

int loci_attribution_flush(struct loci_attribution *a, struct loci_err *err)
{
	int r;

	loci_attribution_complete(a);
	r = loci_relay_pass(a->relay, err);
	if (r == 0)
		loci_attribution_begin(a);
	return r;
}

static int tell(struct loci_attribution *a, const struct loci_row_site *site, uint64_t block,
	uint64_t use, uint8_t is_write, unsigned place, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	size_t n = b->n;

	b->block[n] = block;
	b->use[n] = use;
	b->born[n] = site->born;
	b->is_write[n] = is_write;
	b->time[n] = a->recent.now;
	b->place[n] = (uint8_t)place;
	b->n = n + 1;
	return n + 1 == LOCI_BATCH ? loci_attribution_flush(a, err) : 0;
}

int loci_touch_enters(struct loci_attribution *a, struct loci_row_site *site, uint64_t block,
	uint64_t use, uint8_t is_write, uint64_t bytes, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	struct loci_recent_left left;
	size_t n = b->n;

	site->place = (uint8_t)loci_recent_enter(&a->recent, block, is_write, use, bytes, &left);
	b->left[n] = left.use;
	b->bytes[n] = left.bytes;
	b->left_time[n] = left.time;
	b->farthest[n] = left.farthest;
	return tell(a, site, block, use, is_write, site->place, err);
}

int loci_touch_stays(struct loci_attribution *a, struct loci_row_site *site, unsigned touch,
	unsigned place, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	size_t n = b->n;

	b->rank[n] = touch & (LOCI_RECENT - 1);
	b->farthest[n] = touch >> 3 & (LOCI_RECENT - 1);
	return tell(a, site, a->recent.block[place], a->recent.use[place], 1,
		place | LOCI_RECENT_STAYS, err);
}

/* When an allocation was made; 0: it is not one of the last. */
static uint32_t born_at(const struct loci_attribution *a, uint32_t epoch)
{
	const struct loci_birth *birth = &a->birth[epoch % LOCI_BIRTHS];

	if (!epoch || birth->epoch != epoch)
		return 0;
	return birth->clock ? birth->clock : 1;
}

static const uint32_t always;

/* The object that the site's reference is in. */
static int find(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	struct loci_err *err)
{
	struct loci_object_hit hit = { 0 };
	uint64_t offset;
	int r;

	r = loci_objects_find(a->objects, address, a->code.address[ref - a->code.ref],
		&a->walk.level->shadow, &hit, err);
	if (r < 0)
		return r;
	if (a->options->threads_only) /* it holds for ever */
		hit = (struct loci_object_hit){
			.object = hit.object, .bytes = UINT64_MAX, .serial = &always
		};
	offset = address - a->walk.base[hit.framed] - hit.low;
	if (!hit.bytes && !offset) /* nothing is known of where the object begins */
		offset = LOCI_NO_OFFSET;
	if (loci_rows_move(&a->rows, ref->site, &hit, offset, born_at(a, hit.epoch)) < 0 ||
		(a->pieces && loci_pieces_move(a->pieces, ref->site, &hit) < 0))
		return loci_err_nomem(err);
	return 0;
}

int loci_touch_find(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	struct loci_err *err)
{
	return loci_touch_holds(a, &a->rows.site[ref->site], address) ? 0
								      : find(a, ref, address, err);
}

/* How a reference lies in blocks of one size. */
struct extent {
	uint64_t last;   /* byte */
	uint64_t second; /* the second of two blocks, if it is over two; else 0 */
	bool straddles;
};

static struct extent extent(uint64_t address, uint64_t size_bytes, unsigned shift, bool bulk)
{
	struct extent e = { .last = address + size_bytes - 1 };

	if (e.last < address) /* runs over the end of the address space */
		e.last = UINT64_MAX;
	e.straddles = !bulk && address >> shift != e.last >> shift;
	if (!bulk && (e.last >> shift) - (address >> shift) == 1)
		e.second = e.last >> shift << shift;
	return e;
}

/* A reference of several blocks: each is a touch of the object that its first byte is in. */
static int put_blocks(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	uint64_t size_bytes, struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];
	struct extent e = extent(
		address, size_bytes, a->shift, a->code.site[ref->site].flags & LOCI_REF_BULK);
	uint64_t block_bytes = 1ull << a->shift;

	a->straddles += e.straddles;
	for (;;) {
		uint64_t end = address | (block_bytes - 1), offset = address & (block_bytes - 1);
		uint64_t n = (end < e.last ? end : e.last) - address + 1;
		int r = loci_touch_holds(a, site, address) ? 0 : find(a, ref, address, err);

		/* only per-set counts ask, and nobody keeps recent blocks then */
		if (e.second && address == e.second && !a->recents)
			a->batch->second[a->batch->n_seconds++] = (uint32_t)a->batch->n;
		if (r == 0 && a->pieces)
			loci_touch_cells(a, ref->site, address);
		if (r == 0)
			r = loci_touch_put(a, site, address >> a->shift, ref->is_write,
				loci_touch_bytes(a->shift, offset, n), err);
		if (r < 0 || end >= e.last)
			return r;
		address = end + 1;
	}
}

/* The same at a further block size. */
static int put_side(struct loci_attribution *a, struct loci_side *side,
	const struct loci_code_ref *ref, uint64_t address, uint64_t size_bytes,
	struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];
	struct extent e = extent(
		address, size_bytes, side->shift, a->code.site[ref->site].flags & LOCI_REF_BULK);

	side->straddles += e.straddles;
	for (;;) {
		uint64_t end = address | ((1ull << side->shift) - 1);
		int r = loci_touch_holds(a, site, address) ? 0 : find(a, ref, address, err);

		if (r == 0)
			r = loci_side_touch(side,
				(address >> side->shift) +
					((uint64_t)site->generation << LOCI_GENERATION_BITS),
				ref->is_write, site->row, e.second && address == e.second, err);
		if (r < 0 || end >= e.last)
			return r;
		address = end + 1;
	}
}

int loci_touch_blocks(struct loci_attribution *a, const struct loci_code_ref *ref, uint64_t address,
	uint64_t size_bytes, struct loci_err *err)
{
	int r = 0;

	if (!size_bytes) /* an empty range */
		return 0;
	for (unsigned i = 1; r == 0 && i < a->n_grains; i++)
		r = put_side(a, a->side[i - 1], ref, address, size_bytes, err);
	return r < 0 ? r : put_blocks(a, ref, address, size_bytes, err);
}

int loci_touch_elsewhere(struct loci_attribution *a, const struct loci_code_ref *ref,
	uint64_t address, uint64_t size_bytes, struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];
	int r = find(a, ref, address, err);

	if (r < 0)
		return r;
	if (site->started)
		loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	else
		loci_rows_start(site, address);
	return loci_touch_go(a, ref, site, address, size_bytes, a->shift, a->n_grains == 1, err);
}
