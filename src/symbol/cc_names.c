// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the sites of code compiled by `loci cc`: what loci_symbols_frames() and its like say of
 * an address in the section of definitions. */
#include "symbol/module.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool find_section(Elf *elf, uint64_t *ret_low, uint64_t *ret_high)
{
	size_t names;
	Elf_Scn *at = NULL;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((at = elf_nextscn(elf, at))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(at, &header) || !(header.sh_flags & SHF_ALLOC) ||
			header.sh_type != SHT_PROGBITS ||
			header.sh_addr + header.sh_size < header.sh_addr)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, LOCI_CC_DEFINITIONS)) {
			*ret_low = header.sh_addr;
			*ret_high = header.sh_addr + header.sh_size;
			return true;
		}
	}
	return false;
}

/* What of the file is loaded, cut off where the file is. */
static size_t find_parts(Elf *elf, struct loci_cc_part *parts, size_t cap)
{
	size_t file_bytes = 0, n_segments = 0, n = 0;
	const char *file = elf_rawfile(elf, &file_bytes);

	if (!file || elf_getphdrnum(elf, &n_segments) != 0)
		return 0;
	for (size_t i = 0; i < n_segments && n < cap; i++) {
		GElf_Phdr segment;
		uint64_t bytes;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
			segment.p_offset >= file_bytes)
			continue;
		bytes = file_bytes - segment.p_offset;
		if (segment.p_filesz < bytes)
			bytes = segment.p_filesz;
		if (segment.p_vaddr + bytes < segment.p_vaddr)
			continue;
		parts[n].low = segment.p_vaddr;
		parts[n].bytes = (const uint8_t *)file + segment.p_offset;
		parts[n++].n = bytes;
	}
	return n;
}

int loci_cc_names_read(struct loci_symbol_module *module, struct loci_err *err)
{
	struct loci_cc_part parts[32]; /* linkers make four or five */
	uint64_t low, high;
	size_t n;

	if (!find_section(module->elf, &low, &high))
		return 0;
	n = find_parts(module->elf, parts, sizeof(parts) / sizeof(parts[0]));
	return loci_cc_section_read(&module->cc, parts, n, low, high) < 0 ? loci_err_nomem(err) : 0;
}

/* As frames.c names functions: demangled where that can be, else as the source has it. */
static int name_scope(struct loci_symbol_module *module, const struct loci_cc_known *known,
	uint32_t scope, struct loci_frame_name *ret)
{
	const struct loci_cc_section *cc = &module->cc;
	struct loci_symbols *symbols = module->symbols;
	const char *plain = loci_cc_scope_text(cc, known, scope, LOCI_CC_SCOPE_NAME);
	const char *linkage = loci_cc_scope_text(cc, known, scope, LOCI_CC_SCOPE_LINKAGE);
	const char *symbol = linkage;

	if (loci_cc_scope(known, scope).parent == UINT16_MAX && loci_cc_name(cc, known))
		symbol = loci_cc_name(cc, known);
	if (!linkage)
		linkage = symbol;
	if (!symbol)
		symbol = plain;
	if (!symbol)
		return 0;
	ret->mangled = loci_pool_string(&symbols->pool, symbol);
	if (linkage)
		ret->function = loci_demangle(&symbols->demangler, &symbols->pool, linkage);
	if (!ret->function)
		ret->function = loci_pool_string(&symbols->pool, plain ? plain : symbol);
	return ret->function && ret->mangled ? 0 : -ENOMEM;
}

static const char *file_of(
	struct loci_symbol_module *module, const struct loci_cc_known *known, uint32_t scope)
{
	return loci_pool_string(&module->symbols->pool,
		loci_cc_scope_text(&module->cc, known, scope, LOCI_CC_SCOPE_FILE));
}

