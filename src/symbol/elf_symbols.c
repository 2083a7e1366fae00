/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions and objects as symbol tables tell them: .symtab of the file or of its debug file, the
 * dynamic symbols, and those packed into .gnu_debugdata, all of which libdwfl shows as one table.
 */
#include "symbol/module.h"

#include "base/cleanup.h"
#include "collect/runtime/cc_abi.h"

#include <errno.h>
#include <string.h>

struct table {
	struct candidate {
		uint64_t low, bytes, section_end;
		const char *name;
		unsigned rank; /* of the names of one address the lowest is shown */
		bool label;    /* says neither function nor size */
	} * items;
	size_t n, cap;
};

static int add(struct table *table, struct candidate item)
{
	if (table->n == table->cap) {
		size_t cap = table->cap ? table->cap * 2 : 256;
		void *items = realloc(table->items, cap * sizeof(*table->items));

		if (!items)
			return -ENOMEM;
		table->items = items;
		table->cap = cap;
	}
	table->items[table->n++] = item;
	return 0;
}

/* Programs call malloc, not __libc_malloc: few underscores first, then what others can see. */
static unsigned rank_of(const char *name, const GElf_Sym *sym)
{
	unsigned underscores = (unsigned)strspn(name, "_");
	unsigned binding = GELF_ST_BIND(sym->st_info);

	if (!strncmp(name, "_Z", 2))
		underscores = 0;
	return (sym->st_size ? 0 : 1000) + (underscores < 100 ? underscores : 100) * 4 +
		(binding == STB_GLOBAL                ? 0
				: binding == STB_WEAK ? 1
						      : 2);
}

static bool section_of(Elf *elf, GElf_Word index, GElf_Shdr *ret)
{
	Elf_Scn *section = elf_getscn(elf, index);

	return section && gelf_getshdr(section, ret);
}

static int sort_out(struct loci_symbol_module *module, int index, struct table *functions,
	struct table *objects)
{
	GElf_Word section = 0;
	GElf_Addr address = 0, bias = 0;
	GElf_Shdr header = { 0 };
	GElf_Sym sym;
	Elf *elf = NULL;
	const char *name = dwfl_module_getsym_info(
		module->dwfl_module, index, &sym, &address, &section, &elf, &bias);
	int type;
	bool code;

	if (!name || !*name || section == SHN_UNDEF || section == SHN_ABS || section >= SHN_XINDEX)
		return 0;
	type = GELF_ST_TYPE(sym.st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE && type != STT_OBJECT &&
		type != STT_COMMON)
		return 0;
	if (!elf || !section_of(elf, section, &header))
		return 0;
	code = (header.sh_flags & SHF_EXECINSTR) != 0;
	struct candidate item = {
		.low = address,
		.bytes = sym.st_size,
		.section_end = header.sh_addr + bias + header.sh_size,
		.name = name,
		.rank = rank_of(name, &sym),
		.label = type == STT_NOTYPE && !sym.st_size,
	};
	if (code && type != STT_OBJECT && type != STT_COMMON)
		return add(functions, item);
	if (!code && (type == STT_OBJECT || type == STT_COMMON) && sym.st_size &&
		address + sym.st_size > address)
		return add(objects, item);
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Whether a name is that of a function's tracing copy, of the function that has one of the names
 * from `from` on. */
static bool is_twin(const char *name, const struct candidate *from, const struct candidate *to)
{
	size_t n = strlen(name), suffix = strlen(LOCI_CC_TWIN);

	if (n <= suffix || strcmp(name + n - suffix, LOCI_CC_TWIN))
		return false;
	for (; from < to; from++)
		if (strlen(from->name) == n - suffix && !strncmp(from->name, name, n - suffix))
			return true;
	return false;
}

/* One per address, with the best name and the largest size; labels inside of functions go, and
 * tracing copies of their own (collect/runtime/cc_abi.h) are part of their functions. */
static int settle(struct loci_symbol_module *module, struct table *table,
	struct loci_elf_symbol **ret, size_t *ret_n)
{
	const struct candidate *last = table->items; /* names of the one before */
	uint64_t end = 0;                            /* of the functions so far */
	size_t n = 0;

	if (!table->n)
		return 0;
	qsort(table->items, table->n, sizeof(*table->items), by_place);
	*ret = calloc(table->n, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0, next; i < table->n; i = next) {
		const struct candidate *first = &table->items[i];
		uint64_t bytes = first->bytes;

		for (next = i + 1; next < table->n && table->items[next].low == first->low; next++)
			if (table->items[next].bytes > bytes)
				bytes = table->items[next].bytes;
		if (first->label && first->low < end)
			continue;
		if (!bytes) {
			uint64_t high = first->section_end;

			if (next < table->n && table->items[next].low < high)
				high = table->items[next].low;
			bytes = high > first->low ? high - first->low : 0;
		}
		if (bytes > UINT64_MAX - first->low)
			bytes = UINT64_MAX - first->low;
		if (!first->label && first->low + bytes > end)
			end = first->low + bytes;
		if (n && is_twin(first->name, last, first)) {
			(*ret)[n - 1].twin = first->low;
			(*ret)[n - 1].bytes = first->low + bytes - (*ret)[n - 1].low;
			continue;
		}
		last = first;
		(*ret)[n].low = first->low;
		(*ret)[n].bytes = bytes;
		(*ret)[n].name = loci_pool_bytes(
			&module->symbols->pool, first->name, strcspn(first->name, "@"));
		if (!(*ret)[n++].name)
			return -ENOMEM;
	}
	*ret_n = n;
	return 0;
}

static int map_functions(struct loci_symbol_module *module)
{
	size_t cap = module->n_functions;
	int r = loci_plt_read(module, &module->functions, &module->n_functions, &cap);

	for (size_t i = 0; r == 0 && i < module->n_functions && i < UINT32_MAX; i++) {
		const struct loci_elf_symbol *function = &module->functions[i];

		r = loci_intervals_add(&module->function_map, function->low,
			function->low + function->bytes, (uint32_t)i, 0);
	}
	return r < 0 ? r : loci_intervals_flatten(&module->function_map);
}

int loci_elf_symbols_read(struct loci_symbol_module *module, struct loci_err *err)
{
	struct table functions = { 0 }, objects = { 0 };
	int n = dwfl_module_getsymtab(module->dwfl_module), r = 0;

	for (int i = 1; i < n && r == 0; i++)
		r = sort_out(module, i, &functions, &objects);
	if (r == 0)
		r = settle(module, &functions, &module->functions, &module->n_functions);
	if (r == 0)
		r = settle(module, &objects, &module->objects, &module->n_objects);
	free(functions.items);
	free(objects.items);
	if (r == 0)
		r = map_functions(module);
	return r < 0 ? loci_err_nomem(err) : 0;
}

const struct loci_elf_symbol *loci_elf_function(
	const struct loci_symbol_module *module, uint64_t address)
{
	const struct loci_interval *found = loci_intervals_find(&module->function_map, address);

	return found ? &module->functions[found->id] : NULL;
}

uint64_t loci_elf_entry(const struct loci_symbol_module *module, uint64_t entry)
{
	const struct loci_elf_symbol *function = loci_elf_function(module, entry);

	return function && function->twin == entry ? function->low : entry;
}

const struct loci_elf_symbol *loci_elf_object(
	const struct loci_symbol_module *module, uint64_t address)
{
	size_t low = 0, high = module->n_objects;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module->objects[middle].low < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < module->n_objects && module->objects[low].low == address
		? &module->objects[low]
		: NULL;
}
