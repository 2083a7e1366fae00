// SPDX-License-Identifier: GPL-2.0-or-later
/* See thing.h. Types are those of the debug information, offsets those of the compiled code. Where
 * they do not fit each other (casts, unions, several members touched at once) the text stays at the
 * last that is certain. */
#include "collect/llvm/thing.h"

#include <stdio.h>
#include <string.h>

#define NESTING_MAX 16

static bool append(struct loci_thing *thing, const char *text, size_t n)
{
	size_t have = strlen(thing->text);

	if (n >= sizeof(thing->text) - have)
		return false;
	memcpy(thing->text + have, text, n);
	thing->text[have + n] = '\0';
	return true;
}

static bool prepend(struct loci_thing *thing, const char *text)
{
	size_t have = strlen(thing->text), n = strlen(text);

	if (n >= sizeof(thing->text) - have)
		return false;
	memmove(thing->text + n, thing->text, have + 1);
	memcpy(thing->text, text, n);
	return true;
}

/* Behind "*p" nothing may be appended: it binds weaker. */
static bool suffix(struct loci_thing *thing, const char *text, size_t n)
{
	if (thing->text[0] == '*' && !(prepend(thing, "(") && append(thing, ")", 1)))
		return false;
	return append(thing, text, n);
}

static int64_t within(int64_t offset, uint64_t bytes)
{
	int64_t rest = offset % (int64_t)bytes;

	return rest < 0 ? rest + (int64_t)bytes : rest;
}

bool loci_thing_name(struct loci_thing *thing, struct loci_debug_text name, LLVMMetadataRef type)
{
	memset(thing, 0, sizeof(*thing));
	thing->type = type;
	return name.n && append(thing, name.text, strnlen(name.text, name.n));
}

bool loci_thing_follow(struct loci_thing *thing)
{
	struct loci_debug_type type;

	loci_debug_type_of(thing->type, &type);
	thing->pointed = type.kind != LOCI_DEBUG_REFERENCE;
	thing->element = false;
	thing->offset = 0;
	thing->type = type.kind == LOCI_DEBUG_POINTER || type.kind == LOCI_DEBUG_REFERENCE
		? type.target
		: NULL;
	return true;
}

/* A record without data, as a base class may be, takes no room in what it is a part of. */
static bool holds_data(LLVMMetadataRef ref, unsigned depth)
{
	struct loci_debug_member member;
	struct loci_debug_type type;

	loci_debug_type_of(ref, &type);
	if (type.kind != LOCI_DEBUG_RECORD)
		return true;
	for (unsigned i = 0; i < type.n_members && depth < NESTING_MAX; i++)
		if (loci_debug_member_at(type.node, i, &member) &&
			holds_data(member.type, depth + 1))
			return true;
	return false;
}

/* Whether an array without a length goes on behind a record. */
static bool is_open(const struct loci_debug_type *record)
{
	struct loci_debug_member member;
	struct loci_debug_type type;

	if (record->kind != LOCI_DEBUG_RECORD || !record->n_members ||
		!loci_debug_member_at(record->node, record->n_members - 1, &member))
		return false;
	loci_debug_type_of(member.type, &type);
	return type.kind == LOCI_DEBUG_ARRAY && !type.bytes;
}

/* Whether an offset leads out of what is there. */
static bool beyond(int64_t offset, const struct loci_debug_type *type)
{
	return type->bytes && (offset < 0 || ((uint64_t)offset >= type->bytes && !is_open(type)));
}

/* Whether bytes from offset on are part of a member. An array without a length goes on. */
static bool covers(const struct loci_debug_member *member, uint64_t offset, uint64_t bytes)
{
	uint64_t low = offset * 8, high = low + (bytes ? bytes * 8 : 1);
	struct loci_debug_type type;

	if (member->bit_field)
		return member->offset_bits < high && low < member->offset_bits + member->bits;
	if (low < member->offset_bits || !holds_data(member->type, 0))
		return false;
	if (high <= member->offset_bits + member->bits)
		return true;
	loci_debug_type_of(member->type, &type);
	return type.kind == LOCI_DEBUG_ARRAY && !type.bytes;
}

/* Moves into the one member that covers these bytes. false: none does, or several do, or the text
 * is too long; the thing is as it was. */
