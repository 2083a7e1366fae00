/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of code for the profile: modules, functions, sources, inlined calls, each put once, when it
 * is first asked for. */
#ifndef LOCI_ANALYSE_NAMING_H
#define LOCI_ANALYSE_NAMING_H

#include "analyse/ledger.h"
#include "profile/dimension.h"

/* What an address in a module is. */
struct loci_code_place {
	int64_t function_id; /* the one that has its own frame; 0: unknown */
	int64_t inlined_id, source_id;
	unsigned line, column;
	const char *file; /* the symbols' */
	char *key;        /* function, line in it, inlined calls: the same after a rebuild */
};

struct loci_naming {
	struct loci_profile *profile;
	struct loci_ledger *ledger;
	int64_t *module_id; /* by the symbols' number */
	struct loci_code_place *place;
	size_t n_places, place_cap;
	struct loci_keymap place_ids;
	struct loci_keymap source_ids, function_ids, inlined_ids, excerpt_ids;
	struct loci_keymap entry_ids; /* functions by where they begin */
	size_t n_sources, n_functions, n_inlined, n_excerpts;
};

/* Modules are put in the order of their names. */
int loci_naming_init(struct loci_naming *naming, struct loci_profile *profile,
	struct loci_ledger *ledger, struct loci_err *err);
void loci_naming_fini(struct loci_naming *naming);
int64_t loci_naming_module(const struct loci_naming *naming, uint32_t module); /* 0: none */
/* *ret is good until the next call. */
int loci_naming_place(struct loci_naming *naming, uint32_t module, uint64_t offset,
	const struct loci_code_place **ret, struct loci_err *err);
/* The place of a call: code that was not seen itself is a mere caller to the symbols. */
int loci_naming_call(struct loci_naming *naming, const struct loci_site *call,
	const struct loci_code_place **ret, struct loci_err *err);
/* The function that begins there; one without symbol is named by its module and offset. */
int loci_naming_entry(struct loci_naming *naming, const struct loci_site *entry,
	int64_t *ret_function, struct loci_err *err);
int loci_naming_source(
	struct loci_naming *naming, const char *path, int64_t *ret, struct loci_err *err);
/* The lines around a place, as they stand on disk. */
int loci_naming_excerpt(
	struct loci_naming *naming, const struct loci_code_place *place, struct loci_err *err);

#endif
