/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables of functions in their frames, and pins: serials that advance when a frame is gone. */
#ifndef LOCI_ANALYSE_OBJECT_STACK_H
#define LOCI_ANALYSE_OBJECT_STACK_H

#include "analyse/object_module.h"
#include "analyse/shadow.h"

struct loci_function {
	uint32_t symbol_module; /* UINT32_MAX: of no module that is known */
	uint64_t entry;         /* in the file */
	bool asked;
	const struct loci_variable *local;
	size_t n;
	uint32_t *object; /* of each, 0: not yet */
	uint32_t rest;    /* object of what is none of them, 0: not yet */
};

/* What lies at an offset from the frame address. pc, in the file, tells variables apart that share
 * a place: the one whose scope it is in, the narrowest first; then one that lives in all of the
 * function; then any. */
struct loci_place {
	const struct loci_variable *variable; /* NULL: none, spills and the like */
	size_t index;
	int64_t low,
		high; /* offsets that this holds for at this pc; INT64_MIN, INT64_MAX: no end */
	bool shared;  /* elsewhere in the function it may be another's */
};

enum { LOCI_FUNCTION_MEMO = 1024, LOCI_PLACE_MEMO = 4096 };

struct loci_stack {
	struct loci_function **function; /* open addressing */
	unsigned function_bits;
	size_t n_functions;
	struct loci_function_memo { /* of run-time addresses */
		uint64_t entry;
		uint32_t module;
		struct loci_function *function;
	} memo[LOCI_FUNCTION_MEMO];
	/* Functions that much was inlined into have hundreds of variables, and what is not its
	 * site's to keep is asked for at every reference. */
	struct loci_place_memo {
		const struct loci_function *function;
		uint64_t pc;
		struct loci_place place;
	} place[LOCI_PLACE_MEMO];
	struct loci_pin { /* in use while serial == expected */
		uint32_t serial, expected;
	} * *pin;
	size_t n_pins, cap_pins, next_pin;
};

int loci_stack_init(struct loci_stack *stack, struct loci_err *err);
void loci_stack_fini(struct loci_stack *stack);

/* Run-time addresses mean something else from now on. */
void loci_stack_forget_addresses(struct loci_stack *stack);
/* The function of a frame; good until loci_stack_fini. */
int loci_stack_function(struct loci_stack *stack, struct loci_modules *modules,
	const struct loci_shadow_frame *frame, struct loci_function **ret, uint64_t *ret_bias,
	struct loci_err *err);

int loci_function_place(struct loci_stack *stack, struct loci_function *function,
	struct loci_symbols *symbols, int64_t offset, uint64_t pc, struct loci_place *ret,
	struct loci_err *err);
/* Of variables that share the place, the one of this name, if there is one. */
void loci_function_prefer(const struct loci_function *function, int64_t offset, const char *name,
	size_t length, struct loci_place *place);
int loci_function_object(struct loci_function *function, struct loci_object_table *table,
	const struct loci_place *place, uint32_t *ret, struct loci_err *err);

/* The pin of a frame, given to it where it has none. */
int loci_stack_pin(struct loci_stack *stack, struct loci_shadow_frame *frame, uint32_t **ret,
	struct loci_err *err);
/* Nothing that was said of pinned frames holds any longer. */
void loci_stack_advance_pins(struct loci_stack *stack);

#endif
