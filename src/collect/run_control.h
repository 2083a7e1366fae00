/* SPDX-License-Identifier: GPL-2.0-or-later */
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

struct loci_control {
	uint32_t recording; /* 0 or 1; read a few thousand times a second at the least */
	uint32_t running;   /* set by the collector: the program has begun, times count from here */
	uint32_t reserved[1022];
};

#endif
