// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/host.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

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

uint64_t loci_host_available_bytes(void)
{
	loci_autofclose FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			return kib << 10;
	return 0;
}
