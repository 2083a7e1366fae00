// SPDX-License-Identifier: GPL-2.0-or-later
/* What markers change: each handler keeps the rule of object_state.h, that who answered for memory
 * which a finer one takes advances its serial. */
#include "analyse/object_state.h"

#include "base/cleanup.h"

#include <string.h>
#include <sys/mman.h>

struct event {
	const struct loci_event *event;
	const uint64_t *raw;
	const struct loci_decoder *decoder;
	const struct loci_shadow *shadow;
};

static uint64_t last_of(uint64_t low, uint64_t bytes)
{
	return bytes - 1 > UINT64_MAX - low ? UINT64_MAX : low + (bytes - 1);
}

static void ended(void *data, uint32_t object)
{
	struct loci_objects *objects = data;

	loci_object_end(&objects->table.object[object], objects->refs);
}

static bool has_finer(struct loci_objects *objects, uint64_t low, uint64_t last)
{
	return loci_heap_overlaps(objects->heap, low, last - low + 1) ||
		loci_heap_overlaps(objects->registered, low, last - low + 1);
}

void loci_objects_review_stacks(struct loci_objects *objects)
{
	objects->odd_stacks = 0;
	for (size_t i = 0; i < objects->map.n; i++) {
		struct loci_region *region = objects->map.region[i];

		if (!region->stack)
			continue;
		if (region->parted)
			region->parted = has_finer(objects, region->low, region->last);
		objects->odd_stacks += region->parted ||
			loci_generations_highest(&objects->generations, region->low, region->last);
	}
	objects->frame_serial++;
	loci_stack_advance_pins(&objects->stack);
}

void loci_objects_make_stack(struct loci_objects *objects, struct loci_region *region)
{
	region->stack = true;
	region->joins = false;
	region->object = objects->stack_rest;
	region->serial++;
	loci_objects_review_stacks(objects);
}

static void part_region(struct loci_objects *objects, struct loci_region *region, bool heap)
{
	bool was_parted = region->parted;

	region->parted = true;
	if (region->stack) {
		loci_objects_review_stacks(objects);
	} else if (heap && region->anonymous && !region->joins) {
		region->object = objects->heap_rest;
		region->joins = true;
		region->serial++;
	} else if (!was_parted) {
		region->serial++;
	}
}

void loci_objects_part_layout(struct loci_objects *objects, uint64_t low, uint64_t last, bool heap)
{
	struct loci_region *region = loci_map_find(&objects->map, low);

	loci_modules_part(&objects->modules, low, last);
	if (region && region->last >= last) {
		part_region(objects, region, heap);
		return;
	}
	for (size_t i = loci_map_index(&objects->map, low);
		i < objects->map.n && objects->map.region[i]->low <= last; i++)
		part_region(objects, objects->map.region[i], heap);
	if (!objects->unknown_parted)
		objects->layout_serial++;
	objects->unknown_parted = true;
}

/* Allocations. */

static int heap_object(struct loci_objects *objects, const struct event *event, uint64_t site,
	enum loci_object_kind kind, uint32_t *ret, struct loci_err *err)
{
	uint32_t context;
	size_t frames;
	bool is_new;
	int r = loci_objects_caller(objects, site, event->shadow, &frames, err);

	if (r < 0)
		return r;
	context = frames ? event->shadow->frame[frames - 1].context : UINT32_MAX;
	r = loci_object_table_get(&objects->table, kind, site, context, ret, &is_new, err);
	if (r < 0 || !is_new)
		return r;
	objects->table.object[*ret].context = context;
	return loci_objects_origin(
		objects, site, event->shadow, frames, &objects->table.object[*ret].origin, err);
}

static int allocate(struct loci_objects *objects, const struct event *event, uint64_t address,
	uint64_t bytes, uint64_t site, uint32_t keep_epoch, struct loci_err *err)
{
	struct loci_heap_block *block;
	uint32_t object;
	int r;

	if (!address)
		return 0; /* nothing was allocated */
	r = heap_object(objects, event, site, LOCI_OBJECT_HEAP, &object, err);
	if (r == 0)
		r = loci_heap_add(objects->heap, address, bytes, object, &block, err);
	if (r < 0)
		return r;
	if (keep_epoch)
		block->epoch = keep_epoch;
	loci_object_begin(&objects->table.object[object], bytes, objects->refs);
	loci_objects_part_layout(objects, block->low, block->low + (block->bytes - 1), true);
	if (loci_heap_overlaps(objects->registered, block->low, block->bytes)) {
		block->parted = true;
		loci_heap_part(objects->registered, block->low, block->bytes);
	}
	return 0;
}

static void release(struct loci_objects *objects, uint64_t address)
{
	if (loci_heap_count(objects->registered)) {
		const struct loci_heap_block *block = loci_heap_at(objects->heap, address);

		if (block)
			loci_heap_part(objects->registered, block->low, block->bytes);
	}
	loci_heap_remove(objects->heap, address);
}

