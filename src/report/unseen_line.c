// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/unseen_line.h"

#include "base/units.h"
#include "report/pairs.h"

#include <stdio.h>

#define SHOWN 5 /* libraries in a line */

/* Whether a stands before b: the most calls first, then by name, as the profile has them. */
static bool is_before(const struct loci_unseen_calls *a, const struct loci_unseen_calls *b)
{
	return a->calls > b->calls || (a->calls == b->calls && a < b);
}

/* The one that follows `last`; NULL: none. */
static const struct loci_unseen_calls *next_most(
	const struct loci_unseen_calls *unseen, size_t n, const struct loci_unseen_calls *last)
{
	const struct loci_unseen_calls *most = NULL;

	for (size_t i = 0; i < n; i++)
		if ((!last || is_before(last, &unseen[i])) && unseen[i].calls &&
			(!most || is_before(&unseen[i], most)))
			most = &unseen[i];
	return most;
}

const char *loci_unseen_line(const struct loci_profile *profile, char *buf, size_t size)
{
	size_t n, used = 0, shown = 0;
	const struct loci_unseen_calls *unseen = loci_profile_unseen(profile, &n), *at = NULL;
	char number[LOCI_UNITS_MAX];

	buf[0] = '\0';
	while (shown < SHOWN && used < size && (at = next_most(unseen, n, at))) {
		used += (size_t)snprintf(buf + used, size - used, "%s%.100s %s", used ? ", " : "",
			at->library, loci_units_count(number, (double)at->calls));
		shown++;
	}
	if (at && shown < n && used < size)
		snprintf(buf + used, size - used, ", %zu more", n - shown);
	return buf;
}

void loci_unseen_json(const struct loci_profile *profile, struct loci_json *json)
{
	size_t n;
	const struct loci_unseen_calls *unseen = loci_profile_unseen(profile, &n);

	loci_pair_array(json, "unseen");
	for (size_t i = 0; i < n; i++) {
		loci_json_object(json);
		loci_pair_string(json, "library", unseen[i].library);
		loci_pair_u64(json, "calls", unseen[i].calls);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
}
