/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which object an address belongs to: a global, a heap block, a stack variable, a registered
 * object, or a mapping that has no better name. Follows allocations, mappings and modules as the
 * stream tells them. Allocations made by one site in one calling context are one object.
 *
 * A lookup's answer says where and how long it holds, so that a site, which mostly stays within one
 * object, need not ask again. */
#ifndef LOCI_ANALYSE_OBJECT_H
#define LOCI_ANALYSE_OBJECT_H

#include "analyse/shadow.h"
#include "base/err.h"
#include "stream/decode.h"
#include "symbol/symbol.h"

#include <pthread.h>
#include <stdbool.h>

struct loci_objects;

struct loci_object_hit {
	uint32_t object; /* dense, from 0; 0 is "other": nothing is known */
	bool framed;     /* low is relative to the address of the top frame */
	uint64_t low,
		bytes; /* holds for low <= address < low + bytes; bytes 0: ask every time .. */
	const uint32_t *serial;
	uint32_t seen; /* .. and as long as *serial == seen */
	/* Memory that was unmapped and mapped again is new: added to the numbers of its blocks,
	 * which so differ from those of before. 0: never unmapped. Holds like the answer. */
	uint64_t generation;
	/* Where the object, or the memory that has no name, begins, relative like low: low may lie
	 * after it. Good with bytes 0 too. */
	uint64_t begin;
	uint64_t last;  /* byte of it, relative like begin; begin less 1: not known */
	uint32_t epoch; /* what loci_objects_epoch says of the address; holds like the answer */
};

/* What a module id of the stream means now. */
struct loci_object_module {
	uint32_t symbol_module;
	uint64_t bias;
};

int loci_objects_new(struct loci_symbols *symbols, struct loci_objects **ret, struct loci_err *err);
void loci_objects_free(struct loci_objects *objects);
/* Others use the symbols too: events and lookups take the lock, the few times that they need
 * symbols. Who asks for loci_objects_info holds it. frames_linger: those of functions that have
 * returned may still be in a shadow. */
void loci_objects_guard(
	struct loci_objects *objects, pthread_mutex_t *symbols_lock, bool frames_linger);

/* ALLOC, FREE, RESIZE, MAP, UNMAP, OBJECT, OBJECT_PART, OBJECT_END, MODULE_LOAD, MODULE_UNLOAD,
 * THREAD_START and THREAD_EXIT change what is known; others do nothing. shadow is the thread's,
 * refs the references executed so far. The decoder gives the strings of names. */
int loci_objects_event(struct loci_objects *objects, const struct loci_event *event,
	const struct loci_decoder *decoder, const struct loci_shadow *shadow, uint64_t refs,
	struct loci_err *err);

/* False: no such module is loaded. */
bool loci_objects_module(
	struct loci_objects *objects, uint32_t module, struct loci_object_module *ret);

/* code_address: of the reference, run-time; it tells apart variables that share a place in a frame.
 * shadow: its top frame is that of the code that executes, and a framed answer holds for this code
 * only. NULL: no frames are known.
 * What is looked up by a thread without frames is no stack variable of a known function, but may be
 * in a known stack. */
int loci_objects_find(struct loci_objects *objects, uint64_t address, uint64_t code_address,
	const struct loci_shadow *shadow, struct loci_object_hit *ret, struct loci_err *err);

/* Where memory lies that was freed and is now allocated again: the number of allocations that have
 * begun at or before the block's memory, so that a use and a reuse with different numbers are
 * across two allocations. 0 for memory that is no heap's. */
uint32_t loci_objects_epoch(const struct loci_objects *objects, uint64_t address);

/* What is known of an object in the end. Strings live as long as objects and symbols. */
struct loci_object_info {
	const char *kind; /* global, heap, stack, registered, other */
	/* Never NULL: a variable ("a"; of the heap what the allocation was assigned to: "b",
	 * "node->next"), or as much as is known: "allocated in f", "stack of f", "stack", "heap",
	 * "heap, not allocated" (an allocator's own data), "libc.so.6 data", "input.dat (mapped)",
	 * "anonymous mapping", "other" */
	const char *name;
	const char *type;
	const struct loci_type *element; /* NULL: unknown */
	uint64_t size_bytes, allocations;
	uint64_t element_bytes; /* as the program says; 0: it does not */
	uint32_t whole;         /* of a part of a registered object: that; else itself */
	uint64_t part_offset;
	uint32_t symbol_module; /* UINT32_MAX: none */
	/* File address of the allocating call (of a byte of the instruction; of the call outside
	 * wrappers like xmalloc and operator new) or of the function whose stack it is; 0: none */
	uint64_t code_address;
	const char *file;
	unsigned line;
	uint32_t context;              /* of the allocation; UINT32_MAX: none */
	uint64_t born_refs, died_refs; /* before the first allocation and the last release */
	bool released;                 /* no allocation of it is alive; died_refs has a meaning */
	bool nameless;                 /* no one object: the name is of what holds it */
};
/* Times that an object found no place among the 2^20 there may be and was made "other". */
uint64_t loci_objects_dropped(const struct loci_objects *objects);
/* How an object's elements lie. False: it is no array, or not one thing. */
struct loci_object_shape {
	uint64_t element_bytes; /* 0: not known */
	uint64_t elements;      /* 0: of heap blocks and registered objects each has its own */
	uint64_t inner;         /* see loci_variable; 0: one dimension */
};
bool loci_objects_shape(
	const struct loci_objects *objects, uint32_t object, struct loci_object_shape *ret);
size_t loci_objects_count(const struct loci_objects *objects);
int loci_objects_info(struct loci_objects *objects, uint32_t object, struct loci_object_info *ret,
	struct loci_err *err);

#endif
