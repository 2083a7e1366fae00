// SPDX-License-Identifier: GPL-2.0-or-later
/* Any text as a cache specification: refused with words, or read and written back as the same. */
#include "model/cache.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try(
	const char *text, int (*parse)(const char *, struct loci_hierarchy *, struct loci_err *))
{
	char once[LOCI_HIERARCHY_MAX], twice[LOCI_HIERARCHY_MAX];
	struct loci_hierarchy a, b;
	struct loci_err err = { "" };

	if (parse(text, &a, &err) < 0) {
		if (!err.text[0])
			abort();
		return;
	}
	loci_hierarchy_format(&a, once, sizeof(once));
	if (parse(once, &b, &err) < 0)
		abort();
	if (strcmp(loci_hierarchy_format(&b, twice, sizeof(twice)), once))
		abort();
	for (unsigned i = 0; i < a.n_levels; i++)
		if (a.level[i].size_bytes != b.level[i].size_bytes ||
			!loci_cache_sets(&a.level[i]) || loci_cache_check(&a.level[i], NULL) < 0)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (strcasecmp(text, "host")) /* what a machine says of itself is not the input's */
		try(text, loci_hierarchy_parse);
	try(text, loci_hierarchy_parse_objects);
	free(text);
	return 0;
}
