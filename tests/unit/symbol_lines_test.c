/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line tables against libdw, which keeps all rows: each address at which one of a unit's rows
 * begins, and the byte before, and every file; damaged ones are read without harm. */
#include "check.h"
#include "symbol/module.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static size_t n_rows, n_files;

/* A row where its sequence ends is of no byte; libdw takes it for what is behind. */
static bool is_empty(Dwarf_Die *unit, Dwarf_Line *line)
{
	Dwarf_Addr address, other;
	Dwarf_Lines *lines;
	bool is_end;
	size_t n = 0;

	CHECK(dwarf_lineaddr(line, &address) == 0 && dwarf_getsrclines(unit, &lines, &n) == 0);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *at = dwarf_onesrcline(lines, i);

		if (dwarf_lineendsequence(at, &is_end) == 0 && is_end &&
			dwarf_lineaddr(at, &other) == 0 && other == address)
			return true;
	}
	return false;
}

static void check_address(Dwarf_Die *unit, const struct loci_line_table *table, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	const char *folder = NULL, *name = NULL, *source;
	struct loci_line_row row = { 0 };
	char path[8192];
	int value;

	n_rows++;
	if (!loci_line_table_find(table, address, &row)) {
		CHECK(!line || is_empty(unit, line));
		return;
	}
	CHECK(line);
	CHECK(dwarf_lineno(line, &value) == 0);
	CHECK_U64(row.line, (unsigned)value);
	CHECK(dwarf_linecol(line, &value) == 0);
	CHECK_U64(row.column, (unsigned)value);
	source = dwarf_linesrc(line, NULL, NULL);
	CHECK(loci_line_table_file(table, row.file, &folder, &name));
	snprintf(path, sizeof(path), "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
	CHECK_STR(path, source);
}

static void check_files(Dwarf_Die *unit, const struct loci_line_table *table, bool is_old)
{
	const char *folder, *name;
	Dwarf_Files *files;
	size_t n;

	CHECK(dwarf_getsrcfiles(unit, &files, &n) == 0);
	CHECK(!loci_line_table_file(table, n, &folder, &name));
	for (size_t i = is_old; i < n; i++) {
		char path[8192];

		CHECK(loci_line_table_file(table, i, &folder, &name));
		snprintf(path, sizeof(path), "%s%s%s", folder ? folder : "", folder ? "/" : "",
			name);
		CHECK_STR(path, dwarf_filesrc(files, i, NULL, NULL));
		n_files++;
	}
}

static void check_unit(Dwarf_Die *unit, const struct loci_line_sections *sections, bool is_old)
{
	Dwarf_Attribute offset, folder;
	struct loci_line_table *table;
	Dwarf_Word at;
	Dwarf_Lines *lines;
	size_t n;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &offset))
		return;
	CHECK(dwarf_formudata(&offset, &at) == 0);
	CHECK(loci_line_table_new(&table, sections, at,
		      dwarf_attr(unit, DW_AT_comp_dir, &folder) ? dwarf_formstring(&folder)
								: NULL) == 0);
	check_files(unit, table, is_old);
	CHECK(dwarf_getsrclines(unit, &lines, &n) == 0);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Addr address;

		CHECK(dwarf_lineaddr(dwarf_onesrcline(lines, i), &address) == 0);
		check_address(unit, table, address);
		if (address)
			check_address(unit, table, address - 1);
	}
	loci_line_table_free(table);
}

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* Bytes changed, and cut off. Whatever is made of it, all answers lie inside. */
static void check_damaged(const struct loci_line_sections *sections)
{
	size_t bytes = (size_t)(sections->lines.end - sections->lines.at);

	for (unsigned round = 0; round < 300 && bytes; round++) {
		struct loci_line_sections damaged = *sections;
		size_t length = round % 3 ? bytes : draw(bytes);
		uint8_t *copy = malloc(length + 1);
		struct loci_line_table *table;
		struct loci_line_row row;
		const char *folder, *name;

		CHECK(copy);
		memcpy(copy, sections->lines.at, length);
		for (unsigned i = 0; i < round % 7 && length; i++)
			copy[draw(i % 2 ? length : length < 64 ? length : 64)] = (uint8_t)draw(256);
		damaged.lines.at = copy;
		damaged.lines.end = copy + length;
		if (loci_line_table_new(&table, &damaged, 0, NULL) == 0) {
			for (unsigned i = 0; i < 64; i++)
				loci_line_table_find(table, draw(1 << 16), &row);
			for (unsigned i = 0; i < 16; i++)
				if (loci_line_table_file(table, i, &folder, &name))
					CHECK(strlen(name) <= length + 100000);
		}
		loci_line_table_free(table);
		free(copy);
	}
}

static void check_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	struct loci_line_sections sections;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	Dwarf_Die unit;
	uint8_t type;

	if (!dwarf) {
		printf("%s: left out\n", path);
		if (fd >= 0)
			close(fd);
		return;
	}
	n_rows = n_files = 0;
	loci_line_sections_find(&sections, dwarf);
	while (dwarf_get_units(dwarf, cu, &cu, &version, &type, &unit, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			check_unit(&unit, &sections, version < 5);
	check_damaged(&sections);
	printf("%s: %zu addresses, %zu files\n", path, n_rows, n_files);
	CHECK(n_rows > 20 && n_files > 1);
	dwarf_end(dwarf);
	close(fd);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "c-gcc-O2", "c-gcc-O3-dwarf4", "c-gcc-nopie",
		"c-clang-O2-dwarf4", "cpp-gcc-O2", "cpp-clang-O2-dwarf4", "cpp-gcc-types",
		"c-gcc-split" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[4096];

		snprintf(path, sizeof(path), FIXTURES "/%s", names[i]);
		check_file(path);
	}
	check_file("/proc/self/exe");
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	return check_status();
}
