// SPDX-License-Identifier: GPL-2.0-or-later
/* Which object an address belongs to: asks those who may know in turn. */
#include "analyse/object_state.h"

#include "base/cleanup.h"

#include <string.h>

enum {
	FRAME_STEP = 4096, /* how much of a frame without variables is taken at a time */
};

const struct loci_shadow loci_no_frames;

static uint64_t bytes_of(uint64_t low, uint64_t last)
{
	return last - low == UINT64_MAX ? UINT64_MAX : last - low + 1;
}

/* Holds from low to last, where the generation is that of the address. */
static void answer(struct loci_objects *objects, uint64_t address, uint32_t object, uint64_t low,
	uint64_t last, const uint32_t *serial, struct loci_object_hit *ret)
{
	*ret = (struct loci_object_hit){
		.object = object, .begin = low, .last = last, .serial = serial, .seen = *serial
	};
	ret->generation = loci_generations_find(&objects->generations, address, &low, &last);
	ret->low = low;
	ret->bytes = bytes_of(low, last);
}

static void answer_block(struct loci_objects *objects, uint64_t address,
	const struct loci_heap_block *block, struct loci_object_hit *ret)
{
	answer(objects, address, block->object, block->low, block->low + (block->bytes - 1),
		&block->serial, ret);
	ret->epoch = block->epoch;
	if (block->parted)
		ret->bytes = 0;
}

/* A registered object may lie in an allocation or beside it: the answer ends where that does. */
static void answer_registered(struct loci_objects *objects, uint64_t address,
	const struct loci_heap_block *block, struct loci_object_hit *ret)
{
	const struct loci_heap_block *under = loci_heap_find(objects->heap, address);

	answer_block(objects, address, block, ret);
	ret->epoch = under ? under->epoch : 0;
	if (under &&
		(under->low > block->low || under->low + under->bytes < block->low + block->bytes))
		ret->bytes = 0;
	else if (!under && loci_heap_overlaps(objects->heap, block->low, block->bytes))
		ret->bytes = 0;
}

int loci_objects_answer_module(struct loci_objects *objects, uint64_t address,
	struct loci_loaded *loaded, struct loci_object_hit *ret, struct loci_err *err)
{
	uint64_t low, last;
	bool asks = !loaded->asked;
	uint32_t object;
	int r;

	if (asks)
		loci_objects_lock(objects);
	r = loci_loaded_object(
		loaded, objects->symbols, &objects->table, address, &object, &low, &last, err);
	if (asks)
		loci_objects_unlock(objects);
	if (r < 0)
		return r;
	answer(objects, address, object, low, last, &loaded->serial, ret);
	if (loaded->parted &&
		(loci_heap_overlaps(objects->heap, low, last - low + 1) ||
			loci_heap_overlaps(objects->registered, low, last - low + 1)))
		ret->bytes = 0;
	return 0;
}

/* Stacks. */

