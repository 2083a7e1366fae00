// SPDX-License-Identifier: GPL-2.0-or-later
/* Where loops begin, and the references that control comes to over such a place. A header that is
 * found asks for these among all references of the code, so they are kept by the code that control
 * comes over, in units of some instructions. */
#include "analyse/code.h"

#include "analyse/grow.h"

#define UNIT_BITS 8 /* bytes of code: a list has some ten references */
#define FAR_UNITS 8 /* more than these are not entered one by one */

/* How many loops begin at or below an address. */
static size_t headers_below(const struct loci_code *code, uint64_t address)
{
	size_t low = 0, high = code->n_headers;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->header[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Where control was before the reference. */
static uint64_t before(const struct loci_code *code, uint32_t i)
{
	return code->ref[i].kind & LOCI_CODE_FIRST ? code->blocks[code->block[i]].address
						   : code->address[i - 1];
}

const struct loci_code_header *loci_code_headers(
	const struct loci_code *code, uint32_t definition, size_t *ret_n)
{
	size_t from = headers_below(code, before(code, definition));
	size_t to = headers_below(code, code->address[definition]);

	*ret_n = to > from ? to - from : 0;
	return code->header + from;
}

static int put(struct loci_code *code, uint32_t list, uint32_t definition)
{
	if (loci_grow(&code->spans, &code->spans_cap, list + 1, sizeof(*code->spans)) < 0 ||
		loci_grow(&code->span, &code->span_cap, code->n_span + 1, sizeof(*code->span)) < 0)
		return -ENOMEM;
	code->span[code->n_span++] = (struct loci_code_span){ definition, code->spans[list] };
	code->spans[list] = (uint32_t)code->n_span;
	return 0;
}

int loci_code_span(struct loci_code *code, uint32_t definition)
{
	uint64_t from = before(code, definition), to = code->address[definition];

	if (from >= to)
		return 0;
	from = (from + 1) >> UNIT_BITS;
	to >>= UNIT_BITS;
	if (to - from >= FAR_UNITS)
		return put(code, 0, definition);
	for (; from <= to; from++) {
		uint32_t list = loci_keymap_get(&code->span_ids, from, 0);

		if (list == LOCI_KEYMAP_NONE) {
			list = (uint32_t)code->n_spans;
			if (loci_keymap_put(&code->span_ids, from, 0, list) < 0)
				return -ENOMEM;
			code->n_spans++;
		}
		if (put(code, list, definition) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* References of a list that control comes to over a header. */
static void mark(struct loci_code *code, uint32_t list, uint64_t header)
{
	uint32_t next = list < code->spans_cap ? code->spans[list] : 0;

	while (next) {
		const struct loci_code_span *span = &code->span[next - 1];
		uint32_t i = span->definition;

		if (code->address[i] >= header && before(code, i) < header &&
			!(code->ref[i].kind & LOCI_CODE_FRAME))
			code->ref[i].kind |= LOCI_CODE_OVER;
		next = span->next;
	}
}

int loci_code_header(struct loci_code *code, uint32_t block)
{
	uint64_t address = code->blocks[block].address;
	size_t n = headers_below(code, address);
	uint32_t list = loci_keymap_get(&code->span_ids, address >> UNIT_BITS, 0);

	if (loci_grow(&code->header, &code->header_cap, code->n_headers + 1,
		    sizeof(*code->header)) < 0)
		return -ENOMEM;
	memmove(code->header + n + 1, code->header + n,
		(code->n_headers++ - n) * sizeof(*code->header));
	code->header[n] = (struct loci_code_header){ address, block };
	mark(code, 0, address);
	if (list != LOCI_KEYMAP_NONE)
		mark(code, list, address);
	return 0;
}
