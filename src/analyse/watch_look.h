/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses and reuses of watched samples, from when they are told of until the symbols are asked: as
 * they are while they wait for memory to be told of, and packed from then on. */
#ifndef LOCI_ANALYSE_WATCH_LOOK_H
#define LOCI_ANALYSE_WATCH_LOOK_H

#include "analyse/object_look.h"
#include "analyse/watch_log.h"

/* A use or reuse. What debug information has to say of it is asked when the program has ended:
 * while it runs it would share its memory with all of that. */
struct loci_watch_look {
	uint64_t code, descriptor; /* as told */
	uint64_t address, frame;
	uint64_t after; /* events of memory; 0: all that came before it in the stream */
	struct loci_object_look look;
	uint32_t calls; /* list of return addresses plus one; 0: none */
	uint32_t context, epoch;
	bool is_sought; /* the memory has been looked at */
	bool is_named;  /* its code is known */
	bool is_settled;
};

/* One whose memory has been looked at, and that is not settled. 0 or -ENOMEM. */
int loci_watch_look_pack(
	struct loci_watch_log *log, const struct loci_watch_look *place, size_t number);
/* As the log has it; the number is its payload. */
struct loci_watch_look loci_watch_look_unpack(const struct loci_event *event);

#endif