/* Nobody asked for them while they lived. */
static int count_gone(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	uint32_t object;
	int r = heap_object(objects, event, event->raw[2], LOCI_OBJECT_HEAP, &object, err);

	if (r < 0 || !event->raw[3])
		return r;
	loci_object_begin(&objects->table.object[object], event->event->payload, objects->refs);
	loci_object_end(&objects->table.object[object], objects->refs);
	objects->table.object[object].allocations += event->raw[3] - 1;
	return 0;
}

static int on_alloc(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	if (!event->raw[0] && event->event->n_raw > 3)
		return count_gone(objects, event, err);
	return allocate(
		objects, event, event->raw[0], event->event->payload, event->raw[2], 0, err);
}

static int on_free(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	release(objects, event->raw[0]);
	return 0;
}

/* What stays where it was is the same allocation. */
static int on_resize(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	uint64_t from = event->raw[0], to = event->raw[1];
	const struct loci_heap_block *block = from ? loci_heap_at(objects->heap, from) : NULL;
	uint32_t epoch = block && from == to ? block->epoch : 0;

	if (from)
		release(objects, from);
	return allocate(objects, event, to, event->event->payload, event->raw[3], epoch, err);
}

static int on_object(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	return loci_objects_register(objects, event->event, event->decoder, event->shadow, err);
}

static int on_object_part(
	struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	return loci_objects_register_part(objects, event->event, event->decoder, err);
}

static int on_object_end(
	struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	(void)err;
	loci_objects_unregister(objects, event->raw[0]);
	return 0;
}

/* Mappings. */

/* The entries of frames mean other functions. */
static void forget_functions(struct loci_objects *objects)
{
	loci_stack_forget_addresses(&objects->stack);
	memset(objects->caller, 0, sizeof(objects->caller));
	objects->frame_serial++;
	loci_stack_advance_pins(&objects->stack);
}

enum { FLAGS_SHIFT = 8 };

static int region_object(struct loci_objects *objects, const struct event *event,
	struct loci_region *region, struct loci_err *err)
{
	const char *file =
		event->raw[4] ? loci_decoder_string(event->decoder, event->raw[4]) : NULL;
	uint64_t flags = event->event->payload >> FLAGS_SHIFT;

	if ((flags & (MAP_STACK | MAP_GROWSDOWN)) || (file && !strcmp(file, "[stack]"))) {
		region->stack = true;
		region->object = objects->stack_rest;
		return 0;
	}
	region->anonymous = !file || !*file || !strcmp(file, "[heap]");
	if (!region->anonymous)
		return loci_object_table_get_text(
			&objects->table, LOCI_OBJECT_FILE, file, &region->object, err);
	if (loci_heap_overlaps(objects->heap, region->low, region->last - region->low + 1) ||
		file) {
		region->object = objects->heap_rest;
		region->joins = true;
		return 0;
	}
	return heap_object(
		objects, event, event->raw[3], LOCI_OBJECT_MAPPING, &region->object, err);
}

static void end_mappings(struct loci_objects *objects, uint64_t low, uint64_t last)
{
	for (size_t i = loci_map_index(&objects->map, low);
		i < objects->map.n && objects->map.region[i]->low <= last; i++) {
		const struct loci_region *region = objects->map.region[i];

		if (region->low >= low && region->last <= last && !region->stack && !region->joins)
			loci_object_end(&objects->table.object[region->object], objects->refs);
	}
}

static int on_map(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	struct loci_region region = { .low = event->raw[0] };
	uint64_t bytes = event->raw[1];
	bool stack = false;
	int r;

	if (!bytes)
		return 0;
	region.last = last_of(region.low, bytes);
	region.parted = has_finer(objects, region.low, region.last);
	r = region_object(objects, event, &region, err);
	if (r == 0 && !region.stack && !region.joins)
		loci_object_begin(&objects->table.object[region.object], bytes, objects->refs);
	end_mappings(objects, region.low, region.last);
	if (r == 0)
		r = loci_map_cut(&objects->map, region.low, region.last, &stack, err);
	if (r == 0)
		r = loci_map_add(&objects->map, &region, err);
	objects->layout_serial++;
	if (stack || region.stack || objects->unknown_stack)
		loci_objects_review_stacks(objects);
	return r;
}

static int on_unmap(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	uint64_t low = event->raw[0], bytes = event->raw[1], last;
	size_t n_modules = objects->modules.n;
	bool stack = false;
	int r;

	if (!bytes)
		return 0;
	last = last_of(low, bytes);
	end_mappings(objects, low, last);
	loci_heap_clear(objects->heap, low, bytes);
	loci_heap_clear(objects->registered, low, bytes);
	r = loci_generations_unmap(&objects->generations, low, last, err);
	if (r == 0)
		r = loci_modules_unmap(&objects->modules, low, last, err);
	if (objects->modules.n != n_modules)
		forget_functions(objects);
	if (r == 0)
		r = loci_map_cut(&objects->map, low, last, &stack, err);
	objects->layout_serial++;
	if (stack || objects->unknown_stack)
		loci_objects_review_stacks(objects);
	return r;
}

