/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each thread meets in a hierarchy, for a person and as JSON. */
#ifndef LOCI_REPORT_THREAD_TABLE_H
#define LOCI_REPORT_THREAD_TABLE_H

#include "model/topology.h"
#include "report/json.h"
#include "report/text.h"

struct loci_thread_table {
	const struct loci_hierarchy *hierarchy;
	const struct loci_topology_thread *row;
	size_t n;
};

/* Miss ratios at each level, coherence misses, and the share of a shared cache. 0 or -ENOMEM. */
int loci_thread_table_text(const struct loci_thread_table *table, const struct loci_text *text);
/* The rows as an array. */
void loci_thread_table_json(const struct loci_thread_table *table, struct loci_json *json);

#endif
