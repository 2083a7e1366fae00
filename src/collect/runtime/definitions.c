// SPDX-License-Identifier: BSD-2-Clause
/* Functions become known when they are first executed under tracing, or first count. They are
 * remembered, for the children of this process. */
#include "collect/runtime/brief.h"
#include "collect/runtime/call_places.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <string.h>

#define FIRST_BYTES 65536
/* Sites in a DEFINE and a DEFINE_MORE. */
#define MAX_FIRST   ((LOCI_RAW_MAX - 2) / 2)
#define MAX_MORE    (LOCI_RAW_MAX / 2)

static struct {
	struct rt_known *known;
	size_t n, bytes;
	uint64_t n_ids;
} table;

static uintptr_t code_of(const struct loci_cc_function *function)
{
	return (uintptr_t)&function->code + (uintptr_t)(intptr_t)function->code;
}

const struct loci_cc_definition *rt_definition_of(const struct loci_cc_function *function)
{
	const struct loci_cc_definition *definition =
		(const void *)((uintptr_t)&function->definition +
			(uintptr_t)(intptr_t)function->definition);

	if (definition->magic != LOCI_CC_DEFINITION_MAGIC || !loci_cc_is_known(definition->version))
		return NULL;
	return definition;
}

static size_t up8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static const struct loci_cc_block *blocks_of(const struct loci_cc_definition *definition)
{
	return (const void *)(definition + 1);
}

static const struct loci_cc_site *sites_of(const struct loci_cc_definition *definition)
{
	return (const void *)((const char *)blocks_of(definition) +
		up8(definition->n_blocks * sizeof(struct loci_cc_block)));
}

/* Ids ascend. */
bool rt_known_of_block(uint64_t id, struct rt_known *ret)
{
	size_t low = 0, high = table.n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (table.known[middle].first <= id)
			low = middle;
		else
			high = middle;
	}
	if (low == high || table.known[low].first > id)
		return false;
	*ret = table.known[low];
	return id - ret->first < ret->n_blocks;
}

/* The nearest that begins before it, of the same module: others may be gone, and their records with
 * them. */
const struct loci_cc_definition *rt_definition_at(uintptr_t address)
{
	const struct loci_cc_definition *nearest = NULL;
	uintptr_t start = 0, module;
	size_t bytes;

	if (!rt_module_around(address, &module, &bytes))
		return NULL;
	for (size_t i = 0; i < table.n; i++) {
		uintptr_t code;

		if ((uintptr_t)table.known[i].function - module >= bytes)
			continue;
		code = code_of(table.known[i].function);
		if (code <= address && code > start) {
			start = code;
			nearest = table.known[i].definition;
		}
	}
	return nearest;
}

static void put_sites(uint64_t *raw, const struct loci_cc_site *site, unsigned n)
{
	for (; n; n--, site++) {
		*raw++ = loci_ref_word(site->size_bytes, site->op, site->flags);
		*raw++ = (uintptr_t)site;
	}
}

static void tell_block(const struct loci_cc_definition *definition,
	const struct loci_cc_block *block, uint64_t id, uint64_t module, uintptr_t code)
{
	const struct loci_cc_site *site = sites_of(definition) + block->first_site;
	unsigned n = block->n_sites, first = n < MAX_FIRST ? n : MAX_FIRST;
	uint64_t *raw = rt_process_begin(LOCI_MARK_DEFINE, id, 2 + 2 * first);

	*raw++ = module << 32 | block->flags;
	*raw++ = code;
	put_sites(raw, site, first);
	rt_process_commit();
	for (site += first, n -= first; n; site += first, n -= first) {
		first = n < MAX_MORE ? n : MAX_MORE;
		put_sites(rt_process_begin(LOCI_MARK_DEFINE_MORE, id, 2 * first), site, first);
		rt_process_commit();
	}
}

/* Samples that are watched tell their sites themselves: then blocks are told only where it is told
 * how often they were executed. */
static void tell(const struct loci_cc_function *function, uint64_t first)
{
	const struct loci_cc_definition *definition = rt_definition_of(function);
	uintptr_t code = code_of(function);
	uint64_t module = rt_module_of(code); /* it is known from here on, and when it is gone */

	if (!definition || (rt.watches && !definition->n_ops))
		return;
	for (uint32_t i = 0; i < definition->n_blocks; i++)
		tell_block(definition, blocks_of(definition) + i, first + i, module, code);
}

static bool remember(struct loci_cc_function *function, uint64_t first)
{
	const struct loci_cc_definition *definition = rt_definition_of(function);

	if ((table.n + 1) * sizeof(*table.known) > table.bytes) {
		size_t bytes = table.bytes ? 2 * table.bytes : FIRST_BYTES;
		struct rt_known *more = loci_sys_map(bytes, -1);

		if (!more)
			return false;
		for (size_t i = 0; i < table.n; i++)
			more[i] = table.known[i];
		/* The smaller one stays: a child that is made just now may have it. */
		__atomic_store_n(&table.known, more, __ATOMIC_RELEASE);
		table.bytes = bytes;
	}
	table.known[table.n] = (struct rt_known){ function, definition, rt_brief_of(definition),
		first, definition->n_blocks };
	__atomic_store_n(&table.n, table.n + 1, __ATOMIC_RELEASE);
	return true;
}

/* Taken before they are given, lest a child made in between gives them again. */
uint64_t rt_take_block_ids(uint32_t n)
{
	uint64_t first = table.n_ids;

	__atomic_store_n(&table.n_ids, first + n, __ATOMIC_RELEASE);
	return first;
}

