// SPDX-License-Identifier: GPL-2.0-or-later
/* The host's data caches from /sys/devices/system/cpu/cpuN/cache. Virtual machines often show
 * some files and not others, so whatever is missing is filled in with the least that can be said:
 * 64-byte lines, full associativity, private. */
#include "model/cache.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_TRIED    16 /* the first CPU may be offline or say nothing */
#define INDICES_TRIED 16

static int read_text(const char *dir, const char *name, char *buf, size_t size)
{
	char path[512];
	loci_autofclose FILE *file = NULL;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (!fgets(buf, (int)size, file))
		return -ENODATA;
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static uint64_t read_bytes(const char *dir, const char *name)
{
	uint64_t value;
	char buf[64];

	if (read_text(dir, name, buf, sizeof(buf)) < 0 ||
		loci_units_parse_bytes(buf, &value, NULL) < 0)
		return 0;
	return value;
}

/* CPUs in a list such as "0-3,8"; 0 if it is none. */
static uint32_t count_cpus(const char *list)
{
	uint64_t n = 0;

	while (isdigit((unsigned char)*list)) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last - first >= 1u << 20)
			return 0;
		n += last - first + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* A cache that only the hardware threads of one core share is private to that core. */
static void set_share(const char *cpus, const char *cpu, const char *index, struct loci_cache *ret)
{
	char sharers[1024], siblings[1024], online[1024];

	if (read_text(index, "shared_cpu_list", sharers, sizeof(sharers)) < 0)
		return;
	if (read_text(cpu, "topology/thread_siblings_list", siblings, sizeof(siblings)) == 0 &&
		!strcmp(sharers, siblings))
		return;
	ret->share_n = count_cpus(sharers);
	if (ret->share_n < 2)
		ret->share_n = 0;
	else if (read_text(cpus, "online", online, sizeof(online)) == 0 &&
		count_cpus(online) == ret->share_n)
		ret->share = LOCI_SHARE_ALL;
	else
		ret->share = LOCI_SHARE_SOME;
	if (ret->share == LOCI_SHARE_ALL)
		ret->share_n = 0;
}

/* One index directory; false where it is no data cache of a known size and level. */
static bool read_cache(const char *cpus, const char *cpu, unsigned index, unsigned *ret_level,
	struct loci_cache *ret)
{
	char dir[400], type[32];
	uint64_t ways, level;

	snprintf(dir, sizeof(dir), "%.360s/cache/index%u", cpu, index);
	if (read_text(dir, "type", type, sizeof(type)) < 0 ||
		(strcmp(type, "Data") && strcmp(type, "Unified")))
		return false;
	level = read_bytes(dir, "level");
	*ret = (struct loci_cache){
		.size_bytes = read_bytes(dir, "size"),
		.line_bytes = read_bytes(dir, "coherency_line_size"),
	};
	if (!level || level > 9)
		return false;
	*ret_level = (unsigned)level;
	snprintf(ret->name, sizeof(ret->name), "L%u", *ret_level);
	if (!ret->line_bytes)
		ret->line_bytes = LOCI_LINE_DEFAULT;
	ways = read_bytes(dir, "ways_of_associativity");
	ret->ways = ways <= UINT32_MAX ? (uint32_t)ways : 0;
	if (loci_cache_check(ret, NULL) < 0)
		ret->ways = 0; /* made up by a hypervisor */
	set_share(cpus, cpu, dir, ret);
	return loci_cache_check(ret, NULL) == 0;
}

static int read_cpu(const char *cpus, const char *cpu, struct loci_hierarchy *ret)
{
	struct loci_cache at[10] = { 0 };
	uint64_t largest = 0;

	for (unsigned i = 0; i < INDICES_TRIED; i++) {
		struct loci_cache cache;
		unsigned level;

		if (read_cache(cpus, cpu, i, &level, &cache) && !at[level].size_bytes)
			at[level] = cache;
	}
	/* A level smaller than one inside it (a memory-side buffer) would never hit: left out. */
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(at) && ret->n_levels < LOCI_LEVELS_MAX; i++)
		if (at[i].size_bytes && at[i].size_bytes >= largest) {
			largest = at[i].size_bytes;
			ret->level[ret->n_levels++] = at[i];
		}
	return ret->n_levels ? 0 : -ENODATA;
}

int loci_hierarchy_host(const char *sysfs_root, struct loci_hierarchy *ret, struct loci_err *err)
{
	char cpus[300], cpu[360];

	if ((size_t)snprintf(cpus, sizeof(cpus), "%s/devices/system/cpu", sysfs_root) >=
		sizeof(cpus))
		return loci_err_set(
			err, ENAMETOOLONG, "%.60s...: the path is too long", sysfs_root);
	*ret = (struct loci_hierarchy){ .name = "host" };
	for (unsigned i = 0; i < CPUS_TRIED; i++) {
		snprintf(cpu, sizeof(cpu), "%s/cpu%u", cpus, i);
		if (read_cpu(cpus, cpu, ret) == 0)
			return 0;
	}
	return loci_err_set(err, ENODATA,
		"%s/cpu0/cache: this machine does not say what caches it has (many virtual "
		"machines and "
		"containers do not); name them with --cache, such as --cache "
		"L1=32K/8,L2=1M/16,L3=32M/16",
		cpus);
}
