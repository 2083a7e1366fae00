/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the reader of definitions: a section made by hand, and all that can be asked of one
 * that was read. */
#ifndef LOCI_TESTS_CC_IMAGE_H
#define LOCI_TESTS_CC_IMAGE_H

#include "symbol/cc_ops.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CC_IMAGE_LOW   0x2000u /* where the section lies */
#define CC_IMAGE_TEXTS 0x9000u /* .. and the texts */

struct cc_image {
	uint8_t section[4096];
	char texts[1024];
	size_t n_section, n_texts;
};

/* The distance from a field to a text. */
static inline int32_t cc_image_text(struct cc_image *image, const void *field, const char *text)
{
	size_t at = image->n_texts;
	uint64_t from = CC_IMAGE_LOW + (uint64_t)((const uint8_t *)field - image->section);

	memcpy(image->texts + at, text, strlen(text) + 1);
	image->n_texts += strlen(text) + 1;
	return (int32_t)(CC_IMAGE_TEXTS + at - from);
}

static inline void *cc_image_room(struct cc_image *image, size_t bytes)
{
	void *at = image->section + image->n_section;

	image->n_section += bytes;
	return at;
}

/* Where the tables of a definition begin. */
struct cc_image_definition {
	struct loci_cc_definition *header;
	struct loci_cc_block *block;
	struct loci_cc_site *site;
	struct loci_cc_scope *scope;
	struct loci_cc_loop *loop;
	struct loci_cc_call *call;
};

static inline struct cc_image_definition cc_image_begin(struct cc_image *image, uint32_t n_blocks,
	uint32_t n_sites, uint32_t n_scopes, uint32_t n_loops, uint32_t n_calls)
{
	struct cc_image_definition result;
	size_t from = image->n_section;

	result.header = cc_image_room(image, sizeof(*result.header));
	result.block = cc_image_room(image, n_blocks * sizeof(*result.block));
	result.site = cc_image_room(image, n_sites * sizeof(*result.site));
	result.scope = cc_image_room(image, n_scopes * sizeof(*result.scope));
	result.loop = cc_image_room(image, n_loops * sizeof(*result.loop));
	result.call = cc_image_room(image, n_calls * sizeof(*result.call));
	*result.header = (struct loci_cc_definition){
		.magic = LOCI_CC_DEFINITION_MAGIC,
		.version = LOCI_CC_VERSION,
		.bytes = (uint32_t)(image->n_section - from),
		.n_blocks = n_blocks,
		.n_sites = n_sites,
		.n_scopes = n_scopes,
		.n_loops = n_loops,
		.n_calls = n_calls,
	};
	return result;
}

/* The tables of operations, behind the others of the definition begun last. */
static inline void cc_image_ops(struct cc_image *image, struct loci_cc_definition *header)
{
	struct loci_cc_block_ops *block = cc_image_room(image, header->n_blocks * sizeof(*block));
	struct loci_cc_op *op = cc_image_room(image, 4 * sizeof(*op));
	struct loci_cc_invocation *invocation = cc_image_room(image, 3 * sizeof(*invocation));
	struct loci_cc_term *term = cc_image_room(image, 4 * sizeof(*term));

	header->n_ops = 4;
	header->n_invocations = 3;
	header->n_terms = 4;
	header->n_counters = 2;
	header->bytes = (uint32_t)(image->section + image->n_section - (uint8_t *)header);
	block[0] = (struct loci_cc_block_ops){ 0, 2, 9, 1, 0 };
	block[1] = (struct loci_cc_block_ops){ 2, 0, 0, 0, 0 };
	block[2] = (struct loci_cc_block_ops){ 2, 2, 40, 5, 2 };
	op[0] = (struct loci_cc_op){ LOCI_CC_OP_LOAD, LOCI_CC_TYPE_I32, 1, 3, 32, 0 };
	op[1] = (struct loci_cc_op){ LOCI_CC_OP_CALL, LOCI_CC_TYPE_NONE, 1, 2, 0, 0 };
	op[2] = (struct loci_cc_op){ LOCI_CC_OP_FLOAT_MUL, LOCI_CC_TYPE_F32, 4, 1, 384, 0 };
	op[3] = (struct loci_cc_op){ LOCI_CC_OP_CALL, LOCI_CC_TYPE_NONE, 1, 3, 0, 0 };
	invocation[0] = (struct loci_cc_invocation){ .block = 0, .count = 2 };
	invocation[1] = (struct loci_cc_invocation){ .block = 2, .count = 1 };
	invocation[2] = (struct loci_cc_invocation){ .block = 2, .count = 2 };
	for (uint32_t i = 0; i < 3; i++)
		invocation[i].callee = cc_image_text(image, &invocation[i].callee,
			i == 0           ? "puts"
				: i == 1 ? "exit"
					 : "_Z6middlev");
	term[0] = (struct loci_cc_term){ 0, 0 };
	term[1] = (struct loci_cc_term){ 1, 0 };
	term[2] = (struct loci_cc_term){ 1, 1 | LOCI_CC_TERM_MINUS };
	term[3] = (struct loci_cc_term){ 2, 1 };
}

