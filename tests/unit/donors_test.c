// SPDX-License-Identifier: GPL-2.0-or-later
/* Reuses that take their distances from like ones that were followed all the way. */
#include "analyse/donors.h"
#include "base/cleanup.h"
#include "check.h"
#include "hist/hist.h"

static struct loci_weigh_outcome seen(
	uint64_t context, uint64_t refs, uint64_t distance, uint64_t distinct)
{
	return (struct loci_weigh_outcome){ .context = context,
		.distance = distance,
		.distinct = distinct,
		.weight = 1,
		.from = 1000,
		.to = 1000 + refs,
		.in_burst = true };
}

/* What a watch met: by the clock 2 touches a reference. */
static struct loci_weigh_outcome met(uint64_t context, uint64_t refs, bool is_rough)
{
	return (struct loci_weigh_outcome){ .context = context,
		.distance = 2 * refs,
		.weight = 9,
		.from = 5,
		.to = 5 + refs,
		.is_rough = is_rough };
}

static void check_one(
	const struct loci_weigh_outcome *outcome, uint64_t distance, uint64_t distinct)
{
	CHECK_U64(outcome->distance, distance);
	CHECK_U64(outcome->distinct, distinct);
}

/* By time alone they seem farther away than any that was followed. Which of these they are like is
 * open: not the last one's every time. */
static void check_rough(void)
{
	enum { DONORS = 4, SOUGHT = 64 };
	struct loci_weigh_outcome outcome[DONORS + SOUGHT];
	const struct loci_weigh_result result = { .outcome = outcome, .n = DONORS + SOUGHT };
	unsigned like[DONORS] = { 0 };

	for (unsigned i = 0; i < DONORS; i++)
		outcome[i] = seen(3, 20000 + 10 * i, 40000 + i, 100 + i);
	for (unsigned i = 0; i < SOUGHT; i++)
		outcome[DONORS + i] = met(3, 20300, true);
	CHECK_U64((uint64_t)-loci_donors_fill(&result), 0);
	for (unsigned i = 0; i < SOUGHT; i++) {
		uint64_t donor = outcome[DONORS + i].distinct - 100;

		CHECK(donor < DONORS);
		check_one(&outcome[DONORS + i], 40000 + donor, 100 + donor);
		like[donor % DONORS]++;
	}
	for (unsigned i = 0; i < DONORS; i++)
		CHECK(like[i] > SOUGHT / DONORS / 2 && like[i] < SOUGHT / DONORS * 2);
}

/* What an outcome has of another site says nothing of its own. */
static void check_borrowed(void)
{
	struct loci_weigh_outcome outcome[] = { seen(2, 12800, 14000, 8193), met(2, 12801, false) };
	const struct loci_weigh_result result = { .outcome = outcome, .n = 2 };

	outcome[0].is_borrowed = true;
	CHECK_U64((uint64_t)-loci_donors_fill(&result), 0);
	check_one(&outcome[1], 2 * 12801, 0);
}

int main(void)
{
	struct loci_weigh_outcome outcome[] = {
		seen(7, 12800, 14000, 8193),
		met(7, 12801, false), /* a reference more, as a trap has it */
		met(7, 12710, false), /* within a bin */
		met(7, 12901, false), /* not */
		met(7, 12901, true),  /* by time alone */
		met(8, 12800, false), /* another site's */
		seen(8, 50000, 60000, 301), seen(8, 50000, 60000, 302), seen(8, 50100, 60000, 400),
		met(8, 50000, false), /* of two that are equally near each in turn */
		met(8, 49990, false), met(8, 50090, false), met(6, 12800, false), /* before all */
		met(9, 50000, false),                                             /* behind all */
		seen(5, 10000, 30000, 5001), seen(5, 16000, 48000, 8001),
		met(5, 12000, false), /* in between: a half of the references */
		met(5, 18000, false), /* not far behind */
		met(5, 33000, false), /* far behind */
		seen(4, 10000, 30000, 5001), seen(4, 16000, 48000, 12001),
		met(4, 12000, false), /* they do not agree */
	};
	const struct loci_weigh_result result = { .outcome = outcome,
		.n = LOCI_ARRAY_SIZE(outcome) };
	struct loci_weigh_outcome never = met(7, 12800, false), remote = never;
	struct loci_weigh_outcome others[] = { outcome[0], never, remote };

	CHECK_U64((uint64_t)-loci_donors_fill(&(struct loci_weigh_result){ .n = 0 }), 0);
	CHECK_U64((uint64_t)-loci_donors_fill(&result), 0);
	check_one(&outcome[1], 14000, 8193);
	check_one(&outcome[2], 14000, 8193);
	check_one(&outcome[3], 2 * 12901, 0);
	check_one(&outcome[4], 14000, 8193);
	check_one(&outcome[5], 2 * 12800, 0);
	CHECK_U64(outcome[9].distinct + outcome[10].distinct, 301 + 302);
	check_one(&outcome[11], 60000, 400);
	check_one(&outcome[12], 2 * 12800, 0);
	check_one(&outcome[13], 2 * 50000, 0);
	check_one(&outcome[16], 36000, 6001);
	check_one(&outcome[17], 54000, 9001);
	check_one(&outcome[18], 66000, 0);
	check_one(&outcome[21], 24000, 0);
	/* what is never reused, and by another thread */
	others[1].distance = LOCI_INFINITE;
	others[2].remote = true;
	CHECK_U64((uint64_t)-loci_donors_fill(
			  &(struct loci_weigh_result){ .outcome = others, .n = 3 }),
		0);
	check_one(&others[1], LOCI_INFINITE, 0);
	check_one(&others[2], 2 * 12800, 0);
	check_rough();
	check_borrowed();
	return check_status();
}
