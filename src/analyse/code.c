// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/code.h"

#include "analyse/grow.h"

int loci_code_init(
	struct loci_code *code, const struct loci_code_options *options, struct loci_err *err)
{
	*code = (struct loci_code){ .options = *options };
	if (loci_grow(&code->site, &code->site_cap, 1, sizeof(*code->site)) < 0)
		return loci_err_nomem(err);
	code->site[0].module = LOCI_NO_MODULE;
	code->n_sites = 1;
	code->n_spans = 1;
	return 0;
}

void loci_code_fini(struct loci_code *code)
{
	free(code->ref);
	free(code->address);
	free(code->block);
	free(code->blocks);
	free(code->header);
	free(code->span);
	free(code->spans);
	loci_keymap_fini(&code->span_ids);
	free(code->site);
	free(code->module);
	for (size_t i = 0; i < code->n_names; i++) {
		free(code->name[i].path);
		free(code->name[i].build_id);
	}
	free(code->name);
	loci_keymap_fini(&code->block_ids);
	loci_keymap_fini(&code->site_ids);
	loci_keymap_fini(&code->module_ids);
	free(code->function);
	free(code->call);
	loci_keymap_fini(&code->function_ids);
	loci_keymap_fini(&code->call_ids);
	*code = (struct loci_code){ 0 };
}

int loci_code_site(struct loci_code *code, const struct loci_site *site, uint32_t *ret)
{
	uint64_t key = loci_code_site_key(site);

	*ret = loci_keymap_get(&code->site_ids, site->offset, key);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = (uint32_t)code->n_sites;
	if (loci_grow(&code->site, &code->site_cap, *ret + 1, sizeof(*code->site)) < 0 ||
		loci_keymap_put(&code->site_ids, site->offset, key, *ret) < 0)
		return -ENOMEM;
	code->site[code->n_sites++] = *site;
	return 0;
}

static int block_id(
	struct loci_code *code, const struct loci_ref_site *def, uint64_t address, uint32_t *ret)
{
	struct loci_code_block *block;

	*ret = loci_keymap_get(&code->block_ids, address, def->module);
	if (*ret == LOCI_KEYMAP_NONE) {
		*ret = (uint32_t)code->n_blocks;
		if (loci_grow(&code->blocks, &code->block_cap, *ret + 1, sizeof(*code->blocks)) <
				0 ||
			loci_keymap_put(&code->block_ids, address, def->module, *ret) < 0)
			return -ENOMEM;
		code->n_blocks++;
	}
	block = &code->blocks[*ret];
	block->address = address;
	block->module = def->module;
	loci_code_locate(code, def->module, address, &block->symbol_module, &block->offset);
	if (def->block_flags & (LOCI_BLOCK_KERNEL | LOCI_BLOCK_TOLD))
		block->flags |= LOCI_CODE_KERNEL;
	return 0;
}

/* Whether the reference starts its instruction anew. A collector may unroll loops, so that a block
 * holds several copies of the same instructions: control went back where the code does, or where an
 * instruction has the same kind of reference again. (Of the few with two references of one kind,
 * such as CMPS, both are one site.) */
static bool goes_back(
	const struct loci_code *code, uint32_t i, uint64_t address, const struct loci_ref_site *def)
{
	uint32_t first = i - def->ordinal;

	if (address != code->address[i - 1])
		return address < code->address[i - 1];
	for (uint32_t k = i; k-- > first && code->address[k] == address;) {
		const struct loci_site *site = &code->site[code->ref[k].site];

		if (site->op == def->op && site->size_bytes == def->size_bytes)
			return true;
		if (code->ref[k].kind & LOCI_CODE_FIRST)
			break;
	}
	return false;
}

static uint8_t kind_of(const struct loci_code *code, const struct loci_ref_site *def, bool first)
{
	bool kernel = def->flags & LOCI_REF_KERNEL || def->block_flags & LOCI_BLOCK_KERNEL;
	bool returns = !code->options.fixed && def->op == LOCI_OP_LOAD && def->size_bytes == 8;
	bool called = code->options.fixed && def->op == LOCI_OP_CALLER &&
		def->block_flags & LOCI_BLOCK_ENTRY && def->ordinal == 1;

	return (uint8_t)((first ? LOCI_CODE_FIRST : 0) |
		(def->op == LOCI_OP_FRAME ? LOCI_CODE_FRAME : 0) |
		(def->op > LOCI_OP_FRAME || (kernel && code->options.no_kernel) ? LOCI_CODE_SKIP
										: 0) |
		(returns ? LOCI_CODE_RETURN : 0) | (called ? LOCI_CODE_CALLER : 0));
}

