// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of objects in the end: names, types, places. Where symbols lack, less. */
#include "analyse/object_state.h"

#include "analyse/object_wrapper.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int name_it(struct loci_object *object, struct loci_err *err, const char *before,
	const char *middle, const char *after)
{
	if (asprintf(&object->name, "%s%s%s", before, middle, after) < 0) {
		object->name = NULL;
		return loci_err_nomem(err);
	}
	return 0;
}

/* Allocations and mappings: the call that tells most, which is the innermost that no wrapper makes.
 */

struct call {
	const struct loci_origin_call *at;
	struct loci_frame_name frame; /* function NULL: unknown */
	const char *assigned;
	const struct loci_type *type;
};

static bool is_field(const char *name)
{
	return strstr(name, "->") || strpbrk(name, ".[");
}

/* Whether this call names what it allocates; an ALLOCATE of Fortran does, whatever the procedure is
 * called that has it; *ret is filled as far as it is known. */
static int look_at(struct loci_symbols *symbols, const struct loci_origin_call *at,
	struct call *ret, bool *ret_tells, struct loci_err *err)
{
	struct loci_frame_name frame[LOCI_FRAMES_MAX];
	enum loci_wrapper wrapper = LOCI_WRAPPER_NONE;
	size_t n = 0;
	int r;

	*ret = (struct call){ .at = at };
	*ret_tells = true;
	if (at->symbol_module == UINT32_MAX)
		return 0;
	r = loci_symbols_frames(
		symbols, at->symbol_module, at->address, frame, LOCI_FRAMES_MAX, &n, err);
	if (r == 0 && !at->within)
		r = loci_symbols_assigned(symbols, at->symbol_module, at->address + 1,
			&ret->assigned, &ret->type, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		ret->frame = frame[i];
		wrapper = loci_wrapper_of(frame[i].function);
		if (wrapper == LOCI_WRAPPER_NONE ||
			(wrapper == LOCI_WRAPPER_LIKELY && ret->assigned &&
				(is_field(ret->assigned) || frame[i].fortran)))
			return 0;
	}
	*ret_tells = !n;
	return 0;
}

static int telling_call(struct loci_symbols *symbols, const struct loci_origin *origin,
	struct call *ret, struct loci_err *err)
{
	struct call first = { 0 };
	bool tells = false;
	int r = 0;

	for (size_t i = 0; r == 0 && !tells && i < origin->n; i++) {
		r = look_at(symbols, &origin->call[i], ret, &tells, err);
		if (!i)
			first = *ret;
	}
	if (!tells)
		*ret = first; /* wrappers all the way */
	return r;
}

static int describe_call(struct loci_symbols *symbols, struct loci_object *object,
	struct loci_object_info *ret, struct loci_err *err)
{
	bool heap = object->kind == LOCI_OBJECT_HEAP;
	struct call call = { 0 };
	int r = object->origin ? telling_call(symbols, object->origin, &call, err) : 0;

	if (r < 0)
		return r;
	if (call.at) {
		ret->symbol_module = call.at->symbol_module;
		ret->code_address = call.at->address;
	}
	ret->file = call.frame.file;
	ret->line = call.frame.line;
	if (heap) {
		ret->element = call.type;
		ret->type = call.type ? loci_type_name(call.type) : NULL;
	}
	if (object->name)
		return 0;
	if (!heap && call.assigned)
		return name_it(object, err, call.assigned, " (mapped)", "");
	if (!heap)
		return name_it(object, err, "anonymous mapping", "", "");
	if (call.assigned)
		return name_it(object, err, call.assigned, "", "");
	if (call.frame.function)
		return name_it(object, err, "allocated in ", call.frame.function, "");
	return name_it(object, err, "heap", "", "");
}

/* Variables. */

static int describe_variable(
	struct loci_object *object, struct loci_object_info *ret, struct loci_err *err)
{
	const struct loci_variable *variable = object->variable;
	const char *type = variable->type ? loci_type_name(variable->type) : NULL;

	ret->file = variable->file;
	ret->line = variable->line;
	ret->element = variable->type;
	ret->type = type;
	if (type && variable->elements > 1) {
		int n = object->type      ? 0
			: variable->shape ? asprintf(&object->type, "%s%s", type, variable->shape)
					  : asprintf(&object->type, "%s[%llu]", type,
						    (unsigned long long)variable->elements);

		if (n < 0) {
			object->type = NULL;
			return loci_err_nomem(err);
		}
		ret->type = object->type;
	}
	return object->name ? 0
			    : name_it(object, err, variable->name ? variable->name : "?", "", "");
}

static int describe_frame(struct loci_objects *objects, struct loci_object *object,
	struct loci_object_info *ret, struct loci_err *err)
{
	struct loci_frame_name frame[LOCI_FRAMES_MAX];
	size_t n = 0;
	int r = 0;

	if (object->symbol_module != UINT32_MAX)
		r = loci_symbols_frames(objects->symbols, object->symbol_module, object->entry,
			frame, LOCI_FRAMES_MAX, &n, err);
	if (r < 0)
		return r;
	if (n) {
		ret->file = frame[n - 1].decl_file ? frame[n - 1].decl_file : frame[n - 1].file;
		ret->line = frame[n - 1].decl_file ? frame[n - 1].decl_line : frame[n - 1].line;
	}
	if (object->name)
		return 0;
	return n && frame[n - 1].function
		? name_it(object, err, "stack of ", frame[n - 1].function, "")
		: name_it(object, err, "stack", "", "");
}

