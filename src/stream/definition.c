// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/definition.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_ID UINT64_MAX

const struct loci_block loci_block_undefined;

void loci_definitions_init(struct loci_definitions *defs)
{
	*defs = (struct loci_definitions){ .open = NO_ID };
}

void loci_definitions_fini(struct loci_definitions *defs)
{
	free(defs->direct);
	free(defs->sparse);
	loci_idmap_fini(&defs->sparse_ids);
	free(defs->kind);
	free(defs->origin);
	free(defs->definition);
	loci_definitions_init(defs);
}

/* Room for want elements; amortised. */
static int reserve(void *array, size_t *cap, size_t want, size_t element)
{
	size_t larger = *cap ? *cap : 64;
	void *moved;

	if (want <= *cap)
		return 0;
	while (larger < want)
		larger *= 2;
	moved = realloc(*(void **)array, larger * element);
	if (!moved)
		return -ENOMEM;
	*(void **)array = moved;
	*cap = larger;
	return 0;
}

/* Fresh zeroed memory costs nothing until it is used, so one large id makes no large table. */
static int grow_direct(struct loci_definitions *defs, uint64_t id)
{
	size_t cap = defs->n_direct ? defs->n_direct : 64;
	struct loci_block *larger;

	while (cap <= id)
		cap *= 2;
	larger = calloc(cap, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	if (defs->n_direct)
		memcpy(larger, defs->direct, defs->n_direct * sizeof(*larger));
	free(defs->direct);
	defs->direct = larger;
	defs->n_direct = cap;
	return 0;
}

/* The place of a block's entry, made if there is none yet; NULL when out of memory. */
static struct loci_block *entry(struct loci_definitions *defs, uint64_t id)
{
	uint32_t i;

	if (id < LOCI_DEFINITION_DIRECT) {
		if (id >= defs->n_direct && grow_direct(defs, id) < 0)
			return NULL;
		return &defs->direct[id];
	}
	i = loci_idmap_get(&defs->sparse_ids, id);
	if (i != LOCI_IDMAP_NONE)
		return &defs->sparse[i];
	if (reserve(&defs->sparse, &defs->sparse_cap, defs->n_sparse + 1, sizeof(*defs->sparse)) <
			0 ||
		loci_idmap_put(&defs->sparse_ids, id, (uint32_t)defs->n_sparse) < 0)
		return NULL;
	defs->sparse[defs->n_sparse] = loci_block_undefined;
	return &defs->sparse[defs->n_sparse++];
}

static struct loci_ref_kind kind_of(uint64_t descriptor)
{
	struct loci_ref_kind kind = {
		.size_bytes = (uint32_t)descriptor,
		.op = (uint8_t)(descriptor >> 32),
		.flags = (uint16_t)(descriptor >> 40),
	};

	kind.n_words = kind.size_bytes == 0 && kind.op != LOCI_OP_FRAME ? 2 : 1;
	return kind;
}

static int reserve_refs(struct loci_definitions *defs, size_t n)
{
	size_t cap = defs->ref_cap, want = defs->n_refs + n;
	int r;

	if (want >= UINT32_MAX / 2) /* a block's words must have a 32-bit count, too */
		return -EOVERFLOW;
	r = reserve(&defs->kind, &cap, want, sizeof(*defs->kind));
	if (r < 0)
		return r;
	return reserve(&defs->origin, &defs->ref_cap, want, sizeof(*defs->origin));
}

/* Appends n references (two raw words each) to the block, whose references end the array. */
static void append_refs(
	struct loci_definitions *defs, struct loci_block *block, const uint64_t *raw, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct loci_ref_kind kind = kind_of(raw[2 * i]);

		defs->kind[defs->n_refs] = kind;
		defs->origin[defs->n_refs++] = (struct loci_ref_origin){
			.site = raw[2 * i + 1],
			.definition = block->definition - 1,
			.words_before = block->n_words,
		};
		block->n_words += kind.n_words;
	}
	block->n_refs += (uint32_t)n;
}

static bool equals(const struct loci_definitions *defs, const struct loci_block *block,
	const struct loci_definition *head, const uint64_t *raw, size_t n)
{
	const struct loci_definition *old;

	if (!loci_block_is_defined(block) || block->n_refs != n)
		return false;
	old = &defs->definition[block->definition - 1];
	if (old->module != head->module || old->flags != head->flags ||
		old->code_address != head->code_address)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct loci_ref_kind *a = &defs->kind[block->first + i];
		struct loci_ref_kind b = kind_of(raw[2 * i]);

		if (a->size_bytes != b.size_bytes || a->op != b.op || a->flags != b.flags ||
			defs->origin[block->first + i].site != raw[2 * i + 1])
			return false;
	}
	return true;
}

