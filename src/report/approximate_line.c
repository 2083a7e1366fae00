// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/approximate_line.h"

#include "report/pairs.h"

static const char words[] =
	"gcc tells no locals that stay in their function, no accesses that it merged or proved "
	"race-free, vectors as scalars, and no libraries";

const char *loci_approximate_word(const struct loci_run *run)
{
	return loci_run_is_approximate(run) ? "approximate" : "exact";
}

void loci_approximate_text(const struct loci_run *run, const struct loci_text *text)
{
	char line[sizeof(words) + 16];

	if (!loci_run_is_approximate(run))
		return;
	snprintf(line, sizeof(line), "approximate: %s", words);
	loci_text_paragraph(text, LOCI_STYLE_FAIR, 2, line);
}

void loci_approximate_json(const struct loci_run *run, struct loci_json *json)
{
	loci_pair_string(json, "approximate", loci_run_is_approximate(run) ? words : NULL);
}
