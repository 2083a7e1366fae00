// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report_verdict.h"

#include "report/owner_name.h"
#include "report/sharing_table.h"
#include "report/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define KNEES_SHOWN 6
#define NOTABLE     0.01  /* a share worth a sentence */
#define MINOR       0.001 /* a share not worth a clause */
#define SCATTERED   0.1   /* of the misses: a line that makes less is not to blame */
#define LOST        0.005 /* a share lost to other threads worth a sentence */
#define NAME_BYTES  48    /* of a line or an object */

struct sentence {
	const struct loci_subject *subject;
	const struct loci_verdict *verdict;
	char *buf;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *fmt, ...)
{
	size_t used = strlen(s->buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->buf + used, s->size - used, fmt, args);
	va_end(args);
}

/* "87 %", with a space that does not break. */
static void say_share(struct sentence *s, double share)
{
	char number[LOCI_TEXT_NUMBER];

	loci_text_percent(number, share);
	number[strlen(number) - 2] = '\0';
	say(s, "%s\u00a0%%", number);
}

const char *loci_report_noun(const struct loci_subject *subject)
{
	return subject->is_object ? "requests" : "references";
}

const char *loci_report_blocks(char buf[LOCI_UNITS_MAX + 16], const struct loci_subject *subject)
{
	uint64_t bytes = subject->grain->block_bytes;
	char number[LOCI_UNITS_MAX];

	if (subject->is_object)
		snprintf(buf, LOCI_UNITS_MAX + 16, "objects");
	else if (bytes < 1024)
		snprintf(buf, LOCI_UNITS_MAX + 16, "%u-byte blocks", (unsigned)bytes);
	else
		snprintf(buf, LOCI_UNITS_MAX + 16, "%s blocks",
			loci_units_bytes(number, (double)bytes));
	return buf;
}

const char *loci_report_cell(
	char buf[LOCI_UNITS_MAX], const struct loci_subject *subject, double blocks)
{
	if (subject->is_object)
		return loci_units_count(buf, blocks);
	return loci_units_bytes(buf, blocks * (double)subject->grain->block_bytes);
}

const char *loci_report_size(
	char buf[LOCI_UNITS_MAX + 16], const struct loci_subject *subject, double blocks)
{
	char number[LOCI_UNITS_MAX], *space;

	loci_report_cell(number, subject, blocks);
	space = strchr(number, ' ');
	if (space)
		*space++ = '\0';
	snprintf(buf, LOCI_UNITS_MAX + 16, "%s%s%s%s", number, space ? "\u00a0" : "",
		space ? space : "",
		!subject->is_object   ? ""
			: blocks == 1 ? "\u00a0object"
				      : "\u00a0objects");
	return buf;
}

/* "L1 (32 KiB)" for a level's own size, "5.2 MiB" for any other. */
static void say_size(struct sentence *s, const struct loci_verdict_size *size)
{
	char number[LOCI_UNITS_MAX + 16];

	loci_report_size(number, s->subject, (double)size->blocks);
	if (size->level >= 0)
		say(s, "%s\u00a0(%s)", s->verdict->level[size->level].name, number);
	else
		say(s, "%s", number);
}

/* The same, and which level would do: "12 MiB (fits L3)". */
static void say_step(struct sentence *s, const struct loci_verdict_size *size)
{
	const struct loci_verdict *v = s->verdict;

	say_size(s, size);
	if (size->level >= 0 || !v->n_levels)
		return;
	if (size->holder >= 0)
		say(s, " (fits\u00a0%s)", v->level[size->holder].name);
	else
		say(s, " (beyond\u00a0%s)", v->level[v->n_levels - 1].name);
}

static void say_next(struct sentence *s)
{
	const struct loci_verdict *v = s->verdict;

	if (v->next.blocks) {
		say(s, "; the next step is at ");
		say_step(s, &v->next);
		say(s, ": ");
		say_share(s, v->next.share);
		if (v->largest.blocks) {
			say(s, ", the largest at ");
			say_step(s, &v->largest);
			say(s, ": ");
			say_share(s, v->largest.share);
		}
	} else if (v->far > 0) {
		say(s, "; ");
		say_share(s, v->far);
		say(s, " are spread thinly up to ");
		say_step(s, &v->enough);
	}
}

static void say_nothing(struct sentence *s)
{
	say(s, "No %s: there is nothing to judge.", loci_report_noun(s->subject));
}

static void say_unknown(struct sentence *s)
{
	say_share(s, s->verdict->unknown);
	say(s,
		" of %s are reused later than their samples were followed, or never, and none of "
		"these was watched until then: which caches hold them is unknown.",
		loci_report_noun(s->subject));
}

static void say_all_new(struct sentence *s)
{
	const char *what = s->subject->is_object ? "object" : "block";

	if (s->verdict->touches == 1)
		say(s, "A single %.*s: nothing is used twice.",
			(int)strlen(loci_report_noun(s->subject)) - 1,
			loci_report_noun(s->subject));
	else
		say(s,
			"Nothing is used twice: every one of the %s goes to a new %s, and no cache "
			"of any size helps.",
			loci_report_noun(s->subject), what);
}

