/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private stacks that invalidate each other, as plainly as they can be written: lists searched from
 * the top, in which a block that was taken away leaves a hole. For tests of the fast ones. */
#ifndef LOCI_TESTS_COHERENT_LIST_H
#define LOCI_TESTS_COHERENT_LIST_H

#include "engine/coherent.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MEMBERS 80
#define LIST_BLOCKS  4096
#define LIST_HOLE    UINT64_MAX

struct list_write {
	uint64_t bytes, use;
};

/* What a member that lost a block has to know: all writes since, by whomever. */
struct list_loss {
	struct list_write *write;
	size_t n, room;
};

struct list_member {
	uint64_t *stack; /* blocks and holes, the most recent first */
	size_t n;
	struct list_loss *loss[LIST_BLOCKS];
	bool has_ended;
	uint64_t taken;
};

struct list_block {
	bool is_touched, is_shared, is_written;
	uint32_t last;
};

struct list_stacks {
	struct list_member member[LIST_MEMBERS];
	struct list_block block[LIST_BLOCKS];
	uint32_t n_members;
	enum loci_coherent_taking taken_by;
};

struct list_touch {
	uint32_t member;
	uint64_t block, bytes, use;
	bool is_write;
	/* found */
	uint64_t distance, lost_to;
	uint8_t kind;
};

static struct list_stacks *list_new(uint32_t n_members, enum loci_coherent_taking taken_by)
{
	struct list_stacks *lists = calloc(1, sizeof(*lists));

	if (!lists)
		abort();
	lists->n_members = n_members;
	lists->taken_by = taken_by;
	for (uint32_t i = 0; i < n_members; i++) {
		lists->member[i].stack = calloc(LIST_BLOCKS, sizeof(uint64_t));
		if (!lists->member[i].stack)
			abort();
	}
	return lists;
}

static void list_forget_loss(struct list_member *member, uint64_t block)
{
	if (member->loss[block])
		free(member->loss[block]->write);
	free(member->loss[block]);
	member->loss[block] = NULL;
}

static void list_end(struct list_member *member)
{
	for (uint64_t block = 0; block < LIST_BLOCKS; block++)
		list_forget_loss(member, block);
	member->n = 0;
	member->has_ended = true;
}

static void list_free(struct list_stacks *lists)
{
	for (uint32_t i = 0; i < lists->n_members; i++) {
		list_end(&lists->member[i]);
		free(lists->member[i].stack);
	}
	free(lists);
}

static size_t list_find(const struct list_member *member, uint64_t what)
{
	size_t i = 0;

	while (i < member->n && member->stack[i] != what)
		i++;
	return i;
}

/* Blocks above a gap sink into it, and a block is the first. */
static void list_push(struct list_member *member, size_t gap, uint64_t block)
{
	memmove(member->stack + 1, member->stack, gap * sizeof(*member->stack));
	member->stack[0] = block;
}

static void list_note_write(struct list_loss *loss, const struct list_touch *touch)
{
	if (loss->n == loss->room) {
		loss->room = loss->room ? 2 * loss->room : 4;
		loss->write = realloc(loss->write, loss->room * sizeof(*loss->write));
		if (!loss->write)
			abort();
	}
	loss->write[loss->n++] = (struct list_write){ touch->bytes, touch->use };
}

static void list_take_from(struct list_member *member, const struct list_touch *touch)
{
	size_t at = list_find(member, touch->block);

	if (at < member->n) {
		member->stack[at] = LIST_HOLE;
		member->taken++;
		member->loss[touch->block] = calloc(1, sizeof(struct list_loss));
		if (!member->loss[touch->block])
			abort();
	}
	if (member->loss[touch->block])
		list_note_write(member->loss[touch->block], touch);
}

static void list_judge(struct list_member *member, struct list_touch *touch)
{
	const struct list_loss *loss = member->loss[touch->block];

	touch->kind = loss ? LOCI_COHERENT_FALSE : LOCI_COHERENT_COLD;
	touch->lost_to = loss ? loss->write[0].use : 0;
	for (size_t i = 0; loss && i < loss->n; i++)
		if (loss->write[i].bytes & touch->bytes) {
			touch->kind = LOCI_COHERENT_TRUE;
			touch->lost_to = loss->write[i].use;
		}
	list_forget_loss(member, touch->block);
}

static void list_touch(struct list_stacks *lists, struct list_touch *touch)
{
	struct list_member *member = &lists->member[touch->member];
	struct list_block *block = &lists->block[touch->block];
	size_t at = list_find(member, touch->block), hole = list_find(member, LIST_HOLE);

	touch->lost_to = 0;
	touch->distance = LOCI_INFINITE;
	if (at < member->n) {
		touch->kind = LOCI_COHERENT_REUSE;
		touch->distance = at;
		if (hole < at) {
			member->stack[at] = LIST_HOLE;
			list_push(member, hole, touch->block);
		} else {
			list_push(member, at, touch->block);
		}
	} else {
		list_judge(member, touch);
		if (hole == member->n)
			member->n++;
		list_push(member, hole, touch->block);
	}
	if (block->is_touched && block->last != touch->member) {
		touch->kind |= LOCI_COHERENT_REMOTE;
		block->is_shared = true;
	}
	block->is_written |= block->is_shared && touch->is_write;
	block->is_touched = true;
	block->last = touch->member;
	if (lists->taken_by == LOCI_COHERENT_BY_NONE ||
		(lists->taken_by == LOCI_COHERENT_BY_WRITES && !touch->is_write))
		return;
	for (uint32_t i = 0; i < lists->n_members; i++)
		if (i != touch->member)
			list_take_from(&lists->member[i], touch);
}

#endif
