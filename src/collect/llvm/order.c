/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/llvm/order.h"

#include "collect/runtime/cc_abi.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

/* Pieces by basic block, in the order they execute. */
struct index {
	uint32_t *first; /* of a basic block; first[i + 1] ends it */
	uint32_t *piece;
};

static void index_init(struct index *index, const struct loci_plan *plan, size_t n_blocks)
{
	index->first = loci_zeroed(n_blocks + 2, sizeof(*index->first));
	index->piece = loci_zeroed(plan->n_pieces, sizeof(*index->piece));
	for (size_t i = 0; i < plan->n_pieces; i++)
		index->first[plan->piece[i].home + 2]++;
	for (size_t i = 2; i < n_blocks + 2; i++)
		index->first[i] += index->first[i - 1];
	for (size_t i = 0; i < plan->n_pieces; i++)
		index->piece[index->first[plan->piece[i].home + 1]++] = (uint32_t)i;
}

static void index_fini(struct index *index)
{
	free(index->first);
	free(index->piece);
}

/* The piece that was the last on every way to a basic block. */
static uint32_t last_before(const struct loci_flow *flow, const uint32_t *last, uint32_t number)
{
	const struct loci_flow_block *block = &flow->block[number];
	uint32_t common = last[block->predecessor[0]];
	for (uint32_t i = 0; i < block->n_predecessors; i++) {
		uint32_t from = block->predecessor[i];
		if (from >= number || last[from] != common)
			return LOCI_PLAN_NONE;
	}
	return common;
}

/* last[i]: the piece whose words are the newest when basic block i ends, LOCI_PLAN_NONE: not known.
 */
static uint32_t *find_last(
	const struct loci_plan *plan, const struct loci_flow *flow, const struct index *index)
{
	uint32_t *last = loci_zeroed(flow->n_blocks, sizeof(*last));
	last[0] = LOCI_PLAN_NONE;
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		last[i] = last_before(flow, last, i);
		if (index->first[i + 1] > index->first[i])
			last[i] = index->piece[index->first[i + 1] - 1];
		if (plan->ends_synced[i])
			last[i] = LOCI_PLAN_NONE;
	}
	return last;
}

struct forming {
	struct loci_plan *plan;
	const struct loci_flow *flow;
	uint32_t *tail; /* of each block the last piece */
	uint32_t words_max;
};

static bool continues(
	const struct forming *forming, const struct loci_plan_piece *piece, uint32_t before)
{
	const struct loci_plan *plan = forming->plan;
	if (before == LOCI_PLAN_NONE || piece->is_after_sync || forming->words_max == 0)
		return false;
	const struct loci_plan_piece *previous = &plan->piece[before];
	const struct loci_flow_block *block = forming->flow->block;
	return forming->tail[previous->block] == before &&
		block[previous->home].loop == block[piece->home].loop &&
		plan->block[previous->block].n_words + piece->n_words <= forming->words_max;
}

static void form(struct forming *forming, uint32_t number, uint32_t before)
{
	struct loci_plan *plan = forming->plan;
	struct loci_plan_piece *piece = &plan->piece[number];
	if (continues(forming, piece, before)) {
		piece->block = plan->piece[before].block;
	} else {
		uint32_t loop = forming->flow->block[piece->home].loop;
		unsigned depth = loop == LOCI_FLOW_NONE ? 0 : forming->flow->loop[loop].depth;
		piece->block = (uint32_t)plan->n_blocks++;
		piece->is_marked = true;
		plan->block[piece->block] = (struct loci_plan_block){ .loop = loop,
			.depth = depth > UINT8_MAX ? UINT8_MAX : (uint8_t)depth };
	}
	plan->block[piece->block].n_refs += piece->n_refs;
	plan->block[piece->block].n_words += piece->n_words;
	forming->tail[piece->block] = number;
}

static void flag(struct loci_plan *plan, const struct loci_flow *flow, const struct index *index)
{
	for (size_t i = 0; i < flow->n_loops; i++) {
		uint32_t header = flow->loop[i].header;
		if (index->first[header + 1] > index->first[header])
			plan->block[plan->piece[index->piece[index->first[header]]].block].flags |=
				LOCI_BLOCK_LOOP;
	}
	plan->block[plan->piece[0].block].flags |= LOCI_BLOCK_ENTRY;
}

/* Compares places of basic blocks: as in reverse postorder, but all of a loop stands where its
 * header does. */
