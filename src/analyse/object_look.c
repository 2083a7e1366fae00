// SPDX-License-Identifier: GPL-2.0-or-later
/* object.c says who is asked in which order. A frame is taken to be one of known code: if it turns
 * out not to be, the answer is that of an address without frames. */
#include "analyse/object_look.h"

#include "analyse/object_state.h"

static bool within(uint64_t address, uint64_t low, uint64_t last)
{
	return address - low <= last - low;
}

static bool is_unframed(struct loci_objects *objects, uint64_t address)
{
	uint64_t low = address, last = address;

	return objects->odd_stacks ||
		loci_generations_find(&objects->generations, address, &low, &last);
}

static void on_stack(struct loci_objects *objects, uint64_t address, uint64_t low, uint64_t last,
	bool mapped, struct loci_object_look *ret)
{
	ret->kind = LOCI_LOOK_FRAME;
	ret->mapped = mapped;
	ret->unframed = is_unframed(objects, address);
	ret->stack_low = low;
	ret->stack_last = last;
}

/* Where nothing is mapped. */
static void look_below(struct loci_objects *objects, uint64_t address, uint64_t frame,
	struct loci_object_look *ret)
{
	const struct loci_region *region = loci_map_find(&objects->map, frame);
	uint64_t low = frame > LOCI_STACK_REACH ? frame - LOCI_STACK_REACH : 0;

	if (!objects->has_frames) {
		objects->has_frames = true;
		objects->layout_serial++;
	}
	ret->known = false;
	if (address > frame + LOCI_RETURN_BYTES - 1 || (region && !region->stack))
		return;
	on_stack(objects, address, low, UINT64_MAX, false, ret);
	if (address < low)
		ret->kind = LOCI_LOOK_DEEP;
}

int loci_objects_look(struct loci_objects *objects, uint64_t address, uint64_t frame,
	struct loci_object_look *ret, struct loci_err *err)
{
	struct loci_heap_block *block = NULL;
	struct loci_region *region;
	struct loci_object_hit hit;
	bool is_registered = loci_heap_count(objects->registered) &&
		loci_heap_find(objects->registered, address);
	int r;

	*ret = (struct loci_object_look){ .kind = LOCI_LOOK_KNOWN };
	if (!is_registered)
		block = loci_heap_find(objects->heap, address);
	if (!is_registered && !block && loci_modules_find(&objects->modules, address)) {
		ret->kind = LOCI_LOOK_GLOBAL;
		return 0;
	}
	r = loci_objects_find(objects, address, 0, NULL, &hit, err);
	if (r < 0)
		return r;
	ret->object = hit.object;
	ret->low = hit.low;
	ret->known = hit.bytes > 0;
	if (is_registered || !frame)
		return 0;
	if (block) {
		if (!within(frame, block->low, block->low + (block->bytes - 1)))
			return 0;
		block->serial += !block->parted;
		block->parted = true;
		on_stack(objects, address, block->low, block->low + (block->bytes - 1), true, ret);
		return 0;
	}
	region = loci_map_find(&objects->map, address);
	if (!region) {
		look_below(objects, address, frame, ret);
		return 0;
	}
	if (!region->stack && within(frame, region->low, region->last))
		loci_objects_make_stack(objects, region);
	if (region->stack)
		on_stack(objects, address, region->low, region->last, true, ret);
	return 0;
}

/* Whether the frame has a variable there. */
static int has_variable(struct loci_objects *objects, uint64_t address, uint64_t code_address,
	const struct loci_shadow *shadow, bool *ret, struct loci_err *err)
{
	struct loci_function *function;
	struct loci_place place = { 0 };
	int r = loci_objects_frame_place(
		objects, shadow, shadow->n - 1, address, code_address, &function, &place, err);

	*ret = place.variable != NULL;
	return r;
}

int loci_objects_tell(struct loci_objects *objects, const struct loci_object_look *look,
	uint64_t address, uint64_t code_address, const struct loci_shadow *shadow,
	struct loci_object_hit *ret, struct loci_err *err)
{
	struct loci_extent extent = { .low = look->stack_low,
		.last = look->stack_last,
		.mapped = look->mapped,
		.was = true,
		.unframed = look->unframed };
	struct loci_loaded *loaded;
	bool is_stack = look->kind == LOCI_LOOK_FRAME && shadow->n;
	int r = 0;

	*ret = (struct loci_object_hit){
		.object = look->object, .low = look->low, .bytes = look->known
	};
	if (look->kind == LOCI_LOOK_GLOBAL) {
		loaded = loci_modules_find(&objects->modules, address);
		return loaded ? loci_objects_answer_module(objects, address, loaded, ret, err) : 0;
	}
	if (look->kind == LOCI_LOOK_DEEP && shadow->n)
		r = has_variable(objects, address, code_address, shadow, &is_stack, err);
	if (r < 0 || !is_stack)
		return r;
	return loci_objects_answer_stack(objects, address, code_address, shadow, &extent, ret, err);
}

bool loci_objects_loses_module(const struct loci_objects *objects, const struct loci_event *event)
{
	bool loads = event->kind == LOCI_MARK_MODULE_LOAD;
	uint64_t low, bytes;

	if (!loads && event->kind != LOCI_MARK_MODULE_UNLOAD && event->kind != LOCI_MARK_UNMAP)
		return false;
	low = event->kind == LOCI_MARK_MODULE_UNLOAD ? 0 : event->raw[loads];
	bytes = event->kind == LOCI_MARK_MODULE_UNLOAD ? 0 : event->raw[loads + 1];
	for (size_t i = 0; i < objects->modules.n; i++) {
		const struct loci_loaded *loaded = objects->modules.module[i];

		if (event->kind != LOCI_MARK_UNMAP && loaded->id == (uint32_t)event->payload)
			return true;
		if (bytes && loaded->low <= low + (bytes - 1) && loaded->last >= low)
			return true;
	}
	return false;
}
