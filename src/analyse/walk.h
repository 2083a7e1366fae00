/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the threads of a process are in its code: frames, calling contexts, loops.
 *
 * An entry block pushes a frame. Returns are not told; they are found: a load of eight bytes from
 * where a frame's return address stands, last in its block, is the return. What else ends frames
 * (longjmp, exceptions) shows when a block runs that is known to belong to a function further out;
 * which function a block belongs to is learnt when it first runs.
 *
 * Loops are found, too. A header is a block that was reached again while no block of its frame
 * below it in the code had run since; the loop reaches to the furthest place from where control
 * came back. So a jump back from code laid out apart makes no loop.
 *
 * Of fixed code (code.h) both are known. A block ends all frames above the nearest one of its
 * function; an entry those at or below its own address, and what is left above its caller. A
 * function that has no frame left but runs is a coroutine that goes on: it has the frame again that
 * it had. One that never had any (recording began in the middle) is a root of its own. Of two
 * frames of one function it is taken to be the inner one that runs. A loop runs while blocks of it
 * run; it goes round when one comes that does not stand after the one before. */
#ifndef LOCI_ANALYSE_WALK_H
#define LOCI_ANALYSE_WALK_H

#include "analyse/code.h"
#include "analyse/context.h"
#include "analyse/shadow.h"

struct loci_loop {
	uint64_t address, end; /* of the header and the last site, run-time */
	uint64_t offset;       /* of fixed code: the symbols' number of the loop */
	uint32_t module;       /* the symbols' */
	uint32_t function;     /* site of its entry */
	uint64_t iterations;   /* times control came back to the header */
	bool proven;           /* it is a loop */
	bool fixed;            /* of fixed code, as are the next two */
	uint32_t parent;       /* the loop around it, or LOCI_NO_LOOP */
	uint32_t depth;        /* from 1 */
};
#define LOCI_NO_LOOP 0u /* numbers are from 1 */

/* An entry of a loop that has not been left. */
struct loci_loop_entry {
	uint64_t address, end; /* the loop's */
	uint64_t time;         /* of the entry */
	uint32_t loop;
};

/* A change of a stack of running loops, for who must know later what ran. */
struct loci_loop_event {
	uint32_t touch; /* before this touch of the batch */
	uint32_t stack; /* which one: every thread and handler has one. It is current from now on */
	uint32_t length; /* entries that stay .. */
	uint32_t loop;   /* .. and the one pushed then, or LOCI_NO_LOOP, LOCI_UNPROVEN */
	uint64_t time;   /* of its entry */
};
#define LOCI_UNPROVEN    UINT32_MAX            /* what may turn out to be a loop: keeps its place */
#define LOCI_LOOP_DEPTH  48                    /* of fixed code; what is deeper is not looked at */
#define LOCI_LOOP_EVENTS (4 + LOCI_LOOP_DEPTH) /* at most, of one block or marker */

/* Beside a frame of the shadow; the first belongs to code without frame. */
struct loci_walk_frame {
	uint64_t last;     /* address of the last instruction seen */
	uint32_t function; /* site of its entry, of fixed code its number */
	uint32_t loops;    /* entries on the stack that are of frames below */
};

/* What a signal handler has anew. */
struct loci_walk_level {
	struct loci_shadow shadow;
	struct loci_walk_frame *frame;
	size_t frame_cap;
	struct loci_loop_entry *loop;
	size_t n_loops, loop_cap;
	uint32_t last; /* the last definition whose reference was seen, or LOCI_NO_DEFINITION */
	uint32_t stack;
	uint32_t root; /* context where there is no frame */
	/* An entry whose caller is still to come: its frame, and what the frame before must have
	 * back. */
	uint64_t entering, entering_last;
};

/* A frame of fixed code that is gone, as far as is known. */
struct loci_walk_left {
	uint64_t address, last, call_site;
	uint32_t context;
	uint32_t stack; /* of which level, plus one; 0: none */
};

#define LOCI_NO_DEFINITION UINT32_MAX

struct loci_walk_thread {
	struct loci_walk_level *level;
	size_t n, cap;
	uint32_t id;
};