static void say_one_block(struct sentence *s)
{
	char size[LOCI_UNITS_MAX];

	if (s->subject->is_object)
		say(s, "All requests are for one object: any cache holds it.");
	else
		say(s, "All references go to one %s-byte block: any cache holds it.",
			loci_units_size(size, s->subject->grain->block_bytes));
}

static void say_fits(struct sentence *s)
{
	say_share(s, s->verdict->near.share);
	say(s, " of %s fit in ", loci_report_noun(s->subject));
	say_size(s, &s->verdict->near);
	if (s->verdict->lost > 0)
		say(s, "; the rest are first touches or lost to other threads' writes");
	else if (s->verdict->cold > 0)
		say(s, "; the rest are first touches");
	say(s, ".");
}

static void say_new(struct sentence *s)
{
	say_share(s, s->verdict->cold);
	say(s, " of %s are first touches, which no cache saves; ", loci_report_noun(s->subject));
	say_share(s, s->verdict->near.share);
	say(s, " fit in ");
	say_size(s, &s->verdict->near);
	say_next(s);
	say(s, ".");
}

static void say_near(struct sentence *s)
{
	say_share(s, s->verdict->near.share);
	say(s, " of %s fit in ", loci_report_noun(s->subject));
	say_size(s, &s->verdict->near);
	say_next(s);
	say(s, ".");
}

static void say_far(struct sentence *s)
{
	say_share(s, s->verdict->far);
	say(s, " of %s reach further back than ", loci_report_noun(s->subject));
	say_size(s, &s->verdict->near);
	say(s, "; ");
	say_share(s, s->verdict->enough.share);
	say(s, " fit in ");
	say_step(s, &s->verdict->enough);
	say(s, ".");
}

static void (*const say_kind[])(struct sentence *) = {
	[LOCI_VERDICT_NOTHING] = say_nothing,
	[LOCI_VERDICT_UNKNOWN] = say_unknown,
	[LOCI_VERDICT_ALL_NEW] = say_all_new,
	[LOCI_VERDICT_ONE_BLOCK] = say_one_block,
	[LOCI_VERDICT_FITS] = say_fits,
	[LOCI_VERDICT_NEW] = say_new,
	[LOCI_VERDICT_NEAR] = say_near,
	[LOCI_VERDICT_FAR] = say_far,
};

/* What is left for memory, unless the first sentence told it all. */
static void say_memory(struct sentence *s)
{
	const struct loci_verdict *v = s->verdict;
	bool is_far = v->beyond >= MINOR, is_new = v->cold >= MINOR;

	if (v->n_levels && v->level[v->n_levels - 1].is_tlb)
		return; /* beyond it are page tables */
	if (v->kind == LOCI_VERDICT_FITS || v->kind == LOCI_VERDICT_ONE_BLOCK || !v->n_levels ||
		v->beyond + v->cold < NOTABLE || (v->kind == LOCI_VERDICT_NEW && !is_far))
		return;
	say(s, " ");
	say_share(s, is_far && is_new ? v->beyond + v->cold : is_far ? v->beyond : v->cold);
	say(s, " of %s", loci_report_noun(s->subject));
	if (is_far && is_new) {
		say(s, " go to memory: ");
		say_share(s, v->beyond);
		say(s, " reach further back than %s, ", v->level[v->n_levels - 1].name);
		say_share(s, v->cold);
		say(s, " are first touches.");
	} else if (is_far) {
		say(s, " reach further back than %s and go to memory.",
			v->level[v->n_levels - 1].name);
	} else {
		say(s, " are first touches and go to memory.");
	}
}

/* Others stand for them in all that was said. */
static void say_given_up(struct sentence *s)
{
	if (s->verdict->unknown < NOTABLE)
		return;
	say(s, " Of ");
	say_share(s, s->verdict->unknown);
	say(s, " of %s it is unknown when they are reused: their watches were given up.",
		loci_report_noun(s->subject));
}

static void say_conflict(struct sentence *s)
{
	const struct loci_verdict *v = s->verdict;

	if (v->conflict_level < 0)
		return;
	say(s, " But another ");
	say_share(s, v->conflict);
	say(s, " miss %s by conflict: its sets are used unevenly.",
		v->level[v->conflict_level].name);
}

/* "12 % miss what another thread wrote: false sharing of x, at work.c:10 and work.c:20." */
static void say_sharing(struct sentence *s)
{
	const struct loci_verdict *v = s->verdict;
	const struct loci_sharing_side *side[] = { &v->worst.writer, &v->worst.misser };
	char name[2 * LOCI_NAME_MAX], first[LOCI_NAME_MAX] = "";

	if (v->lost < LOST)
		return;
	say(s, " ");
	say_share(s, v->lost);
	say(s, " miss what another thread wrote");
	if (!v->has_worst) {
		say(s, ".");
		return;
	}
	loci_sharing_data(&v->sharing, &v->worst, name, sizeof(name));
	say(s, ", %s %s sharing of %s",
		2 * (double)v->worst.misses >= v->lost * (double)v->sharing.whole->touches
			? "most of it"
			: "foremost",
		v->worst.is_false ? "false" : "true", loci_name_clip(name, 2 * NAME_BYTES));
	for (unsigned i = 0; i < 2; i++) {
		if (!side[i]->site)
			continue;
		loci_name_place(&v->sharing.catalogue, side[i]->site, name, sizeof(name));
		if (strcmp(name, first))
			say(s, "%s %s", first[0] ? " and" : " at",
				loci_name_clip(name, NAME_BYTES));
		snprintf(first, sizeof(first), "%.500s", name);
	}
	say(s, ".");
}

