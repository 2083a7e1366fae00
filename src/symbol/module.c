/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a module: the ELF file, its build-id, its debug information wherever that lies. libdwfl
 * knows the places (the file itself, /usr/lib/debug by build-id and by .gnu_debuglink, files shared
 * by several by .gnu_debugaltlink), unpacks compressed sections and reads .gnu_debugdata.
 *
 * A module is reported to libdwfl at load bias 0, in a session of its own, so that its addresses
 * are those of the file. */
#include "symbol/module.h"
#include "symbol/type_lookup.h"

#include "base/cleanup.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char no_debug[] =
	"no debug information (build with -g, or install its -dbg or -dbgsym package)";

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int open_file(struct loci_symbol_module *module)
{
	struct loci_pool *pool = &module->symbols->pool;
	/* Nonblocking: what a name stands for now may be a pipe or a terminal. */
	int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0) {
		module->trouble = loci_pool_format(pool, "cannot be read: %s", strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		module->trouble = "is not a regular file";
		close(fd);
		return -1;
	}
	return fd;
}

/* Takes the descriptor. */
static void report(struct loci_symbol_module *module, int fd)
{
	GElf_Addr bias;

	module->dwfl = dwfl_begin(&callbacks);
	if (!module->dwfl) {
		close(fd);
		return;
	}
	dwfl_report_begin(module->dwfl);
	module->dwfl_module =
		dwfl_report_elf(module->dwfl, module->path, module->path, fd, 0, true);
	if (!module->dwfl_module)
		close(fd);
	dwfl_report_end(module->dwfl, NULL, NULL);
	if (module->dwfl_module)
		module->elf = dwfl_module_getelf(module->dwfl_module, &bias);
}

static bool same_build(const struct loci_symbol_module *module)
{
	const void *id = NULL;
	ssize_t bytes;

	if (!module->build_id_bytes)
		return true;
	bytes = dwelf_elf_gnu_build_id(module->elf, &id);
	return bytes == (ssize_t)module->build_id_bytes &&
		!memcmp(id, module->build_id, module->build_id_bytes);
}

static int read_segments(struct loci_symbol_module *module)
{
	size_t n = 0;

	if (elf_getphdrnum(module->elf, &n) != 0)
		return 0;
	for (size_t i = 0; i < n && i < UINT32_MAX; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(module->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
			segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
			continue;
		if (loci_intervals_add(&module->segments, segment.p_vaddr,
			    segment.p_vaddr + segment.p_memsz, (uint32_t)i,
			    (segment.p_flags & PF_X) != 0) < 0)
			return -ENOMEM;
	}
	return loci_intervals_flatten(&module->segments);
}

bool loci_module_holds(const struct loci_symbol_module *module, uint64_t address, bool code)
{
	const struct loci_interval *segment = loci_intervals_find(&module->segments, address);

	return segment && (!code || segment->depth == 1);
}

int loci_module_open(struct loci_symbol_module *module, struct loci_err *err)
{
	int fd;

	if (module->opened)
		return 0;
	module->opened = true;
	fd = open_file(module);
	if (fd < 0)
		return 0;
	report(module, fd);
	if (!module->elf) {
		module->trouble = "is not an ELF file that can be read";
		return 0;
	}
	if (!same_build(module)) {
		module->trouble =
			"rebuilt since it ran (its build-id is another); names are left out";
		return 0;
	}
	module->usable = true;
	if (read_segments(module) < 0)
		return loci_err_nomem(err);
	if (loci_elf_symbols_read(module, err) < 0 || loci_cc_names_read(module, err) < 0)
		return -ENOMEM;
	return 0;
}

/* libdw unpacks all compressed sections at once, whatever is asked of them. */
int loci_module_open_debug(struct loci_symbol_module *module, struct loci_err *err)
{
	Dwarf_Addr bias = 0;
	int r = loci_module_open(module, err);

	if (r < 0 || !module->usable || module->debug_opened)
		return r;
	module->debug_opened = true;
	module->dwarf = dwfl_module_getdwarf(module->dwfl_module, &bias);
	module->dwarf_bias = bias;
	loci_line_sections_find(&module->line_sections, module->dwarf);
	if (loci_units_read(module, err) < 0)
		return -ENOMEM;
	if (!module->n_units)
		module->trouble = module->n_functions
			? no_debug
			: "neither debug information nor symbols (it was stripped)";
	else if (module->cc.n_damaged)
		module->trouble = "what `loci cc` put into it is damaged or of another version; "
				  "names are left out";
	return 0;
}

void loci_module_close(struct loci_symbol_module *module)
{
	loci_units_fini(module);
	loci_unit_lines_fini(module);
	loci_type_definitions_fini(module);
	for (size_t i = 0; i < module->cap_containers; i++)
		free(module->containers[i].items);
	free(module->containers);
	loci_cc_section_fini(&module->cc);
	free(module->functions);
	free(module->objects);
	loci_intervals_fini(&module->segments);
	loci_intervals_fini(&module->function_map);
	if (module->dwfl)
		dwfl_end(module->dwfl);
}
