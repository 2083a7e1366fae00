/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recorder and the collector must know of a run's directory beside the rings. The control
 * file is a file there, mapped by the recorder and by the collector in every process,
 * through which the recorder starts and stops recording. It is there before the program starts, and
 * only if the collector was told to look. */
#ifndef LOCI_COLLECT_RUN_CONTROL_H
#define LOCI_COLLECT_RUN_CONTROL_H

#include <stdint.h>

#define LOCI_CONTROL_FILE "control"

/* Instead of a ring "PID.N.ring", an empty file "PID.N.unheard": there was no room for one. */
#define LOCI_RUN_UNHEARD   ".unheard"
/* And "PID.N.unwatched": the process became a program that cannot be watched. */
#define LOCI_RUN_UNWATCHED ".unwatched"

/* The environment variable in which programs built by `loci cc` find the run's directory. For them
 * the control file is always there. Beside the process's ring "PID.N.ring", which has what holds
 * for the whole process (PROCESS, modules, definitions, strings, END), each of their threads makes
 * a ring "PID.N.T.ring" for its words, T from 1, and one more for each level of signal handlers, T
 * above that of what it interrupts. A handler's ring begins with SWITCH, the thread's T, and its
 * SIGNAL_ENTERs have a raw word: how many words the ring that is interrupted had then. */
#define LOCI_RUN_VARIABLE "LOCI_RUN"

enum loci_control_mode {
	LOCI_CONTROL_TRACE = 0, /* every reference */
	LOCI_CONTROL_COUNT = 1, /* none: their number, at the end */
};

struct loci_control {
	uint32_t recording; /* 0 or 1; read a few thousand times a second at the least */
	uint32_t running;   /* set by the collector: the program has begun, times count from here */
	uint32_t mode;      /* enum loci_control_mode; these of `loci cc` only */
	uint32_t windows;   /* recording may change while the program runs */
	uint32_t only_pid;  /* no other process is to be watched; 0: all are */
	uint32_t runs;      /* loops may be told by a RUN: the recorder knows that marker */
	uint32_t reserved[1018];
};

#endif
