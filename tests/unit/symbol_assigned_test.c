/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What calls are assigned to: the scanner by a table, and the whole by programs that print where
 * their allocations return to, whose source says on the same lines what it should be. */
#include "symbol_fixture.h"
#include "symbol/assigned_text.h"
#include "workloads/names_fixture.h"

struct row {
	const char *text; /* @ stands before the call; without one its place is not known */
	const char *target, *type;
};

static const struct row c_rows[] = {
	{ "x = @malloc(n);", "x", "" },
	{ "int *x = @malloc(n * sizeof(int));", "x", "int" },
	{ "int *x = malloc(n * sizeof(int));", "x", "int" },
	{ "struct node *node = @malloc(sizeof(struct node));", "node", "struct node" },
	{ "struct node *node = @malloc(sizeof *node);", "node", "" },
	{ "x = (double *)@calloc(n, 8);", "x", "double" },
	{ "x = (struct node **) @calloc(n, 8);", "x", "struct node*" },
	{ "node->next = @malloc(8);", "node->next", "" },
	{ "a.b.c = @f(8);", "a.b.c", "" },
	{ "a[i] = @f(8);", "a[i]", "" },
	{ "a[f(i, 3)]->b = @g(8);", "a[f(i,3)]->b", "" },
	{ "*out = @f(8);", "*out", "" },
	{ "**out = @f(8);", "**out", "" },
	{ "(*out)->next = @f(8);", "(*out)->next", "" },
	{ "const char *const s = @strdup(t);", "s", "" },
	{ "char *a = @f(1), *b = g(2);", "a", "" },
	{ "char *a = f(1), *b = @g(2);", "b", "" },
	{ "a = f(1); b = @g(2); c = h(3);", "b", "" },
	{ "a = b = @f(1);", "b", "" },
	{ "if (!(p = @malloc(3)))", "p", "" },
	{ "if ((p = @malloc(3)) == NULL || (q = malloc(4)) == NULL)", "p", "" },
	{ "if ((p = malloc(3)) == NULL || (q = @malloc(4)) == NULL)", "q", "" },
	{ "while ((line = @next(file)) != NULL) {", "line", "" },
	{ "for (p = @first(); p; p = next(p))", "p", "" },
	{ "for (p = first(); p; p = @next(p))", "p", "" },
	{ "x = c ? @malloc(1) : NULL;", "x", "" },
	{ "x = c ? NULL : @malloc(1);", "x", "" },
	{ "x = CHECKED(@malloc(n));", "x", "" },
	{ "x = f(@malloc(n));", "", "" },
	{ "x = f(y, @malloc(n));", "", "" },
	{ "f(x = @malloc(n), y);", "x", "" },
	{ "return @malloc(n);", "", "" },
	{ "@free(x);", "", "" },
	{ "if (x == @f(1)) y = 2;", "", "" },
	{ "x += @f(1);", "", "" },
	{ "struct s x = { .buffer = @malloc(n) };", "x.buffer", "" },
	{ "struct s x = { .n = 3, .buffer = @malloc(n) };", "x.buffer", "" },
	{ "char *x = /* = y */ @f(\"a = b;\"); // z = 1", "x", "" },
	{ "char *x\n\t= @f(1);", "x", "" },
	{ "node->child[side] =\n\tmake(node, @f(1));", "", "" },
	{ "}\nx = @f(1);\ny = 2;", "x", "" },
	{ "case 3: x = @f(1); break;", "x", "" },
	{ "", "", "" },
	{ "@", "", "" },
	{ ") = @f(1);", "", "" },
	{ "] = @f(1);", "", "" },
	{ "= @f(1);", "", "" },
	/* C++ */
	{ "auto x = @new T[n];", "x", "T" },
	{ "auto *x = new @ns::Node<int>();", "x", "ns::Node<int>" },
	{ "auto x = new (std::nothrow) @T;", "x", "T" },
	{ "auto p = std::@make_unique<Node>(1, 2);", "p", "Node" },
	{ "std::unique_ptr<Node> p(@new Node);", "p", "Node" },
	{ "std::unique_ptr<Node> p{@new Node};", "p", "Node" },
	{ "p.reset(@new Node);", "p", "Node" },
	{ "this->list.push_back(@new Node(3));", "this->list", "Node" },
	{ "x = static_cast<Node *>(@malloc(n));", "x", "Node" },
	{ "std::vector<std::pair<int, int>> @v(n);", "v", "" },
	{ "v.@resize(n);", "v", "" },
	{ "a->v.@resize(n);", "a->v", "" },
	{ "std::vector<double> v(n, 0.0@);", "v", "" },
	{ "member_ = @new char*[n];", "member_", "char*" },
	{ "auto [a, b] = @f();", "", "" },
	{ "x = [&] { return @f(); }();", "", "" },
};

static const struct row fortran_rows[] = {
	{ "allocate(x(n))", "x", "" },
	{ "ALLOCATE (Grid%Cells(0:n, m), stat=ierr)", "grid%cells", "" },
	{ "allocate(x(n), y(size(x)), &\n  z(3)) ! w", "x, y, z", "" },
	{ "allocate(real(8) :: x(n))", "x", "" },
	{ "allocate(node)", "node", "" },
	{ "if (.not. allocated(x)) allocate(x(n))", "x", "" },
	{ "a%b = f(x)", "a%b", "" },
	{ "p => next(q)", "p", "" },
	{ "h(2:n, :) = h(1:n-1, :) + 1", "", "" },
	{ "a%b(i) = f(x)", "", "" },
	{ "a(i)%b = f(x)", "a(i)%b", "" },
	{ "call f(x)", "", "" },
	{ "allocate(", "", "" },
};

