// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/attribute.h"

#include "analyse/grow.h"

#include <inttypes.h>

/* A longer reference is damage, not a program's. */
#define REF_MAX_BYTES   (1ull << 40)
#define GENERATION_BITS 48 /* above what an address has, whatever the block size */

static int open_levels(struct loci_attribution *a, struct loci_err *err)
{
	const struct loci_analyse_options *options = a->options;
	struct loci_levels_geometry geometry[LOCI_LEVELS];

	if (!options->n_levels)
		return 0;
	if (options->n_levels > LOCI_LEVELS)
		return loci_err_set(err, EINVAL, "at most %d caches at once", LOCI_LEVELS);
	for (size_t i = 0; i < options->n_levels; i++) {
		const struct loci_level_row *level = &options->levels[i];
		uint64_t blocks = level->size_bytes >> a->shift;

		if (level->line_bytes != 1ull << a->shift)
			return loci_err_set(err, EINVAL,
				"%s has lines of %" PRIu64
				" bytes; caches are simulated with those of the first block size, "
				"%llu",
				level->name, level->line_bytes, 1ull << a->shift);
		if (!blocks || level->ways > UINT32_MAX || blocks > UINT32_MAX)
			return loci_err_set(
				err, EINVAL, "%s holds no block, or too many", level->name);
		geometry[i].ways = (uint32_t)(level->ways ? level->ways : blocks);
		geometry[i].sets = blocks / geometry[i].ways;
		if (!geometry[i].sets)
			return loci_err_set(
				err, EINVAL, "%s has more ways than blocks", level->name);
	}
	a->n_levels = (unsigned)options->n_levels;
	return loci_levels_new(geometry, a->n_levels, LOCI_ISA_BEST, &a->levels, err);
}

int loci_attribution_new(const struct loci_attribution_options *options,
	struct loci_attribution **ret, struct loci_err *err)
{
	struct loci_attribution *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return loci_err_nomem(err);
	*ret = a;
	a->options = options->options;
	a->decoder = options->decoder;
	a->grain = options->grain;
	a->n_grains = options->n_grains;
	a->symbols = options->symbols;
	a->symbols_lock = options->symbols_lock;
	a->flow = options->capabilities & LOCI_CAP_SITES;
	a->shift = (unsigned)__builtin_ctzll(options->block_bytes);
	r = loci_code_init(&a->code, a->symbols, a->symbols_lock, a->options->no_kernel, err);
	if (r == 0 &&
		(loci_walk_init(&a->walk, &a->code) < 0 || loci_rows_init(&a->rows) < 0 ||
			loci_grow(&a->thread_refs, &a->thread_cap, 1, sizeof(*a->thread_refs)) < 0))
		r = loci_err_nomem(err);
	if (r == 0)
		r = loci_objects_new(a->symbols, &a->objects, err);
	if (r == 0)
		r = open_levels(a, err);
	loci_measure_init(&a->measure, a->grain[0], a->options->pairs, a->n_levels);
	if (r == 0)
		r = loci_relay_new(loci_measure_use, &a->measure, &a->relay, err);
	if (r < 0) {
		loci_attribution_free(a);
		*ret = NULL;
		return r;
	}
	a->batch = loci_relay_batch(a->relay);
	if (a->options->pairs != LOCI_PAIRS_NONE)
		a->walk.log = a->batch->event;
	return 0;
}

void loci_attribution_free(struct loci_attribution *a)
{
	if (!a)
		return;
	loci_relay_free(a->relay); /* before what its thread uses */
	loci_measure_fini(&a->measure);
	loci_levels_free(a->levels);
	pthread_mutex_lock(a->symbols_lock);
	loci_objects_free(a->objects);
	pthread_mutex_unlock(a->symbols_lock);
	loci_rows_fini(&a->rows);
	loci_walk_fini(&a->walk);
	loci_code_fini(&a->code);
	free(a->row_levels.tally);
	free(a->context_levels.tally);
	free(a->thread_refs);
	free(a);
}

