// SPDX-License-Identifier: GPL-2.0-or-later
/* Fixed code (code.h): its functions, whether they are wanted, and where they are called from. */
#include "analyse/code.h"

#include "analyse/grow.h"
#include "base/cleanup.h"

_Static_assert(LOCI_KEYMAP_NONE == LOCI_NO_FUNCTION, "what is not found is no function");

/* * and ?, as recorders take them: no other character is special. */
static bool matches_one(const char *pattern, size_t n, const char *name)
{
	const char *end = pattern + n, *star = NULL, *resume = NULL;

	for (;;) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (pattern < end && *name && (*pattern == '?' || *pattern == *name)) {
			pattern++;
			name++;
		} else if (pattern == end && !*name) {
			return true;
		} else if (star && *resume) {
			pattern = star;
			name = ++resume;
		} else {
			return false;
		}
	}
}

static bool matches(const char *patterns, const char *name)
{
	for (;;) {
		size_t n = strcspn(patterns, ",");

		if (n && matches_one(patterns, n, name))
			return true;
		if (!patterns[n])
			return false;
		patterns += n + 1;
	}
}

/* The name as the linker knows it, as the source has it, and that without the parameters. */
static bool matches_any_form(const char *patterns, const struct loci_frame_name *function)
{
	const char *name = function->function;
	loci_autofree char *bare = name ? strdup(name) : NULL;
	char *parameters = bare ? strchr(bare, '(') : NULL;

	if ((function->mangled && matches(patterns, function->mangled)) ||
		(name && matches(patterns, name)))
		return true;
	if (!parameters || parameters == bare)
		return false;
	*parameters = '\0';
	return matches(patterns, bare);
}

/* The function, not inlined, around an address of a module, which may be that of a mere caller. */
static int look_up(struct loci_code *code, uint32_t symbol_module, uint64_t offset, bool caller,
	struct loci_frame_name *outermost, bool *ret_known, struct loci_err *err)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	size_t n = 0;
	int r;

	*ret_known = false;
	if (symbol_module == LOCI_NO_MODULE)
		return 0;
	pthread_mutex_lock(code->options.symbols_lock);
	r = (caller ? loci_symbols_caller : loci_symbols_frames)(
		code->options.symbols, symbol_module, offset, frames, LOCI_FRAMES_MAX, &n, err);
	pthread_mutex_unlock(code->options.symbols_lock);
	if (r == 0 && n) {
		*outermost = frames[n - 1];
		*ret_known = true;
	}
	return r;
}

static int is_unwanted(struct loci_code *code, uint32_t site, bool *ret, struct loci_err *err)
{
	const struct loci_code_options *options = &code->options;
	struct loci_frame_name name = { 0 };
	bool known;
	int r;

	*ret = false;
	if (!options->only && !options->skip)
		return 0;
	r = look_up(
		code, code->site[site].module, code->site[site].offset, false, &name, &known, err);
	*ret = (options->only && !(known && matches_any_form(options->only, &name))) ||
		(options->skip && known && matches_any_form(options->skip, &name));
	return r;
}

int loci_code_function(struct loci_code *code, const struct loci_ref_site *def, uint32_t site,
	uint32_t *ret, struct loci_err *err)
{
	struct loci_code_function *function;

	*ret = loci_keymap_get(&code->function_ids, def->code_address, def->module);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = (uint32_t)code->n_functions;
	if (loci_grow(&code->function, &code->function_cap, *ret + 1, sizeof(*code->function)) <
			0 ||
		loci_keymap_put(&code->function_ids, def->code_address, def->module, *ret) < 0)
		return loci_err_nomem(err);
	function = &code->function[code->n_functions++];
	*function = (struct loci_code_function){ .address = def->code_address,
		.module = def->module,
		.site = site,
		.plain = def->block_flags & LOCI_BLOCK_PLAIN };
	return is_unwanted(code, site, &function->unwanted, err);
}

int loci_code_choose(struct loci_code *code, uint32_t module, struct loci_err *err)
{
	if (!code->options.only && !code->options.skip)
		return 0;
	for (size_t i = 0; i < code->n_functions; i++) {
		struct loci_code_function *function = &code->function[i];
		int r = function->module == module
			? is_unwanted(code, function->site, &function->unwanted, err)
			: 0;

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < code->n_refs; i++) {
		const struct loci_code_block *block = &code->blocks[code->block[i]];
		struct loci_code_ref *ref = &code->ref[i];

		if (block->module == module && block->function != LOCI_NO_FUNCTION &&
			code->site[ref->site].op < LOCI_OP_FRAME)
			ref->kind = (uint8_t)((ref->kind & ~LOCI_CODE_SKIP) |
				(code->function[block->function].unwanted ? LOCI_CODE_SKIP : 0));
	}
	return 0;
}

/* A call that has not been seen yet. */
static int learn_call(struct loci_code *code, uint64_t return_address, struct loci_code_call *call,
	struct loci_err *err)
{
	const struct loci_code_module *module = loci_code_module_at(code, return_address - 1);
	struct loci_site site = {
		.offset = return_address - 1, .module = LOCI_NO_MODULE, .op = LOCI_OP_CALLER
	};
	struct loci_frame_name around;
	bool known = false;
	int r = 0;

	if (module) {
		site.module = module->symbol_module;
		site.offset -= module->bias;
		r = look_up(code, site.module, site.offset, true, &around, &known, err);
	}
	if (known) {
		call->address = around.entry + module->bias;
		call->module = module->id;
	}
	if (r == 0 && loci_code_site(code, &site, &call->site) < 0)
		r = loci_err_nomem(err);
	return r;
}

int loci_code_call(struct loci_code *code, uint64_t return_address,
	const struct loci_code_call **ret, struct loci_err *err)
{
	uint32_t i = loci_keymap_get(&code->call_ids, return_address, 0);
	struct loci_code_call *call;
	int r = 0;

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)code->n_calls;
		if (loci_grow(&code->call, &code->call_cap, i + 1, sizeof(*code->call)) < 0 ||
			loci_keymap_put(&code->call_ids, return_address, 0, i) < 0)
			return loci_err_nomem(err);
		call = &code->call[code->n_calls++];
		*call = (struct loci_code_call){ .function = LOCI_NO_FUNCTION };
		r = learn_call(code, return_address, call, err);
	}
	call = &code->call[i];
	if (call->address && call->function == LOCI_NO_FUNCTION &&
		call->n_functions != code->n_functions) {
		call->function = loci_keymap_get(&code->function_ids, call->address, call->module);
		call->n_functions = code->n_functions;
	}
	*ret = call;
	return r;
}
