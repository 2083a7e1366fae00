// SPDX-License-Identifier: BSD-2-Clause
/* Objects that the program registers, and references that it tells of. */
#include "collect/runtime/marking_table.h"

#define FIRST_SLOTS 128
#define RANGE_BYTES 64

/* Objects. */

static struct loci_marking_object *object_slot(struct loci_marking_objects *objects, uint64_t base)
{
	size_t i = loci_marking_home(base, objects->mask);

	while (objects->slot[i].bytes && objects->slot[i].base != base)
		i = (i + 1) & objects->mask;
	return &objects->slot[i];
}

static bool grow_objects(struct loci_marking *marking)
{
	struct loci_marking_objects *old = marking->objects, *new;
	size_t cap = old ? 2 * (old->mask + 1) : FIRST_SLOTS;

	if (old && 2 * (old->n + 1) <= old->mask)
		return true;
	new = marking->ops->memory(sizeof(*new) + cap * sizeof(new->slot[0]));
	if (!new)
		return false;
	new->mask = cap - 1;
	for (size_t i = 0; old && i <= old->mask; i++)
		if (old->slot[i].bytes) {
			*object_slot(new, old->slot[i].base) = old->slot[i];
			new->n++;
		}
	__atomic_store_n(&marking->objects, new, __ATOMIC_RELEASE);
	return true;
}

/* Those after it that would not be found over a free slot move up. */
static void remove_object(struct loci_marking_objects *objects, struct loci_marking_object *object)
{
	size_t free = (size_t)(object - objects->slot), i = free;

	for (;;) {
		size_t home;

		objects->slot[free].bytes = 0;
		do {
			i = (i + 1) & objects->mask;
			if (!objects->slot[i].bytes) {
				objects->n--;
				return;
			}
			home = loci_marking_home(objects->slot[i].base, objects->mask);
		} while (((i - home) & objects->mask) < ((i - free) & objects->mask));
		objects->slot[free] = objects->slot[i];
		free = i;
	}
}

static void tell_object(
	struct loci_marking *marking, void *to, const struct loci_marking_object *object)
{
	uint64_t raw[4] = { object->base, marking->ops->sequence(), object->name->string,
		object->element_bytes };

	marking->ops->mark(to, LOCI_MARK_OBJECT, object->bytes, 4, raw);
}

void loci_marking_object(struct loci_marking *marking, void *to, const char *text, size_t n,
	uint64_t base, uint64_t bytes, uint64_t element_bytes)
{
	struct loci_marking_object object = { base, bytes, element_bytes,
		loci_marking_name(marking, text, n) };

	if (!object.name)
		return;
	if (!bytes || bytes > LOCI_PAYLOAD_MASK) {
		loci_marking_mistake(marking, to, "object \"", object.name,
			bytes ? "\" larger than memory" : "\" of no bytes", NULL, "");
		return;
	}
	marking->ops->lock();
	if (grow_objects(marking)) {
		struct loci_marking_object *slot = object_slot(marking->objects, base);

		marking->objects->n += !slot->bytes;
		*slot = object;
	}
	marking->ops->unlock();
	tell_object(marking, to, &object);
}

/* False: there is none. */
static bool find_object(
	struct loci_marking *marking, uint64_t base, bool take, struct loci_marking_object *ret)
{
	struct loci_marking_object *slot;
	bool found = false;

	marking->ops->lock();
	if (marking->objects) {
		slot = object_slot(marking->objects, base);
		*ret = *slot;
		found = slot->bytes != 0;
		if (found && take)
			remove_object(marking->objects, slot);
	}
	marking->ops->unlock();
	return found;
}

void loci_marking_object_part(struct loci_marking *marking, void *to, const char *text, size_t n,
	uint64_t base, uint64_t entry, uint64_t bytes)
{
	const struct loci_marking_name *name = loci_marking_name(marking, text, n);
	struct loci_marking_object object;
	uint64_t raw[4] = { base, entry };

	if (!name)
		return;
	if (!find_object(marking, base, false, &object)) {
		loci_marking_mistake(marking, to, "part \"", name,
			"\" of an object that was not registered", NULL, "");
		return;
	}
	if (entry - base >= object.bytes || bytes > object.bytes - (entry - base)) {
		loci_marking_mistake(
			marking, to, "part \"", name, "\" not within \"", object.name, "\"");
		return;
	}
	raw[2] = marking->ops->sequence();
	raw[3] = name->string;
	marking->ops->mark(to, LOCI_MARK_OBJECT_PART, bytes, 4, raw);
}

