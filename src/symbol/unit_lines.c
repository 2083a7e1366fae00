/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places in the source by line tables of our own: libdw keeps some 140 bytes of each row of a unit
 * as soon as the name of one of its files is asked for, 55 MB for SQLite. It is asked where our
 * reading ends: what is split off or shared with another file, and forms that are rare. */
#include "symbol/die.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

static void take_section(
	struct loci_line_sections *ret, const char *name, const struct loci_debug_bytes *bytes)
{
	if (!strcmp(name, ".debug_line"))
		ret->lines = *bytes;
	else if (!strcmp(name, ".debug_line_str"))
		ret->line_strings = *bytes;
	else if (!strcmp(name, ".debug_str"))
		ret->strings = *bytes;
}

/* libdw has unpacked them. */
void loci_line_sections_find(struct loci_line_sections *ret, Dwarf *dwarf)
{
	static const uint8_t nothing;
	const struct loci_debug_bytes none = { &nothing, &nothing, false };
	Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;
	Elf_Scn *section = NULL;
	size_t names;

	*ret = (struct loci_line_sections){ none, none, none };
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr head;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &head) || head.sh_type == SHT_NOBITS ||
			(head.sh_flags & SHF_COMPRESSED) ||
			!(name = elf_strptr(elf, names, head.sh_name)) ||
			strncmp(name, ".debug_", 7) || !(data = elf_rawdata(section, NULL)) ||
			!data->d_buf)
			continue;
		take_section(ret, name,
			&(struct loci_debug_bytes){
				data->d_buf, (uint8_t *)data->d_buf + data->d_size, false });
	}
}

void loci_unit_lines_fini(struct loci_symbol_module *module)
{
	for (size_t i = 0; i < module->n_lines; i++)
		loci_line_table_free(module->lines[i].table);
	free(module->lines);
}

static struct loci_line_table *add(
	struct loci_symbol_module *module, size_t at, uint64_t offset, Dwarf_Die *unit)
{
	struct loci_line_table *table;

	if (module->n_lines == module->cap_lines) {
		size_t cap = module->cap_lines ? 2 * module->cap_lines : 16;
		void *lines = realloc(module->lines, cap * sizeof(*module->lines));

		if (!lines)
			return NULL;
		module->lines = lines;
		module->cap_lines = cap;
	}
	if (loci_line_table_new(&table, &module->line_sections, offset,
		    loci_die_string(unit, DW_AT_comp_dir)) == -ENOMEM)
		return NULL;
	memmove(&module->lines[at + 1], &module->lines[at],
		(module->n_lines++ - at) * sizeof(*module->lines));
	module->lines[at] = (struct loci_unit_lines){ offset, table };
	return table;
}

/* NULL: libdw is to be asked. */
static struct loci_line_table *table_of(struct loci_symbol_module *module, Dwarf_Die *unit)
{
	size_t low = 0, high = module->n_lines;
	Dwarf_Attribute attribute;
	Dwarf_Word offset;

	if (dwarf_cu_getdwarf(unit->cu) != module->dwarf ||
		!dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
		dwarf_formudata(&attribute, &offset) != 0)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module->lines[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < module->n_lines && module->lines[low].offset == offset)
		return module->lines[low].table;
	return add(module, low, offset, unit);
}

static const char *file_of(
	struct loci_symbol_module *module, const struct loci_line_table *table, uint64_t number)
{
	struct loci_pool *pool = &module->symbols->pool;
	const char *folder, *name;

	if (!loci_line_table_file(table, number, &folder, &name))
		return NULL;
	return folder ? loci_pool_format(pool, "%s/%s", folder, name)
		      : loci_pool_string(pool, name);
}

const char *loci_unit_file(struct loci_symbol_module *module, Dwarf_Die *unit, uint64_t number)
{
	const struct loci_line_table *table = table_of(module, unit);
	Dwarf_Files *files;
	size_t n;

	if (table)
		return file_of(module, table, number);
	if (dwarf_getsrcfiles(unit, &files, &n) != 0 || number >= n)
		return NULL;
	return loci_pool_string(&module->symbols->pool, dwarf_filesrc(files, number, NULL, NULL));
}

static void ask_libdw(struct loci_symbol_module *module, Dwarf_Die *unit, uint64_t pc,
	struct loci_frame_name *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int value;

	if (!line)
		return;
	frame->file = loci_pool_string(&module->symbols->pool, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &value) == 0 && value > 0)
		frame->line = (unsigned)value;
	if (dwarf_linecol(line, &value) == 0 && value > 0)
		frame->column = (unsigned)value;
}

void loci_unit_line(struct loci_symbol_module *module, struct loci_unit *unit, uint64_t pc,
	struct loci_frame_name *frame)
{
	const struct loci_line_table *table = table_of(module, &unit->skeleton);
	struct loci_line_row row;

	if (!table) {
		ask_libdw(module, &unit->skeleton, pc, frame);
	} else if (loci_line_table_find(table, pc, &row)) {
		frame->file = file_of(module, table, row.file);
		frame->line = row.line;
		frame->column = row.column;
	}
}
