/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which object an address belongs to, in two steps: what has to be seen at the time, and what debug
 * information says of it, which may be asked later. So who attributes little need not open any
 * while the program runs. */
#ifndef LOCI_ANALYSE_OBJECT_LOOK_H
#define LOCI_ANALYSE_OBJECT_LOOK_H

#include "analyse/object.h"

enum loci_object_look_kind {
	LOCI_LOOK_KNOWN,  /* nothing needs to be asked */
	LOCI_LOOK_GLOBAL, /* in a module */
	LOCI_LOOK_FRAME,  /* on the stack that the frame is on */
	LOCI_LOOK_DEEP,   /* on it if there is a variable so far below the frame */
};

struct loci_object_look {
	uint8_t kind;
	bool mapped, unframed; /* of the stack */
	bool known;            /* low is where the object begins, as far as is known */
	uint32_t object;       /* known, or what it is if no frame is */
	uint64_t low;
	uint64_t stack_low, stack_last;
};

/* frame: the address of the frame of the code that refers to it; 0: not known. */
int loci_objects_look(struct loci_objects *objects, uint64_t address, uint64_t frame,
	struct loci_object_look *ret, struct loci_err *err);
/* What loci_objects_find() would have said then to code at that address, whose frame is the only
 * one of the shadow. No module that was there may have gone (loci_objects_loses_module). */
int loci_objects_tell(struct loci_objects *objects, const struct loci_object_look *look,
	uint64_t address, uint64_t code_address, const struct loci_shadow *shadow,
	struct loci_object_hit *ret, struct loci_err *err);
/* Whether the event takes a module away, or puts another in its place. */
bool loci_objects_loses_module(const struct loci_objects *objects, const struct loci_event *event);

#endif
