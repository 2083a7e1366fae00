// SPDX-License-Identifier: GPL-2.0-or-later
/* Synthetic histograms and the sentences they must give. Sizes and shares in the sentences follow
 * from the counts in the table by hand: a distance d needs d + 1 blocks of 64 bytes. */
#include "check.h"

#include "report/report_verdict.h"

#include <stdlib.h>

#define L1 512       /* blocks of 32 KiB */
#define L2 16384     /* of 1 MiB */
#define L3 (1 << 19) /* of 32 MiB */

struct weight {
	uint64_t distance;
	double weight;
};

struct scene {
	const char *name;
	struct weight weight[8]; /* ends with weight 0 */
	double cold;
	bool has_machine, is_object;
	double error_points;
	double conflict; /* share of L1's */
	const char *verdict, *knees;
};

static const struct scene scenes[] = {
	{ .name = "nothing", .verdict = "No references: there is nothing to judge." },
	{ .name = "nothing, objects",
		.is_object = true,
		.verdict = "No requests: there is nothing to judge." },
	{ .name = "one reference",
		.cold = 1,
		.has_machine = true,
		.verdict = "A single reference: nothing is used twice." },
	{ .name = "all cold",
		.cold = 1000,
		.has_machine = true,
		.verdict =
			"Nothing is used twice: every one of the references goes to a new block, "
			"and no cache of any size helps." },
	{ .name = "all cold, objects",
		.cold = 1000,
		.is_object = true,
		.verdict = "Nothing is used twice: every one of the requests goes to a new object, "
			   "and no cache of any size helps." },
	{ .name = "one block",
		.weight = { { 0, 999 } },
		.cold = 1,
		.has_machine = true,
		.verdict = "All references go to one 64-byte block: any cache holds it.",
		.knees = "64 B (99.9 %)" },
	{ .name = "one object",
		.weight = { { 0, 9 } },
		.cold = 1,
		.is_object = true,
		.verdict = "All requests are for one object: any cache holds it.",
		.knees = "1 object (90 %)" },
	{ .name = "everything in L1",
		.weight = { { 10, 990 } },
		.cold = 10,
		.has_machine = true,
		.verdict = "99 % of references fit in L1 (32 KiB); the rest are first touches.",
		.knees = "704 B (99 %)" },
	{ .name = "a step in L3",
		.weight = { { 10, 870 }, { 196607, 110 } },
		.cold = 20,
		.has_machine = true,
		.verdict = "87 % of references fit in L1 (32 KiB); the next step is at 12 MiB "
			   "(fits L3): 11 %. 2 % of references are first touches and go to memory.",
		.knees = "704 B (87 %), 12 MiB (11 %)" },
	{ .name = "the same without a machine",
		.weight = { { 511, 870 }, { 196607, 110 } },
		.cold = 20,
		.verdict = "87 % of references fit in 32 KiB; the next step is at 12 MiB: 11 %.",
		.knees = "32 KiB (87 %), 12 MiB (11 %)" },
	{ .name = "the same in objects",
		.weight = { { 511, 870 }, { 196607, 110 } },
		.cold = 20,
		.is_object = true,
		.verdict =
			"87 % of requests fit in 512 objects; the next step is at 197 k objects: "
			"11 %.",
		.knees = "512 objects (87 %), 197 k objects (11 %)" },
	{ .name = "two steps",
		.weight = { { 10, 600 }, { 1023, 50 }, { 65535, 344 } },
		.cold = 6,
		.has_machine = true,
		.verdict = "60 % of references fit in L1 (32 KiB); the next step is at 64 KiB "
			   "(fits L2): 5 %, the largest at 4 MiB (fits L3): 34 %.",
		.knees = "704 B (60 %), 64 KiB (5 %), 4 MiB (34 %)" },
	{ .name = "beyond every level",
		.weight = { { 10, 700 }, { 1048575, 280 } },
		.cold = 20,
		.has_machine = true,
		.verdict = "70 % of references fit in L1 (32 KiB); the next step is at 64 MiB "
			   "(beyond L3): 28 %. 30 % of references go to memory: 28 % reach further "
			   "back than L3, "
			   "2 % are first touches.",
		.knees = "704 B (70 %), 64 MiB (28 %)" },
	{ .name = "mostly far",
		.weight = { { 0, 5000 }, { 1023, 4989 }, { 83199, 10 } },
		.cold = 10000,
		.has_machine = true,
		.verdict =
			"50 % of references are first touches, which no cache saves; 25 % fit in "
			"L1 (32 KiB); the next step is at 64 KiB (fits L2): 25 %.",
		.knees = "64 B (25 %), 64 KiB (25 %)" },
	{ .name = "far",
		.weight = { { 0, 490 }, { 1023, 509 } },
		.cold = 1,
		.has_machine = true,
		.verdict = "51 % of references reach further back than L1 (32 KiB); 99.9 % fit in "
			   "64 KiB (fits L2).",
		.knees = "64 B (49 %), 64 KiB (51 %)" },
	{ .name = "a thin tail",
		.weight = { { 0, 9700 }, { 1023, 95 }, { 4095, 95 }, { 16383, 95 } },
		.cold = 15,
		.has_machine = true,
		.verdict = "97 % of references fit in L1 (32 KiB); 2.9 % are spread thinly up to "
			   "L2 (1 MiB).",
		.knees = "64 B (97 %)" },
	{ .name = "sampled",
		.weight = { { 10, 870 }, { 196607, 110 }, { 1023, 15 } },
		.cold = 5,
		.has_machine = true,
		.error_points = 2,
		/* the step of 1.5 points could be chance */
		.verdict =
			"About 87 % of references fit in L1 (32 KiB); the next step is at 12 MiB "
			"(fits L3): 11 %.",
		.knees = "704 B (87 %), 12 MiB (11 %)" },
	{ .name = "conflicts",
		.weight = { { 10, 990 } },
		.cold = 10,
		.has_machine = true,
		.conflict = 0.12,
		.verdict = "99 % of references fit in L1 (32 KiB); the rest are first touches. "
			   "But "
			   "another 12 % miss L1 by conflict: its sets are used unevenly.",
		.knees = "704 B (99 %)" },
	{ .name = "a step through L1",
		.weight = { { 255, 200 }, { 511, 300 }, { 1023, 300 }, { 2047, 199 } },
		.cold = 1,
		.has_machine = true,
		/* of the one knee at 128 KiB only what is beyond L1 is the next step */
		.verdict = "50 % of references fit in L1 (32 KiB); the next step is at 128 KiB "
			   "(fits L2): 50 %.",
		.knees = "128 KiB (99.9 %)" },
};

