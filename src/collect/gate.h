/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When to record: the recorder's end of the control file, and the times it keeps. */
#ifndef LOCI_COLLECT_GATE_H
#define LOCI_COLLECT_GATE_H

#include "base/err.h"
#include "collect/run_control.h"
#include "collect/run.h"

struct loci_gate {
	struct loci_control *shared; /* NULL: there is none */
	bool windows;                /* recording starts or stops */
	double delay_s, duration_s;
	double on_s, off_s; /* monotonic; 0: not, not yet, or done */
	double begun_s;     /* the program's first instruction; 0: not yet */
	double since_s;     /* recording has been on since then; 0: it is off */
	double recorded_s;  /* before that */
};

/* Makes the file if the options ask for one, or the collector does. */
int loci_gate_init(struct loci_gate *gate, const char *run_dir,
	const struct loci_run_options *options, struct loci_err *err);
/* Does what is due. Returns how many milliseconds to wait until more is, -1: no more. */
int loci_gate_keep(struct loci_gate *gate);
/* For how long recording has been on, and the program has run. */
void loci_gate_times(struct loci_gate *gate, double *ret_recorded_s, double *ret_all_s);
void loci_gate_toggle(struct loci_gate *gate);                        /* from a signal handler */
void loci_gate_closed(struct loci_gate *gate, pid_t pid, uint32_t n); /* samples; any thread */
/* Whether loops of equal steps may be told when they have ended; LOCI_RUNS=0 has every reference of
 * every loop written down as it comes. */
bool loci_gate_runs(void);
void loci_gate_fini(struct loci_gate *gate);

#endif