/* The site of definition i, and what is known of it without its place in the flow of control. */
static int learn_site(struct loci_code *code, const struct loci_ref_site *def, uint32_t i)
{
	struct loci_site site = {
		.size_bytes = def->size_bytes, .flags = def->flags, .op = def->op
	};

	code->address[i] = def->site ? def->site : def->code_address;
	code->ref[i].size_bytes = def->size_bytes > UINT16_MAX ? 0 : (uint16_t)def->size_bytes;
	code->ref[i].is_write = def->op == LOCI_OP_STORE;
	loci_code_locate(code, def->module, code->address[i], &site.module, &site.offset);
	return loci_code_site(code, &site, &code->ref[i].site);
}

/* Definition i, whose predecessors in its block are known. */
static int learn(struct loci_code *code, const struct loci_ref_site *def, uint32_t i)
{
	uint64_t address = def->site ? def->site : def->code_address;
	uint64_t begin = def->ordinal || !def->code_address ? address : def->code_address;
	bool first = def->ordinal == 0 || goes_back(code, i, address, def);
	size_t n_headers;

	if (!first)
		code->block[i] = code->block[i - 1];
	else if (block_id(code, def, begin, &code->block[i]) < 0)
		return -ENOMEM;
	if (learn_site(code, def, i) < 0)
		return -ENOMEM;
	code->ref[i].kind = kind_of(code, def, first);
	loci_code_headers(code, i, &n_headers);
	if (n_headers && !(code->ref[i].kind & LOCI_CODE_FRAME))
		code->ref[i].kind |= LOCI_CODE_OVER;
	return 0;
}

/* The same of fixed code: its blocks are what their definitions say. */
static int learn_fixed(
	struct loci_code *code, const struct loci_ref_site *def, uint32_t i, struct loci_err *err)
{
	struct loci_code_block *block;
	int r = 0;

	if (learn_site(code, def, i) < 0)
		return loci_err_nomem(err);
	code->has_plain |=
		(def->block_flags & (LOCI_BLOCK_PLAIN | LOCI_BLOCK_TOLD)) == LOCI_BLOCK_PLAIN;
	code->unlocated |= code->site[code->ref[i].site].module == LOCI_NO_MODULE;
	if (def->ordinal)
		code->block[i] = code->block[i - 1];
	else if (block_id(code, def, code->address[i], &code->block[i]) < 0)
		return loci_err_nomem(err);
	block = &code->blocks[code->block[i]];
	if (def->block_flags & LOCI_BLOCK_TOLD) {
		block->function = LOCI_NO_FUNCTION;
		code->ref[i].kind = kind_of(code, def, true);
		return 0;
	}
	if (!def->ordinal) {
		if (!(def->block_flags & LOCI_BLOCK_PLAIN)) {
			block->loop = LOCI_LOOP_UNASKED;
			block->ran = LOCI_RAN_UNASKED;
		}
		r = loci_code_function(code, def, code->ref[i].site, &block->function, err);
		if (r == 0 && def->block_flags & LOCI_BLOCK_ENTRY)
			code->function[block->function].entry = def->block + 1;
	}
	code->ref[i].kind = kind_of(code, def, !def->ordinal);
	if (r == 0 && code->function[block->function].unwanted && def->op != LOCI_OP_FRAME)
		code->ref[i].kind |= LOCI_CODE_SKIP;
	return r;
}

int loci_code_learn(
	struct loci_code *code, const struct loci_decoder *decoder, struct loci_err *err)
{
	size_t n = loci_decoder_definitions(decoder);

	if (loci_grow(&code->ref, &code->ref_cap, n, sizeof(*code->ref)) < 0 ||
		loci_grow(&code->address, &code->address_cap, n, sizeof(*code->address)) < 0 ||
		loci_grow(&code->block, &code->block_of_cap, n, sizeof(*code->block)) < 0)
		return loci_err_nomem(err);
	for (; code->n_refs < n; code->n_refs++) {
		uint32_t i = (uint32_t)code->n_refs;
		struct loci_ref_site def;
		int r = 0;

		if (loci_decoder_site(decoder, i, &def) < 0)
			continue; /* cannot be */
		if (code->options.fixed)
			r = learn_fixed(code, &def, i, err);
		else if (learn(code, &def, i) < 0)
			r = loci_err_nomem(err);
		if (r == 0 && loci_code_span(code, i) < 0)
			r = loci_err_nomem(err);
		if (r < 0)
			return r;
		code->ref[i].block = code->block[i];
		code->ref[i].address = code->address[i];
		code->ref[i].bytes =
			def.size_bytes - 1 < 64 ? UINT64_MAX >> (64 - def.size_bytes) : 0;
		code->ref[i].room = def.size_bytes - 1 < 64 ? 64 - (int32_t)def.size_bytes : -1;
	}
	return 0;
}