static struct loci_prediction level(const char *name, uint64_t blocks, double total)
{
	struct loci_prediction p = { .accesses = total };

	snprintf(p.cache.name, sizeof(p.cache.name), "%s", name);
	p.cache.size_bytes = blocks * 64;
	p.cache.line_bytes = 64;
	return p;
}

/* Spaces that do not break look the same. */
static const char *plain(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if ((unsigned char)from[0] == 0xc2 && (unsigned char)from[1] == 0xa0) {
			*to++ = ' ';
			from++;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return text;
}

static void check_scene(const struct scene *scene)
{
	struct loci_grain grain = { .block_bytes = scene->is_object ? 1 : 64,
		.error_points = scene->error_points };
	struct loci_run run = { 0 };
	struct loci_subject subject = {
		.run = &run, .grain = &grain, .is_object = scene->is_object
	};
	struct loci_verdict verdict;
	struct loci_hist stack;
	char buf[1024];
	int before = check_failures;

	loci_hist_init(&stack, LOCI_SCHEME_FINE);
	for (const struct weight *w = scene->weight; w->weight > 0; w++)
		loci_hist_add(&stack, w->distance, w->weight);
	stack.cold = scene->cold;
	subject.stack = &stack;
	if (scene->has_machine) {
		double total = loci_hist_total(&stack);

		subject.level[0] = level("L1", L1, total);
		subject.level[1] = level("L2", L2, total);
		subject.level[2] = level("L3", L3, total);
		subject.level[0].conflict = scene->conflict * total;
		subject.n_levels = 3;
	}
	loci_verdict(&subject, &verdict);
	loci_report_verdict(&subject, &verdict, buf, sizeof(buf));
	CHECK_STR(plain(buf), scene->verdict);
	if (scene->knees) {
		loci_report_knees(&subject, &verdict, buf, sizeof(buf));
		CHECK_STR(plain(buf), scene->knees);
	}
	if (check_failures > before)
		fprintf(stderr, "	in scene \"%s\"\n", scene->name);
	loci_hist_fini(&stack);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		check_scene(&scenes[i]);
	return check_status();
}