static int reserve_tallies(struct loci_level_tallies *tallies, size_t n)
{
	return loci_grow(&tallies->tally, &tallies->cap, n, sizeof(*tallies->tally));
}

static void tally(struct loci_level_tally *level, unsigned n_levels, uint8_t missed, uint8_t dirty)
{
	for (unsigned i = 0; i < n_levels; i++) {
		level[i].misses += missed >> i & 1;
		level[i].writebacks += dirty >> i & 1;
	}
	if (missed) {
		unsigned hit = (unsigned)__builtin_ctz(~(unsigned)missed);

		if (hit < n_levels)
			level[hit].first_hits++;
	}
}

/* Hits of the first level are not counted one by one: they are what is left of the touches. */
static int simulate(struct loci_attribution *a, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	struct loci_levels_batch levels = { .block = b->block,
		.is_write = b->is_write,
		.bytes = a->bytes,
		.owner = a->owner,
		.n = b->n,
		.ret_missed = b->missed,
		.ret_dirty = a->dirty,
		.ret_evicted = a->evicted };

	if (reserve_tallies(&a->row_levels, a->rows.n * a->n_levels) < 0 ||
		reserve_tallies(&a->context_levels, a->walk.contexts.n * a->n_levels) < 0)
		return loci_err_nomem(err);
	loci_levels_feed(a->levels, &levels);
	for (size_t i = 0; i < b->n; i++) {
		if (!(b->missed[i] | a->dirty[i]))
			continue;
		tally(a->row_levels.tally + (size_t)a->owner[i] * a->n_levels, a->n_levels,
			b->missed[i], a->dirty[i]);
		tally(a->context_levels.tally + (size_t)loci_use_context(b->use[i]) * a->n_levels,
			a->n_levels, b->missed[i], a->dirty[i]);
	}
	for (size_t i = 0; i < levels.n_evicted; i++)
		a->rows.row[a->evicted[i].owner].used_bytes += a->evicted[i].used_bytes;
	return 0;
}

static int complete_batch(struct loci_attribution *a, struct loci_err *err)
{
	int r = 0;

	if (a->levels)
		r = simulate(a, err);
	else
		memset(a->batch->missed, 0, a->batch->n);
	a->batch->n_rows = a->rows.n;
	a->batch->n_contexts = a->walk.contexts.n;
	a->batch->n_events = a->walk.n_log;
	return r;
}

static int flush(struct loci_attribution *a, struct loci_err *err)
{
	int r = complete_batch(a, err);

	if (r == 0)
		r = loci_relay_pass(a->relay, err);
	if (r < 0)
		return r;
	a->batch = loci_relay_batch(a->relay);
	a->walk.n_log = 0;
	a->walk.touch = 0;
	if (a->walk.log)
		a->walk.log = a->batch->event;
	return 0;
}

/* Where the flow of control goes must be told before the next touch. */
static int prepare_flow(struct loci_attribution *a, struct loci_err *err)
{
	if (a->walk.n_log + LOCI_LOOP_EVENTS > LOCI_BATCH_EVENTS) {
		int r = flush(a, err);

		if (r < 0)
			return r;
	}
	a->walk.touch = (uint32_t)a->batch->n;
	return 0;
}

static void refresh_use(struct loci_attribution *a)
{
	a->use = (uint64_t)a->walk.context << LOCI_USE_CONTEXT | a->walk.clock << LOCI_USE_CLOCK;
}

static uint64_t byte_mask(const struct loci_attribution *a, uint64_t offset, uint64_t n)
{
	unsigned shift = a->shift;
	uint64_t from, to;

	if (shift >= 6) {
		from = offset >> (shift - 6);
		to = ((offset + n - 1) >> (shift - 6)) + 1;
	} else {
		from = offset << (6 - shift);
		to = (offset + n) << (6 - shift);
	}
	return (to == 64 ? UINT64_MAX : (1ull << to) - 1) & ~((1ull << from) - 1);
}

