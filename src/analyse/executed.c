// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/executed.h"

#include "analyse/grow.h"

/* Threads that are told apart by how often their number was used; all others are one. */
#define MAX_THREADS (1u << 20)

void loci_executed_fini(struct loci_executed *executed)
{
	free(executed->ran);
	free(executed->cell);
	free(executed->plain);
	free(executed->told);
	free(executed->lives);
	loci_keymap_fini(&executed->ran_ids);
	loci_keymap_fini(&executed->cell_ids);
	loci_keymap_fini(&executed->told_ids);
	*executed = (struct loci_executed){ 0 };
}

int loci_executed_of(
	struct loci_executed *executed, uint32_t function, uint32_t number, uint32_t *ret)
{
	*ret = loci_keymap_get(&executed->ran_ids, function, number);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	if (!executed->n_ran)
		executed->n_ran = executed->n_cells = 1;
	*ret = (uint32_t)executed->n_ran;
	if (loci_grow(&executed->ran, &executed->ran_cap, *ret + 1, sizeof(*executed->ran)) < 0 ||
		loci_grow(&executed->cell, &executed->cell_cap, 1, sizeof(*executed->cell)) < 0 ||
		loci_keymap_put(&executed->ran_ids, function, number, *ret) < 0)
		return -ENOMEM;
	executed->n_ran++;
	executed->ran[*ret] = (struct loci_ran){
		.function = function, .number = number, .context = UINT32_MAX, .region = UINT32_MAX
	};
	return 0;
}

int loci_executed_move(
	struct loci_executed *executed, uint32_t number, uint32_t context, uint32_t region)
{
	struct loci_ran *ran = &executed->ran[number];
	uint64_t key = (uint64_t)number << 32 | context;
	uint32_t cell = loci_keymap_get(&executed->cell_ids, key, region);

	if (cell == LOCI_KEYMAP_NONE) {
		cell = (uint32_t)executed->n_cells;
		if (loci_grow(&executed->cell, &executed->cell_cap, cell + 1,
			    sizeof(*executed->cell)) < 0 ||
			loci_keymap_put(&executed->cell_ids, key, region, cell) < 0)
			return -ENOMEM;
		executed->cell[executed->n_cells++] = (struct loci_ran_cell){
			.ran = number, .context = context, .region = region
		};
	}
	executed->cell[ran->cell].times += ran->times;
	ran->times = 0;
	ran->cell = cell;
	ran->context = context;
	ran->region = region;
	return 0;
}

int loci_executed_told(struct loci_executed *executed, uint32_t ran, uint32_t thread,
	uint64_t block, uint64_t times)
{
	uint64_t life = thread < executed->lives_cap ? executed->lives[thread] : 0;
	uint32_t i = loci_keymap_get(&executed->told_ids, block, life << 32 | thread);

	if (i == LOCI_KEYMAP_NONE) {
		i = (uint32_t)executed->n_told;
		if (loci_grow(&executed->told, &executed->told_cap, i + 1,
			    sizeof(*executed->told)) < 0 ||
			loci_keymap_put(&executed->told_ids, block, life << 32 | thread, i) < 0)
			return -ENOMEM;
		executed->told[executed->n_told++] = 0;
	}
	executed->ran[ran].told += times - executed->told[i];
	executed->told[i] = times;
	return 0;
}

int loci_executed_exit(struct loci_executed *executed, uint32_t thread)
{
	if (!executed->n_told || thread >= MAX_THREADS)
		return 0;
	if (loci_grow(&executed->lives, &executed->lives_cap, thread + 1,
		    sizeof(*executed->lives)) < 0)
		return -ENOMEM;
	executed->lives[thread]++;
	return 0;
}

void loci_executed_settle(struct loci_executed *executed)
{
	for (size_t i = 1; i < executed->n_ran; i++) {
		struct loci_ran *ran = &executed->ran[i];

		executed->cell[ran->cell].times += ran->times;
		ran->times = 0;
	}
}
