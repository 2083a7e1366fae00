/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of src/symbol: what is kept of symbols, of a module and of its units of debug information.
 *
 * A module is opened when something is first asked of it, its debug information when it is first
 * needed: there may be much to unpack. Only the heads of units are read then; a unit is indexed
 * when an address in it is first met, and an index is never larger than the code of that unit asks
 * for. */
#ifndef LOCI_SYMBOL_MODULE_H
#define LOCI_SYMBOL_MODULE_H

#include "symbol/cc_section.h"
#include "symbol/demangle.h"
#include "symbol/interval.h"
#include "symbol/line_table.h"
#include "symbol/pool.h"
#include "symbol/source_text.h"
#include "symbol/symbol.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define LOCI_BUILD_ID_MAX 64
#define LOCI_SCOPE_NONE   UINT32_MAX

/* What the symbol table says of a function or an object. */
struct loci_elf_symbol {
	uint64_t low, bytes; /* bytes 0: to the next one, or to the end of its section */
	uint64_t twin;    /* where its tracing copy begins, if that is a function; 0: it is none */
	const char *name; /* as it stands there, without its version */
};

enum loci_scope_kind { LOCI_SCOPE_FUNCTION, LOCI_SCOPE_INLINED, LOCI_SCOPE_BLOCK };

/* What a frame shows of a function; made when first asked for. */
struct loci_scope_name {
	const char *function, *mangled, *decl_file, *call_file;
	unsigned decl_line, call_line, call_column;
	uint64_t entry;
};

/* A function, an inlined call or a block of a unit. */
struct loci_scope {
	Dwarf_Die die;
	uint32_t parent; /* LOCI_SCOPE_NONE: none */
	enum loci_scope_kind kind;
	struct loci_scope_name *name;
	/* of functions, when asked for */
	struct loci_variable *locals;
	size_t n_locals;
};

struct loci_unit {
	Dwarf_Die skeleton; /* has the line table; die itself where nothing is split off */
	Dwarf_Die die;
	bool ranged, indexed;
	struct loci_scope *scopes; /* parents first */
	size_t n_scopes;
	struct loci_intervals code; /* id: of the innermost scope */
};

/* The entries that others lie in, by their place, to know an entry's parents: see die.c. */
struct loci_container {
	Dwarf_Die die;
	uint32_t parent; /* LOCI_SCOPE_NONE: the unit itself */
	const void *end; /* where what follows it begins; NULL: it is the last */
};
struct loci_containers {
	const void *unit; /* its key, a Dwarf_CU */
	struct loci_container *items;
	size_t n;
};

/* The line table at an offset in its section. */
struct loci_unit_lines {
	uint64_t offset;
	struct loci_line_table *table; /* NULL: libdw is to be asked */
};

struct loci_symbol_module {
	struct loci_symbols *symbols;
	const char *path;
	uint8_t build_id[LOCI_BUILD_ID_MAX];
	size_t build_id_bytes;
	const char *trouble;
	bool opened, debug_opened;
	bool usable; /* it is an ELF file, and the one that ran */

	Dwfl *dwfl;
	Dwfl_Module *dwfl_module;
	Elf *elf;
	Dwarf *dwarf;
	uint64_t dwarf_bias;            /* file address less address in the debug information */
	struct loci_intervals segments; /* that are loaded; depth 1: with code */

	struct loci_elf_symbol *functions, *objects; /* objects ascending */
	size_t n_functions, n_objects;
	struct loci_intervals function_map; /* id: index into functions */

	struct loci_unit *units;
	size_t n_units;
	struct loci_intervals unit_map; /* id: index into units */
	/* The same for units that do not say where their code lies, when one was looked for. */
	struct loci_intervals stray_map;
	bool strays_known;
	struct loci_containers *containers; /* a hash table by unit */
	size_t n_containers, cap_containers;

	struct loci_line_sections line_sections;
	struct loci_unit_lines *lines; /* by offset, of units that were asked for a place */
	size_t n_lines, cap_lines;

