// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that the program registers, and parts of them with names of their own (Ding and Zhong
 * 2001: RecordData, RecordPartialData). A part is a block within its object's; where it is counted
 * in the end is the object, of which it is a field. */
#include "analyse/object_state.h"

#include "analyse/digest.h"

#include <string.h>

static struct loci_object *object_of(struct loci_objects *objects, uint32_t number)
{
	return &objects->table.object[number];
}

/* What else is known of the memory: its type. */
static int find_under(struct loci_objects *objects, uint64_t low, const struct loci_shadow *shadow,
	uint32_t object, struct loci_err *err)
{
	struct loci_object_hit hit = { 0 };
	int r = loci_objects_find(objects, low, 0, shadow, &hit, err);

	if (r == 0 && object_of(objects, hit.object)->kind != LOCI_OBJECT_REGISTERED &&
		object_of(objects, hit.object)->kind != LOCI_OBJECT_PART)
		object_of(objects, object)->under = hit.object;
	return r;
}

int loci_objects_register(struct loci_objects *objects, const struct loci_event *event,
	const struct loci_decoder *decoder, const struct loci_shadow *shadow, struct loci_err *err)
{
	const char *name = loci_decoder_string(decoder, event->raw[2]);
	uint64_t low = event->raw[0], bytes = event->payload;
	struct loci_heap_block *block;
	uint32_t object;
	int r;

	if (loci_heap_at(objects->registered, low)) /* again: in its place */
		loci_objects_unregister(objects, low);
	r = loci_object_table_get_text(&objects->table, LOCI_OBJECT_REGISTERED,
		name && *name ? name : "registered object", &object, err);
	if (r == 0 && object && !object_of(objects, object)->under)
		r = find_under(objects, low, shadow, object, err);
	if (r == 0)
		r = loci_heap_add(objects->registered, low, bytes, object, &block, err);
	if (r < 0)
		return r;
	if (event->n_raw > 3)
		object_of(objects, object)->element_bytes = event->raw[3];
	loci_object_begin(object_of(objects, object), bytes, objects->refs);
	loci_heap_part(objects->heap, block->low, block->bytes);
	loci_objects_part_layout(objects, block->low, block->low + (block->bytes - 1), false);
	return 0;
}

int loci_objects_register_part(struct loci_objects *objects, const struct loci_event *event,
	const struct loci_decoder *decoder, struct loci_err *err)
{
	const char *name = event->raw[3] ? loci_decoder_string(decoder, event->raw[3]) : NULL;
	uint64_t base = event->raw[0], entry = event->raw[1], bytes = event->payload;
	struct loci_heap_block *block = loci_heap_at(objects->registered, base);
	struct loci_object *object;
	uint32_t whole, part;
	bool is_new;
	int r;

	if (!block || !name || !*name) /* without a name it is the object itself */
		return 0;
	whole = block->object;
	if (object_of(objects, whole)->kind == LOCI_OBJECT_PART)
		whole = object_of(objects, whole)->whole;
	if (entry - base >= object_of(objects, whole)->size_bytes)
		return 0;
	if (!bytes)
		bytes = object_of(objects, whole)->size_bytes - (entry - base);
	r = loci_object_table_get(&objects->table, LOCI_OBJECT_PART, whole,
		loci_digest_text((struct loci_digest){ 0 }, name).a, &part, &is_new, err);
	if (r < 0 || !part)
		return r;
	object = object_of(objects, part);
	if (is_new) {
		object->text = strdup(name);
		object->whole = whole;
		object->part_offset = entry - base;
	}
	if (!object->text)
		return loci_err_nomem(err);
	loci_object_begin(object, bytes, objects->refs);
	return loci_heap_add(objects->registered, entry, bytes, part, &block, err);
}

/* Parts may begin where it begins. */
void loci_objects_unregister(struct loci_objects *objects, uint64_t low)
{
	const struct loci_heap_block *block = loci_heap_at(objects->registered, low);
	bool was = block != NULL, is_part;

	for (; block; block = is_part ? loci_heap_at(objects->registered, low) : NULL) {
		is_part = object_of(objects, block->object)->kind == LOCI_OBJECT_PART;
		loci_heap_remove(objects->registered, low);
	}
	if (was && objects->odd_stacks)
		loci_objects_review_stacks(objects);
}
