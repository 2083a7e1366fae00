/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line that says how far a long job is: how many so far, how fast, the share done and the time
 * left. It shows on a terminal only, after the first fifth of a second and five times a second at
 * most, and leaves no trace. Updating costs a look at the clock: call it every few thousand items.
 *
 *	struct loci_progress p;
 *	loci_progress_begin(&p, stderr, "references");
 *	while (...)
 *		loci_progress_update(&p, references, bytes_read, bytes_in_all);
 *	loci_progress_end(&p);
 */
#ifndef LOCI_BASE_PROGRESS_H
#define LOCI_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct loci_progress {
	FILE *out;         /* NULL: not a terminal, nothing is shown */
	const char *label; /* what is counted, plural; borrowed */
	uint64_t began_ns, shown_ns;
	unsigned columns;
	bool has_unicode;
	bool visible; /* a line stands on the terminal */
};

void loci_progress_begin(struct loci_progress *progress, FILE *out, const char *label);
/* count: items so far. done of total: input used so far, in any unit; total 0: unknown. */
void loci_progress_update(
	struct loci_progress *progress, uint64_t count, uint64_t done, uint64_t total);
/* Clears the line. Call it before printing anything else; updates may go on afterwards. */
void loci_progress_end(struct loci_progress *progress);

/* The line as it would stand after this many seconds, without newline, at most columns wide.
 * Returns buf. */
const char *loci_progress_line(const struct loci_progress *progress, double seconds, uint64_t count,
	uint64_t done, uint64_t total, char *buf, size_t size);

#endif
