// SPDX-License-Identifier: BSD-2-Clause
/* A page is given back by MADV_DONTNEED: who reads it again has it from the file. That would lose
 * what is not in the file, so the kernel is asked first (/proc/self/pagemap): a program may have
 * been unpacked into memory that has none. */
#include "collect/runtime/brief.h"

#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#include <string.h>

#define PAGE_BYTES     4096u
#define AROUND_BYTES   65536u /* that the kernel maps when one of their pages is read */
#define ARENA_BYTES    65536u
#define MOST_BYTES     (16u << 20) /* of all briefs: libraries may come and go */
#define SPREAD_BYTES   (4u << 20)  /* of what is given back at once, .. */
#define MOST_READ      32          /* .. and the definitions that were read for it */
#define SYS_PREAD64    17
#define SYS_MADVISE    28
#define DONTNEED       4
#define O_READ         02000000 /* O_CLOEXEC */
#define N_MODULES      8        /* at a time */
#define KIND_BYTES     offsetof(struct loci_cc_site, line)
#define PAGE_PRESENT   (1ull << 63)
#define PAGE_SWAPPED   (1ull << 62)
#define PAGE_OF_A_FILE (1ull << 61)

/* What lies between two definitions of a module are definitions. */
struct module {
	uintptr_t start; /* 0: none */
	size_t bytes;
	uintptr_t low, high; /* of its definitions, as far as is known */
	uintptr_t read, end; /* of those that were read; 0: none */
};

struct loci_cc_site rt_brief_kind[RT_BRIEF_KINDS];

static struct {
	char *arena;
	size_t left, bytes; /* in the arena; in all */
	unsigned n_kinds;
	struct module module[N_MODULES];
	unsigned n_modules; /* so far */
	unsigned n_read;    /* definitions */
	bool is_kept;       /* pages cannot be given back */
} briefs;

static size_t up8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static void *take(size_t bytes)
{
	size_t more =
		bytes > ARENA_BYTES ? (bytes + PAGE_BYTES - 1) & -(size_t)PAGE_BYTES : ARENA_BYTES;
	char *arena;

	if (bytes > briefs.left) {
		arena = briefs.bytes + more <= MOST_BYTES ? loci_sys_map(more, -1) : NULL;
		if (!arena)
			return NULL;
		briefs.arena = arena;
		briefs.left = more;
		briefs.bytes += more;
	}
	arena = briefs.arena;
	briefs.arena += bytes;
	briefs.left -= bytes;
	return arena;
}

static uint8_t kind_of(const struct loci_cc_site *site)
{
	unsigned i = 0;

	while (i < briefs.n_kinds && memcmp(&rt_brief_kind[i], site, KIND_BYTES) != 0)
		i++;
	if (i < briefs.n_kinds)
		return (uint8_t)i;
	if (i == RT_BRIEF_KINDS)
		return RT_BRIEF_OTHER;
	memcpy(&rt_brief_kind[i], site, KIND_BYTES);
	briefs.n_kinds++;
	return (uint8_t)i;
}

/* The last one makes room for another. */
static struct module *module_of(uintptr_t start, size_t bytes)
{
	struct module *module = NULL;

	for (unsigned i = 0; i < N_MODULES; i++)
		if (briefs.module[i].start == start && briefs.module[i].bytes == bytes)
			return &briefs.module[i];
	module = &briefs.module[briefs.n_modules++ % N_MODULES];
	*module = (struct module){ .start = start, .bytes = bytes };
	return module;
}

static void widen(uintptr_t *low, uintptr_t *high, uintptr_t from, uintptr_t to)
{
	if (!*low || from < *low)
		*low = from;
	if (to > *high)
		*high = to;
}

static void note_read(const struct loci_cc_definition *definition)
{
	uintptr_t low = (uintptr_t)definition, start;
	struct module *module;
	size_t bytes;

	if (briefs.n_read == MOST_READ)
		rt_brief_give_back();
	if (briefs.is_kept || !rt_module_around(low, &start, &bytes))
		return;
	module = module_of(start, bytes);
	if (module->read && (low - module->read > SPREAD_BYTES || module->end - low > SPREAD_BYTES))
		rt_brief_give_back();
	widen(&module->low, &module->high, low, low + definition->bytes);
	widen(&module->read, &module->end, low, low + definition->bytes);
	briefs.n_read++;
}

