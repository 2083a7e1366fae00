/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define ROWS_A_MARK 32

/* A row, and what comes behind it. */
struct mark {
	struct loci_line_row row;
	const uint8_t *next;
};

/* Addresses that follow each other, [low, high). */
struct sequence {
	uint64_t low, high;
	size_t first, n; /* marks */
	size_t number;
};

struct loci_line_table {
	struct loci_line_header header;
	struct sequence *sequences; /* by address; of equal ones the last counts */
	size_t n_sequences, cap_sequences;
	struct mark *marks;
	size_t n_marks, cap_marks;
};

/* The program as it runs. */
struct run {
	const struct loci_line_header *header;
	struct loci_debug_bytes rest;
	struct loci_line_row row;
};

enum step { STEP_NO_ROW, STEP_ROW, STEP_END /* of a sequence */, STEP_FAILED };

static void begin_sequence(struct run *run)
{
	run->row = (struct loci_line_row){ .file = 1, .line = 1 };
}

static void advance(struct run *run, uint64_t steps)
{
	run->row.address += steps * run->header->step_bytes;
}

static enum step run_extended(struct run *run)
{
	uint64_t bytes = loci_debug_leb(&run->rest, false);
	const uint8_t *from = run->rest.at;
	uint64_t opcode = bytes ? loci_debug_fixed(&run->rest, 1) : 0;

	if (opcode == DW_LNE_set_address) {
		if (bytes != 9)
			return STEP_FAILED;
		run->row.address = loci_debug_fixed(&run->rest, 8);
	} else if (opcode == DW_LNE_define_file) {
		return STEP_FAILED;
	}
	run->rest.at = from;
	loci_debug_skip(&run->rest, bytes);
	return opcode == DW_LNE_end_sequence ? STEP_END : STEP_NO_ROW;
}