/* Two functions: one with an inlined call, two loops and operations, one that is small. */
static inline void cc_image_make(struct cc_image *image)
{
	struct cc_image_definition d;

	memset(image, 0, sizeof(*image));
	memcpy(image->texts, "?", 2); /* no text begins where the section of texts does */
	image->n_texts = 2;
	d = cc_image_begin(image, 3, 5, 3, 2, 1);
	d.header->code = -0x1000;
	d.header->name = cc_image_text(image, &d.header->name, "_Z5outeri");
	d.block[0] = (struct loci_cc_block){ 0, 1, 1, 0, LOCI_CC_NONE, 0 };
	d.block[1] = (struct loci_cc_block){ 1, 1, 2, 1, 0, 0 };
	d.block[2] = (struct loci_cc_block){ 2, 3, 2, 2, 1, 0 };
	for (uint32_t i = 0; i < 5; i++)
		d.site[i] = (struct loci_cc_site){ .size_bytes = 8, .line = 10 + i, .column = 3 };
	d.site[3].scope = 2;
	d.site[3].variable = cc_image_text(image, &d.site[3].variable, "node->next");
	d.scope[0] = (struct loci_cc_scope){ .line = 9, .parent = UINT16_MAX };
	d.scope[1] = (struct loci_cc_scope){ .line = 30, .call_line = 12, .call_column = 7 };
	d.scope[2] = (struct loci_cc_scope){ .line = 40, .call_line = 31, .parent = 1 };
	for (uint32_t i = 0; i < 3; i++) {
		d.scope[i].name = cc_image_text(image, &d.scope[i].name,
			i == 0           ? "outer"
				: i == 1 ? "middle"
					 : "inner");
		d.scope[i].file = cc_image_text(image, &d.scope[i].file, i ? "/b.h" : "/a.c");
	}
	d.scope[1].linkage = cc_image_text(image, &d.scope[1].linkage, "_Z6middlev");
	d.loop[0] = (struct loci_cc_loop){ .line = 11, .parent = LOCI_CC_NONE, .depth = 1 };
	d.loop[1] = (struct loci_cc_loop){ .line = 12, .parent = 0, .depth = 2 };
	d.call[0].callee = cc_image_text(image, &d.call[0].callee, "puts");
	cc_image_ops(image, d.header);
	cc_image_room(image, 16); /* a gap */
	d = cc_image_begin(image, 1, 2, 1, 0, 0);
	d.header->code = -0x1100;
	d.header->name = cc_image_text(image, &d.header->name, "small");
	d.block[0] = (struct loci_cc_block){ 0, 2, 1, 0, LOCI_CC_NONE, 0 };
	d.scope[0].parent = UINT16_MAX;
}

static inline size_t cc_image_ask_ops(
	const struct loci_cc_section *section, const struct loci_cc_known *known)
{
	size_t texts = 0, n_invocations = 0;

	for (uint32_t i = 0; loci_cc_has_ops(known) && i < known->header.n_blocks; i++) {
		struct loci_cc_block_ops block = loci_cc_block_ops(known, i);
		uint32_t first, n = loci_cc_invocations(known, i, &first);

		if (block.scope >= known->header.n_scopes)
			abort();
		for (uint32_t k = 0; k < block.n_ops; k++) {
			struct loci_cc_op op = loci_cc_op(known, block.first_op + k);
			const char *kind = loci_cc_op_kind_text(op.kind);
			const char *type = loci_cc_type_text(op.type);

			texts += (kind ? strlen(kind) : 0) + (type ? strlen(type) : 0);
		}
		for (uint32_t k = first; k < first + n; k++) {
			const char *callee = loci_cc_invocation_callee(section, known, k);

			if (loci_cc_invocation(known, k).block != i)
				abort();
			texts += callee ? strlen(callee) : 0;
		}
		n_invocations += n;
	}
	if (n_invocations != known->header.n_invocations)
		abort();
	return texts;
}

/* Asks for everything, so that a checker of memory sees what is touched, and that what the reader
 * promises holds. */
static inline size_t cc_image_ask(const struct loci_cc_section *section)
{
	size_t texts = 0;
	uint64_t before = section->low;

	for (size_t i = 0; i < section->n_known; i++) {
		const struct loci_cc_known *known = &section->known[i];
		const struct loci_cc_definition *header = &known->header;
		const char *text;
		uint32_t index;

		if (known->low < before || known->high > section->high ||
			loci_cc_find(section, known->low) != known ||
			loci_cc_find(section, known->high - 1) != known)
			abort();
		before = known->high;
		text = loci_cc_name(section, known);
		texts += text ? strlen(text) : 0;
		texts += cc_image_ask_ops(section, known);
		for (uint32_t k = 0; k < header->n_sites; k++) {
			uint32_t block = loci_cc_block_of(known, k);
			uint16_t scope = loci_cc_site(known, k).scope;

			if (scope >= header->n_scopes ||
				!loci_cc_site_at(known,
					known->sites + k * sizeof(struct loci_cc_site) + 23,
					&index) ||
				index != k)
				abort();
			if (block != LOCI_CC_NONE &&
				(loci_cc_block(known, block).first_site > k ||
					loci_cc_block(known, block).first_site +
							loci_cc_block(known, block).n_sites <=
						k))
				abort();
			text = loci_cc_variable(section, known, k);
			texts += text ? strlen(text) : 0;
			while (scope != UINT16_MAX)
				scope = loci_cc_scope(known, scope).parent;
		}
		for (uint32_t k = 0; k < header->n_scopes; k++)
			for (int which = LOCI_CC_SCOPE_NAME; which <= LOCI_CC_SCOPE_FILE; which++) {
				text = loci_cc_scope_text(
					section, known, k, (enum loci_cc_scope_text)which);
				texts += text ? strlen(text) : 0;
			}
		for (uint32_t k = 0; k < header->n_loops; k++) {
			uint32_t loop = k;

			if (!loci_cc_loop_at(known, known->loops + k * sizeof(struct loci_cc_loop),
				    &index) ||
				index != k)
				abort();
			while (loop != LOCI_CC_NONE)
				loop = loci_cc_loop(known, loop).parent;
		}
	}
	return texts;
}

#endif