/* clang-format off */
static const struct {
	const char *kind;
	const char *name; /* where it has no other */
} kinds[LOCI_OBJECT_KINDS] = {
	[LOCI_OBJECT_OTHER] = { "other", "other" },
	[LOCI_OBJECT_HEAP] = { "heap", NULL },
	[LOCI_OBJECT_HEAP_REST] = { "heap", "heap, not allocated" },
	[LOCI_OBJECT_GLOBAL] = { "global", NULL },
	[LOCI_OBJECT_DATA] = { "global", NULL },
	[LOCI_OBJECT_LOCAL] = { "stack", NULL },
	[LOCI_OBJECT_FRAME] = { "stack", NULL },
	[LOCI_OBJECT_STACK] = { "stack", "stack" },
	[LOCI_OBJECT_MAPPING] = { "other", NULL },
	[LOCI_OBJECT_FILE] = { "other", NULL },
	[LOCI_OBJECT_REGISTERED] = { "registered", NULL },
	[LOCI_OBJECT_PART] = { "registered", NULL },
};
/* clang-format on */

static int describe(struct loci_objects *objects, struct loci_object *object,
	struct loci_object_info *ret, struct loci_err *err);

/* Its name and elements are the program's; what these are may be known of the memory. */
static int describe_registered(struct loci_objects *objects, struct loci_object *object,
	struct loci_object_info *ret, struct loci_err *err)
{
	struct loci_object_info under = { 0 };
	uint64_t bytes = object->element_bytes;
	int r = object->under
		? describe(objects, &objects->table.object[object->under], &under, err)
		: 0;

	if (r < 0)
		return r;
	ret->element_bytes = bytes;
	if (under.element && (!bytes || loci_type_bytes(under.element) == bytes)) {
		ret->element = under.element;
		ret->type = loci_type_name(under.element);
	} else if (bytes && !object->type &&
		asprintf(&object->type, "%llu x %llu B",
			(unsigned long long)(object->size_bytes / bytes),
			(unsigned long long)bytes) < 0) {
		object->type = NULL;
		return loci_err_nomem(err);
	}
	if (!ret->type)
		ret->type = object->type;
	return object->name ? 0 : name_it(object, err, object->text, "", "");
}

static int describe(struct loci_objects *objects, struct loci_object *object,
	struct loci_object_info *ret, struct loci_err *err)
{
	switch (object->kind) {
	case LOCI_OBJECT_HEAP:
	case LOCI_OBJECT_MAPPING:
		return describe_call(objects->symbols, object, ret, err);
	case LOCI_OBJECT_GLOBAL:
		return describe_variable(object, ret, err);
	case LOCI_OBJECT_LOCAL:
		ret->code_address = object->entry;
		return describe_variable(object, ret, err);
	case LOCI_OBJECT_FRAME:
		ret->code_address = object->entry;
		return describe_frame(objects, object, ret, err);
	case LOCI_OBJECT_DATA:
		if (object->name)
			return 0;
		return *object->text ? name_it(object, err, base_name(object->text), " data", "")
				     : name_it(object, err, "data", "", "");
	case LOCI_OBJECT_FILE:
		return object->name ? 0
				    : name_it(object, err, base_name(object->text),
					      *object->text == '[' ? "" : " (mapped)", "");
	case LOCI_OBJECT_REGISTERED:
		return describe_registered(objects, object, ret, err);
	case LOCI_OBJECT_PART:
		ret->whole = object->whole;
		ret->part_offset = object->part_offset;
		return object->name ? 0 : name_it(object, err, object->text, "", "");
	default:
		return object->name ? 0 : name_it(object, err, kinds[object->kind].name, "", "");
	}
}

static void begin(const struct loci_object *object, uint32_t number, struct loci_object_info *ret)
{
	*ret = (struct loci_object_info){ .kind = kinds[object->kind].kind,
		.size_bytes = object->size_bytes,
		.allocations = object->allocations,
		.whole = number,
		.symbol_module = object->symbol_module,
		.context = object->context,
		.born_refs = object->born_refs,
		.died_refs = object->died_refs,
		.released = object->allocations && !object->live,
		.nameless = object->kind == LOCI_OBJECT_OTHER ||
			object->kind == LOCI_OBJECT_FRAME || object->kind == LOCI_OBJECT_STACK };
}

int loci_objects_info(struct loci_objects *objects, uint32_t number, struct loci_object_info *ret,
	struct loci_err *err)
{
	struct loci_object *object;
	int r;

	if (number >= objects->table.n)
		return loci_err_set(err, ENOENT, "there is no object %u", number);
	object = &objects->table.object[number];
	begin(object, number, ret);
	r = describe(objects, object, ret, err);
	ret->name = object->name ? object->name : kinds[LOCI_OBJECT_OTHER].name;
	return r;
}

bool loci_objects_release(struct loci_objects *objects, uint32_t number, struct loci_object *ret)
{
	struct loci_object *object = &objects->table.object[number];

	if (object->kind != LOCI_OBJECT_HEAP || !object->origin || !object->origin->n ||
		object->name)
		return false;
	*ret = *object;
	object->origin = NULL;
	ret->text = ret->type = NULL;
	return true;
}

int loci_object_released_info(struct loci_symbols *symbols, struct loci_object *object,
	struct loci_object_info *ret, struct loci_err *err)
{
	int r;

	begin(object, 0, ret);
	r = describe_call(symbols, object, ret, err);
	ret->name = object->name ? object->name : kinds[LOCI_OBJECT_OTHER].name;
	return r;
}

uint64_t loci_objects_dropped(const struct loci_objects *objects)
{
	return objects->table.dropped;
}

bool loci_objects_module(
	struct loci_objects *objects, uint32_t module, struct loci_object_module *ret)
{
	const struct loci_loaded *loaded = loci_modules_by_id(&objects->modules, module);

	if (loaded)
		*ret = (struct loci_object_module){ loaded->symbol_module, loaded->bias };
	return loaded;
}
