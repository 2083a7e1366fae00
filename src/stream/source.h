/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source of stream words, whatever it comes from: a trace file, a foreign trace, a ring. */
#ifndef LOCI_STREAM_SOURCE_H
#define LOCI_STREAM_SOURCE_H

#include "base/err.h"
#include "stream/stream.h"

#include <stdbool.h>
#include <sys/types.h>

struct loci_source;

struct loci_source_ops {
	/* Fills at most cap words (cap is at least 1024). Returns how many, 0 at the end, or -errno
	 * with err filled. A marker and its raw words are never cut apart. After an error the words
	 * given so far are good: the caller may keep what they yield. */
	ssize_t (*read)(
		struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err);
	/* Bytes of input used and in all; total 0 where it cannot be known (a pipe). */
	void (*progress)(const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total);
	void (*close)(struct loci_source *source);
};

/* Implementations embed this as their first member. */
struct loci_source {
	const struct loci_source_ops *ops;
	struct loci_stream_info info;
	char note[256];  /* something a person should hear ("torn after 3 of 4 frames"), or "" */
	bool incomplete; /* references are known to be missing at the end; note says why */
};

static inline void loci_source_close(struct loci_source *source)
{
	if (source)
		source->ops->close(source);
}

#endif
