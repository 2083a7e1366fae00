// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/naming.h"

#include "analyse/digest.h"
#include "analyse/grow.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>

#define AROUND       3    /* lines of source beside one that matters */
#define MAX_EXCERPTS 4000 /* lines */

struct ranked {
	const struct loci_code_name *name;
	uint32_t module;
};

static int by_name(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int order = strcmp(a->name->path, b->name->path);

	if (order)
		return order;
	return strcmp(a->name->build_id ? a->name->build_id : "",
		b->name->build_id ? b->name->build_id : "");
}

static int put_modules(struct loci_naming *naming, struct loci_err *err)
{
	const struct loci_ledger *ledger = naming->ledger;
	loci_autofree struct ranked *ranked = calloc(ledger->n_modules + 1, sizeof(*ranked));
	size_t n = 0;

	naming->module_id = calloc(ledger->n_modules + 1, sizeof(*naming->module_id));
	if (!ranked || !naming->module_id)
		return loci_err_nomem(err);
	for (uint32_t i = 0; i < ledger->n_modules; i++)
		if (ledger->module[i].path)
			ranked[n++] = (struct ranked){ &ledger->module[i], i };
	qsort(ranked, n, sizeof(*ranked), by_name);
	for (size_t i = 0; i < n; i++) {
		struct loci_module_row row = { .id = (int64_t)i + 1,
			.path = ranked[i].name->path,
			.build_id = ranked[i].name->build_id };
		int r = loci_profile_put_module(naming->profile, &row, err);

		if (r < 0)
			return r;
		naming->module_id[ranked[i].module] = row.id;
	}
	return 0;
}

int loci_naming_init(struct loci_naming *naming, struct loci_profile *profile,
	struct loci_ledger *ledger, struct loci_err *err)
{
	*naming = (struct loci_naming){ .profile = profile, .ledger = ledger };
	return put_modules(naming, err);
}

void loci_naming_fini(struct loci_naming *naming)
{
	for (size_t i = 0; i < naming->n_places; i++)
		free(naming->place[i].key);
	free(naming->place);
	free(naming->module_id);
	loci_keymap_fini(&naming->place_ids);
	loci_keymap_fini(&naming->source_ids);
	loci_keymap_fini(&naming->function_ids);
	loci_keymap_fini(&naming->entry_ids);
	loci_keymap_fini(&naming->inlined_ids);
	loci_keymap_fini(&naming->excerpt_ids);
}

int64_t loci_naming_module(const struct loci_naming *naming, uint32_t module)
{
	return module < naming->ledger->n_modules ? naming->module_id[module] : 0;
}

/* 1: new, with the number that is one more than all before. */
static int number(struct loci_keymap *map, struct loci_digest key, size_t *n, int64_t *ret)
{
	uint32_t known = loci_keymap_get(map, key.a, key.b);

	if (known != LOCI_KEYMAP_NONE) {
		*ret = known;
		return 0;
	}
	if (loci_keymap_put(map, key.a, key.b, (uint32_t)*n + 1) < 0)
		return -ENOMEM;
	*ret = (int64_t)++ * n;
	return 1;
}

int loci_naming_source(
	struct loci_naming *naming, const char *path, int64_t *ret, struct loci_err *err)
{
	struct loci_source_row row = { .path = path };
	int r;

	*ret = 0;
	if (!path)
		return 0;
	r = number(&naming->source_ids, loci_digest_text((struct loci_digest){ 0 }, path),
		&naming->n_sources, ret);
	row.id = *ret;
	return r < 0 ? loci_err_nomem(err)
		: r  ? loci_profile_put_source(naming->profile, &row, err)
		     : 0;
}

