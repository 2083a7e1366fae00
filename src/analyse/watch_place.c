// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_place.h"

#include "analyse/digest.h"
#include "analyse/grow.h"

struct loci_watch_places {
	struct loci_watch_site *site;
	size_t n_sites, site_cap;
	struct loci_keymap site_ids;  /* by address, and descriptor or object */
	struct loci_keymap call_ids;  /* site of a call, by its function and place in the source */
	struct loci_keymap entry_ids; /* site that names a function, by its first instruction; 0: it
					 is no node */
};

int loci_watch_places_new(struct loci_watch_places **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void loci_watch_places_free(struct loci_watch_places *places)
{
	if (!places)
		return;
	free(places->site);
	loci_keymap_fini(&places->site_ids);
	loci_keymap_fini(&places->call_ids);
	loci_keymap_fini(&places->entry_ids);
	free(places);
}

/* What the symbols say of the site of a reference. */
static int ask_site(struct loci_attribution *a, const struct loci_code_module *module,
	struct loci_watch_site *known, struct loci_err *err)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_symbol_site site;
	uint64_t offset = known->address - module->bias;
	size_t n = 0;
	int r = loci_symbols_site(a->symbols, module->symbol_module, offset, &site, err);

	if (r > 0) {
		known->code = site.code + module->bias;
		return 0;
	}
	if (r == 0) /* an address of code */
		r = loci_symbols_frames(a->symbols, module->symbol_module, offset, frames,
			LOCI_FRAMES_MAX, &n, err);
	if (r == 0 && n && frames[n - 1].entry)
		known->code = frames[n - 1].entry + module->bias;
	return r;
}

/* And of code that is just behind one. */
static int ask_behind(struct loci_attribution *a, const struct loci_code_module *module,
	const struct loci_watch_code *code, struct loci_site *site, struct loci_watch_site *known,
	struct loci_err *err)
{
	struct loci_reference_hint hint = { .stores = site->op == LOCI_OP_STORE,
		.is_bulk = site->flags & LOCI_REF_BULK };
	struct loci_symbol_reference reference;
	struct loci_object_info info;
	int r = 0;

	if (code->object) {
		r = loci_objects_info(a->objects, code->object, &info, err);
		hint.variable = r == 0 && !info.nameless ? info.name : NULL;
	}
	if (r == 0)
		r = loci_symbols_reference(a->symbols, module->symbol_module,
			known->address + 1 - module->bias, &hint, &reference, err);
	if (r <= 0)
		return r < 0 ? r : ask_site(a, module, known, err);
	known->address = reference.site + module->bias;
	known->code = reference.code + module->bias;
	site->size_bytes = reference.size_bytes;
	site->flags = reference.flags;
	site->op = reference.op;
	return 0;
}

static int learn(struct loci_attribution *a, const struct loci_watch_code *code,
	struct loci_watch_site *known, struct loci_err *err)
{
	uint64_t descriptor = code->descriptor;
	const struct loci_code_module *module;
	struct loci_site site = { .module = LOCI_NO_MODULE,
		.size_bytes = loci_ref_word_bytes(descriptor),
		.flags = loci_ref_word_flags(descriptor) & ~LOCI_REF_PARTS,
		.op = loci_ref_word_op(descriptor) };
	bool is_behind = !descriptor || loci_ref_word_flags(descriptor) & LOCI_REF_PARTS;
	int r = 0;

	known->address -= is_behind;
	if (!descriptor)
		site.op = code->writes_only ? LOCI_OP_STORE : LOCI_OP_LOAD;
	module = loci_code_module_at(&a->code, known->address);
	if (module) {
		pthread_mutex_lock(a->symbols_lock);
		r = is_behind ? ask_behind(a, module, code, &site, known, err)
			      : ask_site(a, module, known, err);
		pthread_mutex_unlock(a->symbols_lock);
		site.module = module->symbol_module;
		known->module = module->id;
	}
	site.offset = known->address - (module ? module->bias : 0);
	known->op = site.op;
	if (r == 0 && loci_code_site(&a->code, &site, &known->number) < 0)
		r = loci_err_nomem(err);
	return r;
}