static inline int put(struct loci_attribution *a, const struct loci_row_site *site, uint64_t block,
	uint8_t is_write, uint64_t bytes, struct loci_err *err)
{
	struct loci_batch *b = a->batch;
	size_t n = b->n;

	b->block[n] = block + ((uint64_t)site->generation << GENERATION_BITS);
	b->use[n] = a->use | site->row | (uint64_t)is_write << LOCI_USE_WRITE;
	b->born[n] = site->born;
	b->is_write[n] = is_write;
	a->owner[n] = site->row;
	a->bytes[n] = bytes;
	b->n = n + 1;
	return n + 1 == LOCI_BATCH ? flush(a, err) : 0;
}

/* When an allocation was made; 0: it is not one of the last. */
static uint32_t born_at(const struct loci_attribution *a, uint32_t epoch)
{
	const struct loci_birth *birth = &a->birth[epoch % LOCI_BIRTHS];

	if (!epoch || birth->epoch != epoch)
		return 0;
	return birth->clock ? birth->clock : 1;
}

/* Memory was allocated: time goes on. */
static void bear(struct loci_attribution *a, uint64_t address)
{
	uint32_t epoch = loci_objects_epoch(a->objects, address);

	a->walk.clock++;
	a->birth[epoch % LOCI_BIRTHS] = (struct loci_birth){ .epoch = epoch,
		.clock = (uint32_t)a->walk.clock & LOCI_CLOCK_MASK };
	refresh_use(a);
}

/* The object that the site's reference is in. */
static int find(
	struct loci_attribution *a, uint32_t definition, uint64_t address, struct loci_err *err)
{
	struct loci_object_hit hit = { 0 };
	uint64_t offset;
	int r;

	pthread_mutex_lock(a->symbols_lock);
	r = loci_objects_find(a->objects, address, a->code.address[definition],
		&a->walk.level->shadow, &hit, err);
	pthread_mutex_unlock(a->symbols_lock);
	if (r < 0)
		return r;
	offset = address - a->walk.base[hit.framed] - hit.low;
	if (!hit.bytes && !offset) /* nothing is known of where the object begins */
		offset = LOCI_NO_OFFSET;
	if (loci_rows_move(&a->rows, a->code.ref[definition].site, &hit, offset,
		    born_at(a, hit.epoch)) < 0)
		return loci_err_nomem(err);
	return 0;
}

static inline bool holds(
	const struct loci_attribution *a, const struct loci_row_site *site, uint64_t address)
{
	return address - a->walk.base[site->framed] - site->low < site->bytes &&
		*site->serial == site->seen;
}

/* A reference of several blocks: each is a touch of the object it is in. */
static int put_blocks(struct loci_attribution *a, uint32_t definition, uint64_t address,
	uint64_t size_bytes, struct loci_err *err)
{
	const struct loci_code_ref *ref = &a->code.ref[definition];
	const struct loci_row_site *site = &a->rows.site[ref->site];
	uint64_t last = address + size_bytes - 1, block_bytes = 1ull << a->shift, second = 0;
	bool bulk = a->code.site[ref->site].flags & LOCI_REF_BULK;

	if (!size_bytes) /* an empty range */
		return 0;
	if (last < address) /* runs over the end of the address space */
		last = UINT64_MAX;
	if (!bulk && address >> a->shift != last >> a->shift)
		a->straddles++;
	if (!bulk && (last >> a->shift) - (address >> a->shift) == 1)
		second = last & -block_bytes;
	for (;;) {
		uint64_t end = address | (block_bytes - 1), offset = address & (block_bytes - 1);
		uint64_t n = (end < last ? end : last) - address + 1;
		int r = holds(a, site, address) ? 0 : find(a, definition, address, err);

		if (second && address == second)
			a->batch->second[a->batch->n_seconds++] = (uint32_t)a->batch->n;
		if (r == 0)
			r = put(a, site, address >> a->shift, ref->is_write,
				byte_mask(a, offset, n), err);
		if (r < 0 || end >= last)
			return r;
		address = end + 1;
	}
}

