// SPDX-License-Identifier: BSD-2-Clause
/* Names that a module exports, looked up as the loader would, but without the loader: it has locks,
 * and a program may end anywhere. By the GNU hash table only (every linker's default); versions of
 * a symbol are one. */
#include "collect/runtime/exported.h"

#include <string.h>

struct symbols {
	const ElfW(Sym) * symbol;
	const char *text;
	const uint32_t *hash;
	const ElfW(Rela) * calls; /* what is to be bound */
	size_t calls_bytes;
	const ElfW(Rela) * others;
	size_t others_bytes;
};

/* The C library's loader makes addresses of what stands in the file, others leave it. */
static const void *address_in(const struct dl_phdr_info *info, ElfW(Addr) value)
{
	return (const void *)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static bool find_symbols(const struct dl_phdr_info *info, struct symbols *ret)
{
	const ElfW(Dyn) *entry = NULL;

	*ret = (struct symbols){ 0 };
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SYMTAB)
			ret->symbol = address_in(info, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			ret->text = address_in(info, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			ret->hash = address_in(info, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_JMPREL)
			ret->calls = address_in(info, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_PLTRELSZ)
			ret->calls_bytes = entry->d_un.d_val;
		else if (entry->d_tag == DT_RELA)
			ret->others = address_in(info, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_RELASZ)
			ret->others_bytes = entry->d_un.d_val;
	return ret->symbol && ret->text;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool is_code(const ElfW(Sym) * symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
		(type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

uintptr_t rt_exported(const struct dl_phdr_info *info, const char *name)
{
	struct symbols symbols;
	uint32_t hash = hash_of(name), n_buckets, first, n_words, at;
	const uint32_t *bucket, *chain;

	if (!find_symbols(info, &symbols) || !symbols.hash)
		return 0;
	n_buckets = symbols.hash[0];
	first = symbols.hash[1];
	n_words = symbols.hash[2]; /* of the filter, 64 bits each */
	bucket = symbols.hash + 4 + 2 * n_words;
	chain = bucket + n_buckets;
	at = n_buckets ? bucket[hash % n_buckets] : 0;
	if (at < first)
		return 0;
	for (;; at++) {
		const ElfW(Sym) *symbol = &symbols.symbol[at];
		uint32_t other = chain[at - first];

		if ((other | 1) == (hash | 1) && is_code(symbol) &&
			!strcmp(symbols.text + symbol->st_name, name))
			return info->dlpi_addr + symbol->st_value;
		if (other & 1)
			return 0;
	}
}

static bool binds(
	const struct symbols *symbols, const ElfW(Rela) * bound, size_t bytes, const char *name)
{
	for (size_t i = 0; bound && i < bytes / sizeof(*bound); i++) {
		const ElfW(Sym) *symbol = &symbols->symbol[ELF64_R_SYM(bound[i].r_info)];

		if (ELF64_R_SYM(bound[i].r_info) && symbol->st_shndx == SHN_UNDEF &&
			!strcmp(symbols->text + symbol->st_name, name))
			return true;
	}
	return false;
}

bool rt_is_imported(const struct dl_phdr_info *info, const char *name)
{
	struct symbols symbols;

	return find_symbols(info, &symbols) &&
		(binds(&symbols, symbols.calls, symbols.calls_bytes, name) ||
			binds(&symbols, symbols.others, symbols.others_bytes, name));
}
