/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for many sites of a large program:
 *
 *	symbol_bench [FILE [SITES]]
 *
 * Sites are spread evenly over the code of FILE (this program itself by default; a libc or a
 * browser with debug information is a better test). Prints CPU seconds and what memory grew by: for
 * opening, for the sites (functions, inlined calls, lines), for the same again, and for globals. */
#include "base/cleanup.h"
#include "symbol/symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double resident_mib(void)
{
	loci_autofclose FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!file || fscanf(file, "%*u %lu", &pages) != 1)
		return 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* The largest executable segment of a 64-bit file. */
static bool code_of(const char *path, uint64_t *low, uint64_t *bytes)
{
	loci_autoclose int fd = open(path, O_RDONLY);
	const Elf64_Ehdr *header;
	const Elf64_Phdr *segments;
	struct stat st;
	char *map;

	if (fd < 0 || fstat(fd, &st) < 0 || (size_t)st.st_size < sizeof(*header))
		return false;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return false;
	header = (const Elf64_Ehdr *)map;
	segments = (const Elf64_Phdr *)(map + header->e_phoff);
	*bytes = 0;
	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) &&
			segments[i].p_memsz > *bytes) {
			*low = segments[i].p_vaddr;
			*bytes = segments[i].p_memsz;
		}
	munmap(map, (size_t)st.st_size);
	return *bytes > 0;
}

static void report(const char *what, double *seconds, double *mib)
{
	double now = cpu_seconds(), memory = resident_mib();

	printf("%-28s %8.3f s %8.1f MiB\n", what, now - *seconds, memory - *mib);
	*seconds = now;
	*mib = memory;
}

/* Returns how many had a function and a line, and how many levels in all. */
static int ask(struct loci_symbols *symbols, uint32_t module, uint64_t low, uint64_t bytes,
	size_t sites, size_t *lines, size_t *levels)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	struct loci_err err = { "" };

	*lines = *levels = 0;
	for (size_t i = 0; i < sites; i++) {
		size_t n;

		if (loci_symbols_frames(symbols, module, low + bytes / sites * i + i % 7, frames,
			    LOCI_FRAMES_MAX, &n, &err) < 0) {
			fprintf(stderr, "symbol_bench: %s\n", err.text);
			return -1;
		}
		*lines += n && frames[0].line;
		*levels += n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/proc/self/exe";
	size_t sites = argc > 2 ? strtoull(argv[2], NULL, 0) : 100000, lines, levels, n;
	double seconds = cpu_seconds(), mib = resident_mib();
	const struct loci_variable *globals;
	struct loci_symbols *symbols;
	struct loci_err err = { "" };
	uint64_t low, bytes;
	uint32_t module;
	const char *trouble;

	if (!sites || !code_of(path, &low, &bytes)) {
		fprintf(stderr, "symbol_bench: %s holds no code\n", path);
		return 1;
	}
	if (loci_symbols_new(&symbols, &err) < 0 ||
		loci_symbols_module(symbols, path, NULL, 0, &module, &err) < 0)
		return 1;
	trouble = loci_symbols_trouble(symbols, module);
	printf("%s: %.1f MiB of code%s%s\n", path, (double)bytes / (1 << 20), trouble ? ", " : "",
		trouble ? trouble : "");
	report("open", &seconds, &mib);
	if (ask(symbols, module, low, bytes, sites, &lines, &levels) < 0)
		return 1;
	report("sites", &seconds, &mib);
	if (ask(symbols, module, low, bytes, sites, &lines, &levels) < 0)
		return 1;
	report("the same sites again", &seconds, &mib);
	if (loci_symbols_globals(symbols, module, &globals, &n, &err) < 0)
		return 1;
	report("globals", &seconds, &mib);
	printf("%zu sites, %zu with a line, %.2f levels each; %zu globals\n", sites, lines,
		(double)levels / (double)sites, n);
	loci_symbols_free(symbols);
	return 0;
}
