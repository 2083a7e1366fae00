/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The levels of code at an address. From debug information where there is some, else the function's
 * symbol. C++ names are those of the demangler, with templates and parameters, since overloads
 * differ in nothing else; where there is no mangled name, that of the scopes. */
#include "symbol/die.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <string.h>

static const char *linkage_name(Dwarf_Die *die)
{
	const char *name = loci_die_string(die, DW_AT_linkage_name);

	return name ? name : loci_die_string(die, DW_AT_MIPS_linkage_name);
}

/* The first address: where a function lies in pieces, that of the piece listed first. */
static uint64_t entry_of(struct loci_symbol_module *module, Dwarf_Die *die)
{
	Dwarf_Addr base, low = 0, high;

	if (dwarf_entrypc(die, &low) != 0 && dwarf_ranges(die, 0, &base, &low, &high) <= 0)
		return 0;
	return low + module->dwarf_bias;
}

static unsigned attribute_of(Dwarf_Die *die, unsigned attribute)
{
	uint64_t value;

	return loci_die_number(die, attribute, &value) && value <= UINT32_MAX ? (unsigned)value : 0;
}

static void name_function(
	struct loci_symbol_module *module, Dwarf_Die *die, struct loci_scope_name *name)
{
	struct loci_symbols *symbols = module->symbols;
	const char *mangled = linkage_name(die);
	const char *plain = loci_die_string(die, DW_AT_name);
	const struct loci_elf_symbol *symbol;

	/* Compilers may leave it out where no other unit can name the function. */
	symbol = mangled || !name->entry ? NULL : loci_elf_function(module, name->entry);
	if (symbol && symbol->low == name->entry && (!plain || !strncmp(symbol->name, "_Z", 2)))
		mangled = symbol->name;
	if (mangled)
		name->function = loci_demangle(&symbols->demangler, &symbols->pool, mangled);
	if (!name->function && plain) /* gfortran calls a program "main" MAIN__ */
		name->function = loci_demangle_fortran(&symbols->pool, plain)
			?: loci_die_qualified(module, die, NULL);
	name->mangled = loci_pool_string(&symbols->pool, mangled ? mangled : plain);
	if (!name->function)
		name->function = name->mangled;
}

const struct loci_scope_name *loci_scope_named(
	struct loci_symbol_module *module, struct loci_scope *scope)
{
	struct loci_scope_name *name;

	if (scope->name)
		return scope->name;
	name = loci_pool_alloc(&module->symbols->pool, sizeof(*name));
	if (!name)
		return NULL;
	if (scope->kind == LOCI_SCOPE_FUNCTION)
		name->entry = loci_elf_entry(module, entry_of(module, &scope->die));
	if (scope->kind != LOCI_SCOPE_BLOCK)
		name_function(module, &scope->die, name);
	name->decl_file = loci_die_file(module, &scope->die, DW_AT_decl_file);
	name->decl_line = attribute_of(&scope->die, DW_AT_decl_line);
	if (scope->kind == LOCI_SCOPE_INLINED) {
		name->call_file = loci_die_file(module, &scope->die, DW_AT_call_file);
		name->call_line = attribute_of(&scope->die, DW_AT_call_line);
		name->call_column = attribute_of(&scope->die, DW_AT_call_column);
	}
	return scope->name = name;
}

/* Fills frames from the innermost scope outwards. frames[0] has its place already; every inlined
 * call gives the next frame its place. When there are too many, the function itself takes the place
 * of the last. */
static int fill(struct loci_symbol_module *module, struct loci_unit *unit, uint32_t scope,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err)
{
	struct loci_frame_name next = frames[0];

	*ret_n = 0;
	for (; scope != LOCI_SCOPE_NONE; scope = unit->scopes[scope].parent) {
		struct loci_scope *at = &unit->scopes[scope];
		const struct loci_scope_name *name;

		if (at->kind == LOCI_SCOPE_BLOCK)
			continue;
		name = loci_scope_named(module, at);
		if (!name)
			return loci_err_nomem(err);
		next.function = name->function;
		next.mangled = name->mangled;
		next.decl_file = name->decl_file;
		next.decl_line = name->decl_line;
		next.entry = name->entry;
		*ret_n += *ret_n < cap;
		frames[*ret_n - 1] = next;
		if (at->kind == LOCI_SCOPE_FUNCTION)
			break;
		next = (struct loci_frame_name){
			.file = name->call_file,
			.line = name->call_line,
			.column = name->call_column,
		};
	}
	return 0;
}

static void fill_from_symbol(
	struct loci_symbol_module *module, uint64_t address, struct loci_frame_name *frame)
{
	const struct loci_elf_symbol *symbol = loci_elf_function(module, address);
	struct loci_symbols *symbols = module->symbols;

	if (!symbol)
		return;
	frame->mangled = symbol->name;
	frame->function = loci_demangle(&symbols->demangler, &symbols->pool, symbol->name);
	if (!frame->function)
		frame->function = symbol->name;
	frame->entry = symbol->low;
}

int loci_symbols_frames(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err)
{
	struct loci_symbol_module *module;
	uint64_t pc;
	struct loci_unit *unit;
	const struct loci_interval *code;
	int r;

	*ret_n = 0;
	r = loci_symbols_found(symbols, number, &module, err);
	if (r < 0)
		return r;
	if (!cap)
		return 0;
	memset(&frames[0], 0, sizeof(frames[0]));
	if (address >= module->cc.low && address < module->cc.high)
		return loci_cc_frames(module, address, frames, cap, ret_n, err);
	r = loci_module_open_debug(module, err);
	if (r < 0)
		return r;
	pc = address - module->dwarf_bias;
	r = loci_unit_find(module, pc, &unit, err);
	if (r < 0)
		return r;
	if (unit) {
		loci_unit_line(module, unit, pc, &frames[0]);
		code = loci_intervals_find(&unit->code, pc);
		r = fill(module, unit, code ? code->id : LOCI_SCOPE_NONE, frames, cap, ret_n, err);
		for (size_t i = 0; i < *ret_n; i++)
			frames[i].fortran =
				loci_language_fortran(loci_die_language(module, &unit->die));
	}
	if (r == 0 && !*ret_n) {
		fill_from_symbol(module, address, &frames[0]);
		*ret_n = frames[0].function || frames[0].file;
	}
	return r;
}

/* What calls main, and what threads begin in. Their symbols are what the source calls them, and
 * nothing inlined stands around their calls. */
static bool is_starter(const struct loci_symbol_module *module, uint64_t address)
{
	const char *slash = strrchr(module->path, '/');
	const struct loci_elf_symbol *symbol;

	if (strcmp(slash ? slash + 1 : module->path, "libc.so.6"))
		return false;
	symbol = loci_elf_function(module, address);
	return symbol &&
		(!strcmp(symbol->name, "__libc_start_call_main") ||
			!strcmp(symbol->name, "start_thread"));
}

int loci_symbols_caller(struct loci_symbols *symbols, uint32_t number, uint64_t address,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err)
{
	struct loci_symbol_module *module;
	int r = loci_symbols_found(symbols, number, &module, err);

	if (r < 0 || !cap || !is_starter(module, address))
		return r < 0
			? r
			: loci_symbols_frames(symbols, number, address, frames, cap, ret_n, err);
	memset(&frames[0], 0, sizeof(frames[0]));
	fill_from_symbol(module, address, &frames[0]);
	*ret_n = 1;
	return 0;
}
