/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of memory, and the rules between its parts.
 *
 * An address belongs to the first of these that knows it: registered objects, allocations, modules,
 * stacks, mappings. Each that has answered for a range has a serial, which advances when a finer
 * one takes part of it, or when it ends itself. One that finer ones have been inside (parted) is
 * asked every time, unless it can tell that the very range is free of them. */
#ifndef LOCI_ANALYSE_OBJECT_STATE_H
#define LOCI_ANALYSE_OBJECT_STATE_H

#include "analyse/object.h"
#include "analyse/object_generation.h"
#include "analyse/object_heap.h"
#include "analyse/object_map.h"
#include "analyse/object_module.h"
#include "analyse/object_stack.h"
#include "analyse/object_table.h"

struct loci_objects {
	struct loci_symbols *symbols;
	pthread_mutex_t *symbols_lock; /* NULL: nobody else uses them */
	struct loci_object_table table;
	struct loci_heap *heap, *registered;
	struct loci_modules modules;
	struct loci_map map;
	struct loci_generations generations;
	struct loci_stack stack;
	uint64_t refs;          /* of the event at hand */
	uint32_t heap_rest;     /* object: heap, not allocated */
	uint32_t stack_rest;    /* object: stack of nobody known */
	uint32_t layout_serial; /* of what is said of memory that nobody knows */
	uint32_t frame_serial;  /* of what is said relative to frames */
	bool has_frames;        /* a thread with frames has looked where nothing is mapped */
	bool unknown_parted;    /* allocations or registered objects have been where nothing is
				   mapped */
	bool unknown_stack;     /* variables have been found where nothing is mapped */
	/* Stacks that were mapped where memory had been unmapped, or that hold allocations or
	 * registered objects. While there are any no answer is relative to the frame: it would be
	 * taken for true on another stack. */
	size_t odd_stacks;
	bool frames_linger;
	struct loci_caller { /* where the function begins that allocates here */
		uint64_t site, entry;
	} caller[LOCI_FUNCTION_MEMO];
};

extern const struct loci_shadow loci_no_frames;

enum {
	LOCI_RETURN_BYTES = 8, /* the return address at the frame address */
	/* Under the top frame, where nothing is mapped; variables that are known to be there may
	 * lie deeper. */
	LOCI_STACK_REACH = 1024 * 1024,
};

/* Memory that may be a stack. */
struct loci_extent {
	uint64_t low, last;
	bool mapped;
	bool was;      /* as it was earlier, and so is the next one */
	bool unframed; /* nothing is said relative to frames */
};
/* object.c: who knows an address answers. The top frame of the shadow is in the extent. */
int loci_objects_answer_module(struct loci_objects *objects, uint64_t address,
	struct loci_loaded *loaded, struct loci_object_hit *ret, struct loci_err *err);
int loci_objects_answer_stack(struct loci_objects *objects, uint64_t address, uint64_t code_address,
	const struct loci_shadow *shadow, const struct loci_extent *extent,
	struct loci_object_hit *ret, struct loci_err *err);
/* The variable at an address as a frame sees it. */
int loci_objects_frame_place(struct loci_objects *objects, const struct loci_shadow *shadow,
	size_t i, uint64_t address, uint64_t code_address, struct loci_function **ret_function,
	struct loci_place *ret, struct loci_err *err);
/* The gap between regions and modules that an address is in. */
struct loci_extent loci_objects_gap(struct loci_objects *objects, uint64_t address);

static inline void loci_objects_lock(const struct loci_objects *objects)
{
	if (objects->symbols_lock)
		pthread_mutex_lock(objects->symbols_lock);
}

static inline void loci_objects_unlock(const struct loci_objects *objects)
{
	if (objects->symbols_lock)
		pthread_mutex_unlock(objects->symbols_lock);
}

/* Counts odd stacks again; what was said relative to frames holds no longer. */
void loci_objects_review_stacks(struct loci_objects *objects);
/* A mapping turns out to be a stack. */
void loci_objects_make_stack(struct loci_objects *objects, struct loci_region *region);

/* Something finer than modules and mappings took a range: an allocation, a registered object. */
void loci_objects_part_layout(struct loci_objects *objects, uint64_t low, uint64_t last, bool heap);

/* object_registered.c: OBJECT, OBJECT_PART, OBJECT_END. */
int loci_objects_register(struct loci_objects *objects, const struct loci_event *event,
	const struct loci_decoder *decoder, const struct loci_shadow *shadow, struct loci_err *err);
int loci_objects_register_part(struct loci_objects *objects, const struct loci_event *event,
	const struct loci_decoder *decoder, struct loci_err *err);
void loci_objects_unregister(struct loci_objects *objects, uint64_t low);

/* How many frames of the shadow are left with that of who called on top: the callee's may still be
 * there, and those of functions that have returned. */
int loci_objects_caller(struct loci_objects *objects, uint64_t site,
	const struct loci_shadow *shadow, size_t *ret, struct loci_err *err);
/* Takes what is known of an allocation that nobody has asked about yet, to name it without the
 * objects: origin is the caller's then, as is the name it may get. False: it is no such thing. */
bool loci_objects_release(struct loci_objects *objects, uint32_t number, struct loci_object *ret);
int loci_object_released_info(struct loci_symbols *symbols, struct loci_object *object,
	struct loci_object_info *ret, struct loci_err *err);

/* The call at a site and the calls around it, in so many frames. */
int loci_objects_origin(struct loci_objects *objects, uint64_t site,
	const struct loci_shadow *shadow, size_t frames, struct loci_origin **ret,
	struct loci_err *err);

#endif