int loci_cc_frames(struct loci_symbol_module *module, uint64_t address,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err)
{
	const struct loci_cc_known *known = loci_cc_find(&module->cc, address);
	struct loci_frame_name next = { 0 };
	struct loci_cc_site site;
	uint32_t index, scope;

	*ret_n = 0;
	if (!known || !cap || !loci_cc_site_at(known, address, &index))
		return 0;
	site = loci_cc_site(known, index);
	next.line = site.line;
	next.column = site.column;
	for (scope = site.scope;;) {
		struct loci_cc_scope at = loci_cc_scope(known, scope);

		if (name_scope(module, known, scope, &next) < 0)
			return loci_err_nomem(err);
		next.decl_line = at.line;
		next.decl_file = at.line ? file_of(module, known, scope) : NULL;
		next.file = file_of(module, known, scope);
		if (at.parent == UINT16_MAX)
			next.entry = known->code;
		*ret_n += *ret_n < cap; /* when there are too many the function itself is last */
		frames[*ret_n - 1] = next;
		if (at.parent == UINT16_MAX)
			return 0;
		next = (struct loci_frame_name){
			.line = at.call_line,
			.column = at.call_column,
		};
		scope = at.parent;
	}
}

static uint64_t loop_address(const struct loci_cc_known *known, uint32_t loop)
{
	return loop == LOCI_CC_NONE ? 0 : known->loops + loop * sizeof(struct loci_cc_loop);
}

int loci_symbols_site(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	struct loci_symbol_site *ret, struct loci_err *err)
{
	struct loci_symbol_module *module;
	const struct loci_cc_known *known;
	uint32_t index, block;
	const char *variable;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = loci_symbols_found(symbols, number, &module, err);
	if (r < 0)
		return r;
	known = loci_cc_find(&module->cc, address);
	if (!known || !loci_cc_site_at(known, address, &index))
		return 0;
	variable = loci_cc_variable(&module->cc, known, index);
	ret->code = known->code;
	ret->variable = loci_pool_string(&symbols->pool, variable);
	if (variable && !ret->variable)
		return loci_err_nomem(err);
	block = loci_cc_block_of(known, index);
	if (block != LOCI_CC_NONE)
		ret->loop = loop_address(known, loci_cc_block(known, block).loop);
	return 1;
}

int loci_symbols_code(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	uint64_t *ret_code, struct loci_err *err)
{
	struct loci_symbol_module *module;
	const struct loci_cc_known *known;
	int r = loci_symbols_found(symbols, number, &module, err);

	if (r < 0)
		return r;
	known = loci_cc_find(&module->cc, address);
	*ret_code = known ? known->code : address;
	return 0;
}

/* From the first to the last block in a loop or in one inside of it. */
static void sites_of(
	const struct loci_cc_known *known, uint32_t loop, uint64_t *ret_first, uint64_t *ret_end)
{
	uint32_t first = UINT32_MAX, end = 0;

	for (uint32_t i = 0; i < known->header.n_blocks; i++) {
		struct loci_cc_block block = loci_cc_block(known, i);
		uint32_t at = block.loop;

		while (at != LOCI_CC_NONE && at != loop)
			at = loci_cc_loop(known, at).parent;
		if (at != loop || !block.n_sites)
			continue;
		if (first == UINT32_MAX)
			first = block.first_site;
		end = block.first_site + block.n_sites;
	}
	if (first == UINT32_MAX)
		return;
	*ret_first = known->sites + first * sizeof(struct loci_cc_site);
	*ret_end = known->sites + end * sizeof(struct loci_cc_site);
}

int loci_symbols_loop(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	struct loci_loop_name *ret, struct loci_err *err)
{
	struct loci_frame_name function = { 0 };
	struct loci_symbol_module *module;
	const struct loci_cc_known *known;
	struct loci_cc_loop loop;
	uint32_t index;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = loci_symbols_found(symbols, number, &module, err);
	if (r < 0)
		return r;
	known = loci_cc_find(&module->cc, address);
	if (!known || !loci_cc_loop_at(known, address, &index))
		return 0;
	loop = loci_cc_loop(known, index);
	if (name_scope(module, known, loop.scope, &function) < 0)
		return loci_err_nomem(err);
	ret->function = function.function;
	ret->line = loop.line;
	ret->column = loop.column;
	ret->file = file_of(module, known, loop.scope);
	ret->depth = loop.depth;
	ret->parent = loop_address(known, loop.parent);
	sites_of(known, index, &ret->first, &ret->end);
	return 1;
}
