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
	LOCI_CONTROL_TRACE = 0,  /* every reference */
	LOCI_CONTROL_COUNT = 1,  /* none: their number, at the end */
	LOCI_CONTROL_SAMPLE = 2, /* those around samples that threads choose */
	LOCI_CONTROL_WATCH = 3,  /* none: samples, which are watched until their reuse */
};

/* Samples of the processes whose id leaves this remainder. While more were opened than closed their
 * threads record everything. */
#define LOCI_CONTROL_SLOTS 256
struct loci_control_samples {
	uint32_t opened; /* by threads, just before they write SAMPLE_OPEN */
	uint32_t closed; /* by the recorder: their distance is known, or they were given up */
};

/* By what a block is watched. */
enum loci_control_watch {
	LOCI_CONTROL_REGISTERS = 0, /* the processor's debug registers: blocks of at most 8 bytes */
	LOCI_CONTROL_PAGES = 1,     /* pages are taken away: blocks of any size within one */
};

#define LOCI_CONTROL_FAR UINT32_MAX

/* Why a process that goes on is watched no longer. */
enum loci_control_stop {
	LOCI_STOP_NONE = 0,
	LOCI_STOP_IO_URING, /* system calls whose work the kernel does later: io_uring_setup .. */
	LOCI_STOP_AIO,      /* .. and io_setup */
	LOCI_STOP_USERFAULTFD,
	LOCI_STOP_FILTER,      /* of system calls, by the program (seccomp) */
	LOCI_STOP_DISPATCH,    /* of system calls, by the program (prctl) */
	LOCI_STOP_CALL,        /* a system call of another kind (of 32 bits) */
	LOCI_STOP_PLACES,      /* system calls were made at more places than can be led */
	LOCI_STOP_STACK,       /* of the program's own making (coroutines) */
	LOCI_STOP_SIGNAL,      /* the program waits for one that is needed */
	LOCI_STOP_CLONE,       /* a thread that the C library did not make */
	LOCI_STOP_THREADS,     /* there are too many */
	LOCI_STOP_DESCRIPTORS, /* they were closed too often, or there are no more */
	LOCI_STOP_INHERITED,   /* what the program starts is to find one blocked or ignored */
	LOCI_STOP_FILES,       /* of pages: no descriptor is left to read the mappings by */
	LOCI_STOP_ACTION,      /* of a signal that is needed, set without the C library */
	LOCI_STOPS
};

/* Of LOCI_CONTROL_WATCH. The first ones are the recorder's, the others are what all processes had
 * to do, added up with atomic operations. */
struct loci_control_watching {
	uint32_t by;          /* enum loci_control_watch */
	uint32_t watches;     /* 1..LOCI_RESERVOIR */
	uint32_t replace;     /* enum loci_replace */
	uint32_t writes_only; /* only writes are reuses */
	uint32_t block_shift;
	uint32_t burst_refs; /* for which a sample is followed reference by reference */
	uint32_t overhead;   /* share of the time, in 1/10000, that the period is to keep to; 0: it
				is fixed */
	uint32_t failed; /* by the collector: -errno of why a process has no watches; 0: it has */
	uint32_t far;    /* share of the references, in 1/10000, for which samples are followed to
			    far reuses; LOCI_CONTROL_FAR: as time allows */
	uint32_t per_second; /* samples of a thread's time, at the most, where the share allows
				more; 0: any number */
	uint64_t traps;      /* signals of watches that met their block */
	uint64_t false_faults, steps, syscalls; /* of pages: beside the block; single steps; calls
						   of the kernel that had to be led past them */
	uint64_t burst_ns, trap_ns; /* that following samples took longer than the references do
				       otherwise; in handlers */
	uint64_t last_period;
	uint64_t lost; /* samples that code without tests ran over, or that could not be placed */
	uint64_t page_ns; /* of pages: for false faults, steps and calls that were led */
	/* What was not watched, and why: */
	uint32_t stop;      /* enum loci_control_stop: of the process where it was first */
	uint32_t n_stopped; /* processes */
	uint32_t fewest;    /* watches of a process that has some, but fewer than asked for; 0: none
			       has; -errno of why */
	uint32_t fewer_for;
	uint32_t missed_threads; /* of a process that had them when watching began; the most */
	uint32_t reserved;
	uint64_t began_ns, stop_ns; /* the first process, and `stop` */
	uint64_t entered;           /* samples whose reuse did not come while they were followed */
	uint64_t unwatched;         /* of these: watching could not begin, or had stopped */
	uint64_t lapsed; /* watches that had no chance any more when, or after, it stopped */
};

struct loci_control {
	uint32_t recording; /* 0 or 1; read a few thousand times a second at the least */
	uint32_t running;   /* set by the collector: the program has begun, times count from here */
	uint32_t mode;      /* enum loci_control_mode; these of `loci cc` only */
	uint32_t windows;   /* recording may change while the program runs */
	uint32_t only_pid;  /* no other process is to be watched; 0: all are */
	uint32_t runs;      /* loops may be told by a RUN: the recorder knows that marker */
	/* Of LOCI_CONTROL_SAMPLE, and from period on LOCI_CONTROL_WATCH: */
	uint32_t skew;     /* references that a thread may be ahead of others while samples are
			      open; 0: any number */
	uint32_t doubling; /* after so many samples of the run the period doubles; 0: never */
	uint64_t period;   /* mean gap between the samples of a thread, in references */
	uint64_t seed;
	uint32_t taken;      /* samples of the run so far, by the collector */
	uint32_t turn_shift; /* LOCI_CONTROL_TRACE: threads take turns of 1 << so many
				references where they meet; 0: none */
	struct loci_control_samples slot[LOCI_CONTROL_SLOTS];
	struct loci_control_watching watching;
	uint32_t reserved[454];
};
_Static_assert(sizeof(struct loci_control) == 4096, "the size is fixed");

#endif
