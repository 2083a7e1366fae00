/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source that keeps what is read from another in a trace file. */
#ifndef LOCI_STREAM_TEE_H
#define LOCI_STREAM_TEE_H

#include "stream/source.h"

/* What the trace of watched samples begins with, in the file alone; NULL: it has none. */
struct loci_watch_terms;

/* Takes source, also on failure. The file gets its name when the tee is closed. A trace that cannot
 * be written does not disturb the reading: it is given up, and its error is in *failure, which must
 * outlive the tee and is "" before. */
int loci_tee_new(struct loci_source *source, const char *path, const struct loci_watch_terms *terms,
	struct loci_err *failure, struct loci_source **ret, struct loci_err *err);

#endif