static int function(struct loci_naming *naming, uint32_t module, const char *name,
	const char *mangled, const char *file, unsigned line, int64_t *ret, struct loci_err *err)
{
	struct loci_function_row row = {
		.module_id = loci_naming_module(naming, module), .name = name, .line = line
	};
	struct loci_digest key = { module, line };
	int r;

	key = loci_digest_text(key, name);
	key = loci_digest_text(key, mangled);
	key = loci_digest_text(key, file);
	r = number(&naming->function_ids, key, &naming->n_functions, ret);
	if (r <= 0)
		return r < 0 ? loci_err_nomem(err) : 0;
	row.id = *ret;
	row.mangled = mangled && strcmp(mangled, name) != 0 ? mangled : NULL;
	r = loci_naming_source(naming, file, &row.source_id, err);
	return r < 0 ? r : loci_profile_put_function(naming->profile, &row, err);
}

/* A function that has its own frame is one by where it begins: what was compiled by `loci cc` has
 * its name from its definition or, by an address of its code, from symbols, which may know less. */
static int framed_function(struct loci_naming *naming, uint32_t module,
	const struct loci_frame_name *frame, int64_t *ret, struct loci_err *err)
{
	uint32_t known = loci_keymap_get(&naming->entry_ids, frame->entry, module);
	int r;

	if (frame->entry && known != LOCI_KEYMAP_NONE) {
		*ret = known;
		return 0;
	}
	r = function(naming, module, frame->function, frame->mangled, frame->decl_file,
		frame->decl_line, ret, err);
	if (r == 0 && frame->entry &&
		loci_keymap_put(&naming->entry_ids, frame->entry, module, (uint32_t)*ret) < 0)
		r = loci_err_nomem(err);
	return r;
}

static int inlined(struct loci_naming *naming, int64_t parent, int64_t function_id,
	const struct loci_frame_name *call, int64_t *ret, struct loci_err *err)
{
	struct loci_inlined_row row = { .parent_id = parent,
		.function_id = function_id,
		.line = call->line,
		.column = call->column };
	struct loci_digest key = { 0 };
	int r = loci_naming_source(naming, call->file, &row.source_id, err);

	if (r < 0)
		return r;
	key = loci_digest_word(key, (uint64_t)parent);
	key = loci_digest_word(key, (uint64_t)function_id);
	key = loci_digest_word(key, (uint64_t)row.source_id);
	key = loci_digest_word(key, (uint64_t)call->line << 32 | call->column);
	r = number(&naming->inlined_ids, key, &naming->n_inlined, ret);
	row.id = *ret;
	return r < 0 ? loci_err_nomem(err)
		: r  ? loci_profile_put_inlined(naming->profile, &row, err)
		     : 0;
}

/* "main:4", "main:4>add:1": what is called from where, lines counted from the function's own. */
static char *site_key(const struct loci_frame_name *frames, size_t n, uint64_t offset)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	for (size_t i = n; i-- > 0;) {
		const struct loci_frame_name *frame = &frames[i];

		fprintf(out, "%s%s", i + 1 < n ? ">" : "",
			frame->mangled            ? frame->mangled
				: frame->function ? frame->function
						  : "?");
		if (frame->line)
			fprintf(out, ":%d", (int)(frame->line - frame->decl_line));
		else if (i == 0)
			fprintf(out, "+0x%" PRIx64, offset - frames[n - 1].entry);
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "libfoo.so+0x1234" */
static char *bare_name(const struct loci_naming *naming, uint32_t module, uint64_t offset)
{
	const struct loci_ledger *ledger = naming->ledger;
	const char *path = module < ledger->n_modules ? ledger->module[module].path : NULL;
	char *text;
	int r = path ? asprintf(&text, "%s+0x%" PRIx64, base_name(path), offset)
		     : asprintf(&text, "0x%" PRIx64, offset);

	return r < 0 ? NULL : text;
}

static int resolve(struct loci_naming *naming, uint32_t module, uint64_t offset, bool caller,
	struct loci_code_place *place, struct loci_err *err)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	size_t n = 0;
	int r = 0;

	if (module != LOCI_NO_MODULE)
		r = (caller ? loci_symbols_caller : loci_symbols_frames)(
			naming->ledger->symbols, module, offset, frames, LOCI_FRAMES_MAX, &n, err);
	if (r < 0)
		return r;
	place->key = n ? site_key(frames, n, offset) : bare_name(naming, module, offset);
	if (!place->key)
		return loci_err_nomem(err);
	for (size_t i = n; r == 0 && i-- > 0;) {
		const struct loci_frame_name *frame = &frames[i];
		int64_t id = 0;

		if (frame->function && i + 1 == n)
			r = framed_function(naming, module, frame, &id, err);
		else if (frame->function)
			r = function(naming, module, frame->function, frame->mangled,
				frame->decl_file, frame->decl_line, &id, err);
		if (i + 1 == n)
			place->function_id = id;
		else if (r == 0 && id)
			r = inlined(naming, place->inlined_id, id, &frames[i + 1],
				&place->inlined_id, err);
	}
	if (r == 0 && n) {
		place->file = frames[0].file;
		place->line = frames[0].line;
		place->column = frames[0].column;
		r = loci_naming_source(naming, frames[0].file, &place->source_id, err);
	}
	return r;
}

