// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints what src/symbol says of every definition in a module's section, for tests to compare:
 *
 *	function SYMBOL entry ADDRESS
 *	site OP SIZE FLAGS LOOP VARIABLE FRAME..	a frame: SYMBOL|FILE:LINE:COLUMN
 *	loop FILE:LINE:COLUMN FUNCTION depth N parent N
 *
 * Fields are separated by tabs. Loops have the number of their line in the function's list. */
#include "symbol/cc_section.h"
#include "symbol/module.h"

#include <stdio.h>
#include <stdlib.h>

static const char *shown(const char *text)
{
	return text ? text : "-";
}

static void print_frame(const struct loci_frame_name *frame)
{
	printf("\t%s|%s:%u:%u", shown(frame->mangled), shown(frame->file), frame->line,
		frame->column);
}

static uint64_t loop_number(const struct loci_cc_known *known, uint64_t loop)
{
	return loop ? (loop - known->loops) / sizeof(struct loci_cc_loop) + 1 : 0;
}

static int list_site(
	struct loci_symbols *symbols, const struct loci_cc_known *known, uint32_t index)
{
	uint64_t address = known->sites + index * sizeof(struct loci_cc_site);
	struct loci_cc_site row = loci_cc_site(known, index);
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_symbol_site site;
	struct loci_err err = { "" };
	uint64_t code;
	size_t n;

	if (loci_symbols_site(symbols, 0, address, &site, &err) != 1 || site.code != known->code ||
		loci_symbols_code(symbols, 0, address, &code, &err) < 0 || code != known->code ||
		loci_symbols_frames(symbols, 0, address, frames, LOCI_FRAMES_MAX, &n, &err) < 0 ||
		!n || frames[n - 1].entry != known->code) {
		fprintf(stderr, "site at %#llx: %s\n", (unsigned long long)address, err.text);
		return 1;
	}
	printf("site\t%u\t%u\t%u\t%llu\t%s", row.op, row.size_bytes, row.flags,
		(unsigned long long)loop_number(known, site.loop), shown(site.variable));
	for (size_t i = 0; i < n; i++)
		print_frame(&frames[i]);
	putchar('\n');
	return 0;
}

static int list_loop(
	struct loci_symbols *symbols, const struct loci_cc_known *known, uint32_t index)
{
	uint64_t address = known->loops + index * sizeof(struct loci_cc_loop);
	struct loci_loop_name loop;
	struct loci_err err = { "" };

	if (loci_symbols_loop(symbols, 0, address, &loop, &err) != 1) {
		fprintf(stderr, "loop at %#llx: %s\n", (unsigned long long)address, err.text);
		return 1;
	}
	printf("loop\t%s:%u:%u\t%s\tdepth %u\tparent %llu\n", shown(loop.file), loop.line,
		loop.column, shown(loop.function), loop.depth,
		(unsigned long long)loop_number(known, loop.parent));
	return 0;
}

int main(int argc, char **argv)
{
	struct loci_symbol_module *module;
	struct loci_symbols *symbols;
	struct loci_err err = { "" };
	uint32_t number;
	int failed = 0;

	if (argc != 2 || loci_symbols_new(&symbols, &err) < 0 ||
		loci_symbols_module(symbols, argv[1], NULL, 0, &number, &err) < 0 ||
		loci_symbols_opened(symbols, number, &module, &err) < 0) {
		fprintf(stderr, "site_listing MODULE: %s\n", err.text);
		return 2;
	}
	for (size_t i = 0; i < module->cc.n_known; i++) {
		const struct loci_cc_known *known = &module->cc.known[i];

		printf("function\t%s\tentry\t%#llx\n", shown(loci_cc_name(&module->cc, known)),
			(unsigned long long)known->code);
		for (uint32_t k = 0; k < known->header.n_loops; k++)
			failed |= list_loop(symbols, known, k);
		for (uint32_t k = 0; k < known->header.n_sites; k++)
			failed |= list_site(symbols, known, k);
	}
	if (module->cc.n_damaged) {
		fprintf(stderr, "%zu definitions are damaged\n", module->cc.n_damaged);
		failed = 1;
	}
	loci_symbols_free(symbols);
	return failed;
}