/* Modules. */

static int on_load(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	const uint64_t *raw = event->raw;
	const char *path = loci_decoder_string(event->decoder, raw[3]);
	struct loci_loaded loaded = { .id = (uint32_t)event->event->payload,
		.bias = raw[0],
		.low = raw[1],
		.last = last_of(raw[1], raw[2] ? raw[2] : 1) };
	int r;

	loci_objects_lock(objects);
	r = loci_symbols_module(objects->symbols, path ? path : "",
		raw[5] ? (const uint8_t *)(raw + 6) : NULL, raw[5], &loaded.symbol_module, err);
	loci_objects_unlock(objects);
	if (r < 0)
		return r;
	loaded.parted = has_finer(objects, loaded.low, loaded.last);
	loaded.path = strdup(path ? path : "");
	if (!loaded.path)
		return loci_err_nomem(err);
	r = loci_modules_load(&objects->modules, &loaded, err);
	if (r < 0)
		free(loaded.path);
	/* Mappings beneath have answered for its addresses. */
	for (size_t i = loci_map_index(&objects->map, loaded.low);
		i < objects->map.n && objects->map.region[i]->low <= loaded.last; i++)
		objects->map.region[i]->serial++;
	objects->layout_serial++;
	forget_functions(objects);
	return r;
}

static int on_unload(struct loci_objects *objects, const struct event *event, struct loci_err *err)
{
	int r = loci_modules_unload(&objects->modules, (uint32_t)event->event->payload, err);

	forget_functions(objects);
	return r;
}

typedef int event_fn(struct loci_objects *objects, const struct event *event, struct loci_err *err);

static event_fn *const handlers[] = {
	[LOCI_MARK_ALLOC] = on_alloc,
	[LOCI_MARK_FREE] = on_free,
	[LOCI_MARK_RESIZE] = on_resize,
	[LOCI_MARK_MAP] = on_map,
	[LOCI_MARK_UNMAP] = on_unmap,
	[LOCI_MARK_OBJECT] = on_object,
	[LOCI_MARK_OBJECT_END] = on_object_end,
	[LOCI_MARK_OBJECT_PART] = on_object_part,
	[LOCI_MARK_MODULE_LOAD] = on_load,
	[LOCI_MARK_MODULE_UNLOAD] = on_unload,
};

int loci_objects_event(struct loci_objects *objects, const struct loci_event *event,
	const struct loci_decoder *decoder, const struct loci_shadow *shadow, uint64_t refs,
	struct loci_err *err)
{
	struct event at = { .event = event,
		.raw = event->raw,
		.decoder = decoder,
		.shadow = shadow ? shadow : &loci_no_frames };

	if (event->kind >= LOCI_ARRAY_SIZE(handlers) || !handlers[event->kind])
		return 0;
	objects->refs = refs;
	return handlers[event->kind](objects, &at, err);
}

static int init(struct loci_objects *objects, struct loci_err *err)
{
	bool is_new;
	int r = loci_object_table_init(&objects->table, err);

	if (r == 0)
		r = loci_object_table_get(&objects->table, LOCI_OBJECT_HEAP_REST, 0, 0,
			&objects->heap_rest, &is_new, err);
	if (r == 0)
		r = loci_object_table_get(&objects->table, LOCI_OBJECT_STACK, 0, 0,
			&objects->stack_rest, &is_new, err);
	if (r == 0)
		r = loci_stack_init(&objects->stack, err);
	if (r == 0)
		r = loci_heap_new(ended, objects, &objects->heap, err);
	if (r == 0)
		r = loci_heap_new(ended, objects, &objects->registered, err);
	return r;
}

int loci_objects_new(struct loci_symbols *symbols, struct loci_objects **ret, struct loci_err *err)
{
	struct loci_objects *objects = calloc(1, sizeof(*objects));
	int r;

	if (!objects)
		return loci_err_nomem(err);
	objects->symbols = symbols;
	r = init(objects, err);
	if (r < 0) {
		loci_objects_free(objects);
		return r;
	}
	*ret = objects;
	return 0;
}

void loci_objects_guard(
	struct loci_objects *objects, pthread_mutex_t *symbols_lock, bool frames_linger)
{
	objects->symbols_lock = symbols_lock;
	objects->frames_linger = frames_linger;
}

void loci_objects_free(struct loci_objects *objects)
{
	if (!objects)
		return;
	loci_heap_free(objects->heap);
	loci_heap_free(objects->registered);
	loci_stack_fini(&objects->stack);
	loci_map_fini(&objects->map);
	loci_modules_fini(&objects->modules);
	loci_generations_fini(&objects->generations);
	loci_object_table_fini(&objects->table);
	free(objects);
}

size_t loci_objects_count(const struct loci_objects *objects)
{
	return objects->table.n;
}
