// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/sweep_range.h"

#include "base/units.h"
#include "cli/command.h"

#include <string.h>
#include <strings.h>

static int bad_sweep(const char *text)
{
	return loci_usage("cache",
		"--sweep %s: write NAME=A..B with a level's name, or line=A..B, such as "
		"L2=256K..8M",
		text);
}

int loci_sweep_range(const char *sweep, const struct loci_hierarchy *hierarchy, bool is_object,
	struct loci_sweep_range *ret)
{
	char text[256], *from, *to;

	if (strlen(sweep) >= sizeof(text))
		return bad_sweep("...");
	strcpy(text, sweep);
	from = strchr(text, '=');
	to = from ? strstr(from, "..") : NULL;
	if (!to)
		return bad_sweep(sweep);
	*from++ = '\0';
	*to = '\0';
	to += 2;
	if (loci_units_parse_bytes(from, &ret->from, NULL) < 0 ||
		loci_units_parse_bytes(to, &ret->to, NULL) < 0)
		return bad_sweep(sweep);
	if (!ret->from || ret->from > ret->to)
		return loci_usage("cache",
			"--sweep %s: sizes go from small to large, and from more than 0", sweep);
	ret->is_line = !strcasecmp(text, "line");
	for (ret->level = 0; !ret->is_line && ret->level < hierarchy->n_levels; ret->level++)
		if (!strcasecmp(text, hierarchy->level[ret->level].name))
			return LOCI_EXIT_OK;
	if (ret->is_line && !is_object)
		return LOCI_EXIT_OK;
	return ret->is_line ? loci_usage("cache", "--sweep line: an object has no lines")
			    : loci_usage("cache", "--sweep %s: no level is named %s", sweep, text);
}