static int place_of(struct loci_naming *naming, uint32_t module, uint64_t offset, bool caller,
	const struct loci_code_place **ret, struct loci_err *err)
{
	uint32_t known = loci_keymap_get(&naming->place_ids, offset, module);
	struct loci_code_place place = { 0 };
	int r;

	if (known != LOCI_KEYMAP_NONE) {
		*ret = &naming->place[known];
		return 0;
	}
	r = resolve(naming, module, offset, caller, &place, err);
	if (r == 0 &&
		(loci_grow(&naming->place, &naming->place_cap, naming->n_places + 1,
			 sizeof(*naming->place)) < 0 ||
			loci_keymap_put(&naming->place_ids, offset, module,
				(uint32_t)naming->n_places) < 0))
		r = loci_err_nomem(err);
	if (r < 0) {
		free(place.key);
		return r;
	}
	naming->place[naming->n_places] = place;
	*ret = &naming->place[naming->n_places++];
	return 0;
}

int loci_naming_place(struct loci_naming *naming, uint32_t module, uint64_t offset,
	const struct loci_code_place **ret, struct loci_err *err)
{
	return place_of(naming, module, offset, false, ret, err);
}

int loci_naming_call(struct loci_naming *naming, const struct loci_site *call,
	const struct loci_code_place **ret, struct loci_err *err)
{
	return place_of(naming, call->module, call->offset, call->op == LOCI_OP_CALLER, ret, err);
}

int loci_naming_entry(struct loci_naming *naming, const struct loci_site *entry,
	int64_t *ret_function, struct loci_err *err)
{
	loci_autofree char *name = NULL;
	const struct loci_code_place *place;
	int r = loci_naming_place(naming, entry->module, entry->offset, &place, err);

	*ret_function = 0;
	if (r < 0)
		return r;
	*ret_function = place->function_id;
	if (*ret_function)
		return 0;
	name = bare_name(naming, entry->module, entry->offset);
	if (!name)
		return loci_err_nomem(err);
	return function(naming, entry->module, name, NULL, NULL, 0, ret_function, err);
}

int loci_naming_excerpt(
	struct loci_naming *naming, const struct loci_code_place *place, struct loci_err *err)
{
	unsigned from = place->line > AROUND ? place->line - AROUND : 1;

	if (!place->line || !place->file)
		return 0;
	for (unsigned line = from; line <= place->line + AROUND; line++) {
		struct loci_excerpt_row row = { .source_id = place->source_id, .line = line };
		struct loci_digest key = { (uint64_t)place->source_id, line };
		int64_t id;
		int r;

		if (naming->n_excerpts == MAX_EXCERPTS)
			return 0;
		row.text = loci_symbols_source_line(naming->ledger->symbols, place->file, line);
		if (!row.text)
			continue;
		r = number(&naming->excerpt_ids, key, &naming->n_excerpts, &id);
		if (r > 0)
			r = loci_profile_put_excerpt(naming->profile, &row, err);
		else if (r < 0)
			r = loci_err_nomem(err);
		if (r < 0)
			return r;
	}
	return 0;
}
