/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of objects: a stand-in for symbols with tables that a test fills, which replaces the
 * library's at link time, and short ways to give events. */
#ifndef LOCI_TESTS_OBJECT_FAKE_H
#define LOCI_TESTS_OBJECT_FAKE_H

#include "analyse/object.h"
#include "base/cleanup.h"
#include "check.h"

struct loci_type {
	const char *name;
};

struct fake_function {
	const char *name;
	uint32_t module;
	uint64_t low, high;
	const char *inlined; /* at any address of it, unless NULL */
	const struct loci_variable *local;
	size_t n_locals;
};

struct fake_assignment {
	uint32_t module;
	uint64_t return_address;
	const char *name;
	const struct loci_type *type;
};

static struct {
	const struct fake_function *function;
	size_t n_functions;
	const struct fake_assignment *assignment;
	size_t n_assignments;
	const struct loci_variable *global; /* of module 0 */
	size_t n_globals;
	unsigned asked_globals, asked_locals;
	const char *path[16];
	size_t n_paths;
} fake;

int loci_symbols_module(struct loci_symbols *symbols, const char *path, const uint8_t *build_id,
	size_t build_id_bytes, uint32_t *ret_module, struct loci_err *err)
{
	size_t i = 0;

	while (i < fake.n_paths && strcmp(fake.path[i], path))
		i++;
	if (i == fake.n_paths && i < LOCI_ARRAY_SIZE(fake.path))
		fake.path[fake.n_paths++] = strdup(path);
	*ret_module = (uint32_t)i;
	return 0;
}

static const struct fake_function *fake_function_at(uint32_t module, uint64_t address)
{
	for (size_t i = 0; i < fake.n_functions; i++)
		if (fake.function[i].module == module &&
			address - fake.function[i].low <
				fake.function[i].high - fake.function[i].low)
			return &fake.function[i];
	return NULL;
}

int loci_symbols_frames(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err)
{
	const struct fake_function *function = fake_function_at(module, address);

	*ret_n = 0;
	if (!function)
		return 0;
	if (function->inlined)
		frames[(*ret_n)++] = (struct loci_frame_name){
			.function = function->inlined, .file = "inlined.h", .line = 7
		};
	frames[(*ret_n)++] = (struct loci_frame_name){ .function = function->name,
		.file = "a.c",
		.line = (unsigned)(address - function->low),
		.decl_file = "a.c",
		.decl_line = 1,
		.entry = function->low };
	return 0;
}

int loci_symbols_globals(struct loci_symbols *symbols, uint32_t module,
	const struct loci_variable **ret, size_t *ret_n, struct loci_err *err)
{
	fake.asked_globals++;
	*ret = module == 0 ? fake.global : NULL;
	*ret_n = module == 0 ? fake.n_globals : 0;
	return 0;
}

int loci_symbols_locals(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	const struct loci_variable **ret, size_t *ret_n, struct loci_err *err)
{
	const struct fake_function *function = fake_function_at(module, address);

	fake.asked_locals++;
	*ret = function ? function->local : NULL;
	*ret_n = function ? function->n_locals : 0;
	return 0;
}

/* No code here is instrumented. */
int loci_symbols_site(struct loci_symbols *symbols, uint32_t module, uint64_t address,
	struct loci_symbol_site *ret, struct loci_err *err)
{
	*ret = (struct loci_symbol_site){ 0 };
	return 0;
}

int loci_symbols_assigned(struct loci_symbols *symbols, uint32_t module, uint64_t return_address,
	const char **ret_name, const struct loci_type **ret_type, struct loci_err *err)
{
	*ret_name = NULL;
	*ret_type = NULL;
	for (size_t i = 0; i < fake.n_assignments; i++)
		if (fake.assignment[i].module == module &&
			fake.assignment[i].return_address == return_address) {
			*ret_name = fake.assignment[i].name;
			*ret_type = fake.assignment[i].type;
		}
	return 0;
}

uint64_t loci_type_bytes(const struct loci_type *type)
{
	(void)type;
	return 8;
}

const char *loci_type_name(const struct loci_type *type)
{
	return type->name;
}

/* Objects under test, the frames they see, and events given to them. */

struct bench {
	struct loci_objects *objects;
	struct loci_decoder *decoder;
	struct loci_shadow_frame frame[64];
	struct loci_shadow shadow;
	uint64_t refs, n_strings;
};

static void bench_init(struct bench *bench)
{
	struct loci_err err = { "" };

	memset(bench, 0, sizeof(*bench));
	bench->shadow.frame = bench->frame;
	bench->shadow.cap = LOCI_ARRAY_SIZE(bench->frame);
	bench->shadow.pins = true;
	CHECK(loci_objects_new(NULL, &bench->objects, &err) == 0);
	CHECK(loci_decoder_new(&bench->decoder, &err) == 0);
}

static void bench_fini(struct bench *bench)
{
	loci_objects_free(bench->objects);
	loci_decoder_free(bench->decoder);
	for (size_t i = 0; i < fake.n_paths; i++)
		free((char *)fake.path[i]);
	memset(&fake, 0, sizeof(fake));
}

