/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a stream to a profile: decodes words, splits references into touches at every block size,
 * feeds the engines and writes what they counted. */
#ifndef LOCI_ANALYSE_H
#define LOCI_ANALYSE_H

#include "base/err.h"
#include "profile/profile.h"
#include "stream/source.h"
#include "stream/trace.h"

#include <signal.h>
#include <stdbool.h>

#define LOCI_ANALYSE_GRAINS 16

struct loci_analyse_options {
	uint64_t block_bytes[LOCI_ANALYSE_GRAINS]; /* powers of two, 1..2 MiB; none: 64 */
	unsigned n_block_bytes;
	bool no_sets;        /* skip the per-set engines */
	uint64_t max_memory; /* bytes; 0: no limit */
	uint64_t verify;     /* compare this many touches with the naive stack; 0: none */
	const char *command; /* for the profile */
	const char *caches;  /* the host's hierarchy, for the profile */
	const char *machine;
	const char *version;               /* of loci */
	struct loci_trace_writer *keep;    /* the stream is written here too; NULL: not */
	const volatile sig_atomic_t *stop; /* nonzero: write what has been seen */
	/* Called now and then; may be NULL. total 0: unknown. */
	void (*progress)(
		void *data, uint64_t references, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_data;
};

struct loci_analyse_summary {
	uint64_t references;
	uint64_t verified; /* touches compared */
	bool interrupted;  /* by stop */
	char note[512];    /* what a reader must know, or "" */
};

/* Reads source to its end, or until stop, and writes the profile to path. An input error fails and
 * leaves no profile behind. */
int loci_analyse(struct loci_source *source, const struct loci_analyse_options *options,
	const char *path, struct loci_analyse_summary *ret, struct loci_err *err);

#endif
