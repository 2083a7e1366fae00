// SPDX-License-Identifier: GPL-2.0-or-later
/* The modules that code is in. */
#include "analyse/code.h"

#include "analyse/grow.h"

#include <stdio.h>

static int module_entry(struct loci_code *code, uint64_t id, struct loci_code_module **ret)
{
	uint32_t i = loci_keymap_get(&code->module_ids, id, 0);

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)code->n_modules;
		if (loci_grow(&code->module, &code->module_cap, i + 1, sizeof(*code->module)) < 0 ||
			loci_keymap_put(&code->module_ids, id, 0, i) < 0)
			return -ENOMEM;
		code->n_modules++;
	}
	*ret = &code->module[i];
	return 0;
}

static int name_module(struct loci_code *code, uint32_t symbol_module, const char *path,
	const uint8_t *build_id, size_t n)
{
	struct loci_code_name *name;

	for (size_t i = 0; i < code->n_names; i++)
		if (code->name[i].symbol_module == symbol_module)
			return 0;
	if (loci_grow(&code->name, &code->name_cap, code->n_names + 1, sizeof(*code->name)) < 0)
		return -ENOMEM;
	name = &code->name[code->n_names++];
	name->symbol_module = symbol_module;
	name->path = strdup(path);
	name->build_id = n ? calloc(n, 2 + 1) : NULL;
	if (!name->path || (n && !name->build_id))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sprintf(name->build_id + 2 * i, "%02x", build_id[i]);
	return 0;
}

const struct loci_code_module *loci_code_module_at(const struct loci_code *code, uint64_t address)
{
	for (size_t i = 0; i < code->n_modules; i++) {
		const struct loci_code_module *module = &code->module[i];

		if (module->symbol_module != LOCI_NO_MODULE &&
			address - module->low < module->bytes)
			return module;
	}
	return NULL;
}

void loci_code_locate(const struct loci_code *code, uint32_t stream_module, uint64_t address,
	uint32_t *ret_module, uint64_t *ret_offset)
{
	uint32_t i = loci_keymap_get(&code->module_ids, stream_module, 0);

	*ret_module = LOCI_NO_MODULE;
	*ret_offset = address;
	if (i == LOCI_KEYMAP_NONE || code->module[i].symbol_module == LOCI_NO_MODULE)
		return;
	*ret_module = code->module[i].symbol_module;
	*ret_offset = address - code->module[i].bias;
}

/* A site that was known by its address only. */
static int relocate_site(struct loci_code *code, uint32_t stream_module, uint32_t number)
{
	struct loci_site *site = &code->site[number];
	uint64_t key;

	if (site->module != LOCI_NO_MODULE)
		return 0;
	loci_code_locate(code, stream_module, site->offset, &site->module, &site->offset);
	key = loci_code_site_key(site);
	if (loci_keymap_get(&code->site_ids, site->offset, key) != LOCI_KEYMAP_NONE)
		return 0;
	return loci_keymap_put(&code->site_ids, site->offset, key, number);
}

/* Fixed code may be defined, and run in other threads, before its module is told, which has its
 * place among the events of the process. */
static int relocate(struct loci_code *code, uint32_t stream_module, struct loci_err *err)
{
	for (size_t i = 0; i < code->n_refs; i++) {
		struct loci_code_block *block = &code->blocks[code->block[i]];

		if (block->module != stream_module)
			continue;
		if (relocate_site(code, stream_module, code->ref[i].site) < 0)
			return loci_err_nomem(err);
		if (block->symbol_module != LOCI_NO_MODULE)
			continue;
		loci_code_locate(
			code, stream_module, block->address, &block->symbol_module, &block->offset);
		if (!code->function[block->function].plain)
			block->loop = LOCI_LOOP_UNASKED;
	}
	return loci_code_choose(code, stream_module, err);
}

int loci_code_event(struct loci_code *code, const struct loci_event *event,
	const struct loci_decoder *decoder, struct loci_err *err)
{
	struct loci_code_module *module;
	const uint8_t *build_id;
	const char *path;
	int r;

	if (event->kind != LOCI_MARK_MODULE_LOAD && event->kind != LOCI_MARK_MODULE_UNLOAD)
		return 0;
	if (module_entry(code, event->payload, &module) < 0)
		return loci_err_nomem(err);
	*module = (struct loci_code_module){ .id = (uint32_t)event->payload,
		.symbol_module = LOCI_NO_MODULE };
	/* addresses mean other calls */
	loci_keymap_fini(&code->call_ids);
	code->call_ids = (struct loci_keymap){ 0 };
	if (event->kind == LOCI_MARK_MODULE_UNLOAD)
		return 0;
	path = loci_decoder_string(decoder, event->raw[3]);
	if (!path || !path[0])
		return 0;
	module->bias = event->raw[0];
	module->low = event->raw[1];
	module->bytes = event->raw[2];
	pthread_mutex_lock(code->options.symbols_lock);
	build_id = (const uint8_t *)(event->raw + 6);
	r = loci_symbols_module(code->options.symbols, path, event->raw[5] ? build_id : NULL,
		event->raw[5], &module->symbol_module, err);
	pthread_mutex_unlock(code->options.symbols_lock);
	if (r == 0 && name_module(code, module->symbol_module, path, build_id, event->raw[5]) < 0)
		r = loci_err_nomem(err);
	if (r == 0 && code->unlocated)
		r = relocate(code, module->id, err);
	return r;
}
