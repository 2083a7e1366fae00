/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done for nearly every reference while samples are open, inline: it is none of them, stays
 * in the object that its site knows, and touches a block that has been touched since the last of
 * them opened. For the attribution's own files. */
#ifndef LOCI_ANALYSE_SAMPLER_PASS_H
#define LOCI_ANALYSE_SAMPLER_PASS_H

#include "analyse/attribute_touch.h"
#include "analyse/sampler_state.h"

/* Executions of a block in which no sample is. */
struct loci_sampler_lean {
	struct loci_sampler_thread *thread;
	uint64_t here; /* what blocks are that a touch changes nothing for */
	uint64_t n;    /* references, not counted yet */
	bool follows;  /* samples are open: touches are wanted */
};

/* Whether the current thread's next references, at most so many, are such. */
LOCI_HOT bool loci_sampler_begin_lean(struct loci_sampler *s, const struct loci_attribution *a,
	uint32_t most, struct loci_sampler_lean *ret)
{
	struct loci_sampler_thread *t = &s->thread[a->walk.at];
	uint32_t member = (uint32_t)a->walk.at;

	if (!t->in_window || t->next - t->count <= most)
		return false;
	if (s->member != member)
		s->last_block = UINT64_MAX;
	s->member = member;
	*ret = (struct loci_sampler_lean){ t, loci_epochs_here(s->epochs, member), 0, s->follows };
	return true;
}

LOCI_HOT void loci_sampler_end_lean(struct loci_sampler_lean *lean)
{
	lean->thread->count += lean->n;
}

/* One of these references. A touch of the block touched before by the thread is at distance 0,
 * changes no stack, and takes nothing from others that the one before has not taken. */
LOCI_HOT int loci_sampler_pass(struct loci_sampler *s, struct loci_attribution *a,
	struct loci_sampler_lean *lean, const struct loci_code_ref *ref, uint64_t address,
	struct loci_err *err)
{
	struct loci_row_site *site = &a->rows.site[ref->site];
	uint64_t block_bytes = 1ull << s->options.shift, size_bytes = ref->size_bytes;
	uint64_t block = address >> s->options.shift;
	struct loci_epochs_block *found;

	if (!lean->follows) {
		lean->n++;
		return 0;
	}
	if (__builtin_expect(!loci_touch_holds(a, site, address) ||
			    size_bytes - 1 >= block_bytes - (address & (block_bytes - 1)),
		    0))
		return loci_sampler_refer(s, a, ref, address,
			size_bytes ? size_bytes : a->code.site[ref->site].size_bytes, false, err);
	lean->n++;
	loci_rows_step(&a->rows, site, address, loci_touch_low(a, site));
	if (block == s->last_block && ref->is_write <= s->last_writes)
		return 0;
	found = loci_epochs_find(s->epochs, loci_sampler_block(site, block));
	s->last_block = block;
	if (__builtin_expect(found->last == lean->here, 1)) {
		s->epochs->touches++;
		s->last_writes = true;
		return 0;
	}
	s->last_writes = ref->is_write;
	if (found->last & LOCI_EPOCHS_KEPT) { /* that of a sample tells more */
		s->last_block = UINT64_MAX;
		return loci_sampler_touch(s, a, ref, address, size_bytes, err);
	}
	if (loci_windowed_touch_found(s->windowed, found, loci_sampler_block(site, block),
		    s->member, ref->is_write) < 0)
		return loci_err_nomem(err);
	return 0;
}

#endif
