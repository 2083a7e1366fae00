// SPDX-License-Identifier: BSD-2-Clause
/* Modules: the program and its libraries. Those that are there when recording begins are told at
 * once, others when the first function of theirs is defined. dlopen itself is let alone, because it
 * looks at who calls it. Later the loader is asked without its locks only: whoever holds them may
 * wait for ours. */
#include "collect/runtime/exported.h"
#include "collect/runtime/watching.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#define SYS_READLINK 89
#define PAGE_BYTES   4096u
#define MAX_BUILD_ID 64
#define MAX_MODULES  4096

struct module {
	struct dl_phdr_info info; /* name and headers are the loader's */
	uintptr_t start;
	size_t bytes;
	uint32_t id;
	uint64_t unseen; /* calls into it */
};

static struct {
	struct module *module; /* NULL: none yet */
	uint32_t n, n_ids;
	uint64_t unseen_flang; /* calls of flang's library, which is mostly linked statically */
} table;

static uintptr_t loader, loader_bytes; /* where the loader itself lies */

static struct module *find(uintptr_t address)
{
	for (uint32_t i = 0; i < table.n; i++)
		if (address - table.module[i].start < table.module[i].bytes)
			return &table.module[i];
	return NULL;
}

static unsigned find_build_id(const struct dl_phdr_info *info, const unsigned char **ret)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const char *note = (const char *)info->dlpi_addr + part->p_vaddr;
		const char *end = note + part->p_memsz;

		while (part->p_type == PT_NOTE && note + sizeof(ElfW(Nhdr)) < end) {
			const ElfW(Nhdr) *header = (const void *)note;
			const char *name = note + sizeof(*header);
			const char *text = name + ((header->n_namesz + 3) & ~3u);

			if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
				!memcmp(name, "GNU", 4) && header->n_descsz <= MAX_BUILD_ID) {
				*ret = (const unsigned char *)text;
				return header->n_descsz;
			}
			note = text + ((header->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

static void find_extent(const struct dl_phdr_info *info, struct module *module)
{
	uintptr_t low = UINTPTR_MAX, high = 0;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD)
			continue;
		if (part->p_vaddr < low)
			low = part->p_vaddr;
		if (part->p_vaddr + part->p_memsz > high)
			high = part->p_vaddr + part->p_memsz;
	}
	if (high <= low)
		return;
	low &= ~(uintptr_t)(PAGE_BYTES - 1);
	module->info = *info;
	module->start = info->dlpi_addr + low;
	module->bytes = ((high + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1)) - low;
}

/* The program has no name there. */
static const char *path_of(const struct dl_phdr_info *info)
{
	long n;

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name;
	n = loci_syscall3(
		SYS_READLINK, (long)"/proc/self/exe", (long)rt.path[0], sizeof(rt.path[0]) - 1);
	rt.path[0][n > 0 ? n : 0] = '\0';
	return rt.path[0];
}

static void tell(const struct module *module)
{
	const unsigned char *build_id = NULL;
	unsigned n = find_build_id(&module->info, &build_id);
	uint64_t path = rt_process_string(path_of(&module->info)), *raw;

	raw = rt_process_begin(LOCI_MARK_MODULE_LOAD, module->id, 6 + (n + 7) / 8);
	raw[0] = module->info.dlpi_addr;
	raw[1] = module->start;
	raw[2] = module->bytes;
	raw[3] = path;
	/* No number: it must not wait for allocations before it, since definitions follow that name
	 * it. */
	raw[4] = 0;
	raw[5] = n;
	if (n) {
		raw[5 + (n + 7) / 8] = 0;
		memcpy(raw + 6, build_id, n);
	}
	rt_process_commit();
}

/* NULL: what has no file (the kernel's own), or there is no room. */
static struct module *add(const struct dl_phdr_info *info)
{
	struct module *module = &table.module[table.n];

	if (table.n == MAX_MODULES)
		return NULL;
	module->bytes = 0;
	find_extent(info, module);
	if (!module->bytes ||
		(info->dlpi_name && info->dlpi_name[0] && !strchr(info->dlpi_name, '/')))
		return NULL;
	module->id = ++table.n_ids;
	module->unseen = 0;
	__atomic_store_n(&table.n, table.n + 1, __ATOMIC_RELEASE);
	tell(module);
	return module;
}

static int add_each(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	add(info);
	return 0;
}

bool rt_is_loader(uintptr_t address)
{
	return address - loader < loader_bytes;
}

#ifdef LOCI_RT_STATIC
static void find_loader(void)
{
}

extern const struct loci_cc_function __start_loci_fn[] __attribute__((weak, visibility("hidden")));

bool rt_has_definitions(void)
{
	return __start_loci_fn != NULL;
}
#else
static void find_loader(void)
{
	extern void *__tls_get_addr(void *);
	struct dl_find_object found;

	if (_dl_find_object((void *)__tls_get_addr, &found) < 0)
		return;
	loader = (uintptr_t)found.dlfo_map_start;
	loader_bytes = (uintptr_t)found.dlfo_map_end - loader;
}

static int asks_for_room(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	return rt_is_imported(info, "__loci_define");
}

bool rt_has_definitions(void)
{
	return dl_iterate_phdr(asks_for_room, NULL);
}
#endif

void rt_modules_begin(void)
{
	find_loader();
	table.module = loci_sys_map(MAX_MODULES * sizeof(*table.module), -1);
	if (table.module)
		dl_iterate_phdr(add_each, NULL);
}

void rt_modules_tell_again(void)
{
	for (uint32_t i = 0; i < table.n; i++)
		tell(&table.module[i]);
}