static int feed_others(struct loci_attribution *a, uint32_t definition, uint64_t address,
	uint64_t size_bytes, struct loci_err *err)
{
	const struct loci_code_ref *ref = &a->code.ref[definition];
	bool bulk = a->code.site[ref->site].flags & LOCI_REF_BULK;
	uint64_t generation = (uint64_t)a->rows.site[ref->site].generation << GENERATION_BITS;
	int r = 0;

	for (unsigned i = 1; r == 0 && i < a->n_grains; i++)
		r = loci_grain_reference(
			a->grain[i], address, size_bytes, ref->is_write, bulk, generation, err);
	return r;
}

static inline int refer(struct loci_attribution *a, uint32_t definition, uint64_t address,
	uint64_t size_bytes, struct loci_err *err)
{
	const struct loci_code_ref *ref = &a->code.ref[definition];
	struct loci_row_site *site = &a->rows.site[ref->site];
	uint64_t block_bytes = 1ull << a->shift, offset = address & (block_bytes - 1);
	int64_t stride;
	int r = 0;

	if (!holds(a, site, address)) {
		r = find(a, definition, address, err);
		if (r < 0)
			return r;
	}
	stride = (int64_t)(address - site->last);
	site->last = address;
	if (stride != site->stride || site->history != LOCI_ROW_HISTORY)
		loci_rows_stride(
			&a->rows, site, stride, address - a->walk.base[site->framed] - site->low);
	if (++site->refs == UINT32_MAX)
		loci_rows_settle(&a->rows, site);
	if (a->n_grains > 1 && size_bytes)
		r = feed_others(a, definition, address, size_bytes, err);
	if (r < 0)
		return r;
	if (size_bytes - 1 >= block_bytes - offset)
		return put_blocks(a, definition, address, size_bytes, err);
	return put(
		a, site, address >> a->shift, ref->is_write, byte_mask(a, offset, size_bytes), err);
}

/* References that have been made in the current context. */
static void count_refs(struct loci_attribution *a, uint64_t n)
{
	a->references += n;
	a->walk.contexts.node[a->walk.context].refs += n;
	a->thread_refs[a->walk.at] += n;
}

/* The last reference seen was of this definition. */
static void leave(struct loci_attribution *a, uint32_t definition)
{
	a->walk.level->last = definition;
	if (!(a->code.blocks[a->code.block[definition]].flags & LOCI_CODE_OUTSIDE))
		a->walk.frame->last = a->code.address[definition];
}

static bool in_kernel(const struct loci_attribution *a, uint32_t definition)
{
	return a->code.blocks[a->code.block[definition]].flags & LOCI_CODE_KERNEL;
}

/* A block that starts at the instruction that was last is that instruction again, unless it goes on
 * with what that is to store. */
static int start(struct loci_attribution *a, uint32_t definition)
{
	struct loci_code *code = &a->code;
	uint32_t last = a->walk.level->last;
	bool again = last != LOCI_NO_DEFINITION &&
		(code->ref[last].is_write || !code->ref[definition].is_write);

	return loci_walk_start(&a->walk, &code->blocks[code->block[definition]], again);
}

/* Control is where a block begins. */
static void arrive(struct loci_attribution *a, const struct loci_code_block *block)
{
	if (!(block->flags & LOCI_CODE_OUTSIDE))
		a->walk.frame->last = block->address;
}

/* Control falls into loops on its way to the reference. */
static int come_over(struct loci_attribution *a, uint32_t definition, struct loci_err *err)
{
	size_t n;
	const struct loci_code_header *header = loci_code_headers(&a->code, definition, &n);
	int r = 0;

	if (a->code.ref[definition].kind & LOCI_CODE_FIRST)
		arrive(a, &a->code.blocks[a->code.block[definition]]);
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct loci_code_block *block = &a->code.blocks[header[i].block];

		r = prepare_flow(a, err);
		if (r == 0 && loci_walk_start(&a->walk, block, false) < 0)
			r = loci_err_nomem(err);
		arrive(a, block);
	}
	return r;
}

