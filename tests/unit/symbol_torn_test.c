/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are not what they were: missing, of another kind, rebuilt, cut off, with bytes
 * changed. Names get poor, something says why, and nothing breaks. */
#include "symbol_fixture.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <sys/stat.h>

static char folder[] = "/tmp/loci-symbol-XXXXXX";

static void check_trouble(const char *path, const uint8_t *id, size_t id_bytes, const char *want)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	const struct loci_variable *variables;
	const struct loci_type *type;
	struct loci_symbols *symbols;
	struct loci_err err = { "" };
	const char *trouble, *name;
	uint32_t module;
	size_t n;

	CHECK(loci_symbols_new(&symbols, &err) == 0);
	CHECK(loci_symbols_module(symbols, path, id, id_bytes, &module, &err) == 0);
	trouble = loci_symbols_trouble(symbols, module);
	if (!trouble || !strstr(trouble, want))
		CHECK_FAIL("%s: \"%s\", want \"%s\"", path, trouble ? trouble : "(none)", want);
	CHECK(loci_symbols_frames(symbols, module, 0x1234, frames, LOCI_FRAMES_MAX, &n, &err) == 0);
	CHECK_U64(n, 0);
	CHECK(loci_symbols_globals(symbols, module, &variables, &n, &err) == 0);
	CHECK_U64(n, 0);
	CHECK(loci_symbols_locals(symbols, module, 0x1234, &variables, &n, &err) == 0);
	CHECK_U64(n, 0);
	CHECK(loci_symbols_assigned(symbols, module, 0x1234, &name, &type, &err) == 0);
	CHECK(!name && !type);
	CHECK_STR(err.text, "");
	loci_symbols_free(symbols);
}

static void check_kinds(void)
{
	char path[4096];
	FILE *file;

	check_trouble("/nonexistent/program", NULL, 0, "No such file");
	check_trouble("[vdso]", NULL, 0, "cannot be read");
	check_trouble(folder, NULL, 0, "not a regular file");
	snprintf(path, sizeof(path), "%s/pipe", folder);
	CHECK(mkfifo(path, 0600) == 0);
	check_trouble(path, NULL, 0, "not a regular file");
	snprintf(path, sizeof(path), "%s/empty", folder);
	file = fopen(path, "w");
	CHECK(file && fclose(file) == 0);
	check_trouble(path, NULL, 0, "not an ELF file");
	snprintf(path, sizeof(path), "%s/script", folder);
	file = fopen(path, "w");
	CHECK(file && fputs("#!/bin/sh\necho\n", file) >= 0 && fclose(file) == 0);
	check_trouble(path, NULL, 0, "not an ELF file");
}

static void check_build_id(void)
{
	static const uint8_t other[20] = { 1, 2, 3 };
	struct loci_symbols *symbols;
	struct loci_err err = { "" };
	struct fixture fixture;
	char line[4096];
	uint8_t id[64];
	size_t n = 0;
	uint32_t a, b, c;
	FILE *notes;

	if (!fixture_open(&fixture, "c-gcc-O2"))
		return;
	check_trouble(fixture.path, other, sizeof(other), "rebuilt");
	notes = fixture_run(&fixture, "readelf -n %s | sed -n 's/.*Build ID: //p'");
	if (notes && fgets(line, sizeof(line), notes))
		for (unsigned byte; n < 64 && sscanf(line + 2 * n, "%2x", &byte) == 1; n++)
			id[n] = (uint8_t)byte;
	if (notes)
		pclose(notes);
	CHECK(loci_symbols_new(&symbols, &err) == 0);
	CHECK(loci_symbols_module(symbols, fixture.path, id, n, &a, &err) == 0);
	CHECK(loci_symbols_module(symbols, fixture.path, NULL, 0, &b, &err) == 0);
	CHECK(loci_symbols_module(symbols, fixture.path, id, n, &c, &err) == 0);
	CHECK(a == c && a != b);
	CHECK(n == 20 && loci_symbols_trouble(symbols, a) == NULL);
	CHECK(loci_symbols_module(symbols, fixture.path, id, 65, &c, &err) < 0 && *err.text);
	loci_symbols_free(symbols);
	fixture_close(&fixture);
}

/* Everything that can be asked, at addresses all over the file. Returns how many had a line. */
static size_t ask_all(const char *path)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	const struct loci_variable *variables;
	const struct loci_type_field *fields;
	const struct loci_type *type;
	struct loci_symbols *symbols;
	struct loci_err err = { "" };
	const char *name;
	uint32_t module;
	size_t n, n_fields, lines = 0;

	CHECK(loci_symbols_new(&symbols, &err) == 0);
	CHECK(loci_symbols_module(symbols, path, NULL, 0, &module, &err) == 0);
	loci_symbols_trouble(symbols, module);
	for (uint64_t i = 0; i < 200; i++) {
		/* Where code lies in the fixtures, with and without a fixed place. */
		uint64_t at = (i & 1 ? 0x400000 : 0) + 0x1000 + i * 26;

		CHECK(loci_symbols_frames(symbols, module, at, frames, LOCI_FRAMES_MAX, &n, &err) ==
			0);
		lines += n && frames[0].line;
		CHECK(loci_symbols_locals(symbols, module, at, &variables, &n, &err) == 0);
		CHECK(loci_symbols_assigned(symbols, module, at, &name, &type, &err) == 0);
	}
	CHECK(loci_symbols_globals(symbols, module, &variables, &n, &err) == 0);
	for (size_t i = 0; i < n; i++)
		CHECK(loci_type_fields(symbols, variables[i].type, &fields, &n_fields, &err) == 0);
	loci_symbols_free(symbols);
	return lines;
}

static uint64_t state = 1442695040888963407u;

static size_t draw(size_t below)
{
	state = state * 6364136223846793005u + 1;
	return (size_t)(state >> 33) % below;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

/* rounds of each: cut off, a few bytes changed anywhere, many changed in one place. */
static void check_torn(const char *name, int rounds)
{
	loci_autofree char *whole = NULL, *torn = NULL;
	struct fixture fixture;
	char path[4096];
	struct stat st;
	size_t n, lines = 0;
	FILE *file;

	if (!fixture_open(&fixture, name))
		return;
	fixture_close(&fixture);
	CHECK(stat(fixture.path, &st) == 0);
	n = (size_t)st.st_size;
	whole = malloc(n);
	torn = malloc(n);
	file = fopen(fixture.path, "r");
	CHECK(whole && torn && file && fread(whole, 1, n, file) == n);
	fclose(file);
	snprintf(path, sizeof(path), "%s/torn", folder);
	for (int i = 0; i < rounds; i++) {
		write_file(path, whole, draw(n));
		lines += ask_all(path);
		memcpy(torn, whole, n);
		for (size_t flips = 1 + draw(30); flips; flips--)
			torn[draw(n)] = (char)draw(256);
		write_file(path, torn, n);
		lines += ask_all(path);
		memcpy(torn, whole, n);
		for (size_t at = draw(n), flips = 200; flips && at < n; flips--, at += 1 + draw(8))
			torn[at] = (char)draw(256);
		write_file(path, torn, n);
		lines += ask_all(path);
	}
	CHECK(lines > 0); /* a few bytes do not spoil all */
	CHECK(unlink(path) == 0);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 60;
	char command[256];

	CHECK(mkdtemp(folder) != NULL);
	check_kinds();
	check_build_id();
	check_torn("c-gcc-O0", rounds);
	check_torn("c-gcc-O2", rounds);
	check_torn("c-clang-O2", rounds);
	check_torn("c-gcc-nopie", rounds);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	CHECK(system(command) == 0);
	return check_status();
}
