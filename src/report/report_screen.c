// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report_screen.h"

#include "base/cleanup.h"
#include "report/report_verdict.h"

#include <string.h>

static const unsigned percents[] = { 70, 80, 90, 95 };

/* "70 % fit in 128 B · 80 % in 4 KiB · ..." */
static void print_percentiles(const struct loci_screen *screen)
{
	const struct loci_text *text = screen->text;
	char size[LOCI_UNITS_MAX], line[320] = "";
	size_t used = 0;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(percents); i++) {
		uint64_t blocks = loci_hist_percentile(screen->subject->stack, percents[i] / 100.);

		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%u %%%s in %s",
			i ? text->glyph->separator : "", percents[i], i ? "" : " fit",
			blocks == LOCI_INFINITE
				? "no cache"
				: loci_report_cell(size, screen->subject, (double)blocks));
	}
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, line);
}

/* A name the shell takes as it stands. */
static const char *shell_word(const char *path, char *buf, size_t size)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_-./+,:@%=";
	bool plain = path[0] && strspn(path, safe) == strlen(path);

	snprintf(buf, size, plain || strchr(path, '\'') ? "%s" : "'%s'", path);
	return buf;
}

/* Commands that go on from here; a sweep of the first level from half its size to 16 times. */
static void print_next(const struct loci_screen *screen, const char *wanted)
{
	const struct loci_text *text = screen->text;
	const struct loci_verdict *v = &screen->verdict;
	char file[256], sweep[320] = "", annotate[640] = "", diff[320], line[2048], word[256];
	const char *first, *second;
	char low[LOCI_UNITS_MAX], high[LOCI_UNITS_MAX];

	shell_word(loci_profile_path(screen->subject->profile), file, sizeof(file));
	if (v->n_levels && !v->level[0].is_tlb && !screen->subject->is_object) {
		uint64_t bytes = 1ull << (63 - __builtin_clzll(v->level[0].size_bytes));

		snprintf(sweep, sizeof(sweep),
			"loci\u00a0cache\u00a0%s\u00a0--sweep\u00a0%s=%s..%s", file,
			v->level[0].name, loci_units_size(low, bytes / 2),
			loci_units_size(high, bytes * 16));
	}
	if (wanted[0])
		snprintf(annotate, sizeof(annotate), "loci\u00a0annotate\u00a0%s\u00a0%s", file,
			shell_word(wanted, word, sizeof(word)));
	snprintf(diff, sizeof(diff), "loci\u00a0diff\u00a0%s\u00a0OTHER.loci", file);
	first = annotate[0] ? annotate : sweep[0] ? sweep : diff;
	second = annotate[0] && sweep[0] ? sweep : first == diff ? "" : diff;
	snprintf(line, sizeof(line), "next: %s%s%s", first, second[0] ? text->glyph->separator : "",
		second);
	if (loci_text_width(line) + 2 > text->columns) /* one line is enough */
		snprintf(line, sizeof(line), "next: %s", first);
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2, line);
}

static void print_verdict(const struct loci_screen *screen)
{
	char words[1024], line[1100];

	loci_text_paragraph(screen->text, LOCI_STYLE_BOLD, 2,
		loci_report_verdict(screen->subject, &screen->verdict, words, sizeof(words)));
	if (screen->verdict.culprit.is_known)
		loci_text_paragraph(screen->text, LOCI_STYLE_PLAIN, 2,
			loci_report_fit(screen->subject, &screen->verdict, words, sizeof(words)));
	if (screen->verdict.kind <= LOCI_VERDICT_ONE_BLOCK)
		return;
	snprintf(line, sizeof(line), "Effective cache sizes: %s.",
		loci_report_knees(screen->subject, &screen->verdict, words, sizeof(words)));
	loci_text_paragraph(screen->text, LOCI_STYLE_PLAIN, 2, line);
}

int loci_report_screen(
	const struct loci_subject *subject, const struct loci_text *text, struct loci_err *err)
{
	struct loci_screen screen = { .subject = subject, .text = text };
	char wanted[LOCI_SCREEN_WANTED];
	int r;

	loci_verdict(subject, &screen.verdict);
	loci_screen_header(&screen);
	fputc('\n', text->out);
	print_verdict(&screen);
	if (screen.verdict.kind <= LOCI_VERDICT_UNKNOWN)
		return 0;
	fputc('\n', text->out);
	loci_screen_histogram(&screen);
	loci_screen_curve(&screen);
	if (loci_screen_levels(&screen) < 0)
		return loci_err_nomem(err);
	r = loci_screen_threads(&screen, err);
	if (r == 0)
		r = loci_screen_blame(&screen, wanted, err);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	if (screen.verdict.kind != LOCI_VERDICT_ALL_NEW)
		print_percentiles(&screen);
	print_next(&screen, wanted);
	return 0;
}