/* The flow of control at a reference that begins a block, or is a frame. 1: no access. */
static int special(
	struct loci_attribution *a, uint32_t definition, uint64_t address, struct loci_err *err)
{
	unsigned kind = a->code.ref[definition].kind;
	bool flows = !in_kernel(a, definition) && a->flow;
	int r = prepare_flow(a, err);

	if (r < 0)
		return r;
	if (kind & LOCI_CODE_FRAME)
		r = loci_walk_enter(&a->walk, definition, address);
	else if (kind & LOCI_CODE_FIRST && flows)
		r = start(a, definition);
	if (r < 0)
		return loci_err_nomem(err);
	if (kind & LOCI_CODE_OVER && flows)
		r = come_over(a, definition, err);
	if (r < 0)
		return r;
	refresh_use(a);
	return kind & (LOCI_CODE_FRAME | LOCI_CODE_SKIP) ? 1 : 0;
}

/* After the last reference of a run. */
static int end_run(struct loci_attribution *a, uint32_t definition, uint64_t address,
	uint64_t references, struct loci_err *err)
{
	int r;

	count_refs(a, references);
	if (in_kernel(a, definition))
		return 0;
	leave(a, definition);
	if (!(a->code.ref[definition].kind & LOCI_CODE_RETURN) || !a->walk.level->shadow.n ||
		address < a->walk.base[1])
		return 0;
	r = prepare_flow(a, err);
	if (r < 0)
		return r;
	loci_walk_return(&a->walk, address);
	refresh_use(a);
	return 0;
}

static int refer_run(
	struct loci_attribution *a, const struct loci_ref_run *run, struct loci_err *err)
{
	const struct loci_code_ref *refs = a->code.ref + run->definition;
	uint64_t references = 0;
	int r;

	for (uint32_t i = 0; i < run->n; i++) {
		uint32_t definition = run->definition + i;
		uint64_t size_bytes = refs[i].size_bytes;

		if (refs[i].kind & LOCI_CODE_SPECIAL) {
			if (i) {
				count_refs(a, references);
				references = 0;
				leave(a, definition - 1);
			}
			r = special(a, definition, run->address[i], err);
			if (r < 0)
				return r;
			if (r)
				continue;
		}
		if (!size_bytes)
			size_bytes = a->code.site[refs[i].site].size_bytes;
		r = refer(a, definition, run->address[i], size_bytes, err);
		if (r < 0)
			return r;
		references++;
	}
	return end_run(a, run->definition + run->n - 1, run->address[run->n - 1], references, err);
}

/* A reference by itself: a range, or one that was not in a run. */
static int refer_alone(struct loci_attribution *a, const struct loci_ref *ref, struct loci_err *err)
{
	int r = 0;

	if (ref->size_bytes > REF_MAX_BYTES)
		return loci_err_set(err, EBADMSG,
			"a reference of %" PRIu64 " bytes at address 0x%" PRIx64 " after %" PRIu64
			" references: the trace is damaged",
			ref->size_bytes, ref->address, a->references);
	if (a->code.ref[ref->definition].kind & LOCI_CODE_SPECIAL)
		r = special(a, ref->definition, ref->address, err);
	if (r)
		return r < 0 ? r : end_run(a, ref->definition, ref->address, 0, err);
	r = refer(a, ref->definition, ref->address, ref->size_bytes, err);
	return r < 0 ? r : end_run(a, ref->definition, ref->address, 1, err);
}

static int switch_thread(struct loci_attribution *a, uint32_t thread, struct loci_err *err)
{
	int r = prepare_flow(a, err);

	if (r < 0)
		return r;
	if (loci_walk_switch(&a->walk, thread) < 0 ||
		loci_grow(&a->thread_refs, &a->thread_cap, a->walk.n_threads,
			sizeof(*a->thread_refs)) < 0)
		return loci_err_nomem(err);
	refresh_use(a);
	return 0;
}