static int compare_homes(const struct loci_flow *flow, uint32_t a, uint32_t b)
{
	uint32_t in_a = flow->block[a].loop, in_b = flow->block[b].loop;
	while (in_a != in_b) {
		unsigned depth_a = in_a == LOCI_FLOW_NONE ? 0 : flow->loop[in_a].depth;
		unsigned depth_b = in_b == LOCI_FLOW_NONE ? 0 : flow->loop[in_b].depth;
		if (depth_a >= depth_b) {
			a = flow->loop[in_a].header;
			in_a = flow->loop[in_a].parent;
		}
		if (depth_b >= depth_a) {
			b = flow->loop[in_b].header;
			in_b = flow->loop[in_b].parent;
		}
	}
	return a < b ? -1 : a > b;
}

struct sorting {
	const struct loci_plan *plan;
	const struct loci_flow *flow;
	const uint32_t *head; /* of each block the first piece */
};

static int compare_blocks(const void *a, const void *b, void *with)
{
	const struct sorting *sorting = with;
	uint32_t first = sorting->head[*(const uint32_t *)a],
		 second = sorting->head[*(const uint32_t *)b];
	int order = compare_homes(
		sorting->flow, sorting->plan->piece[first].home, sorting->plan->piece[second].home);
	return order ? order : first < second ? -1 : first > second;
}

/* Moves blocks, pieces and references into the order in which they are to stand. */
static void sort(struct loci_plan *plan, const struct loci_flow *flow)
{
	uint32_t *head = loci_zeroed(plan->n_blocks, sizeof(*head));
	uint32_t *order = loci_zeroed(plan->n_blocks, sizeof(*order));
	struct loci_plan_block *block = loci_zeroed(plan->n_blocks, sizeof(*block));
	struct loci_plan_piece *piece = loci_zeroed(plan->n_pieces, sizeof(*piece));
	struct loci_plan_ref *ref = loci_zeroed(plan->n_refs, sizeof(*ref));
	uint32_t *next = loci_zeroed(plan->n_pieces, sizeof(*next)); /* piece of the same block */
	uint32_t n_pieces = 0, n_refs = 0;

	/* A block's pieces were made in its order. */
	for (size_t i = 0; i < plan->n_blocks; i++)
		head[i] = LOCI_PLAN_NONE;
	for (size_t i = plan->n_pieces; i-- > 0;) {
		uint32_t in = plan->piece[i].block;
		next[i] = head[in];
		head[in] = (uint32_t)i;
	}
	for (size_t i = 0; i < plan->n_blocks; i++)
		order[i] = (uint32_t)i;
	struct sorting sorting = { .plan = plan, .flow = flow, .head = head };
	qsort_r(order, plan->n_blocks, sizeof(*order), compare_blocks, &sorting);
	for (size_t i = 0; i < plan->n_blocks; i++) {
		block[i] = plan->block[order[i]];
		block[i].first_ref = n_refs;
		for (uint32_t at = head[order[i]]; at != LOCI_PLAN_NONE; at = next[at]) {
			struct loci_plan_piece *to = &piece[n_pieces++];
			*to = plan->piece[at];
			to->block = (uint32_t)i;
			to->first_ref = n_refs;
			memcpy(ref + n_refs, plan->ref + plan->piece[at].first_ref,
				to->n_refs * sizeof(*ref));
			n_refs += to->n_refs;
		}
	}
	free(plan->block);
	free(plan->piece);
	free(plan->ref);
	plan->block = block;
	plan->piece = piece;
	plan->ref = ref;
	free(head);
	free(order);
	free(next);
}

void loci_order_blocks(struct loci_plan *plan, const struct loci_flow *flow, uint32_t words_max)
{
	struct forming forming = { .plan = plan, .flow = flow, .words_max = words_max };
	struct index index;
	index_init(&index, plan, flow->n_blocks);
	plan->block = loci_zeroed(plan->n_pieces, sizeof(*plan->block));
	forming.tail = loci_zeroed(plan->n_pieces, sizeof(*forming.tail));
	uint32_t *last = find_last(plan, flow, &index);

	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		uint32_t before = last_before(flow, last, i);
		for (uint32_t k = index.first[i]; k < index.first[i + 1]; k++) {
			form(&forming, index.piece[k], before);
			before = index.piece[k];
		}
	}
	flag(plan, flow, &index);
	sort(plan, flow);
	free(last);
	free(forming.tail);
	index_fini(&index);
}

