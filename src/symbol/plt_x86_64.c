/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedure linkage tables of x86-64: stubs without symbols of their own. A stub jumps through a
 * slot of the global offset table, and a relocation says whose address that slot gets. Sections:
 * .plt, .plt.sec (with indirect-branch tracking), .plt.got; with tracking the first half in .plt
 * only pushes the number of its relocation. */
#include "symbol/module.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct slot *items;
	size_t n, cap;
	size_t lazy, n_lazy; /* those of .rela.plt, which stubs count in */
};

static int add_slot(struct slots *slots, uint64_t address, const char *name)
{
	if (slots->n == slots->cap) {
		size_t cap = slots->cap ? slots->cap * 2 : 64;
		void *items = realloc(slots->items, cap * sizeof(*slots->items));

		if (!items)
			return -ENOMEM;
		slots->items = items;
		slots->cap = cap;
	}
	slots->items[slots->n++] = (struct slot){ .address = address, .name = name };
	return 0;
}

/* Whom a relocation binds: a symbol, or of an indirect function the one that chooses. */
static const char *target_name(
	struct loci_symbol_module *module, Elf *elf, const GElf_Shdr *header, const GElf_Rela *rela)
{
	Elf_Scn *section = elf_getscn(elf, header->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr link;
	GElf_Sym sym;

	if (GELF_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE) {
		for (size_t i = 0; i < module->n_functions; i++)
			if (module->functions[i].low == (uint64_t)rela->r_addend)
				return module->functions[i].name;
		return NULL;
	}
	if (!data || !gelf_getshdr(section, &link) ||
		!gelf_getsym(data, (int)GELF_R_SYM(rela->r_info), &sym) || !sym.st_name)
		return NULL;
	return elf_strptr(elf, link.sh_link, sym.st_name);
}

static int read_relocations(struct loci_symbol_module *module, Elf_Scn *section,
	const GElf_Shdr *header, struct slots *slots)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Rela rela;
		const char *name = NULL;
		int type;

		if (gelf_getrela(data, (int)i, &rela)) {
			type = GELF_R_TYPE(rela.r_info);
			if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
				type == R_X86_64_IRELATIVE)
				name = target_name(module, module->elf, header, &rela);
		}
		if (add_slot(slots, rela.r_offset, name) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static const char *slot_at(const struct slots *slots, uint64_t address)
{
	const struct slot key = { .address = address };
	const struct slot *found =
		bsearch(&key, slots->items, slots->n, sizeof(*slots->items), by_address);

	return found ? found->name : NULL;
}

static int32_t displacement(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The name behind a stub of up to 16 bytes: [endbr64] [bnd] jmp *slot(%rip), or push $number. */
static const char *stub_target(const struct slots *slots, const struct slot *lazy,
	const uint8_t *code, size_t bytes, uint64_t address)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (bytes >= 4 && !memcmp(code, endbr64, 4))
		at = 4;
	if (at < bytes && code[at] == 0xf2)
		at++;
	if (at + 6 <= bytes && code[at] == 0xff && code[at + 1] == 0x25)
		return slot_at(
			slots, address + at + 6 + (uint64_t)(int64_t)displacement(code + at + 2));
	if (at == 4 && at + 5 <= bytes && code[at] == 0x68) {
		uint32_t number = (uint32_t)displacement(code + at + 1);

		return number < slots->n_lazy ? lazy[number].name : NULL;
	}
	return NULL;
}

static int add_stub(struct loci_symbol_module *module, struct loci_elf_symbol **symbols, size_t *n,
	size_t *cap, uint64_t address, uint64_t bytes, const char *target)
{
	if (*n == *cap) {
		size_t larger = *cap ? *cap * 2 : 64;
		void *items = realloc(*symbols, larger * sizeof(**symbols));

		if (!items)
			return -ENOMEM;
		*symbols = items;
		*cap = larger;
	}
	(*symbols)[*n] = (struct loci_elf_symbol){
		.low = address,
		.bytes = bytes,
		.name = loci_pool_format(
			&module->symbols->pool, "%.*s@plt", (int)strcspn(target, "@"), target),
	};
	return (*symbols)[(*n)++].name ? 0 : -ENOMEM;
}

static int read_stubs(struct loci_symbol_module *module, Elf_Scn *section, const GElf_Shdr *header,
	const struct slots *slots, const struct slot *lazy, struct loci_elf_symbol **symbols,
	size_t *n, size_t *cap)
{
	Elf_Data *data = header->sh_type == SHT_NOBITS ? NULL : elf_getdata(section, NULL);
	size_t step = header->sh_entsize == 8 ? 8 : 16;

	if (!data || !data->d_buf)
		return 0;
	for (size_t at = 0; at + 6 <= data->d_size; at += step) {
		size_t bytes = data->d_size - at < step ? data->d_size - at : step;
		uint64_t address = header->sh_addr + at;
		const char *target =
			stub_target(slots, lazy, (const uint8_t *)data->d_buf + at, bytes, address);

		if (target && add_stub(module, symbols, n, cap, address, bytes, target) < 0)
			return -ENOMEM;
	}
	return 0;
}

typedef int section_visitor(Elf_Scn *section, const GElf_Shdr *header, const char *name, void *arg);

static int each_section(Elf *elf, section_visitor *visit, void *arg)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	int r = 0;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	while (r == 0 && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (gelf_getshdr(section, &header) &&
			(name = elf_strptr(elf, names, header.sh_name)))
			r = visit(section, &header, name, arg);
	}
	return r;
}