void loci_marking_object_end(struct loci_marking *marking, void *to, uint64_t base)
{
	struct loci_marking_object object;
	uint64_t raw[2] = { base };

	if (!find_object(marking, base, true, &object)) {
		loci_marking_mistake(
			marking, to, "an object ended that was not registered", NULL, "", NULL, "");
		return;
	}
	raw[1] = marking->ops->sequence();
	marking->ops->mark(to, LOCI_MARK_OBJECT_END, 0, 2, raw);
}

void loci_marking_objects_again(struct loci_marking *marking, void *to)
{
	const struct loci_marking_objects *objects = marking->objects;

	for (size_t i = 0; objects && i <= objects->mask; i++)
		if (objects->slot[i].bytes)
			tell_object(marking, to, &objects->slot[i]);
}

/* References. */

static struct loci_marking_told *block_slot(
	struct loci_marking_blocks *blocks, uint64_t site, uint64_t descriptor)
{
	size_t i = loci_marking_home(site + descriptor, blocks->mask);

	for (;; i = (i + 1) & blocks->mask) {
		struct loci_marking_told *told = &blocks->slot[i];

		if (!__atomic_load_n(&told->id, __ATOMIC_ACQUIRE) ||
			(told->site == site && told->descriptor == descriptor))
			return told;
	}
}

static bool grow_blocks(struct loci_marking *marking)
{
	struct loci_marking_blocks *old = marking->blocks, *new;
	size_t cap = old ? 2 * (old->mask + 1) : FIRST_SLOTS;

	if (old && 2 * (old->n + 1) <= old->mask)
		return true;
	new = marking->ops->memory(sizeof(*new) + cap * sizeof(new->slot[0]));
	if (!new)
		return false;
	new->mask = cap - 1;
	for (size_t i = 0; old && i <= old->mask; i++)
		if (old->slot[i].id) {
			*block_slot(new, old->slot[i].site, old->slot[i].descriptor) = old->slot[i];
			new->n++;
		}
	__atomic_store_n(&marking->blocks, new, __ATOMIC_RELEASE);
	return true;
}

void loci_marking_too_long(struct loci_marking *marking, void *to)
{
	loci_marking_mistake(marking, to, "a reference larger than memory", NULL, "", NULL, "");
}

uint64_t loci_marking_descriptor(uint64_t bytes, bool store)
{
	return loci_ref_word(
		bytes > RANGE_BYTES ? 0 : (uint32_t)bytes, store ? LOCI_OP_STORE : LOCI_OP_LOAD, 0);
}

uint64_t loci_marking_block_known(
	const struct loci_marking *marking, uint64_t site, uint64_t descriptor)
{
	struct loci_marking_blocks *blocks = __atomic_load_n(&marking->blocks, __ATOMIC_ACQUIRE);

	return blocks ? __atomic_load_n(&block_slot(blocks, site, descriptor)->id, __ATOMIC_ACQUIRE)
		      : 0;
}

uint64_t loci_marking_block(struct loci_marking *marking, uint64_t site, uint64_t descriptor)
{
	uint64_t id = 0;

	marking->ops->lock();
	if (grow_blocks(marking)) {
		struct loci_marking_told *told = block_slot(marking->blocks, site, descriptor);

		id = told->id;
		if (!id) {
			told->site = site;
			told->descriptor = descriptor;
			id = marking->ops->block(site, descriptor, 0);
			marking->blocks->n += id != 0;
			__atomic_store_n(&told->id, id, __ATOMIC_RELEASE);
		}
	}
	marking->ops->unlock();
	return id;
}

void loci_marking_blocks_again(struct loci_marking *marking)
{
	const struct loci_marking_blocks *blocks = marking->blocks;

	for (size_t i = 0; blocks && i <= blocks->mask; i++)
		if (blocks->slot[i].id)
			marking->ops->block(blocks->slot[i].site, blocks->slot[i].descriptor,
				blocks->slot[i].id);
}