static uint64_t give_string(struct bench *bench, const char *text)
{
	uint64_t words[32] = { 0 };
	size_t n = strlen(text) / 8 + 1, pos = 0, n_refs;
	struct loci_ref ref;
	struct loci_event event;
	struct loci_err err = { "" };

	words[0] = loci_mark_word(LOCI_MARK_STRING, (unsigned)n, ++bench->n_strings);
	memcpy(words + 1, text, strlen(text));
	CHECK(loci_decoder_next(
		      bench->decoder, words, n + 1, &pos, &ref, 1, &n_refs, &event, &err) == 0);
	return bench->n_strings;
}

#define give(bench, kind, payload, ...)                                   \
	give_raw(bench, kind, payload, (const uint64_t[]){ __VA_ARGS__ }, \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void give_raw(struct bench *bench, enum loci_marker kind, uint64_t payload,
	const uint64_t *raw, size_t n_raw)
{
	struct loci_event event = {
		.kind = kind, .payload = payload, .raw = raw, .n_raw = (unsigned)n_raw
	};
	struct loci_err err = { "" };

	CHECK(loci_objects_event(bench->objects, &event, bench->decoder, &bench->shadow,
		      bench->refs, &err) == 0);
}

static inline void give_alloc(struct bench *bench, uint64_t address, uint64_t bytes, uint64_t site)
{
	give(bench, LOCI_MARK_ALLOC, bytes, address, 0, site);
}

static inline void give_free(struct bench *bench, uint64_t address)
{
	give(bench, LOCI_MARK_FREE, 0, address, 0);
}

static inline void give_resize(
	struct bench *bench, uint64_t from, uint64_t to, uint64_t bytes, uint64_t site)
{
	give(bench, LOCI_MARK_RESIZE, bytes, from, to, 0, site);
}

static inline void give_map(struct bench *bench, uint64_t address, uint64_t bytes, unsigned flags,
	uint64_t site, const char *file)
{
	uint64_t id = file ? give_string(bench, file) : 0;

	give(bench, LOCI_MARK_MAP, (uint64_t)flags << 8 | 3, address, bytes, 0, site, id);
}

static inline void give_unmap(struct bench *bench, uint64_t address, uint64_t bytes)
{
	give(bench, LOCI_MARK_UNMAP, 0, address, bytes, 0);
}

static inline void give_object(
	struct bench *bench, uint64_t address, uint64_t bytes, const char *name)
{
	uint64_t id = give_string(bench, name);

	give(bench, LOCI_MARK_OBJECT, bytes, address, 0, id);
}

static inline void give_object_end(struct bench *bench, uint64_t address)
{
	give(bench, LOCI_MARK_OBJECT_END, 0, address, 0);
}

static inline void give_load(struct bench *bench, uint32_t id, uint64_t bias, uint64_t low,
	uint64_t bytes, const char *path)
{
	uint64_t text = give_string(bench, path);

	give(bench, LOCI_MARK_MODULE_LOAD, id, bias, low, bytes, text, 0, 0);
}

static inline void give_unload(struct bench *bench, uint32_t id)
{
	give(bench, LOCI_MARK_MODULE_UNLOAD, id, 0);
}

static inline void pop(struct bench *bench)
{
	struct loci_shadow_frame *frame = &bench->frame[--bench->shadow.n];

	if (frame->pin)
		++*frame->pin;
}

static inline void push(struct bench *bench, uint64_t address, uint32_t module, uint64_t entry,
	uint64_t call_site, uint32_t context)
{
	while (bench->shadow.n && bench->frame[bench->shadow.n - 1].address <= address)
		pop(bench);
	bench->frame[bench->shadow.n++] = (struct loci_shadow_frame){ .address = address,
		.entry = entry,
		.module = module,
		.context = context,
		.call_site = call_site };
}

static inline struct loci_object_hit find(
	struct bench *bench, uint64_t address, uint64_t code_address)
{
	struct loci_object_hit hit = { 0 };
	struct loci_err err = { "" };

	CHECK(loci_objects_find(
		      bench->objects, address, code_address, &bench->shadow, &hit, &err) == 0);
	CHECK(hit.serial && *hit.serial == hit.seen);
	return hit;
}

/* Whether a caller may use the answer for the address without asking. */
static inline bool still_holds(
	const struct bench *bench, const struct loci_object_hit *hit, uint64_t address)
{
	uint64_t top = bench->shadow.n ? bench->frame[bench->shadow.n - 1].address : 0;

	if (!hit->bytes || *hit->serial != hit->seen || (hit->framed && !bench->shadow.n))
		return false;
	return address - (hit->framed ? top : 0) - hit->low < hit->bytes;
}

static inline struct loci_object_info info(struct bench *bench, uint32_t object)
{
	struct loci_object_info ret = { 0 };
	struct loci_err err = { "" };

	CHECK(loci_objects_info(bench->objects, object, &ret, &err) == 0);
	CHECK(ret.kind && ret.name);
	return ret;
}

#endif