struct reading {
	struct loci_symbol_module *module;
	struct slots slots;
	struct slot *lazy; /* as .rela.plt has them */
	struct loci_elf_symbol **symbols;
	size_t *n, *cap;
};

static int visit_relocations(Elf_Scn *section, const GElf_Shdr *header, const char *name, void *arg)
{
	struct reading *reading = arg;
	size_t before = reading->slots.n;
	int r;

	if (header->sh_type != SHT_RELA || !(header->sh_flags & SHF_ALLOC))
		return 0;
	r = read_relocations(reading->module, section, header, &reading->slots);
	if (r == 0 && !strcmp(name, ".rela.plt")) {
		reading->slots.lazy = before;
		reading->slots.n_lazy = reading->slots.n - before;
	}
	return r;
}

static int visit_stubs(Elf_Scn *section, const GElf_Shdr *header, const char *name, void *arg)
{
	struct reading *reading = arg;

	if (strcmp(name, ".plt") != 0 && strcmp(name, ".plt.sec") != 0 &&
		strcmp(name, ".plt.got") != 0 && strcmp(name, ".iplt") != 0)
		return 0;
	return read_stubs(reading->module, section, header, &reading->slots, reading->lazy,
		reading->symbols, reading->n, reading->cap);
}

int loci_plt_read(
	struct loci_symbol_module *module, struct loci_elf_symbol **symbols, size_t *n, size_t *cap)
{
	struct reading reading = { .module = module, .symbols = symbols, .n = n, .cap = cap };
	struct slots *slots = &reading.slots;
	GElf_Ehdr header;
	int r;

	if (!gelf_getehdr(module->elf, &header) || header.e_machine != EM_X86_64)
		return 0;
	r = each_section(module->elf, visit_relocations, &reading);
	if (r == 0 && slots->n) {
		reading.lazy = calloc(slots->n_lazy + 1, sizeof(*reading.lazy));
		if (reading.lazy) {
			memcpy(reading.lazy, slots->items + slots->lazy,
				slots->n_lazy * sizeof(*reading.lazy));
			qsort(slots->items, slots->n, sizeof(*slots->items), by_address);
			r = each_section(module->elf, visit_stubs, &reading);
		} else {
			r = -ENOMEM;
		}
	}
	free(slots->items);
	free(reading.lazy);
	return r;
}