/* The innermost frame that begins above the address, and so owns it: index + 1, 0: none. */
static size_t owner_of(const struct loci_shadow *shadow, uint64_t address)
{
	size_t low = 0, high = shadow->n;

	if (high && shadow->frame[high - 1].address + LOCI_RETURN_BYTES > address)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (shadow->frame[middle].address + LOCI_RETURN_BYTES > address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A site of fixed code is no address of code, and does not tell which of several variables that
 * share a place is alive: what it refers to does. */
static int prefer_named(struct loci_objects *objects, uint64_t site,
	const struct loci_function *function, int64_t offset, struct loci_place *place,
	struct loci_err *err)
{
	const struct loci_loaded *loaded = loci_modules_find(&objects->modules, site);
	struct loci_symbol_site known = { 0 };
	int r = 0;

	if (loaded) {
		loci_objects_lock(objects);
		r = loci_symbols_site(
			objects->symbols, loaded->symbol_module, site - loaded->bias, &known, err);
		loci_objects_unlock(objects);
	}
	if (r > 0 && known.variable && !strstr(known.variable, "->"))
		loci_function_prefer(
			function, offset, known.variable, strcspn(known.variable, "[."), place);
	return r < 0 ? r : 0;
}

int loci_objects_frame_place(struct loci_objects *objects, const struct loci_shadow *shadow,
	size_t i, uint64_t address, uint64_t code_address, struct loci_function **ret_function,
	struct loci_place *ret, struct loci_err *err)
{
	const struct loci_shadow_frame *frame = &shadow->frame[i];
	uint64_t pc = i + 1 == shadow->n ? code_address : frame[1].call_site, bias;
	int r = loci_stack_function(
		&objects->stack, &objects->modules, frame, ret_function, &bias, err);
	bool asks;

	if (r < 0)
		return r;
	asks = !(*ret_function)->asked && (*ret_function)->symbol_module != UINT32_MAX;
	if (asks)
		loci_objects_lock(objects);
	r = loci_function_place(&objects->stack, *ret_function, objects->symbols,
		(int64_t)(address - frame->address), pc - bias, ret, err);
	if (asks)
		loci_objects_unlock(objects);
	if (r == 0 && ret->shared && objects->frames_linger && i + 1 == shadow->n)
		r = prefer_named(objects, code_address, *ret_function,
			(int64_t)(address - frame->address), ret, err);
	return r;
}

/* Relative to the top frame: the same on every call. Above the return address only parameters are
 * the function's own. */
static void answer_top(struct loci_objects *objects, uint64_t address, uint64_t frame_address,
	const struct loci_place *place, uint32_t object, const struct loci_extent *extent,
	struct loci_object_hit *ret)
{
	int64_t offset = (int64_t)(address - frame_address), low = place->low, high = place->high;

	answer(objects, address, object, address, address, &objects->frame_serial, ret);
	ret->bytes = 0;
	if (place->variable)
		ret->begin = frame_address + (uint64_t)place->variable->low;
	ret->last = ret->begin + (place->variable ? place->variable->bytes : 0) - 1;
	if (!place->variable) {
		int64_t step = offset & -(int64_t)FRAME_STEP;

		low = low > step ? low : step;
		high = high < LOCI_RETURN_BYTES ? high : LOCI_RETURN_BYTES;
	}
	if (extent->unframed || (!extent->was && (objects->odd_stacks || ret->generation)))
		return;
	if (!extent->mapped)
		objects->unknown_stack = true;
	ret->framed = true;
	ret->last -= ret->begin;
	ret->begin = (uint64_t)(place->variable ? place->variable->low : low);
	ret->last += ret->begin;
	ret->low = (uint64_t)low;
	ret->bytes = (uint64_t)(high - low);
}

static int answer_frame(struct loci_objects *objects, const struct loci_shadow *shadow, size_t i,
	uint64_t address, const struct loci_place *place, uint32_t object,
	struct loci_object_hit *ret, struct loci_err *err)
{
	struct loci_shadow_frame *frame = &shadow->frame[i];
	uint32_t *pin;
	int r;

	answer(objects, address, object, address, address, &objects->frame_serial, ret);
	ret->bytes = 0;
	if (place->variable)
		ret->begin = frame->address + (uint64_t)place->variable->low;
	ret->last = ret->begin + (place->variable ? place->variable->bytes : 0) - 1;
	if (!shadow->pins || !place->variable || place->shared || objects->odd_stacks)
		return 0;
	r = loci_stack_pin(&objects->stack, frame, &pin, err);
	if (r == 0)
		answer(objects, address, object, frame->address + (uint64_t)place->low,
			frame->address + (uint64_t)place->high - 1, pin, ret);
	ret->begin = frame->address + (uint64_t)place->variable->low;
	ret->last = ret->begin + place->variable->bytes - 1;
	return r;
}

int loci_objects_answer_stack(struct loci_objects *objects, uint64_t address, uint64_t code_address,
	const struct loci_shadow *shadow, const struct loci_extent *extent,
	struct loci_object_hit *ret, struct loci_err *err)
{
	size_t owner = owner_of(shadow, address);
	struct loci_function *function = NULL;
	struct loci_place place = { 0 };
	uint32_t object;
	int r = 0;

	/* Parameters on the stack stand in the caller's frame. */
	if (owner < shadow->n && shadow->frame[owner].address >= extent->low) {
		r = loci_objects_frame_place(
			objects, shadow, owner, address, code_address, &function, &place, err);
		if (r == 0 && place.variable)
			owner++;
	}
	if (r == 0 && !place.variable && owner && shadow->frame[owner - 1].address <= extent->last)
		r = loci_objects_frame_place(
			objects, shadow, owner - 1, address, code_address, &function, &place, err);
	else if (!place.variable)
		owner = 0;
	if (r == 0 && owner)
		r = loci_function_object(function, &objects->table, &place, &object, err);
	if (r < 0)
		return r;
	if (owner == shadow->n && owner) {
		answer_top(objects, address, shadow->frame[owner - 1].address, &place, object,
			extent, ret);
		return 0;
	}
	if (owner)
		return answer_frame(objects, shadow, owner - 1, address, &place, object, ret, err);
	answer(objects, address, objects->stack_rest, address, address, &objects->frame_serial,
		ret);
	ret->bytes = 0;
	return 0;
}

static bool within(uint64_t address, uint64_t low, uint64_t last)
{
	return address - low <= last - low;
}

static uint64_t top_address(const struct loci_shadow *shadow)
{
	return shadow->n ? shadow->frame[shadow->n - 1].address : 0;
}

struct loci_extent loci_objects_gap(struct loci_objects *objects, uint64_t address)
{
	size_t i = loci_map_index(&objects->map, address);
	struct loci_extent gap = { .low = 0, .last = UINT64_MAX };

	if (i)
		gap.low = objects->map.region[i - 1]->last + 1;
	if (i < objects->map.n)
		gap.last = objects->map.region[i]->low - 1;
	loci_modules_narrow(&objects->modules, address, &gap.low, &gap.last);
	return gap;
}

/* Where nothing is mapped: a stack that grew, or memory the collector did not tell of. */
static int answer_unknown(struct loci_objects *objects, uint64_t address, uint64_t code_address,
	const struct loci_shadow *shadow, struct loci_object_hit *ret, struct loci_err *err)
{
	struct loci_extent gap = loci_objects_gap(objects, address);
	uint64_t top = top_address(shadow),
		 low = top > LOCI_STACK_REACH ? top - LOCI_STACK_REACH : 0;

	if (top && !objects->has_frames) { /* what is unknown may be a stack from now on */
		objects->has_frames = true;
		objects->layout_serial++;
	}
	if (top && address < low) {
		struct loci_function *function;
		struct loci_place place = { 0 };
		int r = loci_objects_frame_place(objects, shadow, shadow->n - 1, address,
			code_address, &function, &place, err);

		if (r < 0)
			return r;
		if (place.variable)
			low = address;
	}
	if (top && within(address, low, shadow->frame[0].address + LOCI_RETURN_BYTES - 1)) {
		const struct loci_region *region = loci_map_find(&objects->map, top);
		struct loci_extent extent = { .low = low, .last = UINT64_MAX };

		if (!region || region->stack)
			return loci_objects_answer_stack(
				objects, address, code_address, shadow, &extent, ret, err);
	}
	answer(objects, address, 0, gap.low, gap.last, &objects->layout_serial, ret);
	if (objects->unknown_parted || objects->has_frames)
		ret->bytes = 0;
	return 0;
}

static int answer_region(struct loci_objects *objects, uint64_t address, uint64_t code_address,
	const struct loci_shadow *shadow, struct loci_region *region, struct loci_object_hit *ret,
	struct loci_err *err)
{
	struct loci_extent extent = { .low = region->low, .last = region->last, .mapped = true };

	if (!region->stack && within(top_address(shadow), region->low, region->last))
		loci_objects_make_stack(objects, region);
	if (region->stack)
		return loci_objects_answer_stack(
			objects, address, code_address, shadow, &extent, ret, err);
	loci_modules_narrow(&objects->modules, address, &extent.low, &extent.last);
	answer(objects, address, region->object, extent.low, extent.last, &region->serial, ret);
	if (region->parted)
		ret->bytes = 0;
	return 0;
}

int loci_objects_find(struct loci_objects *objects, uint64_t address, uint64_t code_address,
	const struct loci_shadow *shadow, struct loci_object_hit *ret, struct loci_err *err)
{
	struct loci_heap_block *block;
	struct loci_loaded *loaded;
	struct loci_region *region;

	if (!shadow)
		shadow = &loci_no_frames;
	if (loci_heap_count(objects->registered)) {
		block = loci_heap_find(objects->registered, address);
		if (block) {
			answer_registered(objects, address, block, ret);
			return 0;
		}
	}
	block = loci_heap_find(objects->heap, address);
	if (block &&
		__builtin_expect(
			!within(top_address(shadow), block->low, block->low + (block->bytes - 1)),
			1)) {
		answer_block(objects, address, block, ret);
		return 0;
	}
	if (block) { /* a coroutine's stack */
		struct loci_extent extent = {
			.low = block->low, .last = block->low + (block->bytes - 1), .mapped = true
		};

		if (!block->parted)
			block->serial++;
		block->parted = true;
		return loci_objects_answer_stack(
			objects, address, code_address, shadow, &extent, ret, err);
	}
	loaded = loci_modules_find(&objects->modules, address);
	if (loaded)
		return loci_objects_answer_module(objects, address, loaded, ret, err);
	region = loci_map_find(&objects->map, address);
	if (region)
		return answer_region(objects, address, code_address, shadow, region, ret, err);
	return answer_unknown(objects, address, code_address, shadow, ret, err);
}

bool loci_objects_shape(
	const struct loci_objects *objects, uint32_t number, struct loci_object_shape *ret)
{
	const struct loci_object *object = &objects->table.object[number];
	const struct loci_variable *variable = object->variable;

	*ret = (struct loci_object_shape){ .element_bytes = object->element_bytes };
	if (object->kind == LOCI_OBJECT_HEAP || object->kind == LOCI_OBJECT_REGISTERED)
		return true;
	if (!variable || variable->elements < 2 || !variable->type)
		return false;
	*ret = (struct loci_object_shape){ loci_type_bytes(variable->type), variable->elements,
		variable->inner };
	return ret->element_bytes > 0;
}

uint32_t loci_objects_epoch(const struct loci_objects *objects, uint64_t address)
{
	const struct loci_heap_block *block = loci_heap_find(objects->heap, address);

	return block ? block->epoch : 0;
}
