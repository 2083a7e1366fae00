// SPDX-License-Identifier: GPL-2.0-or-later
/* Loops that were found by running them: named, and nested by containment within their function. */
#include "analyse/publish_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

/* The end of a loop is its last reference; what counts and jumps back comes after, and is what
 * stands on the line of the loop itself. */
#define TAIL_BYTES  16 /* for every loop that ends there */
/* Only of the loops that turn most: it takes many look-ups. */
#define NAMED_LOOPS 256

static int in_code_order(const void *left, const void *right)
{
	const struct loci_published_loop *a = left, *b = right;

	if (a->module_id != b->module_id)
		return a->module_id < b->module_id ? -1 : 1;
	if (a->from->offset != b->from->offset)
		return a->from->offset < b->from->offset ? -1 : 1;
	return (a->from->end_offset < b->from->end_offset) -
		(a->from->end_offset > b->from->end_offset);
}

static int descending(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a < *b) - (*a > *b);
}

/* So many iterations have the loops whose lines are looked for. */
static int threshold(const struct loci_ledger *ledger, uint64_t *ret)
{
	loci_autofree uint64_t *iterations = calloc(ledger->n_loops, sizeof(*iterations));

	*ret = 0;
	if (!iterations)
		return -ENOMEM;
	if (ledger->n_loops <= NAMED_LOOPS)
		return 0;
	for (size_t i = 0; i < ledger->n_loops; i++)
		iterations[i] = ledger->loop[i].iterations;
	qsort(iterations, ledger->n_loops, sizeof(*iterations), descending);
	*ret = iterations[NAMED_LOOPS];
	return 0;
}

/* The line of the loop's statement, among those of the code at its start and after its end: of a
 * loop around others the last line before theirs, else the first. A compiler that turns a loop
 * round puts counting and comparing at its start, and code behind its end may belong to a loop
 * further out. */
struct line_choice {
	unsigned line;   /* so far; 0: none */
	unsigned before; /* 0: no loop inside */
};

static void consider(struct line_choice *choice, unsigned line)
{
	bool better = choice->before ? line < choice->before && line > choice->line
				     : !choice->line || line < choice->line;

	if (line && better)
		choice->line = line;
}

static int consider_code(struct loci_publication *p, const struct loci_ledger_loop *loop,
	uint64_t offset, unsigned bytes, const struct loci_loop_row *row,
	struct line_choice *choice, struct loci_err *err)
{
	for (unsigned i = 0; i <= bytes; i++) {
		const struct loci_code_place *place;
		int r = loci_naming_place(&p->naming, loop->module, offset + i, &place, err);

		if (r < 0)
			return r;
		if (place->source_id == row->source_id && place->function_id == row->function_id)
			consider(choice, place->line);
	}
	return 0;
}

static int find_lines(struct loci_publication *p, const struct loci_ledger_loop *loop,
	unsigned tail_bytes, unsigned inner_line, struct loci_loop_row *row, struct loci_err *err)
{
	struct line_choice choice = { .before = inner_line };
	const struct loci_code_place *place;
	int r = loci_naming_place(&p->naming, loop->module, loop->offset, &place, err);

	if (r < 0)
		return r;
	row->function_id = place->function_id;
	row->source_id = place->source_id;
	row->line = place->line;
	r = consider_code(p, loop, loop->offset, tail_bytes ? TAIL_BYTES : 0, row, &choice, err);
	if (r == 0)
		r = consider_code(p, loop, loop->end_offset, tail_bytes, row, &choice, err);
	if (r == 0)
		r = loci_naming_place(&p->naming, loop->module, loop->end_offset, &place, err);
	if (r < 0)
		return r;
	if (choice.line)
		row->line = choice.line;
	else if (inner_line && inner_line < row->line)
		row->line = inner_line;
	row->last_line = place->source_id == row->source_id && place->line > row->line ? place->line
										       : row->line;
	return 0;
}

/* The nearest loop before it that reaches here; -1: none. */
static ptrdiff_t reaching(
	const struct loci_publication *p, ptrdiff_t i, int64_t module_id, uint64_t offset)
{
	while (i >= 0 &&
		(p->loop[i].module_id != module_id || p->loop[i].from->end_offset < offset))
		i = p->loop[i].outer;
	return i;
}