struct loci_walk {
	struct loci_code *code;
	struct loci_contexts contexts;
	struct loci_loop *loop; /* by number */
	size_t n_loops, loop_cap;
	struct loci_keymap loop_ids; /* of fixed code, by the symbols' module and number */
	struct loci_walk_left *left; /* of fixed code, by function */
	size_t left_cap;
	uint64_t clock; /* loop entries so far, and what else its owner counts as time */
	uint32_t n_stacks;
	struct loci_walk_thread *thread;
	size_t n_threads, thread_cap;
	struct loci_keymap thread_ids;
	bool fixed;  /* functions are known .. */
	bool learns; /* .. and not the loops of the top frame's; always so of code that is not fixed
		      */
	/* The current ones. */
	size_t at;
	struct loci_walk_level *level;
	struct loci_walk_frame *frame; /* top */
	/* A header after the first and not after the second is of a loop within the innermost one
	 * of the frame, which they are of; if there is none, of the frame's function. */
	uint64_t loop_begin, loop_end;
	uint32_t innermost; /* this loop, if it is proven */
	uint64_t base[2];   /* 0, and the top frame's address */
	uint64_t entry;     /* of its function; 0: no frame */
	uint32_t context;
	/* Where loop events go; NULL: nobody wants them. touch is the owner's. */
	struct loci_loop_event *log;
	size_t n_log;
	uint32_t touch;
};

int loci_walk_init(struct loci_walk *walk, struct loci_code *code); /* -ENOMEM, as all below */
void loci_walk_fini(struct loci_walk *walk);

int loci_walk_switch(struct loci_walk *walk, uint32_t thread);
int loci_walk_signal_enter(struct loci_walk *walk);
void loci_walk_signal_leave(struct loci_walk *walk);
/* The thread has ended: another may take its number. */
int loci_walk_exit(struct loci_walk *walk, uint32_t thread);
/* For some time the thread will say nothing of calls: which frames it has afterwards is not known.
 */
int loci_walk_gap(struct loci_walk *walk, uint32_t thread);

/* An entry block's frame: of the definition, with this address. */
int loci_walk_enter(struct loci_walk *walk, uint32_t definition, uint64_t frame_address);
/* Of fixed code, after that: where it returns to. */
int loci_walk_called(struct loci_walk *walk, uint32_t definition, uint64_t return_address);
/* Of fixed code: a block without references runs, of another function than the top frame's. */
int loci_walk_plain(struct loci_walk *walk, uint32_t function);
/* A block starts that is no plain successor. */
int loci_walk_turn(struct loci_walk *walk, struct loci_code_block *block, bool again);
/* The same of a block of the top frame's function that has no flags. False: it takes
 * loci_walk_turn, nothing has been done. */
bool loci_walk_turn_plainly(struct loci_walk *walk, const struct loci_code_block *block);
/* A load that may have been a return. */
void loci_walk_return(struct loci_walk *walk, uint64_t address);

/* Whether a block that starts, which takes part in the flow of control, is a plain successor, or
 * the innermost loop begins again and nothing else changes: that is counted. */
static inline bool loci_walk_passes(struct loci_walk *walk, const struct loci_code_block *block)
{
	const struct loci_walk_frame *frame = walk->frame;
	struct loci_loop *loop;

	if (block->function != frame->function)
		return false;
	if (!walk->learns) {
		if (block->loop != walk->innermost)
			return false;
		walk->loop[block->loop].iterations += block->address <= frame->last;
		return true;
	}
	if (!block->loop)
		return block->address > frame->last && block->address <= walk->loop_end;
	loop = &walk->loop[block->loop];
	if (block->loop != walk->innermost || block->address >= frame->last ||
		frame->last > walk->loop_end || loop->end != walk->loop_end)
		return false;
	loop->iterations++;
	return true;
}

/* A block, or part of one, starts that is no entry. again: if it is where control was last, it is
 * there again. */
static inline int loci_walk_start(struct loci_walk *walk, struct loci_code_block *block, bool again)
{
	if (walk->learns && block->function == walk->frame->function && !block->loop &&
		(block->address > walk->frame->last ||
			(block->address == walk->frame->last && !again)) &&
		block->address <= walk->loop_end)
		return 0;
	return loci_walk_turn(walk, block, again);
}

#endif
