// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose execution a block's is: which block of which definition, and whether that has operations.
 * It is asked once, when the block first runs. */
#include "analyse/attribute_flow.h"

#include "analyse/grow.h"

#include <inttypes.h>

/* Who counts block id of a function; *ret 0: nobody. */
static int find(struct loci_attribution *a, uint32_t number, uint64_t id, uint32_t *ret,
	struct loci_err *err)
{
	const struct loci_code_function *function = &a->code.function[number];
	const struct loci_site *site = &a->code.site[function->site];
	uint64_t block = id - (function->entry - 1);
	struct loci_symbol_block known;
	int r;

	*ret = 0;
	if (!function->entry || function->unwanted || block >= UINT32_MAX ||
		site->module == LOCI_NO_MODULE)
		return 0;
	pthread_mutex_lock(a->symbols_lock);
	r = loci_symbols_block(
		a->symbols, site->module, site->offset, (uint32_t)block, &known, err);
	pthread_mutex_unlock(a->symbols_lock);
	if (r <= 0)
		return r;
	if (loci_executed_of(&a->executed, number, (uint32_t)block, ret) < 0)
		return loci_err_nomem(err);
	return 0;
}

int loci_flow_ask_ran(struct loci_attribution *a, struct loci_code_block *block,
	uint32_t definition, struct loci_err *err)
{
	struct loci_ref_site def;

	block->ran = 0;
	if (block->function == LOCI_NO_FUNCTION ||
		loci_decoder_site(a->decoder, definition, &def) < 0)
		return 0;
	return find(a, block->function, def.block, &block->ran, err);
}

/* What is known of a definition without references, the first time. */
static int learn_plain(struct loci_attribution *a, uint32_t definition, struct loci_err *err)
{
	struct loci_plain_block *plain;
	struct loci_ref_site def;

	if (loci_grow(&a->executed.plain, &a->executed.plain_cap, (size_t)definition + 1,
		    sizeof(*a->executed.plain)) < 0)
		return loci_err_nomem(err);
	plain = &a->executed.plain[definition];
	if (plain->asked)
		return 0;
	*plain = (struct loci_plain_block){ .function = LOCI_NO_FUNCTION, .asked = true };
	if (loci_decoder_head(a->decoder, definition, &def) < 0)
		return 0;
	plain->function = loci_keymap_get(&a->code.function_ids, def.code_address, def.module);
	if (plain->function == LOCI_NO_FUNCTION)
		return 0;
	return find(a, plain->function, def.block, &plain->ran, err);
}

/* Its place among the loops is not known, as it has no site: what is in it is counted, and that it
 * is its function's frame which runs. */
int loci_flow_plain(
	struct loci_attribution *a, uint32_t definition, uint64_t times, struct loci_err *err)
{
	const struct loci_plain_block *plain;
	int r = 0;

	if (definition >= a->executed.plain_cap || !a->executed.plain[definition].asked)
		r = learn_plain(a, definition, err);
	if (r < 0)
		return r;
	plain = &a->executed.plain[definition];
	if (plain->function != a->walk.frame->function && plain->function != LOCI_NO_FUNCTION) {
		r = loci_flow_prepare(a, err);
		if (r == 0 && loci_walk_plain(&a->walk, plain->function) < 0)
			r = loci_err_nomem(err);
		if (r < 0)
			return r;
		loci_flow_refresh(a);
	}
	return loci_flow_count_ran(a, plain->ran, times, err);
}

int loci_flow_told(struct loci_attribution *a, const struct loci_event *event, struct loci_err *err)
{
	uint32_t definition = loci_decoder_defined(a->decoder, event->payload), ran = 0;
	struct loci_ref_site def;
	uint32_t function;
	int r;

	if (definition == UINT32_MAX || loci_decoder_head(a->decoder, definition, &def) < 0)
		return loci_err_set(err, EBADMSG,
			"executions of block %" PRIu64 ", which has no definition", event->payload);
	function = loci_keymap_get(&a->code.function_ids, def.code_address, def.module);
	if (function == LOCI_NO_FUNCTION)
		return 0;
	r = find(a, function, event->payload, &ran, err);
	if (r < 0 || !ran)
		return r;
	return loci_executed_told(&a->executed, ran, event->thread, event->payload, event->raw[0]) <
			0
		? loci_err_nomem(err)
		: 0;
}
