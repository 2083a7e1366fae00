/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done for nearly every reference while samples are open, inline: it is none of them, stays
 * in the object that its site knows, and touches a block that has been touched since the last of
 * them opened. For the attribution's own files. */
#ifndef LOCI_ANALYSE_SAMPLER_PASS_H
#define LOCI_ANALYSE_SAMPLER_PASS_H

#include "analyse/attribute_touch.h"
#include "analyse/sampler_state.h"

/* The one touched last by the thread: another touch is at distance 0, changes no stack, and takes
 * nothing from others that the one before has not taken. */
LOCI_HOT bool loci_sampler_is_again(
	const struct loci_sampler *s, uint64_t block, bool is_write, uint32_t member)
{
	return block == s->last_block && is_write <= s->last_writes && s->member == member;
}

/* A reference of the current thread that counts. */
LOCI_HOT int loci_sampler_pass(struct loci_sampler *s, struct loci_attribution *a,
	const struct loci_code_ref *ref, uint64_t address, struct loci_err *err)
{
	struct loci_sampler_thread *t = &s->thread[a->walk.at];
	struct loci_row_site *site = &a->rows.site[ref->site];
	uint64_t size_bytes = ref->size_bytes, block = address >> s->options.shift;
	uint32_t member = (uint32_t)a->walk.at;
	const struct loci_epochs_block *found;

	if (!s->follows && t->in_window && t->count + 1 != t->next) {
		t->count++;
		return 0;
	}
	if (!t->in_window || t->count + 1 == t->next || !site->started ||
		!loci_touch_holds(a, site, address) || !size_bytes ||
		(address + size_bytes - 1) >> s->options.shift != block)
		return loci_sampler_refer(s, a, ref, address,
			size_bytes ? size_bytes : a->code.site[ref->site].size_bytes, false, err);
	t->count++;
	loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	if (loci_sampler_is_again(s, block, ref->is_write, member))
		return 0;
	found = loci_epochs_find(s->epochs, loci_sampler_block(site, block));
	if (__builtin_expect(loci_epochs_passes(s->epochs, found, member), 1)) {
		s->last_block = block;
		s->last_writes = true;
		s->member = member;
		return 0;
	}
	/* that of a sample tells more */
	s->last_block = found->last & LOCI_EPOCHS_KEPT ? UINT64_MAX : block;
	s->last_writes = ref->is_write;
	return loci_sampler_touch(s, a, ref, address, size_bytes, err);
}

#endif
