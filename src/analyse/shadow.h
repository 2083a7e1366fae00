/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames of a thread, as its stream tells them: an entry block carries its frame address, every
 * frame at or below it is gone, and this one is on top. So longjmp, exceptions and tail calls need
 * no attention, and returns are not recorded. */
#ifndef LOCI_ANALYSE_SHADOW_H
#define LOCI_ANALYSE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loci_shadow_frame {
	uint64_t address;   /* of the frame: where its return address stands */
	uint64_t entry;     /* run-time address of the function's first instruction */
	uint32_t module;    /* the stream's module id */
	uint32_t context;   /* node of the calling context tree */
	uint64_t call_site; /* run-time address of the calling instruction; 0: unknown */
	/* A serial that answers about the frame's variables hang on (object.h): NULL when the frame
	 * is pushed, set by a lookup; whoever removes the frame adds 1 to it. */
	uint32_t *pin;
};

struct loci_shadow {
	struct loci_shadow_frame *frame; /* outermost first: addresses descend */
	size_t n, cap;
	bool pins; /* removing a frame does advance its pin; else none is set */
};

#endif
