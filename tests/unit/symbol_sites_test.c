// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the sites of instrumented code, from a section that was written by hand
 * (tests/workloads/sites_fixture.c), and what is left of them when the file is damaged. */
#include "symbol_fixture.h"

#include "base/cleanup.h"

static struct loci_err err = { "" };

static void check_frame(const struct loci_frame_name *got, const char *function,
	const char *mangled, const char *file, unsigned line, unsigned column, unsigned decl_line,
	uint64_t entry)
{
	CHECK_STR(got->function, function);
	CHECK_STR(got->mangled, mangled);
	CHECK_STR(got->file, file);
	CHECK_U64(got->line, line);
	CHECK_U64(got->column, column);
	CHECK_STR(got->decl_file, file);
	CHECK_U64(got->decl_line, decl_line);
	CHECK_U64(got->entry, entry);
}

static void check_frames(struct fixture *fixture, uint64_t sites, uint64_t code)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_symbols *symbols = fixture->symbols;
	size_t n;

	CHECK(loci_symbols_frames(symbols, 0, sites, frames, LOCI_FRAMES_MAX, &n, &err) == 0);
	CHECK_U64(n, 1);
	check_frame(&frames[0], "outer(int)", "_Z5outeri", "/source/a.cc", 9, 0, 8, code);
	CHECK(loci_symbols_frames(symbols, 0, sites + 48, frames, LOCI_FRAMES_MAX, &n, &err) == 0);
	CHECK_U64(n, 3);
	check_frame(&frames[0], "inner", "inner", "/source/b.h", 41, 5, 40, 0);
	check_frame(
		&frames[1], "space::middle()", "_ZN5space6middleEv", "/source/b.h", 31, 6, 30, 0);
	check_frame(&frames[2], "outer(int)", "_Z5outeri", "/source/a.cc", 12, 7, 8, code);
	/* Where there is no room for all the function itself is the last. */
	CHECK(loci_symbols_frames(symbols, 0, sites + 48, frames, 2, &n, &err) == 0);
	CHECK_U64(n, 2);
	CHECK_STR(frames[1].mangled, "_Z5outeri");
	/* Without a line; any byte of a site will do. */
	CHECK(loci_symbols_frames(symbols, 0, sites + 72 + 23, frames, 3, &n, &err) == 0);
	CHECK_U64(n, 2);
	check_frame(
		&frames[0], "space::middle()", "_ZN5space6middleEv", "/source/b.h", 0, 0, 30, 0);
	/* Of the section, but no site. */
	CHECK(loci_symbols_frames(symbols, 0, sites - 1, frames, 3, &n, &err) == 0 && n == 0);
	CHECK(loci_symbols_frames(symbols, 0, sites + 96, frames, 3, &n, &err) == 0 && n == 0);
	/* Code has the names it always had. */
	CHECK(loci_symbols_frames(symbols, 0, code, frames, 3, &n, &err) == 0 && n == 1);
	CHECK(strstr(frames[0].file, "sites_fixture.c") && frames[0].entry == code);
}

