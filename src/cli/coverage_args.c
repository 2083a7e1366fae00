// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/coverage_args.h"

#include "base/units.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

double loci_coverage_args_percent(const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	while (*end == ' ')
		end++;
	if (end == text || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100))
		return -1;
	return percent / 100;
}

int loci_coverage_args_cache(struct loci_coverage_args *args, const char *command, const char *text)
{
	struct loci_err err = { "" };

	if (loci_units_parse_bytes(text, &args->cache_bytes, &err) < 0)
		return loci_usage(
			command, "--cache: here it takes one size such as 32K: %s", err.text);
	if (!args->cache_bytes)
		return loci_usage(command, "--cache: a cache of nothing holds nothing");
	return 0;
}

int loci_coverage_args_miss(struct loci_coverage_args *args, const char *command, const char *text)
{
	args->miss = loci_coverage_args_percent(text);
	if (!(args->miss > 0 && args->miss < 1))
		return loci_usage(command,
			"--miss takes a share of the reuses such as 10%%, and not \"%s\"", text);
	return 0;
}

int loci_coverage_args_check(const struct loci_coverage_args *args, const char *command)
{
	if (args->cache_bytes && args->miss > 0)
		return loci_usage(command,
			"--cache gives the size, and --miss chooses it: one of both is enough");
	return 0;
}

struct loci_coverage_options loci_coverage_args_options(
	const struct loci_coverage_args *args, uint64_t block_bytes)
{
	uint64_t blocks = args->cache_bytes / block_bytes;

	return (struct loci_coverage_options){
		.block_bytes = block_bytes,
		.blocks = args->cache_bytes && !blocks ? 1 : blocks,
		.miss = args->miss > 0 ? args->miss : LOCI_COVERAGE_MISS,
	};
}
