// SPDX-License-Identifier: GPL-2.0-or-later
/* What threads say they counted against what arrived. */
#include "analyse/count_check.h"
#include "check.h"

static struct loci_count_check check;

static void tell(enum loci_marker kind, uint32_t thread, uint64_t references)
{
	struct loci_event event = {
		.kind = kind, .thread = thread, .raw = &references, .n_raw = 1
	};

	loci_count_check_event(&check, &event);
}

static bool is_said(uint64_t arrived, uint64_t lost)
{
	char text[160];

	return loci_count_check_note(&check, arrived, lost, text, sizeof(text))[0] != 0;
}

int main(void)
{
	CHECK(!is_said(0, 0));
	tell(LOCI_MARK_COUNT, 1, 100);
	tell(LOCI_MARK_COUNT, 2, 30);
	tell(LOCI_MARK_COUNT, 1, 120); /* so far, not more */
	CHECK(!is_said(150, 0));
	CHECK(!is_said(151, 0)); /* of one that was killed */
	CHECK(is_said(149, 0));
	CHECK(!is_said(149, 1)); /* is said already */
	for (uint32_t i = 3; i < 100; i++)
		tell(LOCI_MARK_COUNT, i, 1);
	CHECK(!is_said(247, 0));
	CHECK(is_said(246, 0));
	tell(LOCI_MARK_WINDOW_END, 1, 5);
	CHECK(!is_said(0, 0));
	loci_count_check_fini(&check);
	return check_status();
}
