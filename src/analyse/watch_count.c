// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_count.h"

#include "analyse/attribute.h"
#include "analyse/grow.h"
#include "base/cleanup.h"

void loci_watch_counts_fini(struct loci_watch_counts *counts)
{
	free(counts->count);
}

static int ask_budget(struct loci_attribution *a, const struct loci_event *event, int64_t *ret,
	struct loci_err *err)
{
	uint64_t code = event->raw[LOCI_FIRE_CODE];
	const struct loci_code_module *module = loci_code_module_at(&a->code, code);
	struct loci_symbol_machine machine = { .memory = &event->raw[LOCI_FIRE_MEMORY],
		.n_memory = event->n_raw - LOCI_FIRE_MEMORY };
	int r;

	if (!module)
		return 0;
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(machine.reg); i++)
		machine.reg[i] = event->raw[LOCI_FIRE_REGISTERS + i];
	pthread_mutex_lock(a->symbols_lock);
	r = loci_symbols_budget(
		a->symbols, module->symbol_module, code - module->bias, &machine, ret, err);
	pthread_mutex_unlock(a->symbols_lock);
	return r;
}

int loci_watch_counts_fire(struct loci_watch_counts *counts, struct loci_attribution *a,
	const struct loci_event *event, uint64_t reuse, struct loci_err *err)
{
	struct loci_weigh_count count = { .reuse = reuse };
	int64_t budget;
	int r;

	if (event->n_raw < LOCI_FIRE_MEMORY)
		return 0;
	r = ask_budget(a, event, &budget, err);
	if (r <= 0)
		return r;
	count.count = event->raw[LOCI_FIRE_EMPTY] - (uint64_t)budget;
	if (count.count < event->raw[LOCI_FIRE_LEAST] || count.count > event->raw[LOCI_FIRE_MOST])
		return 0;
	if (loci_grow(&counts->count, &counts->cap, counts->n + 1, sizeof(count)) < 0)
		return loci_err_nomem(err);
	counts->count[counts->n++] = count;
	return 0;
}