/* "b walked with stride 6400 B" */
static void say_walk(struct sentence *s, const struct loci_culprit *culprit)
{
	const struct loci_blame_detail *detail = &culprit->detail;
	char name[LOCI_NAME_MAX];

	if (detail->cause == LOCI_CAUSE_COLD)
		say(s, ", first touches%s", culprit->object ? " of" : "");
	else if (culprit->object)
		say(s, ",");
	if (culprit->object) {
		loci_name_object(&culprit->catalogue, culprit->object, name, sizeof(name));
		say(s, " %s", loci_name_clip(name, NAME_BYTES));
	}
	if (!culprit->object || !detail->has_stride)
		return;
	if (!detail->is_mostly_regular)
		say(s, " walked irregularly");
	else if (detail->stride_bytes)
		say(s, " walked %swith stride\u00a0%lld\u00a0B",
			detail->is_regular ? "" : "mostly ", (long long)detail->stride_bytes);
}

/* "50 % of references miss a 48 KiB L1; 98 % of those at mm.c:14, b walked with stride 6400 B." */
static void say_culprit(struct sentence *s)
{
	const struct loci_culprit *culprit = &s->verdict->culprit;
	char name[LOCI_NAME_MAX], size[LOCI_UNITS_MAX], element[LOCI_UNITS_MAX];

	say_share(s, culprit->ratio);
	loci_units_bytes(size, (double)culprit->cache.size_bytes);
	if (culprit->of_elements)
		say(s, " of references would miss %s of single %s-byte elements", size,
			loci_units_size(element, culprit->cache.line_bytes));
	else
		say(s, " of references miss a %s %s", size, culprit->cache.name);
	if (culprit->share < SCATTERED) {
		say(s, ", scattered: no line makes more than ");
		say_share(s, culprit->share);
		say(s, " of those");
		if (culprit->n_most)
			say(s, ", and %zu make 90\u00a0%%", culprit->n_most);
		say(s, ".");
		return;
	}
	say(s, "; ");
	say_share(s, culprit->share);
	loci_name_line(&culprit->catalogue, culprit->site->source_id, culprit->site->line, name,
		sizeof(name));
	if (!name[0])
		loci_name_site(&culprit->catalogue, culprit->site, name, sizeof(name));
	say(s, " of those at %s", loci_name_clip(name, NAME_BYTES));
	say_walk(s, culprit);
	say(s, ".");
}

static void begin(struct sentence *s)
{
	s->buf[0] = '\0';
	if (s->subject->grain->error_points > 0 && s->verdict->kind >= LOCI_VERDICT_FITS)
		say(s, "About ");
}

const char *loci_report_verdict(const struct loci_subject *subject,
	const struct loci_verdict *verdict, char *buf, size_t size)
{
	struct sentence s = { subject, verdict, buf, size };

	begin(&s);
	if (verdict->culprit.is_known)
		say_culprit(&s);
	else
		say_kind[verdict->kind](&s);
	if (verdict->kind > LOCI_VERDICT_ALL_NEW) {
		say_memory(&s);
		say_conflict(&s);
	}
	if (verdict->kind >= LOCI_VERDICT_ALL_NEW)
		say_given_up(&s);
	if (verdict->kind > LOCI_VERDICT_ALL_NEW)
		say_sharing(&s);
	buf[0] = (char)toupper((unsigned char)buf[0]);
	return buf;
}

const char *loci_report_fit(const struct loci_subject *subject, const struct loci_verdict *verdict,
	char *buf, size_t size)
{
	struct sentence s = { subject, verdict, buf, size };

	begin(&s);
	say_kind[verdict->kind](&s);
	buf[0] = (char)toupper((unsigned char)buf[0]);
	return buf;
}

const char *loci_report_knees(const struct loci_subject *subject,
	const struct loci_verdict *verdict, char *buf, size_t size)
{
	struct sentence s = { subject, verdict, buf, size };
	char number[LOCI_UNITS_MAX + 16];

	buf[0] = '\0';
	if (!verdict->n_knees)
		say(&s, "none: the miss ratio nowhere falls by a point within a power of two");
	for (size_t i = 0; i < verdict->n_knees && i < KNEES_SHOWN; i++) {
		say(&s, "%s%s\u00a0(", i ? ", " : "",
			loci_report_size(number, subject, (double)verdict->knee[i].blocks));
		say_share(&s, verdict->knee[i].fall);
		say(&s, ")");
	}
	if (verdict->n_knees > KNEES_SHOWN)
		say(&s, " and %zu more", verdict->n_knees - KNEES_SHOWN);
	return buf;
}
