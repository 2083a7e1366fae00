// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/count_check.h"

#include <inttypes.h>
#include <stdio.h>

void loci_count_check_event(
	struct loci_count_check *check, const struct loci_event *event, uint64_t arrived)
{
	if (event->kind == LOCI_MARK_WINDOW_BEGIN || event->kind == LOCI_MARK_WINDOW_END ||
		event->kind == LOCI_MARK_PAUSE)
		check->has_windows = true;
	if (event->kind != LOCI_MARK_COUNT || check->has_windows || check->differs ||
		event->raw[0] == arrived)
		return;
	check->differs = true;
	check->said = event->raw[0];
	check->arrived = arrived;
}

const char *loci_count_check_note(
	const struct loci_count_check *check, uint64_t lost, char *text, size_t size)
{
	text[0] = 0;
	/* a window may open after the first count */
	if (check->differs && !check->has_windows && !lost)
		snprintf(text, size,
			"a thread counted %" PRIu64 " references and %" PRIu64
			" arrived: the profile is not of all",
			check->said, check->arrived);
	return text;
}
