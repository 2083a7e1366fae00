/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Globals against nm, and by hand; the fields of types against offsetof. */
#include "symbol_fixture.h"
#include "workloads/names_fixture.h"

static const struct loci_variable *named(
	const struct loci_variable *globals, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(globals[i].name, name))
			return &globals[i];
	return NULL;
}

static void check_order(const struct loci_variable *globals, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CHECK(globals[i].bytes > 0 && globals[i].elements > 0 && globals[i].name != NULL);
		if (i)
			CHECK(globals[i].low >= globals[i - 1].low + (int64_t)globals[i - 1].bytes);
	}
}

/* Every object that nm knows lies in a global. */
static unsigned long check_nm(const char *name)
{
	const struct loci_variable *globals;
	struct loci_err err = { "" };
	struct fixture fixture;
	char line[65536], type;
	unsigned long address, bytes, seen = 0;
	size_t n;
	FILE *nm;

	if (!fixture_open(&fixture, name))
		return 0;
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	check_order(globals, n);
	nm = fixture_run(&fixture,
		"readelf -sW %s | awk '$4 == \"OBJECT\" && $7 ~ /^[0-9]+$/ "
		"{ print $2, $3, \"d\" }'");
	while (nm && fgets(line, sizeof(line), nm)) {
		bool found = false;
		char size[32];

		if (sscanf(line, "%lx %31s %c", &address, size, &type) != 3)
			continue;
		bytes = strtoul(size, NULL, 0);
		for (size_t i = 0; i < n && bytes; i++)
			found = found ||
				((uint64_t)globals[i].low < address + bytes &&
					address < (uint64_t)globals[i].low + globals[i].bytes);
		if (!found && bytes)
			CHECK_FAIL("%s: no global at %#lx", name, address);
		seen++;
	}
	if (nm)
		pclose(nm);
	fixture_close(&fixture);
	return seen;
}

struct want {
	const char *name, *type;
	uint64_t bytes, elements;
};

static void check_wanted(const char *name, const struct want *wanted, size_t n_wanted)
{
	const struct loci_variable *globals, *found;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, name))
		return;
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	check_order(globals, n);
	for (size_t i = 0; i < n_wanted; i++) {
		found = named(globals, n, wanted[i].name);
		if (!found) {
			CHECK_FAIL("%s: no global \"%s\"", name, wanted[i].name);
			continue;
		}
		CHECK_U64(found->bytes, wanted[i].bytes);
		CHECK_U64(found->elements, wanted[i].elements);
		if (wanted[i].type)
			CHECK_STR(found->type ? loci_type_name(found->type) : "(none)",
				wanted[i].type);
		else
			CHECK(found->type == NULL);
		CHECK(found->file && strstr(found->file, "names_fixture.") && found->line > 0);
	}
	CHECK(!named(globals, n, "per_thread"));
	fixture_close(&fixture);
}

static void check_shapes(const char *name, const char *common)
{
	static const struct {
		const char *name, *shape;
	} wanted[] = { { "lattice::field", "(10,20)" }, { "lattice::corners", "(0:3)" },
		{ "lattice::steps", NULL }, { "lattice::cells", NULL } };
	const struct loci_variable *globals, *found;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, name))
		return;
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		found = named(globals, n, wanted[i].name);
		if (found && (found->type || !common))
			CHECK_STR(found->shape ? found->shape : "(none)",
				wanted[i].shape ? wanted[i].shape : "(none)");
	}
	found = common ? named(globals, n, common) : NULL;
	CHECK(!common || (found && found->bytes == 72));
	fixture_close(&fixture);
}

#define FIELD(type, path, shown, text)                                                     \
	{                                                                                  \
		shown, text, offsetof(struct type, path), sizeof(((struct type *)0)->path) \
	}

