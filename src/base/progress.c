// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/progress.h"

#include "base/terminal.h"
#include "base/units.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#define INTERVAL_NS 200000000ull
#define BAR_CELLS   20

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void loci_progress_begin(struct loci_progress *progress, FILE *out, const char *label)
{
	struct loci_terminal terminal;

	loci_terminal_query(out, &terminal);
	*progress = (struct loci_progress){
		.out = terminal.is_terminal ? out : NULL,
		.label = label,
		.columns = terminal.columns,
		.has_unicode = terminal.has_unicode,
	};
	if (progress->out)
		progress->began_ns = progress->shown_ns = now_ns();
}

static void append_bar(char *buf, size_t size, double fraction, bool has_unicode)
{
	unsigned full = (unsigned)(fraction * BAR_CELLS);
	size_t used = strlen(buf);

	for (unsigned i = 0; i < BAR_CELLS && used + 4 < size; i++) {
		const char *cell = i < full ? (has_unicode ? "█" : "#") : (has_unicode ? "░" : ".");

		used += (size_t)snprintf(buf + used, size - used, "%s", cell);
	}
}

__attribute__((format(printf, 3, 4))) static void append(
	char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + used, size - used, fmt, args);
	va_end(args);
}

const char *loci_progress_line(const struct loci_progress *progress, double seconds, uint64_t count,
	uint64_t done, uint64_t total, char *buf, size_t size)
{
	double fraction = total ? (double)done / (double)total : 0;
	char number[LOCI_UNITS_MAX];

	if (fraction > 1)
		fraction = 1;
	snprintf(
		buf, size, "loci: %s %s", loci_units_count(number, (double)count), progress->label);
	if (seconds > 0)
		append(buf, size, "  %s/s", loci_units_count(number, (double)count / seconds));
	if (total) {
		/* all that follows is at most 50 columns wide */
		if (strlen(buf) + 50 < progress->columns) {
			append(buf, size, "  ");
			append_bar(buf, size, fraction, progress->has_unicode);
		}
		append(buf, size, "  %2.0f %%", 100 * fraction);
		if (fraction > 0)
			append(buf, size, "  %s left",
				loci_units_seconds(number, seconds / fraction - seconds));
	} else {
		append(buf, size, "  %s", loci_units_seconds(number, seconds));
	}
	/* A line that wraps cannot be taken back. Without a bar it is plain ASCII. */
	if (strlen(buf) >= progress->columns && !strstr(buf, "░") && !strstr(buf, "█"))
		buf[progress->columns - 1] = '\0';
	return buf;
}

void loci_progress_update(
	struct loci_progress *progress, uint64_t count, uint64_t done, uint64_t total)
{
	char line[256];
	uint64_t now;

	if (!progress->out)
		return;
	now = now_ns();
	if (now - progress->shown_ns < INTERVAL_NS)
		return;
	progress->shown_ns = now;
	progress->visible = true;
	fprintf(progress->out, "\r%s\033[K",
		loci_progress_line(progress, (double)(now - progress->began_ns) / 1e9, count, done,
			total, line, sizeof(line)));
	fflush(progress->out);
}

void loci_progress_end(struct loci_progress *progress)
{
	if (!progress->out || !progress->visible)
		return;
	fputs("\r\033[K", progress->out);
	fflush(progress->out);
	progress->visible = false;
}
