// SPDX-License-Identifier: GPL-2.0-or-later
/* Two runs made by hand, and bounds on what moved between them. */
#include "check.h"

#include "model/compare.h"
#include "model/criterion.h"

#include <errno.h>
#include <stdlib.h>

struct side {
	struct loci_hist stack;
	struct loci_grain grain;
	struct loci_run run;
	struct loci_subject subject;
};

static void side_init(struct side *side, uint64_t references)
{
	*side = (struct side){ .grain = { .block_bytes = 64, .touches = references },
		.run = { .references = references } };
	loci_hist_init(&side->stack, LOCI_SCHEME_FINE);
	side->subject = (struct loci_subject){
		.run = &side->run, .grain = &side->grain, .stack = &side->stack
	};
}

static void side_level(
	struct side *side, const char *name, uint64_t blocks, double misses, double writebacks)
{
	struct loci_prediction *p = &side->subject.level[side->subject.n_levels++];

	*p = (struct loci_prediction){ .accesses = (double)side->grain.touches,
		.misses = misses,
		.has_writebacks = writebacks >= 0,
		.writebacks = writebacks,
		.moved_bytes = 64 * misses };
	snprintf(p->cache.name, sizeof(p->cache.name), "%s", name);
	p->cache.size_bytes = blocks * 64;
	p->cache.line_bytes = 64;
}

/* Before: 600 at 1, 300 at 999, 100 cold. After: 500 at 1, 100 at 7, 300 at 99, 100 cold. */
static void make(struct side *a, struct side *b)
{
	side_init(a, 1000);
	loci_hist_add(&a->stack, 1, 600);
	loci_hist_add(&a->stack, 999, 300);
	a->stack.cold = 100;
	a->grain.blocks = 100;
	side_level(a, "L1", 64, 400, 50);
	side_level(a, "L3", 4096, 100, -1);
	side_init(b, 1000);
	loci_hist_add(&b->stack, 1, 500);
	loci_hist_add(&b->stack, 7, 100);
	loci_hist_add(&b->stack, 99, 300);
	b->stack.cold = 100;
	b->grain.blocks = 100;
	side_level(b, "L1", 64, 300, 60);
	side_level(b, "L3", 4096, 120, -1);
}

static void check_groups(const struct loci_compare *c)
{
	CHECK_U64(c->boundary_blocks, 64);
	CHECK_STR(c->boundary_name, "L1");
	CHECK_NEAR(c->near.share, 600. / 900, 1e-12);
	CHECK_NEAR(c->far.share, 300. / 900, 1e-12);
	CHECK_NEAR(c->near.longer, 1. / 6, 1e-9); /* from 2 blocks to 8 */
	CHECK_NEAR(c->near.shorter, 0, 1e-12);
	CHECK_NEAR(c->far.shorter, 1, 1e-9);
	CHECK_NEAR(c->far.longer, 0, 1e-12);
	CHECK_NEAR(c->near.median.before, 2, 0);
	CHECK_NEAR(c->near.median.after, 2, 0);
	CHECK_NEAR(c->far.median.before, 1000, 0);
	CHECK_NEAR(c->far.median.after, 100, 0);
}

static void check_numbers(const struct loci_compare *c)
{
	CHECK_U64(c->n_levels, 2);
	CHECK_NEAR(c->level[0].misses.before, 400, 0);
	CHECK_NEAR(c->level[0].misses.after, 300, 0);
	CHECK(c->level[0].has_writebacks && !c->level[1].has_writebacks);
	CHECK_NEAR(c->percentile[0].before, 2, 0);
	CHECK_NEAR(c->percentile[3].before, 1000, 0); /* 90 % */
	CHECK_NEAR(c->percentile[3].after, 100, 0);
	CHECK(isinf(c->percentile[4].before)); /* 95 %: 10 % are cold */
	CHECK_NEAR(c->cold.after, 100, 0);
}

/* At the very edges: 64 blocks do fit in L1, and from 2 blocks to 4 is twice as long. */
static void check_boundaries(void)
{
	static struct loci_compare c;
	struct side a, b;

	side_init(&a, 100);
	loci_hist_add(&a.stack, 1, 30);
	loci_hist_add(&a.stack, 63, 30);
	loci_hist_add(&a.stack, 64, 40);
	side_level(&a, "L1", 64, 40, 0);
	side_init(&b, 100);
	loci_hist_add(&b.stack, 3, 30);
	loci_hist_add(&b.stack, 31, 30);
	loci_hist_add(&b.stack, 64, 40);
	side_level(&b, "L1", 64, 40, 0);
	loci_compare(&a.subject, &b.subject, 20, &c);
	CHECK_NEAR(c.near.share, 0.6, 1e-12);
	CHECK_NEAR(c.near.longer, 0.5, 1e-9);
	CHECK_NEAR(c.near.shorter, 0.5, 1e-9);
	CHECK_NEAR(c.far.share, 0.4, 1e-12);
	CHECK_NEAR(c.far.longer + c.far.shorter, 0, 1e-12);
	loci_hist_fini(&a.stack);
	loci_hist_fini(&b.stack);
}