	struct loci_type_definition *definitions; /* a hash table by name: see type_lookup.c */
	size_t n_definitions, cap_definitions;
	bool definitions_known;

	struct loci_cc_section cc; /* of code compiled by `loci cc` */

	bool globals_known;
	struct loci_variable *globals;
	size_t n_globals;
};

struct loci_symbols {
	struct loci_pool pool;
	struct loci_demangler demangler;
	struct loci_source_text sources;
	struct loci_symbol_module **modules;
	size_t n_modules, cap_modules;
	struct loci_type **types; /* a hash table by entry */
	size_t n_types, cap_types;
};

/* module.c: opens what was not yet; trouble is no error. 0 or -ENOMEM. Of the first, symbols and
 * what `loci cc` left are read; the second reads debug information too. */
int loci_module_open(struct loci_symbol_module *module, struct loci_err *err);
int loci_module_open_debug(struct loci_symbol_module *module, struct loci_err *err);
void loci_module_close(struct loci_symbol_module *module);
/* The module of a number, opened without its debug information .. */
int loci_symbols_found(struct loci_symbols *symbols, uint32_t number,
	struct loci_symbol_module **ret, struct loci_err *err);
/* .. and with it. */
int loci_symbols_opened(struct loci_symbols *symbols, uint32_t number,
	struct loci_symbol_module **ret, struct loci_err *err);
/* Whether memory of the file is loaded there (and holds code). */
bool loci_module_holds(const struct loci_symbol_module *module, uint64_t address, bool code);

/* elf_symbols.c */
int loci_elf_symbols_read(struct loci_symbol_module *module, struct loci_err *err);
const struct loci_elf_symbol *loci_elf_function(
	const struct loci_symbol_module *module, uint64_t address);
/* Of a tracing copy that is a function of its own, where the function itself begins. */
uint64_t loci_elf_entry(const struct loci_symbol_module *module, uint64_t entry);
/* The object that begins at an address. */
const struct loci_elf_symbol *loci_elf_object(
	const struct loci_symbol_module *module, uint64_t address);

/* plt_x86_64.c: the functions of procedure linkage tables, by what they jump to ("malloc@plt").
 * Appends to *symbols of *n elements, from malloc. 0 or -ENOMEM. */
int loci_plt_read(struct loci_symbol_module *module, struct loci_elf_symbol **symbols, size_t *n,
	size_t *cap);

/* cc_names.c: the section of definitions, if there is one. 0 or -ENOMEM. */
int loci_cc_names_read(struct loci_symbol_module *module, struct loci_err *err);
/* The levels of code of a site, as loci_symbols_frames() gives them; n 0: it is none. */
int loci_cc_frames(struct loci_symbol_module *module, uint64_t address,
	struct loci_frame_name *frames, size_t cap, size_t *ret_n, struct loci_err *err);

/* unit.c: addresses are those of the debug information. */
int loci_units_read(struct loci_symbol_module *module, struct loci_err *err);
void loci_units_fini(struct loci_symbol_module *module);
/* *ret NULL: none. Indexed. */
int loci_unit_find(struct loci_symbol_module *module, uint64_t pc, struct loci_unit **ret,
	struct loci_err *err);

/* unit_lines.c: the place of code in the source: file, line, column. */
void loci_unit_line(struct loci_symbol_module *module, struct loci_unit *unit, uint64_t pc,
	struct loci_frame_name *ret);
/* A file by the number that it has in the unit; NULL: there is none. */
const char *loci_unit_file(struct loci_symbol_module *module, Dwarf_Die *unit, uint64_t number);
void loci_unit_lines_fini(struct loci_symbol_module *module);
/* Where line tables stand in a file whose debug information libdw has opened. */
void loci_line_sections_find(struct loci_line_sections *ret, Dwarf *dwarf);
/* frames.c */
/* Of a function or an inlined call; NULL: no memory. */
const struct loci_scope_name *loci_scope_named(
	struct loci_symbol_module *module, struct loci_scope *scope);

#endif
