/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program marks (loci/mark.h), as markers of the stream, for every collector: names are
 * defined once, regions are always well nested, what was wrong is counted and told, and a child
 * process can be told all that holds. Freestanding: it also runs inside Valgrind. */
#ifndef LOCI_COLLECT_RUNTIME_MARKING_H
#define LOCI_COLLECT_RUNTIME_MARKING_H

#include "stream/stream.h"

#include <stdbool.h>

#define LOCI_MARKING_DEPTH 64 /* of regions */

struct loci_marking_name;
struct loci_marking_names;
struct loci_marking_objects;
struct loci_marking_blocks;

/* The collector. Where threads mark at the same time lock and unlock keep them apart; nothing else
 * is called in between but memory, string, sequence and block. */
struct loci_marking_ops {
	void *(*memory)(size_t bytes); /* zeroed, for ever; NULL: there is none */
	void (*lock)(void);
	void (*unlock)(void);
	uint64_t (*string)(const char *text); /* defines it; its id */
	uint64_t (*sequence)(void);
	void (*mark)(void *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw,
		const uint64_t *raw);
	/* Defines a block of one reference, flags PLAIN and TOLD. id 0: a new one; else that, again
	 * for a child, if need be. 0: that cannot be. */
	uint64_t (*block)(uint64_t site, uint64_t descriptor, uint64_t id);
};

/* Of the process; all 0 but ops to begin with. */
struct loci_marking {
	const struct loci_marking_ops *ops;
	struct loci_marking_names *names;
	struct loci_marking_objects *objects;
	struct loci_marking_blocks *blocks;
	char *room; /* for names */
	size_t room_bytes;
	const struct loci_marking_name *phase;
	uint64_t pauses;
};

/* Of a thread; all 0 to begin with. It is changed by nobody else, and by no handler meanwhile. */
struct loci_marking_thread {
	uint32_t depth;
	uint32_t beyond;    /* open regions that found no room */
	uint32_t inherited; /* of the open ones, those that were begun before the fork */
	struct loci_marking_name *open[LOCI_MARKING_DEPTH];
};

/* A name has n bytes, or less if there is a NUL before. */
void loci_marking_region_begin(struct loci_marking *marking, struct loci_marking_thread *thread,
	void *to, const char *name, size_t n);
void loci_marking_region_end(struct loci_marking *marking, struct loci_marking_thread *thread,
	void *to, const char *name, size_t n);
/* The thread ends. */
void loci_marking_leave(struct loci_marking *marking, struct loci_marking_thread *thread, void *to);
void loci_marking_phase(struct loci_marking *marking, void *to, const char *name, size_t n);
void loci_marking_object(struct loci_marking *marking, void *to, const char *name, size_t n,
	uint64_t base, uint64_t bytes, uint64_t element_bytes);
void loci_marking_object_part(struct loci_marking *marking, void *to, const char *name, size_t n,
	uint64_t base, uint64_t entry, uint64_t bytes);
void loci_marking_object_end(struct loci_marking *marking, void *to, uint64_t base);
void loci_marking_disable(struct loci_marking *marking, void *to);
void loci_marking_enable(struct loci_marking *marking, void *to);

/* A reference that the program tells of: its descriptor, which is a range's if it is long, so that
 * a place has few of them; and its block, if it is known, or else defined. 0: there is none. One of
 * more bytes than the analyser takes is a mistake instead. */
#define LOCI_MARKING_REFERENCE_BYTES (1ull << 40)
void loci_marking_too_long(struct loci_marking *marking, void *to);
uint64_t loci_marking_descriptor(uint64_t bytes, bool store);
uint64_t loci_marking_block_known(
	const struct loci_marking *marking, uint64_t site, uint64_t descriptor);
uint64_t loci_marking_block(struct loci_marking *marking, uint64_t site, uint64_t descriptor);

/* In a child, whose only thread it is: all that holds, into its stream. */
void loci_marking_again(struct loci_marking *marking, struct loci_marking_thread *thread, void *to);

#endif
