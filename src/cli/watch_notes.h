/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `loci record -m watch` could not watch, in words: what happened, what that means for the
 * profile, and what to do. */
#ifndef LOCI_CLI_WATCH_NOTES_H
#define LOCI_CLI_WATCH_NOTES_H

#include "analyse/analyse.h"
#include "collect/run.h"

void loci_watch_notes(const struct loci_run_watching *run, const struct loci_control_watching *took,
	struct loci_analysis *analysis);

#endif