static const struct loci_type_field tree_node[] = {
	FIELD(tree_node, key, "key", "long"),
	FIELD(tree_node, child, "child[]", "struct tree_node *[2]"),
	FIELD(tree_node, pos.x, "pos.x", "int"),
	FIELD(tree_node, pos.y, "pos.y", "int"),
	FIELD(tree_node, real, "real", "double"),
	FIELD(tree_node, raw, "raw[]", "uint8_t[8]"),
	{ "low", "unsigned int", offsetof(struct tree_node, raw) + 8, 1 },
	{ "high", "unsigned int", offsetof(struct tree_node, raw) + 8, 2 },
	FIELD(tree_node, name, "name", "const char *"),
	FIELD(tree_node, box.a, "box.a", "short"),
	FIELD(tree_node, box.corner.x, "box.corner.x", "int"),
	FIELD(tree_node, box.corner.y, "box.corner.y", "int"),
	FIELD(tree_node, compare, "compare", "int (*)(const void *, const void *)"),
	FIELD(tree_node, tail, "tail[]", "char[5]"),
};

/* gcc says "long int" and "short int". */
static bool same_type(const char *got, const char *want)
{
	char with_int[64];

	snprintf(with_int, sizeof(with_int), "%s int", want);
	return !strcmp(got, want) || !strcmp(got, with_int);
}

static void check_fields(const char *name)
{
	const struct loci_variable *globals, *root;
	const struct loci_type_field *fields;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, name))
		return;
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	root = named(globals, n, "root");
	CHECK(root != NULL);
	if (!root)
		return;
	CHECK_U64(loci_type_bytes(root->type), sizeof(struct tree_node));
	CHECK(loci_type_fields(fixture.symbols, root->type, &fields, &n, &err) == 0);
	CHECK_U64(n, sizeof(tree_node) / sizeof(*tree_node));
	for (size_t i = 0; i < n && i < sizeof(tree_node) / sizeof(*tree_node); i++) {
		CHECK_STR(fields[i].name, tree_node[i].name);
		CHECK_U64(fields[i].offset_bytes, tree_node[i].offset_bytes);
		CHECK_U64(fields[i].size_bytes, tree_node[i].size_bytes);
		if (!same_type(fields[i].type, tree_node[i].type))
			CHECK_FAIL("%s is \"%s\", want \"%s\"", fields[i].name, fields[i].type,
				tree_node[i].type);
	}
	CHECK(loci_type_fields(fixture.symbols, NULL, &fields, &n, &err) == 0);
	CHECK_U64(n, 0);
	fixture_close(&fixture);
}

static void check_classes(const char *name)
{
	static const struct {
		const char *name;
		uint64_t offset, bytes;
	} wanted[] = { { "base_value", 0, 4 }, { "extra[]", 4, 12 }, { "inner.depth", 16, 4 } };
	const struct loci_variable *globals, *derived;
	const struct loci_type_field *fields;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, name))
		return;
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	derived = named(globals, n, "shapes::derived");
	CHECK(derived && loci_type_fields(fixture.symbols, derived->type, &fields, &n, &err) == 0);
	if (derived) {
		CHECK_U64(n, 3);
		for (size_t i = 0; i < n && i < 3; i++) {
			CHECK_STR(fields[i].name, wanted[i].name);
			CHECK_U64(fields[i].offset_bytes, wanted[i].offset);
			CHECK_U64(fields[i].size_bytes, wanted[i].bytes);
		}
	}
	fixture_close(&fixture);
}

/* What is copied into the program from a library is called "stdout@GLIBC_2.2.5" there. */
static void check_copied(void)
{
	const struct loci_variable *globals;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, "c-gcc-nopie"))
		return;
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	CHECK(named(globals, n, "stdout") != NULL);
	fixture_close(&fixture);
}

/* Without debug information the symbols remain. */
static void check_plain(void)
{
	const struct loci_variable *globals, *root;
	struct loci_err err = { "" };
	struct fixture fixture;
	size_t n;

	if (!fixture_open(&fixture, "c-no-debug"))
		return;
	CHECK(loci_symbols_globals(fixture.symbols, fixture.module, &globals, &n, &err) == 0);
	check_order(globals, n);
	root = named(globals, n, "root");
	CHECK(root && root->bytes == sizeof(struct tree_node) && !root->type);
	CHECK_U64(root ? (uint64_t)root->low : 0, fixture_symbol(&fixture, "root"));
	fixture_close(&fixture);
}

