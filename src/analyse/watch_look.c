// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_look.h"

enum {
	WORD_CODE,
	WORD_DESCRIPTOR,
	WORD_ADDRESS,
	WORD_FRAME,
	WORD_CALLS,
	WORD_CONTEXT,
	WORD_EPOCH,
	WORD_OBJECT,
	WORD_LOW,
	WORD_STACK_LOW,
	WORD_STACK_LAST,
	WORD_FLAGS,
	WORDS,
};
enum { FLAG_NAMED = 1, FLAG_KNOWN = 2, FLAG_MAPPED = 4, FLAG_UNFRAMED = 8, FLAG_KIND = 16 };

int loci_watch_look_pack(
	struct loci_watch_log *log, const struct loci_watch_look *place, size_t number)
{
	const struct loci_object_look *look = &place->look;
	const uint64_t raw[WORDS] = { [WORD_CODE] = place->code,
		[WORD_DESCRIPTOR] = place->descriptor,
		[WORD_ADDRESS] = place->address,
		[WORD_FRAME] = place->frame,
		[WORD_CALLS] = place->calls,
		[WORD_CONTEXT] = place->context,
		[WORD_EPOCH] = place->epoch,
		[WORD_OBJECT] = look->object,
		[WORD_LOW] = look->low,
		[WORD_STACK_LOW] = look->stack_low,
		[WORD_STACK_LAST] = look->stack_last,
		[WORD_FLAGS] = (unsigned)look->kind * FLAG_KIND |
			(place->is_named ? FLAG_NAMED : 0u) | (look->known ? FLAG_KNOWN : 0u) |
			(look->mapped ? FLAG_MAPPED : 0u) | (look->unframed ? FLAG_UNFRAMED : 0u) };
	const struct loci_event event = {
		.kind = LOCI_MARK_SAMPLE_OPEN, .payload = number, .raw = raw, .n_raw = WORDS
	};

	return loci_watch_log_add(log, &event, WORDS);
}

struct loci_watch_look loci_watch_look_unpack(const struct loci_event *event)
{
	const uint64_t *raw = event->raw;

	return (struct loci_watch_look){ .code = raw[WORD_CODE],
		.descriptor = raw[WORD_DESCRIPTOR],
		.address = raw[WORD_ADDRESS],
		.frame = raw[WORD_FRAME],
		.look = { .kind = (uint8_t)(raw[WORD_FLAGS] / FLAG_KIND),
			.object = (uint32_t)raw[WORD_OBJECT],
			.low = raw[WORD_LOW],
			.known = raw[WORD_FLAGS] & FLAG_KNOWN,
			.mapped = raw[WORD_FLAGS] & FLAG_MAPPED,
			.unframed = raw[WORD_FLAGS] & FLAG_UNFRAMED,
			.stack_low = raw[WORD_STACK_LOW],
			.stack_last = raw[WORD_STACK_LAST] },
		.calls = (uint32_t)raw[WORD_CALLS],
		.context = (uint32_t)raw[WORD_CONTEXT],
		.epoch = (uint32_t)raw[WORD_EPOCH],
		.is_sought = true,
		.is_named = raw[WORD_FLAGS] & FLAG_NAMED };
}