static int follow(struct loci_attribution *a, const struct loci_event *event, struct loci_err *err)
{
	int r = prepare_flow(a, err);

	if (r < 0)
		return r;
	if (event->kind == LOCI_MARK_SIGNAL_ENTER)
		r = loci_walk_signal_enter(&a->walk);
	else if (event->kind == LOCI_MARK_SIGNAL_LEAVE)
		loci_walk_signal_leave(&a->walk);
	else if (event->kind == LOCI_MARK_THREAD_EXIT)
		r = loci_walk_exit(&a->walk, (uint32_t)event->payload);
	if (r < 0)
		return loci_err_nomem(err);
	refresh_use(a);
	return loci_code_event(&a->code, event, a->decoder, err);
}

static int take_event(
	struct loci_attribution *a, const struct loci_event *event, struct loci_err *err)
{
	int r = 0;

	if (event->thread != a->walk.thread[a->walk.at].id)
		r = switch_thread(a, event->thread, err);
	if (r == 0)
		r = follow(a, event, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(a->symbols_lock);
	r = loci_objects_event(
		a->objects, event, a->decoder, &a->walk.level->shadow, a->references, err);
	if (r == 0 && event->kind == LOCI_MARK_ALLOC)
		bear(a, event->raw[0]);
	if (r == 0 && event->kind == LOCI_MARK_RESIZE && event->raw[0] != event->raw[1])
		bear(a, event->raw[1]);
	pthread_mutex_unlock(a->symbols_lock);
	return r;
}

/* What the decoder has defined since. */
static int learn(struct loci_attribution *a, struct loci_err *err)
{
	int r;

	if (loci_decoder_definitions(a->decoder) == a->code.n_refs)
		return 0;
	r = loci_code_learn(&a->code, a->decoder, err);
	if (r == 0 && loci_rows_reserve(&a->rows, a->code.n_sites) < 0)
		r = loci_err_nomem(err);
	return r;
}

static int take_runs(struct loci_attribution *a, size_t n, struct loci_err *err)
{
	uint32_t thread = loci_decoder_thread(a->decoder);
	int r = learn(a, err);

	if (r == 0 && thread != a->walk.thread[a->walk.at].id)
		r = switch_thread(a, thread, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = refer_run(a, &a->runs[i], err);
	return r;
}

int loci_attribution_words(struct loci_attribution *a, const uint64_t *words, size_t n_words,
	void (*event)(void *data, const struct loci_event *event), void *data, struct loci_err *err)
{
	size_t pos = 0;

	while (pos < n_words) {
		size_t n = loci_decoder_runs(
			a->decoder, words, n_words, &pos, a->runs, LOCI_ATTRIBUTE_RUNS);
		struct loci_event marker;
		struct loci_ref ref;
		int fault, r;

		if (n) {
			r = take_runs(a, n, err);
			if (r < 0)
				return r;
			continue;
		}
		fault = loci_decoder_next(
			a->decoder, words, n_words, &pos, &ref, 1, &n, &marker, err);
		r = learn(a, err);
		if (r == 0 && n && ref.thread != a->walk.thread[a->walk.at].id)
			r = switch_thread(a, ref.thread, err);
		if (r == 0 && n)
			r = refer_alone(a, &ref, err);
		if (r == 0 && fault == 0 && marker.kind != LOCI_MARK_PAD) {
			r = take_event(a, &marker, err);
			event(data, &marker);
		}
		if (r < 0 || fault < 0)
			return r < 0 ? r : fault;
	}
	return 0;
}

static void drain(struct loci_attribution *a)
{
	size_t n;

	while ((n = loci_levels_drain(a->levels, a->evicted, LOCI_BATCH)) > 0)
		for (size_t i = 0; i < n; i++)
			a->rows.row[a->evicted[i].owner].used_bytes += a->evicted[i].used_bytes;
}

int loci_attribution_finish(struct loci_attribution *a, struct loci_err *err)
{
	int r = complete_batch(a, err);

	if (r == 0)
		r = loci_relay_finish(a->relay, err);
	if (r < 0)
		return r;
	if (a->levels)
		drain(a);
	for (size_t i = 0; i < a->rows.site_cap; i++)
		loci_rows_settle(&a->rows, &a->rows.site[i]);
	loci_grain_straddled(a->grain[0], a->straddles);
	return 0;
}