int main(void)
{
	static const char *const c_fixtures[] = { "c-gcc-O0", "c-gcc-O2", "c-gcc-O3-dwarf4",
		"c-gcc-nopie", "c-gcc-static", "c-clang-O0", "c-clang-O2", "c-clang-O2-dwarf4",
		"c-linked" };
	static const char *const cpp_fixtures[] = { "cpp-gcc-O0", "cpp-gcc-O2",
		"cpp-clang-O0-dwarf4", "cpp-clang-O2" };
	static const struct want in_c[] = {
		{ "plain", "int", 4, 1 },
		{ "table", "double", 6 * 7 * 8, 42 },
		{ "root", "struct tree_node", sizeof(struct tree_node), 1 },
		{ "palette", "colour_t", 16 * sizeof(colour_t), 16 },
		{ "counter (count_calls)", "int", 4, 1 },
		{ "buffer (count_calls)", "char", 100, 100 },
		{ "list", "struct tree_node *", 8, 1 },
		{ "flexible", "struct flexible", 12, 1 },
	};
	static const struct want in_cpp[] = {
		{ "shapes::Node<int>::count", "int", 4, 1 },
		{ "shapes::total", "int", 4, 1 },
		{ "shapes::derived", "shapes::Derived", 20, 1 },
		{ "calls (shapes::Node<int>::push(int))", "int", 4, 1 },
	};
	static const struct want in_fortran[] = {
		{ "lattice::field", "real(kind=8)", 1600, 200 },
		{ "lattice::corners", "lattice::cell", 128, 4 },
		{ "lattice::steps", "integer(kind=4)", 4, 1 },
		{ "lattice::cells", NULL, 64, 1 },
		{ "counter (lattice::sweep)", "integer(kind=4)", 4, 1 },
		{ "alpha (/shared/)", "real(kind=8)", 8, 1 },
		{ "beta (/shared/)", "real(kind=8)", 64, 8 },
	};
	/* It knows no derived types, and nothing of common blocks. */
	static const struct want by_flang[] = {
		{ "lattice::field", "real(kind=8)", 1600, 200 },
		{ "lattice::corners", NULL, 128, 1 },
		{ "lattice::steps", "integer(kind=4)", 4, 1 },
		{ "lattice::cells", NULL, 64, 1 },
		{ "counter (lattice::sweep)", "integer(kind=4)", 4, 1 },
	};

	for (size_t i = 0; i < sizeof(c_fixtures) / sizeof(*c_fixtures); i++) {
		check_wanted(c_fixtures[i], in_c, sizeof(in_c) / sizeof(*in_c));
		check_fields(c_fixtures[i]);
		CHECK(!fixture_exists(c_fixtures[i]) || !strcmp(c_fixtures[i], "c-linked") ||
			check_nm(c_fixtures[i]) > 10);
	}
	for (size_t i = 0; i < sizeof(cpp_fixtures) / sizeof(*cpp_fixtures); i++) {
		check_wanted(cpp_fixtures[i], in_cpp, sizeof(in_cpp) / sizeof(*in_cpp));
		check_classes(cpp_fixtures[i]);
		CHECK(!fixture_exists(cpp_fixtures[i]) || check_nm(cpp_fixtures[i]) > 10);
	}
	check_wanted("fortran-gfortran-O0", in_fortran, sizeof(in_fortran) / sizeof(*in_fortran));
	check_wanted("fortran-flang-O0", by_flang, sizeof(by_flang) / sizeof(*by_flang));
	check_shapes("fortran-gfortran-O0", NULL);
	check_shapes("fortran-flang-O0", "/shared/");
	check_nm("/lib/x86_64-linux-gnu/libc.so.6");
	CHECK(check_nm(LOCI_PROGRAM) > 100);
	check_copied();
	check_plain();
	return check_status();
}