static void run_standard(struct run *run, unsigned opcode)
{
	const struct loci_line_header *header = run->header;
	struct loci_line_row *row = &run->row;

	switch (opcode) {
	case DW_LNS_advance_pc:
		advance(run, loci_debug_leb(&run->rest, false));
		break;
	case DW_LNS_advance_line:
		row->line += (uint32_t)loci_debug_leb(&run->rest, true);
		break;
	case DW_LNS_set_file:
		row->file = loci_debug_leb(&run->rest, false);
		break;
	case DW_LNS_set_column:
		row->column = (uint32_t)loci_debug_leb(&run->rest, false);
		break;
	case DW_LNS_const_add_pc:
		advance(run, (255 - header->opcode_base) / header->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		row->address += loci_debug_fixed(&run->rest, 2);
		break;
	default:
		for (unsigned i = header->operands[opcode - 1]; i && !run->rest.is_short; i--)
			loci_debug_leb(&run->rest, false);
	}
}

static enum step run_step(struct run *run)
{
	const struct loci_line_header *header = run->header;
	unsigned opcode = (unsigned)loci_debug_fixed(&run->rest, 1);
	enum step step = STEP_NO_ROW;

	if (opcode >= header->opcode_base) {
		opcode -= header->opcode_base;
		advance(run, opcode / header->line_range);
		run->row.line += (uint32_t)(header->line_base + (int)(opcode % header->line_range));
		step = STEP_ROW;
	} else if (opcode == DW_LNS_copy) {
		step = STEP_ROW;
	} else if (opcode) {
		run_standard(run, opcode);
	} else {
		step = run_extended(run);
	}
	return run->rest.is_short ? STEP_FAILED : step;
}

static void *grown(void *items, size_t *cap, size_t n, size_t bytes)
{
	size_t larger = *cap ? 2 * *cap : 16;
	void *memory;

	if (n < *cap)
		return items;
	memory = realloc(items, larger * bytes);
	if (memory)
		*cap = larger;
	return memory;
}

static int add_mark(struct loci_line_table *table, const struct run *run)
{
	void *marks = grown(table->marks, &table->cap_marks, table->n_marks, sizeof(struct mark));

	if (!marks)
		return -ENOMEM;
	table->marks = marks;
	table->marks[table->n_marks++] = (struct mark){ run->row, run->rest.at };
	return 0;
}

static int add_sequence(struct loci_line_table *table, size_t first, uint64_t high)
{
	size_t n = table->n_sequences;
	void *sequences =
		grown(table->sequences, &table->cap_sequences, n, sizeof(struct sequence));

	if (!sequences)
		return -ENOMEM;
	table->sequences = sequences;
	table->sequences[table->n_sequences++] = (struct sequence){ table->marks[first].row.address,
		high, first, table->n_marks - first, n };
	return 0;
}

/* Up to its end. Rows whose addresses descend make no order. */
static int read_sequence(struct loci_line_table *table, struct run *run)
{
	size_t first = table->n_marks, rows = 0;
	uint64_t last = 0;

	begin_sequence(run);
	while (run->rest.at < run->rest.end) {
		enum step step = run_step(run);

		if (step == STEP_NO_ROW)
			continue;
		if (step == STEP_FAILED || (rows && run->row.address < last))
			return -EPROTO;
		last = run->row.address;
		if (step == STEP_END)
			return rows ? add_sequence(table, first, last) : 0;
		if (rows++ % ROWS_A_MARK == 0 && add_mark(table, run) < 0)
			return -ENOMEM;
	}
	return rows ? -EPROTO : 0;
}

static int by_low(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int read_program(struct loci_line_table *table)
{
	struct run run = { .header = &table->header, .rest = table->header.program };
	int r = 0;

	while (run.rest.at < run.rest.end && r == 0)
		r = read_sequence(table, &run);
	if (r == 0 && table->n_sequences)
		qsort(table->sequences, table->n_sequences, sizeof(struct sequence), by_low);
	return r;
}

int loci_line_table_new(struct loci_line_table **ret, const struct loci_line_sections *sections,
	uint64_t offset, const char *folder)
{
	struct loci_line_table *table = calloc(1, sizeof(*table));
	int r;

	*ret = NULL;
	if (!table)
		return -ENOMEM;
	r = loci_line_header_read(&table->header, sections, offset, folder);
	if (r == 0)
		r = read_program(table);
	if (r < 0) {
		loci_line_table_free(table);
		return r;
	}
	*ret = table;
	return 0;
}

void loci_line_table_free(struct loci_line_table *table)
{
	if (!table)
		return;
	loci_line_header_fini(&table->header);
	free(table->sequences);
	free(table->marks);
	free(table);
}

static const struct sequence *find_sequence(const struct loci_line_table *table, uint64_t address)
{
	size_t low = 0, high = table->n_sequences;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->sequences[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= table->sequences[low - 1].high)
		return NULL;
	return &table->sequences[low - 1];
}

static const struct mark *find_mark(
	const struct loci_line_table *table, const struct sequence *sequence, uint64_t address)
{
	const struct mark *marks = &table->marks[sequence->first];
	size_t low = 0, high = sequence->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (marks[middle].row.address <= address)
			low = middle;
		else
			high = middle;
	}
	return &marks[low];
}

bool loci_line_table_find(
	const struct loci_line_table *table, uint64_t address, struct loci_line_row *ret)
{
	const struct sequence *sequence = find_sequence(table, address);
	struct run run = { .header = &table->header, .rest = table->header.program };
	const struct mark *mark;
	enum step step;

	if (!sequence)
		return false;
	mark = find_mark(table, sequence, address);
	run.rest.at = mark->next;
	run.row = *ret = mark->row;
	for (;;) {
		step = run_step(&run);
		if (step == STEP_NO_ROW)
			continue;
		if (step != STEP_ROW || run.row.address > address)
			return true;
		*ret = run.row;
	}
}

bool loci_line_table_file(const struct loci_line_table *table, uint64_t number,
	const char **ret_folder, const char **ret_name)
{
	const struct loci_line_header *header = &table->header;
	const struct loci_line_file *file;

	if (number >= header->n_files || !header->files[number].name)
		return false;
	file = &header->files[number];
	*ret_name = file->name;
	*ret_folder = NULL;
	if (*file->name != '/' && file->folder < header->n_folders)
		*ret_folder = header->folders[file->folder];
	return true;
}
