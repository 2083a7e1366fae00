// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/attribute_flow.h"

int loci_flow_prepare(struct loci_attribution *a, struct loci_err *err)
{
	if (a->walk.n_log + LOCI_LOOP_EVENTS > LOCI_BATCH_EVENTS) {
		int r = loci_attribution_flush(a, err);

		if (r < 0)
			return r;
	}
	a->walk.touch = (uint32_t)a->batch->n;
	return 0;
}

/* Two at once: every call and every return adds them. */
typedef uint64_t two_counts __attribute__((vector_size(16), aligned(8), may_alias));

static void add_near(uint64_t *near, const uint64_t *more)
{
#pragma GCC unroll 4
	for (unsigned i = 0; i < LOCI_RECENT; i += 2)
		*(two_counts *)(near + i) += *(const two_counts *)(more + i);
}

static void add_here(struct loci_attribution *a)
{
	struct loci_context *context = &a->walk.contexts.node[a->here.context];
	struct loci_stage *stage = &a->stages.stage[a->here.stage];

	a->references += a->here.refs;
	context->refs += a->here.refs;
	stage->refs += a->here.refs;
	add_near(context->near, a->here.near);
	add_near(stage->near, a->here.near);
	a->thread_refs[a->here.thread] += a->here.refs;
	a->thread_again[a->here.thread] += a->here.again;
}

/* Often there is nothing: events of memory follow each other. */
void loci_flow_count(struct loci_attribution *a)
{
	if (a->here.refs || a->here.again)
		add_here(a);
	a->here = (struct loci_attribution_here){
		.context = a->walk.context, .stage = a->stages.now, .thread = a->walk.at
	};
}

void loci_flow_refresh(struct loci_attribution *a)
{
	loci_flow_mark(a);
	if (a->walk.context != a->here.context || a->walk.at != a->here.thread)
		loci_flow_count(a);
}

int loci_flow_stage(struct loci_attribution *a, struct loci_err *err)
{
	struct loci_batch *batch = a->batch;

	a->region = a->stages.region_now;
	if (a->stages.now == a->here.stage)
		return 0;
	loci_flow_count(a);
	if (batch->n_stage_events && batch->stage[batch->n_stage_events - 1].touch == batch->n)
		batch->n_stage_events--;
	else if (batch->n_stage_events + 2 > LOCI_BATCH_STAGES)
		return loci_attribution_flush(a, err); /* puts it into the next one */
	loci_attribution_put_stage(a);
	return 0;
}

/* A block that starts at the instruction that was last is that instruction again, unless it goes on
 * with what that is to store. */
static bool comes_again(const struct loci_attribution *a, uint32_t definition)
{
	const struct loci_code_ref *ref = a->code.ref;
	uint32_t last = a->walk.level->last;

	return last != LOCI_NO_DEFINITION && (ref[last].is_write || !ref[definition].is_write);
}

/* Control is where a block begins. */
static void arrive(struct loci_attribution *a, const struct loci_code_block *block)
{
	if (!(block->flags & LOCI_CODE_OUTSIDE))
		a->walk.frame->last = block->address;
}

/* Control falls into loops on its way to the reference. */
static int come_over(struct loci_attribution *a, uint32_t definition, struct loci_err *err)
{
	size_t n;
	const struct loci_code_header *header = loci_code_headers(&a->code, definition, &n);
	int r = 0;

	if (a->code.ref[definition].kind & LOCI_CODE_FIRST)
		arrive(a, &a->code.blocks[a->code.block[definition]]);
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct loci_code_block *block = &a->code.blocks[header[i].block];

		r = loci_flow_prepare(a, err);
		if (r == 0 && loci_walk_start(&a->walk, block, false) < 0)
			r = loci_err_nomem(err);
		arrive(a, block);
	}
	return r;
}

/* The flow of control at a reference that begins a block, or is a frame. 1: no access. */
int loci_flow_special(
	struct loci_attribution *a, uint32_t definition, uint64_t address, struct loci_err *err)
{
	unsigned kind = a->code.ref[definition].kind;
	bool flows = !loci_flow_in_kernel(a, definition) && a->flow;
	int r = loci_flow_prepare(a, err);

	if (r < 0)
		return r;
	if (kind & LOCI_CODE_FRAME)
		r = loci_walk_enter(&a->walk, definition, address);
	else if (kind & LOCI_CODE_CALLER)
		r = loci_walk_called(&a->walk, definition, address);
	else if (kind & LOCI_CODE_FIRST && flows)
		r = loci_walk_start(&a->walk, &a->code.blocks[a->code.block[definition]],
			comes_again(a, definition));
	if (r < 0)
		return loci_err_nomem(err);
	if (kind & LOCI_CODE_OVER && flows)
		r = come_over(a, definition, err);
	if (r < 0)
		return r;
	loci_flow_refresh(a);
	return kind & (LOCI_CODE_FRAME | LOCI_CODE_SKIP) ? 1 : 0;
}

int loci_flow_return(struct loci_attribution *a, uint64_t address, struct loci_err *err)
{
	int r = loci_flow_prepare(a, err);

	if (r < 0)
		return r;
	loci_walk_return(&a->walk, address);
	loci_flow_refresh(a);
	return 0;
}
