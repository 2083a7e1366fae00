// SPDX-License-Identifier: GPL-2.0-or-later
/* Loops of fixed code (code.h): the compiler has said where they stand and which is in which. */
#include "analyse/publish_state.h"

#include "base/cleanup.h"

#include <stdlib.h>

struct ordered_loop {
	int64_t module_id;
	uint64_t offset;
	uint32_t number;
};

/* What holds a loop stands before it. */
static int in_file_order(const void *left, const void *right)
{
	const struct ordered_loop *a = left, *b = right;

	if (a->module_id != b->module_id)
		return a->module_id < b->module_id ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static uint32_t number_of(const struct loci_ledger *ledger, uint32_t module, uint64_t name)
{
	uint32_t number = name ? loci_keymap_get(&ledger->loop_ids, name, module) : LOCI_NO_LOOP;

	return number == LOCI_KEYMAP_NONE ? LOCI_NO_LOOP : number;
}

int64_t loci_publish_fixed_loop_id(const struct loci_publication *p, uint32_t module, uint64_t loop)
{
	return p->loop_id[number_of(p->ledger, module, loop)];
}

int loci_publish_fixed_loop_of(struct loci_publication *p, const struct loci_site *site,
	uint32_t *ret, struct loci_err *err)
{
	struct loci_symbol_site known = { 0 };
	int r;

	*ret = LOCI_NO_LOOP;
	if (site->module == LOCI_NO_MODULE)
		return 0;
	r = loci_symbols_site(p->ledger->symbols, site->module, site->offset, &known, err);
	/* one that is too deep is counted with what holds it */
	while (r > 0 && known.loop && *ret == LOCI_NO_LOOP) {
		struct loci_loop_name loop;
		int is =
			loci_symbols_loop(p->ledger->symbols, site->module, known.loop, &loop, err);

		if (is < 0)
			return is;
		*ret = number_of(p->ledger, site->module, known.loop);
		known.loop = is && loop.parent < known.loop ? loop.parent : 0;
	}
	return r;
}

/* Where the statement stands; of one that has no line, where its first reference does. */
static int find_line(struct loci_publication *p, const struct loci_ledger_loop *loop,
	const struct loci_loop_name *name, struct loci_loop_row *row, struct loci_err *err)
{
	const struct loci_code_place *place;
	int r = loci_naming_place(&p->naming, loop->module, name->first, &place, err);

	if (r < 0)
		return r;
	row->function_id = place->function_id;
	row->source_id = place->source_id;
	row->line = place->line;
	if (name->line && name->file) {
		row->line = name->line;
		r = loci_naming_source(&p->naming, name->file, &row->source_id, err);
	}
	row->last_line = row->line;
	return r;
}

static int describe(struct loci_publication *p, const struct ordered_loop *order, int64_t id,
	struct loci_loop_row *rows, struct loci_err *err)
{
	const struct loci_ledger_loop *loop = &p->ledger->loop[order->number];
	struct loci_loop_row *row = &rows[order->number];
	struct loci_loop_name name;
	int r = loci_symbols_loop(p->ledger->symbols, loop->module, loop->offset, &name, err);

	if (r < 0)
		return r;
	row->id = p->loop_id[order->number] = id;
	row->iterations = loop->iterations;
	row->parent_id = p->loop_id[number_of(p->ledger, loop->module, name.parent)];
	return find_line(p, loop, &name, row, err);
}

/* A loop reaches to the last line of its file that a reference in it stands on. */
static int reach(struct loci_publication *p, const struct loci_ledger_site *site,
	struct loci_loop_row *rows, struct loci_err *err)
{
	const struct loci_code_place *place;
	uint32_t loop;
	int r = loci_publish_fixed_loop_of(p, &site->site, &loop, err);

	if (r <= 0 || loop == LOCI_NO_LOOP)
		return r < 0 ? r : 0;
	r = loci_naming_place(&p->naming, site->site.module, site->site.offset, &place, err);
	while (r == 0 && loop != LOCI_NO_LOOP) {
		const struct loci_ledger_loop *from = &p->ledger->loop[loop];
		struct loci_loop_name name;

		if (place->source_id == rows[loop].source_id && rows[loop].last_line < place->line)
			rows[loop].last_line = place->line;
		r = loci_symbols_loop(p->ledger->symbols, from->module, from->offset, &name, err);
		if (r < 0)
			return r;
		loop = number_of(p->ledger, from->module, name.parent);
		r = 0;
	}
	return r;
}

int loci_publish_fixed_loops(struct loci_publication *p, int64_t id, struct loci_err *err)
{
	const struct loci_ledger *ledger = p->ledger;
	loci_autofree struct ordered_loop *order = calloc(ledger->n_loops, sizeof(*order));
	loci_autofree struct loci_loop_row *rows = calloc(ledger->n_loops, sizeof(*rows));
	size_t n = 0;
	int r = 0;

	if (!order || !rows)
		return loci_err_nomem(err);
	for (uint32_t i = 1; i < ledger->n_loops; i++)
		if (ledger->loop[i].fixed)
			order[n++] = (struct ordered_loop){ loci_naming_module(&p->naming,
								    ledger->loop[i].module),
				ledger->loop[i].offset, i };
	qsort(order, n, sizeof(*order), in_file_order);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = describe(p, &order[i], id + (int64_t)i + 1, rows, err);
	for (size_t i = 1; n && r == 0 && i < ledger->n_sites; i++)
		if (ledger->site[i].refs)
			r = reach(p, &ledger->site[i], rows, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = loci_profile_put_loop(p->profile, &rows[order[i].number], err);
	return r;
}