static void check_site(struct fixture *fixture, uint64_t sites, uint64_t loops, uint64_t code)
{
	struct loci_symbols *symbols = fixture->symbols;
	struct loci_symbol_site site;
	struct loci_loop_name loop;
	uint64_t got;

	CHECK(loci_symbols_site(symbols, 0, sites, &site, &err) == 1);
	CHECK(site.code == code && !site.variable && !site.loop);
	CHECK(loci_symbols_site(symbols, 0, sites + 24, &site, &err) == 1);
	CHECK_STR(site.variable, "node->next");
	CHECK_U64(site.loop, loops);
	CHECK(loci_symbols_site(symbols, 0, sites + 72, &site, &err) == 1);
	CHECK_U64(site.loop, loops + 16);
	CHECK(loci_symbols_site(symbols, 0, code, &site, &err) == 0 && !site.code);
	CHECK(loci_symbols_site(symbols, 0, loops, &site, &err) == 0 && !site.code);

	CHECK(loci_symbols_code(symbols, 0, sites + 50, &got, &err) == 0 && got == code);
	CHECK(loci_symbols_code(symbols, 0, code + 1, &got, &err) == 0 && got == code + 1);

	CHECK(loci_symbols_loop(symbols, 0, loops, &loop, &err) == 1);
	CHECK_STR(loop.function, "outer(int)");
	CHECK_STR(loop.file, "/source/a.cc");
	CHECK(loop.line == 10 && loop.column == 2 && loop.depth == 1 && !loop.parent);
	CHECK(loop.first == sites + 24 && loop.end == sites + 96);
	CHECK(loci_symbols_loop(symbols, 0, loops + 16, &loop, &err) == 1);
	CHECK_STR(loop.function, "space::middle()");
	CHECK(loop.line == 35 && loop.column == 3 && loop.depth == 2 && loop.parent == loops);
	CHECK(loop.first == sites + 48 && loop.end == sites + 96);
	CHECK(loci_symbols_loop(symbols, 0, loops + 32, &loop, &err) == 0 && !loop.line);
	CHECK(loci_symbols_loop(symbols, 0, sites, &loop, &err) == 0 && !loop.depth);
}

/* The file with a byte of the section changed, everything asked. */
static void check_damaged(const struct fixture *fixture, uint64_t sites, size_t offset)
{
	char path[] = "/tmp/loci-sites-XXXXXX";
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	loci_autofree char *bytes = NULL;
	struct loci_symbols *symbols;
	struct loci_symbol_site site;
	struct loci_loop_name loop;
	uint64_t address = sites - 112; /* the definition's */
	long size = 0;
	uint32_t module;
	size_t n;
	FILE *file = fopen(fixture->path, "r");
	int fd;

	CHECK(file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0);
	rewind(file);
	bytes = malloc((size_t)size);
	CHECK(bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size);
	fclose(file);
	bytes[offset] ^= 0x55;
	fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, bytes, (size_t)size) == size && close(fd) == 0);
	CHECK(loci_symbols_new(&symbols, &err) == 0);
	CHECK(loci_symbols_module(symbols, path, NULL, 0, &module, &err) == 0);
	for (uint64_t at = address; at < address + 320; at += 4) {
		CHECK(loci_symbols_frames(symbols, 0, at, frames, LOCI_FRAMES_MAX, &n, &err) == 0);
		CHECK(loci_symbols_site(symbols, 0, at, &site, &err) >= 0);
		CHECK(loci_symbols_loop(symbols, 0, at, &loop, &err) >= 0);
	}
	CHECK_STR(err.text, "");
	loci_symbols_free(symbols);
	unlink(path);
}

/* Where in the file the definition stands. */
static size_t find_definition(const struct fixture *fixture)
{
	char line[256] = "";
	FILE *out = fixture_run(fixture,
		"readelf -SW %s | sed -n 's/.* loci_def *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\).*/"
		"\\1/p'");

	CHECK(out && fgets(line, sizeof(line), out));
	pclose(out);
	return strtoul(line, NULL, 16);
}

int main(void)
{
	struct fixture fixture;
	uint64_t sites, loops, code;
	size_t offset;

	if (!fixture_open(&fixture, "sites"))
		return 77;
	sites = fixture_symbol(&fixture, "sites");
	loops = fixture_symbol(&fixture, "loops");
	code = fixture_symbol(&fixture, "_Z5outeri");
	CHECK(sites && loops && code);
	CHECK(loci_symbols_trouble(fixture.symbols, fixture.module) == NULL);
	check_frames(&fixture, sites, code);
	check_site(&fixture, sites, loops, code);
	offset = find_definition(&fixture);
	for (size_t i = 0; i < 64 + 3 * 16 + 4 * 24 + 3 * 24 + 2 * 16; i += 3)
		check_damaged(&fixture, sites, offset + i);
	CHECK_STR(err.text, "");
	fixture_close(&fixture);
	return check_status();
}
