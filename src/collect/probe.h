/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether collectors work here, found out by using them. */
#ifndef LOCI_COLLECT_PROBE_H
#define LOCI_COLLECT_PROBE_H

#include "collect/gcc_toolchain.h"
#include "collect/launch.h"
#include "collect/toolchain.h"

#include <stdint.h>

/* Runs a small program under the collector and counts the references that arrive. *ret_launch holds
 * what was found, also where something fails. */
int loci_probe_any(struct loci_launch *ret_launch, uint64_t *ret_references, struct loci_err *err);

/* Compiles, runs and records a small program. *ret_toolchain holds what was found. */
int loci_probe_cc(
	struct loci_toolchain *ret_toolchain, uint64_t *ret_references, struct loci_err *err);
int loci_probe_gcc(
	struct loci_gcc_toolchain *ret_gcc, uint64_t *ret_references, struct loci_err *err);

/* Whether a debug register can be had (perf_event_open(2)). err may be NULL. */
int loci_probe_registers(struct loci_err *err);

#endif
