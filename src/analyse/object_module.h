/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modules that are loaded, and their variables, which are asked for when the first address
 * within the module is looked up. */
#ifndef LOCI_ANALYSE_OBJECT_MODULE_H
#define LOCI_ANALYSE_OBJECT_MODULE_H

#include "analyse/object_table.h"

struct loci_loaded {
	uint32_t id; /* the stream's */
	uint32_t symbol_module;
	uint64_t bias, low, last;
	uint32_t serial; /* advances when what was said of the module's data no longer holds */
	bool parted;     /* allocations or registered objects have been inside */
	bool asked;
	char *path;
	const struct loci_variable *variable;
	size_t n;
	uint32_t *object; /* of each variable, 0: not yet */
	uint32_t data;    /* object of what is none of them, 0: not yet */
};

struct loci_modules {
	struct loci_loaded **module; /* by address */
	size_t n, cap;
	struct loci_loaded **spare; /* unloaded; answers point to their serials */
	size_t n_spare, cap_spare;
	struct loci_loaded *last, *last_by_id;
};

void loci_modules_fini(struct loci_modules *modules);

/* What is loaded where the new one will be is forgotten. */
int loci_modules_load(
	struct loci_modules *modules, const struct loci_loaded *loaded, struct loci_err *err);
int loci_modules_unload(struct loci_modules *modules, uint32_t id, struct loci_err *err);
/* Forgets those that lie within the range; what was said of those partly in it holds no longer. */
int loci_modules_unmap(
	struct loci_modules *modules, uint64_t low, uint64_t last, struct loci_err *err);
/* Something else took part of the range. */
void loci_modules_part(struct loci_modules *modules, uint64_t low, uint64_t last);

struct loci_loaded *loci_modules_find(struct loci_modules *modules, uint64_t address);
/* Narrows low..last, which contains address, to where no module is; there is none at address. */
void loci_modules_narrow(
	const struct loci_modules *modules, uint64_t address, uint64_t *low, uint64_t *last);
struct loci_loaded *loci_modules_by_id(struct loci_modules *modules, uint32_t id);

/* The object at an address of the module and the range, first and last, that it holds for. */
int loci_loaded_object(struct loci_loaded *loaded, struct loci_symbols *symbols,
	struct loci_object_table *table, uint64_t address, uint32_t *ret, uint64_t *ret_low,
	uint64_t *ret_last, struct loci_err *err);

#endif
