// SPDX-License-Identifier: GPL-2.0-or-later
/* Segments that nobody can write are as they stand in their files, unless a debugger has put
 * breakpoints there, which would be lost: then they stay. */
#include "base/own_code.h"

#include "base/cleanup.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_traced(void)
{
	loci_autofclose FILE *status = fopen("/proc/self/status", "re");
	char line[128];
	int tracer = -1; /* not known */

	while (status && tracer < 0 && fgets(line, sizeof(line), status))
		(void)sscanf(line, "TracerPid: %d", &tracer);
	return tracer != 0;
}

static int release(struct dl_phdr_info *module, size_t bytes, void *data)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)bytes;
	(void)data;
	if (!strncmp(module->dlpi_name, "linux-", strlen("linux-"))) /* the kernel's own */
		return 0;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
		uintptr_t low = (module->dlpi_addr + segment->p_vaddr) & -page;
		uintptr_t end = (module->dlpi_addr + segment->p_vaddr + segment->p_filesz) & -page;

		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && low < end)
			(void)madvise((void *)low, end - low, MADV_DONTNEED);
	}
	return 0;
}

void loci_own_code_release(void)
{
	if (!is_traced())
		(void)dl_iterate_phdr(release, NULL);
}