bool loci_order_crosses(const struct loci_plan *plan, const struct loci_flow *flow, uint32_t target,
	uint32_t *ret_gate)
{
	const struct loci_flow_block *block = &flow->block[target];
	for (uint32_t i = 0; i < block->n_predecessors; i++) {
		if (block->predecessor[i] < target)
			continue;
		*ret_gate = block->predecessor[i];
		bool is_header =
			block->loop != LOCI_FLOW_NONE && flow->loop[block->loop].header == target;
		return !is_header || plan->is_active[block->loop];
	}
	return false;
}

uint32_t loci_order_hoisted(const struct loci_plan *plan, uint32_t header)
{
	for (size_t i = 0; i < plan->n_pieces; i++)
		if (plan->piece[i].is_hoisted && plan->piece[i].home == header)
			return (uint32_t)i;
	return LOCI_PLAN_NONE;
}

/* A loop whose back edge finds the header's block complete repeats it without a marker. */
static void hoist(struct loci_plan *plan, const struct loci_flow *flow, const struct index *index,
	const uint32_t *last)
{
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		uint32_t gate, first = index->first[i];
		if (first == index->first[i + 1] || !loci_order_crosses(plan, flow, i, &gate))
			continue;
		struct loci_plan_piece *piece = &plan->piece[index->piece[first]];
		uint32_t end = last[gate];
		if (!piece->is_marked || piece->is_after_sync || end == LOCI_PLAN_NONE)
			continue;
		bool is_tail = end + 1 == plan->n_pieces ||
			plan->piece[end + 1].block != plan->piece[end].block;
		/* One without words cannot be repeated but by its marker. */
		piece->is_hoisted = is_tail && plan->piece[end].block == piece->block &&
			plan->block[piece->block].n_words > 0;
	}
}

static uint32_t room_before(const struct loci_flow *flow, const uint32_t *room, uint32_t number)
{
	const struct loci_flow_block *block = &flow->block[number];
	uint32_t least = LOCI_CC_ROOM_WORDS;
	for (uint32_t i = 0; i < block->n_predecessors; i++) {
		uint32_t from = block->predecessor[i];
		/* Back edges check, or nothing was appended since. */
		if (from < number && room[from] < least)
			least = room[from];
	}
	return least;
}

/* A block makes room for all of itself with its marker. So nothing but a marker ever comes after
 * the runtime was asked, and it may begin or end something there. */
static uint32_t make_room_for(
	const struct loci_plan *plan, struct loci_plan_piece *piece, uint32_t left)
{
	bool is_short = left < plan->block[piece->block].n_words + 1;
	piece->is_checked = is_short && !piece->is_hoisted;
	piece->is_hoist_checked = is_short && piece->is_hoisted;
	return (is_short ? LOCI_CC_ROOM_WORDS : left) - 1;
}

/* A run is appended after a check of its own, and leaves less. */
static uint32_t room_after_run(const struct loci_plan *plan, uint32_t exiting, uint32_t left)
{
	for (size_t i = 0; i < plan->n_runs; i++) {
		uint32_t words = 3 + 2 * plan->block[plan->run[i].block].n_refs;
		if (plan->run[i].exiting == exiting && left > LOCI_CC_ROOM_WORDS - words)
			return LOCI_CC_ROOM_WORDS - words;
	}
	return left;
}

static void make_room(
	struct loci_plan *plan, const struct loci_flow *flow, const struct index *index)
{
	uint32_t *room = loci_zeroed(flow->n_blocks, sizeof(*room));
	room[0] = LOCI_CC_ROOM_WORDS;
	for (uint32_t i = 1; i < flow->n_blocks; i++) {
		uint32_t left = room_before(flow, room, i);
		for (uint32_t k = index->first[i]; k < index->first[i + 1]; k++) {
			struct loci_plan_piece *piece = &plan->piece[index->piece[k]];
			if (piece->is_after_sync)
				left = 0;
			if (piece->is_marked)
				left = make_room_for(plan, piece, left);
			left -= piece->n_words;
		}
		room[i] = plan->ends_synced[i] ? 0 : room_after_run(plan, i, left);
	}
	free(room);
}

void loci_order_marks(struct loci_plan *plan, const struct loci_flow *flow)
{
	struct index index;
	index_init(&index, plan, flow->n_blocks);
	uint32_t *last = find_last(plan, flow, &index);
	hoist(plan, flow, &index, last);
	make_room(plan, flow, &index);
	free(last);
	index_fini(&index);
}
