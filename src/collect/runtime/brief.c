// SPDX-License-Identifier: BSD-2-Clause
/* A page is given back by MADV_DONTNEED: who reads it again has it from the file. That would lose
 * what is not in the file, so the kernel is asked first (/proc/self/pagemap): a program may have
 * been unpacked into memory that has none. */
#include "collect/runtime/brief.h"

#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#define PAGE_BYTES     4096u
#define AROUND_BYTES   65536u /* that the kernel maps when one of their pages is read */
#define ARENA_BYTES    65536u
#define MOST_BYTES     (16u << 20) /* of all briefs: libraries may come and go */
#define SPREAD_BYTES   (4u << 20)  /* of what is given back at once */
#define SYS_PREAD64    17
#define SYS_MADVISE    28
#define SYS_OPENAT     257
#define FROM_HERE      (-100) /* AT_FDCWD */
#define DONTNEED       4
#define O_READ         02000000 /* O_CLOEXEC */
#define KIND_BYTES     offsetof(struct loci_cc_site, line)
#define PAGE_PRESENT   (1ull << 63)
#define PAGE_SWAPPED   (1ull << 62)
#define PAGE_OF_A_FILE (1ull << 61)

struct loci_cc_site rt_brief_kind[RT_BRIEF_KINDS];

static struct {
	char *arena;
	size_t left, bytes; /* in the arena; in all */
	unsigned n_kinds;
	uintptr_t program;   /* where it begins; 0: not known yet */
	uintptr_t low, high; /* of its definitions, as far as is known: between two are others */
	uintptr_t read, read_end; /* of those that were read; 0: none */
	bool is_kept;             /* pages cannot be given back */
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

	/* A child may be made between any two of these: it has no more left than there is. */
	if (bytes > briefs.left) {
		arena = briefs.bytes + more <= MOST_BYTES ? loci_sys_map(more, -1) : NULL;
		if (!arena)
			return NULL;
		briefs.bytes += more;
		__atomic_store_n(&briefs.left, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&briefs.arena, arena, __ATOMIC_RELEASE);
		__atomic_store_n(&briefs.left, more, __ATOMIC_RELEASE);
	}
	arena = briefs.arena;
	__atomic_store_n(&briefs.left, briefs.left - bytes, __ATOMIC_RELEASE);
	__atomic_store_n(&briefs.arena, arena + bytes, __ATOMIC_RELEASE);
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

static void widen(uintptr_t *low, uintptr_t *high, uintptr_t from, uintptr_t to)
{
	if (!*low || from < *low)
		*low = from;
	if (to > *high)
		*high = to;
}

/* The program's own is never unmapped, nor anything else put there, as may happen to a library at
 * any moment. */
static bool is_of_program(uintptr_t address)
{
	uintptr_t start;
	size_t bytes;

	if (!briefs.program && rt_module_around(getauxval(AT_PHDR), &start, &bytes))
		briefs.program = start;
	return rt_module_around(address, &start, &bytes) && start == briefs.program;
}

static void note_read(const struct loci_cc_definition *definition)
{
	uintptr_t low = (uintptr_t)definition, high = low + definition->bytes;
	uintptr_t read = briefs.read, end = briefs.read_end;

	if (briefs.is_kept || !is_of_program(low))
		return;
	widen(&read, &end, low, high);
	if (end - read > SPREAD_BYTES)
		rt_brief_give_back();
	widen(&briefs.low, &briefs.high, low, high);
	widen(&briefs.read, &briefs.read_end, low, high);
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
			if (page[i] & (PAGE_PRESENT | PAGE_SWAPPED) && !(page[i] & PAGE_OF_A_FILE))
				return false;
		low += n * PAGE_BYTES;
	}
	return true;
}

static uintptr_t down(uintptr_t address, uintptr_t bytes)
{
	return address & -bytes;
}

void rt_brief_give_back(void)
{
	uintptr_t low = down(briefs.read, AROUND_BYTES);
	uintptr_t high = down(briefs.read_end + AROUND_BYTES - 1, AROUND_BYTES);
	uintptr_t first = down(briefs.low + PAGE_BYTES - 1, PAGE_BYTES);
	uintptr_t end = down(briefs.high, PAGE_BYTES);
	long pagemap;

	if (!briefs.read)
		return;
	briefs.read = briefs.read_end = 0;
	low = low < first ? first : low;
	high = high > end ? end : high;
	if (low >= high)
		return;
	pagemap = loci_syscall6(
		SYS_OPENAT, FROM_HERE, (long)"/proc/thread-self/pagemap", O_READ, 0, 0, 0);
	briefs.is_kept = pagemap < 0 || !is_of_file(pagemap, low, high) ||
		loci_syscall3(SYS_MADVISE, (long)low, (long)(high - low), DONTNEED) < 0;
	if (pagemap >= 0)
		loci_syscall3(LOCI_SYS_CLOSE, pagemap, 0, 0);
}
