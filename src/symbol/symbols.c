/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of modules that names are asked of. */
#include "symbol/module.h"
#include "symbol/type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int loci_symbols_new(struct loci_symbols **ret, struct loci_err *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : loci_err_nomem(err);
}

void loci_symbols_free(struct loci_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->n_modules; i++)
		loci_module_close(symbols->modules[i]);
	free(symbols->modules);
	free(symbols->types);
	loci_source_text_fini(&symbols->sources);
	loci_demangler_fini(&symbols->demangler);
	loci_pool_fini(&symbols->pool);
	free(symbols);
}

static int add_module(struct loci_symbols *symbols, const char *path, const uint8_t *build_id,
	size_t build_id_bytes, struct loci_err *err)
{
	struct loci_symbol_module *module;

	if (symbols->n_modules == symbols->cap_modules) {
		size_t cap = symbols->cap_modules ? symbols->cap_modules * 2 : 16;
		void *modules =
			realloc(symbols->modules, cap * sizeof(struct loci_symbol_module *));

		if (!modules)
			return loci_err_nomem(err);
		symbols->modules = modules;
		symbols->cap_modules = cap;
	}
	module = loci_pool_alloc(&symbols->pool, sizeof(*module));
	if (!module || !(module->path = loci_pool_string(&symbols->pool, path)))
		return loci_err_nomem(err);
	module->symbols = symbols;
	module->build_id_bytes = build_id_bytes;
	memcpy(module->build_id, build_id, build_id_bytes);
	symbols->modules[symbols->n_modules++] = module;
	return 0;
}

int loci_symbols_module(struct loci_symbols *symbols, const char *path, const uint8_t *build_id,
	size_t build_id_bytes, uint32_t *ret_module, struct loci_err *err)
{
	if (!build_id)
		build_id_bytes = 0;
	if (build_id_bytes > LOCI_BUILD_ID_MAX)
		return loci_err_set(err, EINVAL, "%s: a build-id of %zu bytes; at most %d are read",
			path, build_id_bytes, LOCI_BUILD_ID_MAX);
	for (size_t i = 0; i < symbols->n_modules; i++) {
		const struct loci_symbol_module *module = symbols->modules[i];

		if (module->build_id_bytes == build_id_bytes && !strcmp(module->path, path) &&
			(!build_id_bytes || !memcmp(module->build_id, build_id, build_id_bytes))) {
			*ret_module = (uint32_t)i;
			return 0;
		}
	}
	*ret_module = (uint32_t)symbols->n_modules;
	return add_module(
		symbols, path, build_id ? build_id : (const uint8_t *)"", build_id_bytes, err);
}

int loci_symbols_found(struct loci_symbols *symbols, uint32_t number,
	struct loci_symbol_module **ret, struct loci_err *err)
{
	if (number >= symbols->n_modules)
		return loci_err_set(err, EINVAL, "there is no module %u; %zu are known", number,
			symbols->n_modules);
	*ret = symbols->modules[number];
	return loci_module_open(*ret, err);
}

int loci_symbols_opened(struct loci_symbols *symbols, uint32_t number,
	struct loci_symbol_module **ret, struct loci_err *err)
{
	int r = loci_symbols_found(symbols, number, ret, err);

	return r < 0 ? r : loci_module_open_debug(*ret, err);
}

const char *loci_symbols_trouble(struct loci_symbols *symbols, uint32_t module)
{
	struct loci_symbol_module *opened = NULL;

	if (loci_symbols_opened(symbols, module, &opened, NULL) < 0)
		return "cannot be read: not enough memory, or no such module";
	return opened->trouble;
}

const char *loci_symbols_source_line(struct loci_symbols *symbols, const char *file, unsigned line)
{
	return loci_source_text_line(&symbols->sources, file, line);
}
