/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the decoder knows, for its own files. */
#ifndef LOCI_STREAM_DECODE_STATE_H
#define LOCI_STREAM_DECODE_STATE_H

#include "stream/cursor.h"
#include "stream/decode.h"
#include "stream/definition.h"
#include "stream/strtab.h"

struct loci_decoder {
	struct loci_definitions defs;
	struct loci_threads threads;
	struct loci_strtab strings;
	uint64_t done;   /* words of earlier calls */
	bool keeps_runs; /* they are events */
	/* Of the RUN at hand, what has been handed out: whole times, and references of the next. */
	uint64_t run_times;
	uint32_t run_refs;
	bool tells_plain; /* blocks without references are events */
};

#endif