static void check_trends(void)
{
	CHECK(loci_change_trend((struct loci_change){ 100, 90 }, 1000, 0) == LOCI_TREND_BETTER);
	CHECK(loci_change_trend((struct loci_change){ 100, 110 }, 1000, 0) == LOCI_TREND_WORSE);
	CHECK(loci_change_trend((struct loci_change){ 1e6, 1e6 + 1 }, 1e7, 0) == LOCI_TREND_SAME);
	/* a tenth of 1000 touches is 1 point */
	CHECK(loci_change_trend((struct loci_change){ 100, 110 }, 1000, 2) == LOCI_TREND_SAME);
	CHECK(loci_change_trend((struct loci_change){ 0, 5 }, 1000, 0) == LOCI_TREND_WORSE);
	CHECK(loci_change_trend((struct loci_change){ 0, 0 }, 0, 0) == LOCI_TREND_SAME);
	CHECK(loci_change_trend((struct loci_change){ INFINITY, 5 }, 0, 0) == LOCI_TREND_BETTER);
	CHECK_NEAR(loci_change_relative((struct loci_change){ 0, 0 }), 0, 0);
	CHECK(isinf(loci_change_relative((struct loci_change){ 0, 1 })));
	CHECK_NEAR(loci_change_relative((struct loci_change){ INFINITY, INFINITY }), 0, 0);
	CHECK_NEAR(loci_change_relative((struct loci_change){ 200, 150 }), -0.25, 0);
}

static void fires(const struct loci_compare *c, const char *text, bool want)
{
	struct loci_criterion criterion;
	struct loci_criterion_result result = { 0 };
	struct loci_err err = { "" };

	check_count++;
	if (loci_criterion_parse(text, &criterion, &err) < 0 ||
		loci_criterion_check(&criterion, c, &result, &err) < 0)
		CHECK_FAIL("%s: %s", text, err.text);
	else if (result.fired != want)
		CHECK_FAIL("%s: %s at %g", text, want ? "did not fire" : "fired", result.measured);
}

static void refuses(const struct loci_compare *c, const char *text, const char *because)
{
	struct loci_criterion criterion;
	struct loci_criterion_result result;
	struct loci_err err = { "" };
	int r = loci_criterion_parse(text, &criterion, &err);

	if (r == 0)
		r = loci_criterion_check(&criterion, c, &result, &err);
	check_count++;
	if (r != -EINVAL || !strstr(err.text, because))
		CHECK_FAIL("%s: got %d \"%s\", want \"%s\"", text, r, err.text, because);
}

static void check_criteria(const struct loci_compare *c)
{
	fires(c, "l1-misses>+5%", false); /* -25 % */
	fires(c, "l1-misses<-20%", true);
	fires(c, "l1-misses<=-25%", true);
	fires(c, "l1-misses<-25%", false);
	fires(c, "llc-misses>+5%", true); /* +20 % */
	fires(c, "L3-Misses > + 20 %", false);
	fires(c, "llc-misses>=+20%", true);
	fires(c, "llc-misses>+19.9", true); /* by 20 */
	fires(c, "llc-misses>+20", false);
	fires(c, "llc-misses>119", true);
	fires(c, "llc-misses>11%", true); /* 120 of 1000 */
	fires(c, "llc-misses>12%", false);
	fires(c, "l1-writebacks>+10%", true);
	fires(c, "l1-moved>18K", true); /* 300 lines of 64 */
	fires(c, "l1-moved>19K", false);
	fires(c, "references>+0", false);
	fires(c, "references>=1e3", true);
	fires(c, "cold>9%", true);
	fires(c, "touches<1000", false);
	fires(c, "blocks>99", true);
	fires(c, "p90>6K", true); /* 100 blocks of 64 */
	fires(c, "p90>=6400", true);
	fires(c, "p90>6400", false);
	fires(c, "p90<-80%", true);
	fires(c, "p95>1G", true);   /* no cache is large enough */
	fires(c, "p95>+1%", false); /* and none was */
	refuses(c, "", "names no metric");
	refuses(c, ">5", "names no metric");
	refuses(c, "llc-misses", "none of > >= < <=");
	refuses(c, "llc-misses=5", "none of > >= < <=");
	refuses(c, "llc-misses>", "is no number");
	refuses(c, "llc-misses>x", "is no number");
	refuses(c, "llc-misses>5%%", "is no number");
	refuses(c, "llc-misses>+-5", "is no number");
	refuses(c, "llc-misses>0x10", "is no number");
	refuses(c, "llc-misses>1e999", "is no number");
	refuses(c, "llc-misses>nan", "is no number");
	refuses(c, "l2-misses>5", "there is no metric \"l2-misses\"");
	refuses(c, "l2-misses>5", "L1 L3 llc");
	refuses(c, "l1-hits>5", "there is no metric");
	refuses(c, "p60>5", "there is no metric");
	refuses(c, "p90>5%", "has no whole");
	refuses(c, "l3-writebacks>5", "write-backs are not known");
}

int main(void)
{
	static struct loci_compare c;
	struct side a, b;

	make(&a, &b);
	loci_compare(&a.subject, &b.subject, 20, &c);
	check_groups(&c);
	check_numbers(&c);
	check_boundaries();
	check_trends();
	check_criteria(&c);
	loci_hist_fini(&a.stack);
	loci_hist_fini(&b.stack);
	return check_status();
}