const struct rt_brief *rt_brief_of(const struct loci_cc_definition *definition)
{
	const struct loci_cc_block *block = (const void *)(definition + 1);
	const struct loci_cc_site *site;
	struct rt_brief *brief;
	size_t head = sizeof(*brief) + definition->n_blocks * sizeof(*brief->block);
	uint8_t *kinds;

	if (!rt.watches)
		return NULL;
	brief = take(up8(head + definition->n_sites));
	if (!brief)
		return NULL;
	note_read(definition);
	for (uint32_t i = 0; i < definition->n_blocks; i++)
		brief->block[i] = (struct rt_brief_block){ .first_site = block[i].first_site,
			.n_sites = block[i].n_sites,
			.flags = block[i].flags };
	site = (const void *)((const char *)block + up8(definition->n_blocks * sizeof(*block)));
	kinds = (uint8_t *)brief + head;
	for (uint32_t i = 0; i < definition->n_sites; i++)
		kinds[i] = kind_of(&site[i]);
	brief->site = kinds;
	return brief;
}

/* All that is there of these pages is as in the file. */
static bool is_of_file(long pagemap, uintptr_t low, uintptr_t high)
{
	static uint64_t page[512];

	while (low < high) {
		size_t n = (high - low) / PAGE_BYTES;
		long bytes;

		if (n > sizeof(page) / sizeof(*page))
			n = sizeof(page) / sizeof(*page);
		bytes = loci_syscall6(SYS_PREAD64, pagemap, (long)page, (long)(n * sizeof(*page)),
			(long)(low / PAGE_BYTES * sizeof(*page)), 0, 0);
		if (bytes != (long)(n * sizeof(*page)))
			return false;
		for (size_t i = 0; i < n; i++)
			if (page[i] & PAGE_SWAPPED ||
				(page[i] & PAGE_PRESENT && !(page[i] & PAGE_OF_A_FILE)))
				return false;
		low += n * PAGE_BYTES;
	}
	return true;
}

static uintptr_t down(uintptr_t address, uintptr_t bytes)
{
	return address & -bytes;
}

/* It may have been closed in the meantime, and something else be there. */
static void give_back(struct module *module, long pagemap)
{
	uintptr_t low = down(module->read, AROUND_BYTES);
	uintptr_t high = down(module->end + AROUND_BYTES - 1, AROUND_BYTES);
	uintptr_t first = down(module->low + PAGE_BYTES - 1, PAGE_BYTES);
	uintptr_t end = down(module->high, PAGE_BYTES), start;
	size_t bytes;

	module->read = module->end = 0;
	low = low < first ? first : low;
	high = high > end ? end : high;
	if (low >= high || !rt_module_around(low, &start, &bytes) || start != module->start ||
		bytes != module->bytes)
		return;
	if (is_of_file(pagemap, low, high))
		loci_syscall3(SYS_MADVISE, (long)low, (long)(high - low), DONTNEED);
	else
		briefs.is_kept = true;
}

void rt_brief_give_back(void)
{
	long pagemap;

	if (!briefs.n_read)
		return;
	briefs.n_read = 0;
	pagemap = loci_syscall3(LOCI_SYS_OPEN, (long)"/proc/self/pagemap", O_READ, 0);
	if (pagemap < 0) {
		briefs.is_kept = true;
		return;
	}
	for (unsigned i = 0; i < N_MODULES && !briefs.is_kept; i++)
		if (briefs.module[i].read)
			give_back(&briefs.module[i], pagemap);
	loci_syscall3(LOCI_SYS_CLOSE, pagemap, 0, 0);
}

void rt_brief_forget(uintptr_t start, size_t bytes)
{
	for (unsigned i = 0; i < N_MODULES; i++)
		if (briefs.module[i].start - start < bytes)
			briefs.module[i] = (struct module){ 0 };
}
