/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the ledger share. */
#ifndef LOCI_ANALYSE_LEDGER_STATE_H
#define LOCI_ANALYSE_LEDGER_STATE_H

#include "analyse/digest.h"
#include "analyse/ledger.h"
#include "analyse/object_table.h"

/* The ledger's numbers of what a process has numbered by itself. */
struct loci_ledger_maps {
	struct loci_attribution *process;
	uint32_t *site, *context, *object, *row, *loop, *region;
};

/* The number of a key; a new one is *n, which has room in the array then. 1: new. */
int loci_ledger_intern(struct loci_keymap *map, struct loci_digest key, void *array, size_t *n,
	size_t *cap, size_t element, uint32_t *ret);

/* Executions of blocks. 0 or -ENOMEM. */
int loci_ledger_add_ran(struct loci_ledger *ledger, const struct loci_ledger_maps *maps);
int loci_ledger_add_objects(
	struct loci_ledger *ledger, struct loci_ledger_maps *maps, struct loci_err *err);
/* 0, 1: it is new, or -ENOMEM. whole: of a part, in the ledger; else NULL. */
int loci_ledger_add_object(struct loci_ledger *ledger, uint32_t context, const uint32_t *whole,
	const struct loci_object_info *info, uint32_t *ret);
/* ledger_waiting.c: an allocation that nothing touched in its process. Takes its origin. */
int loci_ledger_wait(
	struct loci_ledger *ledger, const struct loci_object *object, uint32_t context);
void loci_ledger_fini_waiting(struct loci_ledger *ledger);
/* ledger_stage.c; 0 or -ENOMEM. */
int loci_ledger_init_stages(struct loci_ledger *ledger);
void loci_ledger_fini_stages(struct loci_ledger *ledger);
int loci_ledger_add_stages(struct loci_ledger *ledger, struct loci_ledger_maps *maps);

/* Where only what holds an object is known, it has the name that the code gives it. The row has the
 * ledger's numbers. */
int loci_ledger_name_by_code(
	struct loci_ledger *ledger, struct loci_row *row, struct loci_err *err);

/* Adds an owner's counts, and those near (NULL: none). 1: there were any; 0 or -ENOMEM. */
int loci_ledger_add_spread(struct loci_spread *into, uint32_t id, const struct loci_spread *from,
	uint32_t number, const uint64_t near[LOCI_RECENT]);
/* ledger_share.c, before the process's rows and after them. 0 or -ENOMEM. */
int loci_ledger_begin_share(struct loci_ledger *ledger, const struct loci_attribution *process);
int loci_ledger_add_share(struct loci_ledger *ledger, const struct loci_ledger_maps *maps);
void loci_ledger_fini_share(struct loci_ledger *ledger);

/* ledger_piece.c. 0 or -ENOMEM. */
int loci_ledger_add_pieces(struct loci_ledger *ledger, const struct loci_ledger_maps *maps);

#endif
