// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/count_check.h"

#include "analyse/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct loci_count_said *of_thread(struct loci_count_check *check, uint32_t thread)
{
	for (size_t i = check->n; i-- > 0;)
		if (check->said[i].thread == thread)
			return &check->said[i];
	if (loci_grow(&check->said, &check->cap, check->n + 1, sizeof(*check->said)) < 0)
		return NULL;
	check->said[check->n] = (struct loci_count_said){ .thread = thread };
	return &check->said[check->n++];
}

void loci_count_check_event(struct loci_count_check *check, const struct loci_event *event)
{
	struct loci_count_said *said;

	if (event->kind == LOCI_MARK_WINDOW_BEGIN || event->kind == LOCI_MARK_WINDOW_END ||
		event->kind == LOCI_MARK_PAUSE)
		check->has_windows = true;
	if (event->kind != LOCI_MARK_COUNT || check->has_windows)
		return;
	said = of_thread(check, event->thread);
	if (said) /* without memory it has said nothing */
		said->references = event->raw[0];
}

void loci_count_check_fini(struct loci_count_check *check)
{
	free(check->said);
	*check = (struct loci_count_check){ 0 };
}

const char *loci_count_check_note(const struct loci_count_check *check, uint64_t arrived,
	uint64_t lost, char *text, size_t size)
{
	uint64_t said = 0;

	text[0] = 0;
	for (size_t i = 0; i < check->n; i++)
		said += check->said[i].references;
	/* a window may open after the first count */
	if (said > arrived && !check->has_windows && !lost)
		snprintf(text, size,
			"threads counted %" PRIu64 " references and %" PRIu64
			" arrived: the profile is not of all",
			said, arrived);
	return text;
}
