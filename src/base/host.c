// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/host.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *loci_host_processor(char *buf, size_t size)
{
	loci_autofclose FILE *file = fopen("/proc/cpuinfo", "re");
	struct utsname names;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ':');

		if (!value || strncmp(line, "model name", strlen("model name")) != 0)
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = 0;
		snprintf(buf, size, "%s", value);
		return buf;
	}
	snprintf(buf, size, "%s", uname(&names) == 0 ? names.machine : "unknown processor");
	return buf;
}

static uint64_t free_bytes(void)
{
	loci_autofclose FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			return kib << 10;
	return 0;
}

/* What ulimit -v leaves; UINT64_MAX: it is not set. */
static uint64_t allowed_bytes(void)
{
	loci_autofclose FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;
	uint64_t used;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	if (!file || fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	used = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return limit.rlim_cur > used ? limit.rlim_cur - used : 1;
}

uint64_t loci_host_available_bytes(void)
{
	uint64_t bytes = free_bytes(), allowed = allowed_bytes();

	return allowed != UINT64_MAX && (!bytes || allowed < bytes) ? allowed : bytes;
}
