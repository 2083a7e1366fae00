// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_count.h"

#include "analyse/attribute.h"
#include "analyse/grow.h"
#include "base/cleanup.h"

/* What is kept of FIRE: these, and the words of the stream from LOCI_FIRE_EMPTY on. */
enum { TOLD_REUSE, TOLD_WORDS, TOLD_RAW };

void loci_watch_counts_fini(struct loci_watch_counts *counts)
{
	free(counts->count);
	free(counts->told);
}

static const uint64_t *word_of(const uint64_t *told, unsigned word)
{
	return told + TOLD_RAW + (word - LOCI_FIRE_EMPTY);
}

static int ask_budget(
	struct loci_attribution *a, const uint64_t *told, int64_t *ret, struct loci_err *err)
{
	uint64_t code = *word_of(told, LOCI_FIRE_CODE);
	const struct loci_code_module *module = loci_code_module_at(&a->code, code);
	struct loci_symbol_machine machine = { .memory = word_of(told, LOCI_FIRE_MEMORY),
		.n_memory = told[TOLD_WORDS] - (LOCI_FIRE_MEMORY - LOCI_FIRE_EMPTY) };
	int r;

	if (!module)
		return 0;
	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(machine.reg); i++)
		machine.reg[i] = *word_of(told, LOCI_FIRE_REGISTERS + i);
	pthread_mutex_lock(a->symbols_lock);
	r = loci_symbols_budget(
		a->symbols, module->symbol_module, code - module->bias, &machine, ret, err);
	pthread_mutex_unlock(a->symbols_lock);
	return r;
}

static int settle(struct loci_watch_counts *counts, struct loci_attribution *a,
	const uint64_t *told, struct loci_err *err)
{
	struct loci_weigh_count count = { .reuse = told[TOLD_REUSE] };
	int64_t budget;
	int r = ask_budget(a, told, &budget, err);

	if (r <= 0)
		return r;
	count.count = *word_of(told, LOCI_FIRE_EMPTY) - (uint64_t)budget;
	if (count.count < *word_of(told, LOCI_FIRE_LEAST) ||
		count.count > *word_of(told, LOCI_FIRE_MOST))
		return 0;
	if (loci_grow(&counts->count, &counts->cap, counts->n + 1, sizeof(count)) < 0)
		return loci_err_nomem(err);
	counts->count[counts->n++] = count;
	return 0;
}

int loci_watch_counts_settle(
	struct loci_watch_counts *counts, struct loci_attribution *a, struct loci_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < counts->n_told;
		i += TOLD_RAW + counts->told[i + TOLD_WORDS])
		r = settle(counts, a, counts->told + i, err);
	free(counts->told);
	counts->told = NULL;
	counts->n_told = counts->told_cap = 0;
	return r;
}

int loci_watch_counts_fire(
	struct loci_watch_counts *counts, const struct loci_event *event, uint64_t reuse)
{
	uint64_t *told;

	if (event->n_raw < LOCI_FIRE_MEMORY)
		return 0;
	if (loci_grow_little(&counts->told, &counts->told_cap,
		    counts->n_told + TOLD_RAW + event->n_raw - LOCI_FIRE_EMPTY, sizeof(*told)) < 0)
		return -ENOMEM;
	told = counts->told + counts->n_told;
	told[TOLD_REUSE] = reuse;
	told[TOLD_WORDS] = event->n_raw - LOCI_FIRE_EMPTY;
	memcpy(told + TOLD_RAW, &event->raw[LOCI_FIRE_EMPTY], told[TOLD_WORDS] * sizeof(*told));
	counts->n_told += TOLD_RAW + told[TOLD_WORDS];
	return 0;
}
