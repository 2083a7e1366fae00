// SPDX-License-Identifier: GPL-2.0-or-later
/* From addresses of code back to the sites of `loci cc`. The compiler's code has its lines, and
 * sites have theirs: more is not known of which instruction a site became. */
#include "symbol/module.h"

#include <string.h>

#define NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* Of enum loci_op and enum loci_ref_flag, which are fixed. */
enum { OP_LOAD = 0, OP_STORE = 1, FLAG_BULK = 4 };

static const struct loci_cc_known *defined_at(
	const struct loci_symbol_module *module, uint64_t code)
{
	for (size_t i = 0; i < module->cc.n_known; i++)
		if (module->cc.known[i].code == code)
			return &module->cc.known[i];
	return NULL;
}

int loci_symbols_is_defined(
	struct loci_symbols *symbols, uint32_t number, uint64_t code, struct loci_err *err)
{
	struct loci_symbol_module *module;
	int r = loci_symbols_found(symbols, number, &module, err);

	return r < 0 ? r : defined_at(module, code) != NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Paths of one file may be written in different ways. */
static bool is_same_file(const char *a, const char *b)
{
	return !a || !b || !strcmp(base_name(a), base_name(b));
}

/* Whether a reference is to the variable, as its text says ("a", "a[]", "a.x"), or to one at all.
 */
static bool is_to(const char *text, const char *variable, bool *ret_is_variable)
{
	size_t n = text ? strspn(text, NAME) : 0;

	*ret_is_variable = n && !text[n];
	return n && variable && strspn(variable, NAME) == n && !strncmp(text, variable, n);
}

/* How well a site fits to where the code is; 0: not at all. */
static unsigned fitness(const struct loci_symbol_module *module, const struct loci_cc_known *known,
	uint32_t index, const struct loci_frame_name *at, const struct loci_reference_hint *hint)
{
	struct loci_cc_site site = loci_cc_site(known, index);
	bool is_variable,
		is_it = is_to(
			loci_cc_variable(&module->cc, known, index), hint->variable, &is_variable);

	if ((site.op != OP_LOAD && site.op != OP_STORE) || !site.line || site.line != at->line ||
		!is_same_file(at->file,
			loci_cc_scope_text(&module->cc, known, site.scope, LOCI_CC_SCOPE_FILE)))
		return 0;
	if (is_variable && hint->variable && !is_it)
		return 1;
	return 2 + 8 * (hint->is_bulk && site.flags & FLAG_BULK) + 4 * is_it +
		2 * (at->column && site.column == at->column) +
		((site.op == OP_STORE) == hint->stores);
}

int loci_symbols_reference(struct loci_symbols *symbols, uint32_t number, uint64_t behind,
	const struct loci_reference_hint *hint, struct loci_symbol_reference *ret,
	struct loci_err *err)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_symbol_module *module;
	const struct loci_cc_known *known;
	unsigned best = 0;
	size_t n = 0;
	int r = loci_symbols_found(symbols, number, &module, err);

	memset(ret, 0, sizeof(*ret));
	if (r == 0 && module->cc.n_known)
		r = loci_symbols_frames(
			symbols, number, behind - 1, frames, LOCI_FRAMES_MAX, &n, err);
	known = r == 0 && n ? defined_at(module, frames[n - 1].entry) : NULL;
	if (!known)
		return r;
	ret->code = known->code;
	for (uint32_t i = 0; i < known->header.n_sites; i++) {
		struct loci_cc_site site = loci_cc_site(known, i);
		unsigned fits = fitness(module, known, i, &frames[0], hint);

		if (fits <= best)
			continue;
		best = fits;
		*ret = (struct loci_symbol_reference){ .site = known->sites + i * sizeof(site),
			.code = known->code,
			.size_bytes = site.size_bytes,
			.flags = site.flags,
			.op = site.op };
	}
	return best > 0;
}