/* What the loader knows of the module at that address: its headers stand at its beginning. */
static bool ask_loader(uintptr_t address, struct dl_phdr_info *ret)
{
	struct dl_find_object found;
	const ElfW(Ehdr) * header;

	if (_dl_find_object((void *)address, &found) < 0)
		return false;
	header = found.dlfo_map_start;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG))
		return false;
	*ret = (struct dl_phdr_info){ .dlpi_addr = found.dlfo_link_map->l_addr,
		.dlpi_name = found.dlfo_link_map->l_name,
		.dlpi_phdr = (const void *)((const char *)header + header->e_phoff),
		.dlpi_phnum = header->e_phnum };
	return true;
}

uint32_t rt_module_of(uintptr_t address)
{
	struct module *module = find(address);
	struct dl_phdr_info info;

	if (!module && table.module && ask_loader(address, &info))
		module = add(&info);
	return module ? module->id : 0;
}

bool rt_module_around(uintptr_t address, uintptr_t *ret_start, size_t *ret_bytes)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)address, &found) < 0)
		return false;
	*ret_start = (uintptr_t)found.dlfo_map_start;
	*ret_bytes = (size_t)((char *)found.dlfo_map_end - (char *)found.dlfo_map_start);
	return true;
}

static bool is_loaded(const struct module *module)
{
	uintptr_t start;
	size_t bytes;

	return rt_module_around(module->start, &start, &bytes);
}

/* The module that the loader took the function from. The runtime's functions stand before the C
 * library's, and go on to them: who has no other is not asked about (NULL, code is 0). */
static struct module *exporter(const char *name, uintptr_t *ret_code, bool *ret_is_own)
{
	for (uint32_t i = 0; i < table.n; i++) {
		struct module *module = &table.module[i];
		bool is_own = (uintptr_t)rt_exported - module->start < module->bytes &&
			module->info.dlpi_name && module->info.dlpi_name[0];

		*ret_code = is_loaded(module) ? rt_exported(&module->info, name) : 0;
		if (*ret_code && !is_own)
			return module;
		*ret_is_own |= *ret_code && is_own;
	}
	return NULL;
}

/* What nobody exports was linked to the caller, with or without definitions. */
void rt_unseen_add(const char *name, uintptr_t caller, uint64_t calls)
{
	uintptr_t code = 0;
	bool is_own = false;
	struct module *module = exporter(name, &code, &is_own);

	if (module ? rt_is_defined(code) : is_own)
		return;
	if (!module) {
		module = find(caller);
		if (!module || rt_is_defined_name(name, module->start, module->bytes))
			return;
		if (!strncmp(name, "_FortranA", 9)) {
			table.unseen_flang += calls;
			return;
		}
	}
	module->unseen += calls;
}

static void tell_calls(uint64_t *calls, const char *whose)
{
	uint64_t raw[2] = { *calls, 0 };

	if (*calls)
		rt_process_mark(LOCI_MARK_UNSEEN, rt_process_string(whose), 2, raw);
	*calls = 0;
}

static void tell_unseen(struct module *module)
{
	const char *name = module->info.dlpi_name;

	tell_calls(
		&module->unseen, name && name[0] ? name : "the program itself, not instrumented");
}

void rt_unseen_tell(void)
{
	for (uint32_t i = 0; i < table.n; i++)
		tell_unseen(&table.module[i]);
	tell_calls(&table.unseen_flang, "flang's run-time library");
}

void rt_unseen_forget(void)
{
	rt_unseen_forget_counts();
	table.unseen_flang = 0;
	for (uint32_t i = 0; i < table.n; i++)
		table.module[i].unseen = 0;
}

#ifndef LOCI_RT_STATIC
static int add_new(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module module = { 0 };

	(void)size;
	(void)data;
	find_extent(info, &module);
	rt_lock();
	if (table.module && module.bytes && !find(module.start))
		add(info);
	rt_unlock();
	return 0;
}

void rt_modules_look(void)
{
	dl_iterate_phdr(add_new, NULL);
}

/* The loader has freed its name. */
static void tell_gone(struct module *module)
{
	uint64_t raw[1] = { rt_next_sequence() };

	tell_calls(&module->unseen, "a library that was closed");
	rt_process_mark(LOCI_MARK_MODULE_UNLOAD, module->id, 1, raw);
}

void rt_modules_drop_gone(bool is_told)
{
	for (uint32_t i = table.n; i-- > 0;) {
		struct module *module = &table.module[i];

		if (is_loaded(module))
			continue;
		if (is_told)
			tell_gone(module);
		rt_forget_functions(module->start, module->bytes);
		*module = table.module[--table.n];
	}
}

/* What was counted goes with the library that counted. */
static void before_close(void)
{
	uint64_t mask = rt_block();

	rt_lock();
	rt_modules_drop_gone(true); /* by a dlclose that is not ours */
	rt_unlock();
	rt_modules_look();
	rt_lock();
	rt_unseen_count();
	rt_unseen_tell(); /* while the loader has their names */
	rt_watch_unloading(true);
	rt_unlock();
	rt_unblock(mask);
}

RT_WRAP(int, dlclose, void *handle)
{
	int error = errno, r;

	if (rt_mode() != RT_OFF)
		before_close();
	errno = error;
	r = RT_REAL(dlclose)(handle);
	error = errno;
	if (rt_mode() != RT_OFF) {
		uint64_t mask = rt_block();

		rt_lock();
		rt_modules_drop_gone(true);
		rt_watch_unloading(false);
		rt_unlock();
		rt_unblock(mask);
	}
	errno = error;
	return r;
}
#endif
