// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/modules.h"
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/out.h"

#include <elf.h>

#define MAX_BUILD_ID 64
#define MAX_HEADERS  64
#define PAGE_BYTES   4096u

struct module {
	struct module *next;
	UInt id;
	Addr bias;
	Addr start;
	SizeT bytes;
	HChar *path;
	UInt n_build_id;
	UChar build_id[MAX_BUILD_ID];
};

static struct module *modules;
static struct module *latest;
static UInt n_ids;

static Bool is_readable(Addr start, SizeT bytes)
{
	return VG_(am_is_valid_for_client)(start, bytes, VKI_PROT_READ);
}

/* Where the file's first byte is mapped: in the nearest segment of the same file at or below. 0:
 * nowhere. */
static Addr find_header(const NSegment *segment)
{
	Int n, i;
	const Addr *starts = mapping_segments(&n);
	Addr found = 0;

	for (i = 0; i < n && starts[i] <= segment->start; i++) {
		const NSegment *other = VG_(am_find_nsegment)(starts[i]);

		if (other && other->kind == SkFileC && other->dev == segment->dev &&
			other->ino == segment->ino && other->offset == 0)
			found = other->start;
	}
	return found;
}

static void read_build_id(struct module *module, Addr note, SizeT bytes)
{
	Addr end = note + bytes;

	if (!is_readable(note, bytes))
		return;
	while (note + sizeof(Elf64_Nhdr) < end) {
		const Elf64_Nhdr *header = (const Elf64_Nhdr *)note;
		Addr name = note + sizeof(*header), text = name + ((header->n_namesz + 3) & ~3u);

		if (header->n_namesz > bytes || header->n_descsz > bytes)
			return;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
			header->n_descsz <= MAX_BUILD_ID && text + header->n_descsz <= end &&
			VG_(memcmp)((const void *)name, "GNU", 4) == 0) {
			module->n_build_id = header->n_descsz;
			VG_(memcpy)(module->build_id, (const void *)text, header->n_descsz);
			return;
		}
		note = text + ((header->n_descsz + 3) & ~3u);
	}
}

/* Fills in what the headers say. False: this is no program or library. */
static Bool read_headers(struct module *module, Addr header)
{
	const Elf64_Ehdr *file = (const Elf64_Ehdr *)header;
	const Elf64_Phdr *part;
	Addr low = ~(Addr)0, high = 0;
	UInt i;

	if (!is_readable(header, sizeof(*file)) ||
		VG_(memcmp)(file->e_ident, ELFMAG, SELFMAG) != 0 ||
		file->e_ident[EI_CLASS] != ELFCLASS64 || file->e_phnum > MAX_HEADERS ||
		file->e_phentsize != sizeof(*part))
		return False;
	part = (const Elf64_Phdr *)(header + file->e_phoff);
	if (!is_readable((Addr)part, file->e_phnum * sizeof(*part)))
		return False;
	for (i = 0; i < file->e_phnum; i++) {
		if (part[i].p_type != PT_LOAD)
			continue;
		if (part[i].p_offset < PAGE_BYTES)
			module->bias = header - (part[i].p_vaddr - part[i].p_offset);
		if (part[i].p_vaddr < low)
			low = part[i].p_vaddr;
		if (part[i].p_vaddr + part[i].p_memsz > high)
			high = part[i].p_vaddr + part[i].p_memsz;
	}
	if (high <= low)
		return False;
	low &= ~(Addr)(PAGE_BYTES - 1);
	module->start = module->bias + low;
	module->bytes = ((high + PAGE_BYTES - 1) & ~(Addr)(PAGE_BYTES - 1)) - low;
	for (i = 0; i < file->e_phnum && !module->n_build_id; i++)
		if (part[i].p_type == PT_NOTE)
			read_build_id(module, module->bias + part[i].p_vaddr, part[i].p_memsz);
	return True;
}

static void tell(const struct module *module)
{
	uint64_t raw[6 + MAX_BUILD_ID / 8] = { module->bias, module->start, module->bytes,
		out_string(module->path), 0, module->n_build_id };

	raw[4] = mapping_sequence();
	VG_(memcpy)(&raw[6], module->build_id, module->n_build_id);
	out_mark(LOCI_MARK_MODULE_LOAD, module->id, 6 + (module->n_build_id + 7) / 8, raw);
}

static struct module *discover(Addr address)
{
	const NSegment *segment = VG_(am_find_nsegment)(address);
	struct module *module;
	const HChar *path;
	Addr header;

	if (!segment || segment->kind != SkFileC)
		return NULL;
	path = VG_(am_get_filename)(segment);
	header = find_header(segment);
	if (!path || !header)
		return NULL;
	module = VG_(calloc)("loci.module", 1, sizeof(*module));
	module->path = VG_(strdup)("loci.module.path", path);
	if (!read_headers(module, header) || address - module->start >= module->bytes) {
		VG_(free)(module->path);
		VG_(free)(module);
		return NULL;
	}
	module->id = ++n_ids;
	module->next = modules;
	modules = module;
	tell(module);
	return module;
}

UInt module_at(Addr address)
{
	struct module *module;

	if (latest && address - latest->start < latest->bytes)
		return latest->id;
	for (module = modules; module; module = module->next)
		if (address - module->start < module->bytes)
			break;
	if (!module)
		module = discover(address);
	if (!module)
		return 0;
	latest = module;
	return module->id;
}

void module_unmapped(Addr start, SizeT bytes)
{
	struct module **at = &modules;

	latest = NULL;
	while (*at) {
		struct module *module = *at;

		if (module->start - start >= bytes) {
			at = &module->next;
			continue;
		}
		out_mark(LOCI_MARK_MODULE_UNLOAD, module->id, 1,
			(const uint64_t[]){ mapping_sequence() });
		*at = module->next;
		VG_(free)(module->path);
		VG_(free)(module);
	}
}

/* The oldest first, as they were told before. */
void module_tell_all(void)
{
	UInt id = 0;

	for (;;) {
		const struct module *module, *next = NULL;

		for (module = modules; module; module = module->next)
			if (module->id > id && (!next || module->id < next->id))
				next = module;
		if (!next)
			return;
		tell(next);
		id = next->id;
	}
}