static bool enter(struct loci_thing *thing, const struct loci_debug_type *record, uint64_t bytes)
{
	struct loci_debug_member member, found = { 0 };
	struct loci_thing next = *thing;
	unsigned n = 0;

	for (unsigned i = 0; i < record->n_members; i++)
		if (loci_debug_member_at(record->node, i, &member) &&
			covers(&member, (uint64_t)thing->offset, bytes)) {
			found = member;
			n++;
		}
	if (n != 1)
		return false;
	if (found.name.n && !found.base) {
		const char *separator = thing->pointed ? "->" : ".";

		if (!suffix(&next, separator, strlen(separator)) ||
			!append(&next, found.name.text, found.name.n))
			return false;
		next.pointed = false;
	}
	next.element = false;
	next.offset -= (int64_t)(found.offset_bits / 8);
	next.type = found.type;
	*thing = next;
	return true;
}

/* To an element of an array that the thing is. */
static bool enter_array(struct loci_thing *thing, const struct loci_debug_type *array)
{
	struct loci_debug_type element;

	loci_debug_type_of(array->target, &element);
	if (!element.bytes || !array->dimensions)
		return false;
	/* A pointer to an array is rare: (*p)[] */
	if (thing->pointed && !prepend(thing, "*"))
		return false;
	thing->pointed = false;
	for (unsigned i = 0; i < array->dimensions; i++)
		if (!suffix(thing, "[]", 2))
			return false;
	thing->type = array->target;
	thing->offset = within(thing->offset, element.bytes);
	thing->element = true;
	return true;
}

/* The elements of what a pointer points to. */
static bool enter_pointed(struct loci_thing *thing, uint64_t bytes)
{
	thing->pointed = false;
	thing->element = true;
	if (bytes)
		thing->offset = within(thing->offset, bytes);
	return suffix(thing, "[]", 2);
}

/* Nothing more can be told of the place. */
static bool lose(struct loci_thing *thing)
{
	thing->type = NULL;
	thing->offset = 0;
	return true;
}

bool loci_thing_index(struct loci_thing *thing, uint64_t stride)
{
	for (unsigned i = 0; i < NESTING_MAX && stride; i++) {
		struct loci_debug_type type;
		bool fits;

		loci_debug_type_of(thing->type, &type);
		fits = type.bytes && stride % type.bytes == 0;
		if (thing->element && fits)
			return true;
		if (thing->pointed &&
			(fits || type.kind != LOCI_DEBUG_RECORD || stride > type.bytes)) {
			bool lost = !fits;

			if (!enter_pointed(thing, fits ? type.bytes : 0))
				return false;
			return lost ? lose(thing) : true;
		}
		if (type.kind == LOCI_DEBUG_ARRAY) {
			if (!enter_array(thing, &type))
				return false;
		} else if (type.kind != LOCI_DEBUG_RECORD || beyond(thing->offset, &type) ||
			!enter(thing, &type, 0)) {
			if (!thing->type && !thing->element && !suffix(thing, "[]", 2))
				return false;
			thing->element |= !thing->type;
			return lose(thing);
		}
	}
	return false;
}

/* Settles how a pointer's target is written, unless a member's name will. */
static bool settle(struct loci_thing *thing)
{
	if (!thing->pointed)
		return true;
	thing->pointed = false;
	return prepend(thing, "*");
}

bool loci_thing_narrow(struct loci_thing *thing, uint64_t size, bool whole)
{
	struct loci_debug_type type;

	loci_debug_type_of(thing->type, &type);
	if (thing->pointed && beyond(thing->offset, &type)) {
		if (!enter_pointed(thing, type.bytes))
			return false;
		/* Another element, or the record that this one is only the beginning of? */
		if (type.kind == LOCI_DEBUG_RECORD)
			lose(thing);
	}
	loci_debug_type_of(thing->type, &type);
	if (thing->element && type.bytes)
		thing->offset = within(thing->offset, type.bytes);
	for (unsigned i = 0; i < NESTING_MAX; i++) {
		uint64_t bytes = size ? size : 1;

		loci_debug_type_of(thing->type, &type);
		if (beyond(thing->offset, &type))
			break;
		if (whole && !thing->offset && (!size || size >= type.bytes))
			break;
		if (type.kind == LOCI_DEBUG_RECORD) {
			if (!enter(thing, &type, bytes))
				break;
		} else if (type.kind != LOCI_DEBUG_ARRAY || !enter_array(thing, &type)) {
			break;
		}
	}
	return settle(thing);
}
