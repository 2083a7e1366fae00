/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of frames, against the truth: the fixtures print where their variables lie, relative to
 * the frame, and from where they say so. */
#include "symbol_fixture.h"

static const struct loci_variable *find(
	const struct loci_variable *locals, size_t n, const char *name, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(locals[i].name, name) &&
			((!locals[i].pc_low && !locals[i].pc_high) ||
				(locals[i].pc_low <= pc && pc < locals[i].pc_high)))
			return &locals[i];
	return NULL;
}

static void check_shape(const struct loci_variable *found)
{
	if (!strcmp(found->name, "array")) {
		CHECK_STR(loci_type_name(found->type), "int");
		CHECK_U64(found->elements, 10);
	} else if (!strcmp(found->name, "node")) {
		CHECK_STR(loci_type_name(found->type), "struct tree_node");
		CHECK_U64(found->elements, 1);
	} else if (!strcmp(found->name, "inner")) {
		CHECK_STR(loci_type_name(found->type), "double");
		CHECK_U64(found->elements, 3);
		CHECK(found->pc_low != 0); /* of a block inside of the function */
	}
	CHECK(strstr(found->file, "names_fixture.c") != NULL);
	CHECK(found->line > 0);
}

static void check_fixture(const char *name)
{
	const struct loci_variable *locals, *found;
	struct loci_err err = { "" };
	struct fixture fixture;
	char line[4096], variable[256];
	unsigned long bytes, pc, checked = 0;
	long offset;
	size_t n;
	FILE *output;

	if (!fixture_open(&fixture, name))
		return;
	output = fixture_run(&fixture, "%s");
	while (output && fgets(line, sizeof(line), output)) {
		if (sscanf(line, "local %*s %255s %ld %lu %lx", variable, &offset, &bytes, &pc) !=
			4)
			continue;
		CHECK(loci_symbols_locals(fixture.symbols, fixture.module, pc, &locals, &n, &err) ==
			0);
		for (size_t i = 1; i < n; i++)
			CHECK(locals[i - 1].low <= locals[i].low);
		found = find(locals, n, variable, pc);
		if (!found) {
			CHECK_FAIL("%s: no %s at %#lx", name, variable, pc);
			continue;
		}
		if (found->low != offset)
			CHECK_FAIL("%s: %s at %ld, want %ld", name, variable, (long)found->low,
				offset);
		CHECK_U64(found->bytes, bytes);
		check_shape(found);
		checked++;
	}
	if (output)
		CHECK(pclose(output) == 0);
	CHECK_U64(checked, 7);
	fixture_close(&fixture);
}

/* A realigned frame has no fixed distance to the return address: nothing is better than a guess. */
static void check_aligned(const char *name)
{
	const struct loci_variable *locals;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, name))
		return;
	CHECK(loci_symbols_locals(fixture.symbols, fixture.module,
		      fixture_symbol(&fixture, "aligned"), &locals, &n, &err) == 0);
	for (size_t i = 0; i < n; i++)
		CHECK(strcmp(locals[i].name, "line") != 0);
	fixture_close(&fixture);
}

static void check_nothing(void)
{
	const struct loci_variable *locals;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, "c-gcc-O2"))
		return;
	CHECK(loci_symbols_locals(fixture.symbols, fixture.module, 0, &locals, &n, &err) == 0);
	CHECK_U64(n, 0);
	CHECK(loci_symbols_locals(fixture.symbols, fixture.module, UINT64_MAX, &locals, &n, &err) ==
		0);
	CHECK_U64(n, 0);
	CHECK(loci_symbols_locals(fixture.symbols, fixture.module + 1, 0, &locals, &n, &err) < 0);
	CHECK(strstr(err.text, "no module 1") != NULL);
	fixture_close(&fixture);
}

int main(void)
{
	check_fixture("c-gcc-O0");
	check_fixture("c-gcc-O2");
	check_fixture("c-gcc-O3-dwarf4");
	check_fixture("c-gcc-nopie");
	check_fixture("c-gcc-static");
	check_fixture("c-clang-O0");
	check_fixture("c-clang-O2");
	check_fixture("c-clang-O2-dwarf4");
	check_aligned("c-clang-O0");
	check_aligned("c-clang-O2");
	check_nothing();
	return check_status();
}