/* Where to look for the loop's line: behind what belongs to inner loops with the same end. */
static unsigned tail_bytes(const struct loci_publication *p, size_t i, size_t n)
{
	const struct loci_ledger_loop *loop = p->loop[i].from;
	unsigned bytes = TAIL_BYTES;

	for (size_t k = i + 1; k < n && p->loop[k].module_id == p->loop[i].module_id &&
		p->loop[k].from->offset <= loop->end_offset;
		k++)
		bytes += p->loop[k].from->end_offset == loop->end_offset ? TAIL_BYTES : 0;
	return bytes;
}

/* The line of the first loop inside a loop; 0: there is none. Those inside follow it. */
static unsigned inner_line(
	const struct loci_publication *p, const struct loci_loop_row *row, size_t i, size_t n)
{
	const struct loci_published_loop *loop = &p->loop[i], *next = loop + 1;

	return i + 1 < n && next->module_id == loop->module_id &&
			next->from->end_offset <= loop->from->end_offset
		? row[i + 1].line
		: 0;
}

static int put_loop(struct loci_publication *p, size_t i, const struct loci_loop_row *lines,
	struct loci_err *err)
{
	struct loci_published_loop *loop = &p->loop[i];
	struct loci_loop_row row = *lines;

	row.id = (int64_t)i + 1;
	row.iterations = loop->from->iterations;
	loop->function_id = row.function_id;
	loop->outer = reaching(p, (ptrdiff_t)i - 1, loop->module_id, loop->from->offset);
	for (ptrdiff_t k = loop->outer; k >= 0 && !row.parent_id; k = p->loop[k].outer)
		if (p->loop[k].function_id == loop->function_id &&
			p->loop[k].module_id == loop->module_id &&
			p->loop[k].from->end_offset >= loop->from->end_offset)
			row.parent_id = k + 1;
	p->loop_id[loop->from - p->ledger->loop] = row.id;
	return loci_profile_put_loop(p->profile, &row, err);
}

int loci_publish_loops(struct loci_publication *p, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	size_t n = 0;
	loci_autofree struct loci_loop_row *row = calloc(ledger->n_loops, sizeof(*row));
	uint64_t often;
	int r = 0;

	p->loop = calloc(ledger->n_loops, sizeof(*p->loop));
	if (!p->loop || !row || threshold(ledger, &often) < 0)
		return loci_err_nomem(err);
	for (size_t i = 1; i < ledger->n_loops; i++)
		if (!ledger->loop[i].fixed)
			p->loop[n++] = (struct loci_published_loop){
				.module_id = loci_naming_module(&p->naming, ledger->loop[i].module),
				.from = &ledger->loop[i]
			};
	qsort(p->loop, n, sizeof(*p->loop), in_code_order);
	for (size_t i = n; r == 0 && i-- > 0;)
		r = find_lines(p, p->loop[i].from,
			p->loop[i].from->iterations > often ? tail_bytes(p, i, n) : 0,
			inner_line(p, row, i, n), &row[i], err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = put_loop(p, i, &row[i], err);
		p->n_loops++;
	}
	return r < 0 ? r : loci_publish_fixed_loops(p, (int64_t)n, err);
}

int64_t loci_publish_loop_of(
	const struct loci_publication *p, int64_t function_id, uint32_t module, uint64_t offset)
{
	int64_t module_id = loci_naming_module(&p->naming, module);
	size_t low = 0, high = p->n_loops;

	while (low < high) { /* how many begin at or before the address */
		size_t middle = low + (high - low) / 2;
		const struct loci_published_loop *loop = &p->loop[middle];

		if (loop->module_id < module_id ||
			(loop->module_id == module_id && loop->from->offset <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	for (ptrdiff_t i = (ptrdiff_t)low - 1; i >= 0; i = p->loop[i].outer)
		if (p->loop[i].module_id == module_id && p->loop[i].from->end_offset >= offset &&
			p->loop[i].function_id == function_id)
			return i + 1;
	return 0;
}