int loci_watch_site(struct loci_watch_places *places, struct loci_attribution *a,
	const struct loci_watch_code *code, struct loci_watch_site *ret, struct loci_err *err)
{
	uint64_t which = code->descriptor ? code->descriptor : 1ull << 63 | code->object;
	uint32_t i = loci_keymap_get(&places->site_ids, code->address, which);
	int r;

	if (i != LOCI_KEYMAP_NONE) {
		*ret = places->site[i];
		return 0;
	}
	*ret = (struct loci_watch_site){ .address = code->address, .module = LOCI_NO_MODULE };
	r = learn(a, code, ret, err);
	if (r < 0)
		return r;
	i = (uint32_t)places->n_sites;
	if (loci_grow(&places->site, &places->site_cap, i + 1, sizeof(*ret)) < 0 ||
		loci_keymap_put(&places->site_ids, code->address, which, i) < 0)
		return loci_err_nomem(err);
	places->site[places->n_sites++] = *ret;
	return 0;
}

/* Functions of `loci cc` stand twice in the program, so that a call of the source has two
 * addresses, or more: the first that is met stands for all. */
static int call_of(struct loci_watch_places *places, struct loci_attribution *a,
	const struct loci_code_call *made, uint32_t *ret, struct loci_err *err)
{
	const struct loci_site *site = &a->code.site[made->site];
	struct loci_digest key = { made->address, made->module };
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	size_t n = 0;
	int r;

	*ret = made->site;
	if (site->module == LOCI_NO_MODULE)
		return 0;
	pthread_mutex_lock(a->symbols_lock);
	r = loci_symbols_caller(
		a->symbols, site->module, site->offset, frames, LOCI_FRAMES_MAX, &n, err);
	pthread_mutex_unlock(a->symbols_lock);
	if (r < 0 || !n || !frames[0].line)
		return r;
	for (size_t i = 0; i < n; i++)
		key = loci_digest_word(key, (uint64_t)frames[i].line << 32 | frames[i].column);
	*ret = loci_keymap_get(&places->call_ids, key.a, key.b);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = made->site;
	return loci_keymap_put(&places->call_ids, key.a, key.b, *ret) < 0 ? loci_err_nomem(err) : 0;
}

/* A function is a node if it was compiled to be watched, or nothing else can be told. */
static int is_node(struct loci_attribution *a, const struct loci_code_module *module, uint64_t code,
	struct loci_err *err)
{
	int r;

	if (!a->walk.fixed || !module)
		return 1;
	pthread_mutex_lock(a->symbols_lock);
	r = loci_symbols_is_defined(a->symbols, module->symbol_module, code - module->bias, err);
	pthread_mutex_unlock(a->symbols_lock);
	return r;
}

/* The site that names a function; LOCI_NO_SITE: it is no node. */
static int entry_of(struct loci_watch_places *places, struct loci_attribution *a, uint64_t code,
	uint32_t *ret, struct loci_err *err)
{
	const struct loci_code_module *module = loci_code_module_at(&a->code, code);
	struct loci_site site = { .offset = code - (module ? module->bias : 0),
		.module = module ? module->symbol_module : LOCI_NO_MODULE,
		.op = LOCI_OP_FRAME };
	int r;

	*ret = loci_keymap_get(&places->entry_ids, code, 0);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = LOCI_NO_SITE;
	r = is_node(a, module, code, err);
	if (r < 0)
		return r;
	if ((r && loci_code_site(&a->code, &site, ret) < 0) ||
		loci_keymap_put(&places->entry_ids, code, 0, *ret) < 0)
		return loci_err_nomem(err);
	return 0;
}

/* A call more: of the function that begins there, from the call site. */
static int descend(struct loci_watch_places *places, struct loci_attribution *a, uint64_t code,
	uint32_t call, uint32_t *context, struct loci_err *err)
{
	uint32_t entry = LOCI_NO_SITE;
	int r = code ? entry_of(places, a, code, &entry, err) : 0;

	if (r < 0 || entry == LOCI_NO_SITE)
		return r;
	if (loci_contexts_child(&a->walk.contexts, *context, entry, call, context) < 0)
		return loci_err_nomem(err);
	return 0;
}

int loci_watch_context(struct loci_watch_places *places, struct loci_attribution *a,
	const struct loci_watch_site *site, const uint64_t *back, size_t n, uint32_t *ret,
	struct loci_err *err)
{
	uint32_t call = LOCI_NO_SITE;
	int r = 0;

	*ret = LOCI_CONTEXT_ROOT;
	/* The function around back[i - 1] was called by what returns to back[i]; nobody knows who
	 * called the one around the last. */
	for (size_t i = n; r == 0 && i-- > 0;) {
		const struct loci_code_call *made;
		uint32_t from = call;

		r = loci_code_call(&a->code, back[i], &made, err);
		if (r < 0)
			break;
		r = call_of(places, a, made, &call, err);
		if (r == 0)
			r = descend(places, a, made->address, from, ret, err);
	}
	return r < 0 ? r : descend(places, a, site->code, call, ret, err);
}