static void check_rows(const struct row *rows, size_t n, bool fortran)
{
	for (size_t i = 0; i < n; i++) {
		struct loci_assigned_text got;
		const char *at = strchr(rows[i].text, '@');
		size_t place = at ? (size_t)(at - rows[i].text) : SIZE_MAX;
		char text[256];

		snprintf(text, sizeof(text), "%.*s%s", (int)(at ? place : strlen(rows[i].text)),
			rows[i].text, at ? at + 1 : "");
		if (loci_assigned_read(text, strlen(text), place, fortran, &got) !=
			(*rows[i].target != 0))
			CHECK_FAIL("\"%s\": says %s a target", rows[i].text,
				*got.target ? "it has" : "no");
		if (strcmp(got.target, rows[i].target) ||
			(*rows[i].type && strcmp(got.type, rows[i].type)))
			CHECK_FAIL("\"%s\" gives \"%s\" of \"%s\", want \"%s\" of \"%s\"",
				rows[i].text, got.target, got.type, rows[i].target, rows[i].type);
		check_count++;
	}
}

/* The mark on a line, or on one of the next two: a statement may end later. */
static const char *mark(struct fixture *fixture, const struct loci_frame_name *frames, size_t n)
{
	for (size_t level = 0; level < n; level++)
		for (unsigned i = 0; i < 3; i++) {
			const char *line = loci_symbols_source_line(
				fixture->symbols, frames[level].file, frames[level].line + i);
			const char *found = line ? strstr(line, "//= ") : NULL;

			if (found)
				return found + 4;
			if (line && strchr(line, ';'))
				break;
		}
	return NULL;
}

static void check_fixture(const char *name, unsigned long want_checked)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	const struct loci_type *type;
	const char *target;
	struct loci_err err = { "" };
	struct fixture fixture;
	char line[4096], got[512];
	unsigned long pc, checked = 0;
	size_t n;
	FILE *output;

	if (!fixture_open(&fixture, name))
		return;
	output = fixture_run(&fixture, "%s");
	while (output && fgets(line, sizeof(line), output)) {
		const char *want;

		if (sscanf(line, "alloc %lx", &pc) != 1)
			continue;
		CHECK(loci_symbols_frames(fixture.symbols, fixture.module, pc - 1, frames,
			      LOCI_FRAMES_MAX, &n, &err) == 0);
		want = mark(&fixture, frames, n);
		if (!want)
			continue;
		CHECK(loci_symbols_assigned(
			      fixture.symbols, fixture.module, pc, &target, &type, &err) == 0);
		snprintf(got, sizeof(got), "%s %s", target ? target : "-",
			type ? loci_type_name(type) : "-");
		if (strcmp(got, want))
			CHECK_FAIL("%s %#lx: is \"%s\", want \"%s\"", name, pc, got, want);
		checked++;
		if (type && !strcmp(loci_type_name(type), "struct tree_node"))
			CHECK_U64(loci_type_bytes(type), sizeof(struct tree_node));
	}
	if (output)
		CHECK(pclose(output) == 0);
	if (checked < want_checked)
		CHECK_FAIL("%s: %lu marks, want %lu", name, checked, want_checked);
	fixture_close(&fixture);
}

/* Fortran's allocations go straight to malloc: the addresses that follow calls of it. */
static void check_fortran(void)
{
	const struct loci_type *type;
	const char *target;
	struct loci_err err = { "" };
	struct fixture fixture;
	char line[4096];
	unsigned long pc;
	bool buffer = false, cells = false;
	FILE *output;

	if (!fixture_open(&fixture, "fortran-gfortran-O0"))
		return;
	output = fixture_run(&fixture,
		"objdump -d --no-show-raw-insn %s | grep -A1 'call.*<malloc@plt>' | grep -v call");
	while (output && fgets(line, sizeof(line), output)) {
		if (sscanf(line, " %lx:", &pc) != 1)
			continue;
		CHECK(loci_symbols_assigned(
			      fixture.symbols, fixture.module, pc, &target, &type, &err) == 0);
		if (target && !strcmp(target, "buffer") && type)
			buffer = buffer || !strcmp(loci_type_name(type), "real(kind=8)");
		if (target && !strcmp(target, "cells") && type)
			cells = cells ||
				(!strcmp(loci_type_name(type), "lattice::cell") &&
					loci_type_bytes(type) == 32);
	}
	if (output)
		pclose(output);
	CHECK(buffer && cells);
	fixture_close(&fixture);
}

int main(void)
{
	check_rows(c_rows, sizeof(c_rows) / sizeof(*c_rows), false);
	check_rows(fortran_rows, sizeof(fortran_rows) / sizeof(*fortran_rows), true);
	check_fixture("c-gcc-O0", 10);
	check_fixture("c-gcc-O2", 10);
	check_fixture("c-gcc-nopie", 10);
	check_fixture("c-clang-O0", 10);
	check_fixture("c-clang-O2", 10);
	check_fixture("cpp-gcc-O0", 6);
	check_fixture("cpp-gcc-O2", 6);
	check_fixture("cpp-clang-O0-dwarf4", 6);
	check_fixture("cpp-clang-O2", 4); /* it leaves out what is allocated for nothing */
	check_fortran();
	return check_status();
}