static struct loci_definition head_of(uint64_t id, const uint64_t *raw)
{
	return (struct loci_definition){ .id = id,
		.module = (uint32_t)(raw[0] >> 32),
		.flags = (uint32_t)raw[0],
		.code_address = raw[1] };
}

bool loci_definitions_agree(
	const struct loci_definitions *defs, uint64_t marker, const uint64_t *raw)
{
	uint64_t id = loci_word_payload(marker);
	unsigned n_raw = loci_word_n_raw(marker);
	struct loci_definition head;

	if (n_raw < 2 || n_raw % 2)
		return false;
	head = head_of(id, raw);
	return equals(defs, loci_definitions_find(defs, id), &head, raw + 2, (n_raw - 2) / 2);
}

static int define(struct loci_definitions *defs, uint64_t id, const uint64_t *raw, unsigned n_raw,
	struct loci_err *err)
{
	struct loci_definition head;
	struct loci_block *block;
	size_t n;
	int r;

	if (n_raw < 2 || n_raw % 2)
		return loci_err_set(err, EBADMSG,
			"definition of block %" PRIu64
			" has %u raw words; expected two and two more for each reference",
			id, n_raw);
	n = (n_raw - 2) / 2;
	head = head_of(id, raw);
	head.first = (uint32_t)defs->n_refs;
	block = entry(defs, id);
	if (!block)
		return loci_err_nomem(err);
	defs->open = id;
	if (equals(defs, block, &head, raw + 2, n))
		return 0;
	r = reserve_refs(defs, n);
	if (r == 0)
		r = reserve(&defs->definition, &defs->definition_cap, defs->n_definitions + 1,
			sizeof(*defs->definition));
	if (r == -EOVERFLOW)
		return loci_err_set(err, EBADMSG, "more than 2^31 references are defined");
	if (r < 0)
		return loci_err_nomem(err);
	*block = (struct loci_block){ .first = head.first,
		.definition = (uint32_t)defs->n_definitions + 1 };
	defs->definition[defs->n_definitions++] = head;
	append_refs(defs, block, raw + 2, n);
	return 1;
}

/* A definition repeated without change may not be the last any more when more follows: move it
 * there. At most the 126 references of one DEFINE are moved. */
static void move_to_end(struct loci_definitions *defs, struct loci_block *block)
{
	struct loci_definition head = defs->definition[block->definition - 1];
	uint32_t from = block->first;

	block->definition = (uint32_t)defs->n_definitions + 1;
	block->first = head.first = (uint32_t)defs->n_refs;
	defs->definition[defs->n_definitions++] = head;
	for (uint32_t i = 0; i < block->n_refs; i++) {
		defs->kind[defs->n_refs] = defs->kind[from + i];
		defs->origin[defs->n_refs] = defs->origin[from + i];
		defs->origin[defs->n_refs++].definition = block->definition - 1;
	}
}

static int define_more(struct loci_definitions *defs, uint64_t id, const uint64_t *raw,
	unsigned n_raw, struct loci_err *err)
{
	struct loci_block *block;
	size_t n = n_raw / 2;
	int r;

	if (n_raw % 2)
		return loci_err_set(err, EBADMSG,
			"further definition of block %" PRIu64
			" has %u raw words; expected two for each reference",
			id, n_raw);
	if (defs->open != id)
		return loci_err_set(err, EBADMSG,
			"further definition of block %" PRIu64 " does not follow its definition",
			id);
	if (n == 0)
		return 0;
	block = entry(defs, id);
	r = reserve_refs(defs, n + block->n_refs);
	if (r == 0)
		r = reserve(&defs->definition, &defs->definition_cap, defs->n_definitions + 1,
			sizeof(*defs->definition));
	if (r == -EOVERFLOW)
		return loci_err_set(err, EBADMSG, "more than 2^31 references are defined");
	if (r < 0)
		return loci_err_nomem(err);
	if (block->first + block->n_refs != defs->n_refs)
		move_to_end(defs, block);
	append_refs(defs, block, raw, n);
	return 1;
}

int loci_definitions_apply(
	struct loci_definitions *defs, uint64_t marker, const uint64_t *raw, struct loci_err *err)
{
	uint64_t id = loci_word_payload(marker);
	unsigned n_raw = loci_word_n_raw(marker);
	struct loci_block *block;

	defs->changes++; /* perhaps */
	switch (loci_word_kind(marker)) {
	case LOCI_MARK_DEFINE:
		return define(defs, id, raw, n_raw, err);
	case LOCI_MARK_DEFINE_MORE:
		return define_more(defs, id, raw, n_raw, err);
	default:
		defs->open = NO_ID;
		if (!loci_block_is_defined(loci_definitions_find(defs, id)))
			return 0;
		block = entry(defs, id);
		*block = loci_block_undefined;
		return 1;
	}
}
