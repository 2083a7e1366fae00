/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file in the run's directory, mapped by the recorder and by the collector in every process,
 * through which the recorder starts and stops recording. It is there before the program starts, and
 * only if the collector was told to look. */
#ifndef LOCI_COLLECT_RUN_CONTROL_H
#define LOCI_COLLECT_RUN_CONTROL_H

#include <stdint.h>

#define LOCI_CONTROL_FILE "control"

struct loci_control {
	uint32_t recording; /* 0 or 1; read a few thousand times a second at the least */
	uint32_t running;   /* set by the collector: the program has begun, times count from here */
	uint32_t reserved[1022];
};

#endif