/* The code takes them from there once base is not 0. */
static void put_markers(const struct loci_cc_definition *definition, uint64_t base)
{
	uint64_t *marker = (uint64_t *)((uintptr_t)&definition->markers +
		(uintptr_t)(intptr_t)definition->markers);

	for (uint32_t i = 0; definition->markers && i < definition->n_blocks; i++)
		marker[i] = base + i;
}

bool rt_define_now(struct loci_cc_function *function)
{
	const struct loci_cc_definition *definition = rt_definition_of(function);
	uint64_t first, base;

	if (__atomic_load_n(&function->base, __ATOMIC_ACQUIRE))
		return true;
	first = definition ? rt_take_block_ids(definition->n_blocks) : 0;
	/* Without a definition its words would have no meaning: nothing of this process would. */
	if (!definition || !remember(function, first)) {
		rt_process_mark(LOCI_MARK_LOST, 1, 0, NULL);
		rt_go_off();
		return false;
	}
	tell(function, first);
	base = loci_mark_word(LOCI_MARK_BLOCK, 0, first);
	put_markers(definition, base);
	__atomic_store_n(&function->base, base, __ATOMIC_RELEASE);
	return true;
}

void rt_define(struct loci_cc_function *function)
{
	int error = errno;
	uint64_t mask;

	if (rt_mode() != RT_TRACE)
		return;
	mask = rt_block();
	rt_lock();
	if (rt_mode() == RT_TRACE)
		rt_define_now(function);
	rt_unlock();
	rt_unblock(mask);
	errno = error;
}

uint64_t rt_define_told(uint64_t site, uint64_t descriptor, uint64_t id)
{
	uint64_t *raw;

	if (!id) {
		id = table.n_ids ? table.n_ids : 1;
		__atomic_store_n(&table.n_ids, id + 1, __ATOMIC_RELEASE);
	}
	raw = rt_process_begin(LOCI_MARK_DEFINE, id, 4);
	raw[0] = (uint64_t)rt_module_of(site) << 32 | LOCI_BLOCK_PLAIN | LOCI_BLOCK_TOLD;
	raw[1] = raw[3] = site;
	raw[2] = descriptor;
	rt_process_commit();
	return id;
}

void rt_define_all_again(void)
{
	for (size_t i = 0; i < table.n; i++)
		tell(table.known[i].function, table.known[i].first);
	rt_places_tell_again();
}

void rt_forget_functions(uintptr_t start, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < table.n; i++)
		if ((uintptr_t)table.known[i].function - start >= bytes)
			table.known[n++] = table.known[i];
	table.n = n;
	rt_places_forget(start, bytes);
}

static const struct loci_cc_call *calls_of(const struct loci_cc_definition *definition)
{
	const char *at = (const char *)sites_of(definition);

	at += up8(definition->n_sites * sizeof(struct loci_cc_site));
	at += up8(definition->n_scopes * sizeof(struct loci_cc_scope));
	at += up8(definition->n_loops * sizeof(struct loci_cc_loop));
	return (const void *)at;
}

const struct loci_cc_term *rt_terms_of(const struct loci_cc_definition *definition)
{
	const char *at = (const char *)(calls_of(definition) + definition->n_calls);

	at += definition->n_blocks * sizeof(struct loci_cc_block_ops);
	at += definition->n_ops * sizeof(struct loci_cc_op);
	at += definition->n_invocations * sizeof(struct loci_cc_invocation);
	return (const void *)at;
}

/* Functions have counters in common: what was counted is taken from them. */
static void count_unseen(const struct loci_cc_call *call, uintptr_t caller)
{
	uint64_t *count = (uint64_t *)((uintptr_t)&call->count + (uintptr_t)(intptr_t)call->count);

	if (call->count && call->callee && __atomic_load_n(count, __ATOMIC_RELAXED))
		rt_unseen_add((const char *)&call->callee + call->callee, caller,
			__atomic_exchange_n(count, 0, __ATOMIC_RELAXED));
}

static void forget_unseen(const struct loci_cc_call *call, uintptr_t caller)
{
	uint64_t *count = (uint64_t *)((uintptr_t)&call->count + (uintptr_t)(intptr_t)call->count);

	(void)caller;
	if (call->count && *count)
		*count = 0;
}

static void each_call(void (*f)(const struct loci_cc_call *call, uintptr_t caller))
{
	for (size_t i = 0; i < table.n; i++) {
		const struct loci_cc_function *function = table.known[i].function;
		const struct loci_cc_definition *definition;
		const struct loci_cc_call *call;
		uintptr_t module;
		size_t bytes;

		if (!rt_module_around((uintptr_t)function, &module, &bytes))
			continue; /* others closed it */
		definition = rt_definition_of(function);
		call = definition ? calls_of(definition) : NULL;
		for (uint32_t k = 0; definition && k < definition->n_calls; k++)
			f(call + k, code_of(function));
	}
}

void rt_unseen_count(void)
{
	each_call(count_unseen);
}

void rt_unseen_forget_counts(void)
{
	each_call(forget_unseen);
}

bool rt_is_defined(uintptr_t code)
{
	for (size_t i = 0; i < table.n; i++)
		if (code_of(table.known[i].function) == code)
			return true;
	return false;
}

bool rt_is_defined_name(const char *name, uintptr_t start, size_t bytes)
{
	for (size_t i = 0; i < table.n; i++) {
		const struct loci_cc_definition *definition =
			rt_definition_of(table.known[i].function);

		if (definition && definition->name &&
			code_of(table.known[i].function) - start < bytes &&
			!strcmp((const char *)&definition->name + definition->name, name))
			return true;
	}
	return false;
}
