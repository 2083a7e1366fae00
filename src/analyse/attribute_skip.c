// SPDX-License-Identifier: GPL-2.0-or-later
/* Most of what is recorded for samples comes while none is open: before one, and until the recorder
 * has answered and the thread has heard. Nobody asks what such references touch. They are counted,
 * and control is followed, an execution of a block at a time; what is not as usual is left to who
 * does the rest (attribute.c). */
#include "analyse/attribute_flow.h"
#include "analyse/attribute_quick.h"
#include "analyse/sampler_state.h"

/* Whether the references, which are the first words, are whole and nothing but accesses; the first
 * may begin a block. */
LOCI_HOT bool are_accesses(const struct loci_code_ref *ref, const uint64_t *word, uint32_t n)
{
	uint64_t words = word[0];
	unsigned kinds = ref[0].kind & ~LOCI_CODE_FIRST;

	for (uint32_t i = 1; i < n; i++) {
		words |= word[i];
		kinds |= ref[i].kind;
	}
	return !kinds && !loci_word_is_marker(words);
}

bool loci_attribution_skip(struct loci_attribution *a, struct loci_runs *runs)
{
	struct loci_sampler *s = a->sampler;
	struct loci_sampler_thread *t = &s->thread[a->walk.at];
	uint64_t most = t->next - t->count, n = 0;
	bool more = true;

	if (s->follows || !t->in_window || !a->flow)
		return true;
	do {
		const struct loci_code_ref *ref = a->code.ref + runs->next;
		const struct loci_code_block *block = &a->code.blocks[ref->block];
		uint32_t left = runs->left;

		if (!left || left > runs->end - runs->word || most - n <= left || block->flags ||
			!are_accesses(ref, runs->word, left) ||
			(ref->kind && !loci_flow_passes(a, ref, block)))
			break;
		n += left;
		runs->word += left;
		ref += left - 1;
		a->walk.level->last = (uint32_t)(ref - a->code.ref);
		a->walk.frame->last = ref->address;
		loci_runs_read(runs, 0);
		more = loci_runs_next(runs);
	} while (more);
	if (n && s->member != (uint32_t)a->walk.at) {
		s->member = (uint32_t)a->walk.at;
		s->last_block = UINT64_MAX;
	}
	t->count += n;
	return more;
}
