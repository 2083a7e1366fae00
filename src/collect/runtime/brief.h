/* SPDX-License-Identifier: BSD-2-Clause */
/* Definitions in brief: what following samples takes of them. They stand far apart in the file
 * (names, lines and scopes are between), so that bursts would keep all their pages in memory. When
 * a function becomes known its blocks and sites are copied to where they take a tenth of the room,
 * and the pages of the program that were read for it are given back, as far as they are as in the
 * file. */
#ifndef LOCI_COLLECT_RUNTIME_BRIEF_H
#define LOCI_COLLECT_RUNTIME_BRIEF_H

#include "collect/runtime/cc_abi.h"

struct rt_brief_block {
	uint32_t first_site;
	uint16_t n_sites;
	uint8_t flags;
	uint8_t reserved;
};
struct rt_brief {
	const uint8_t *site; /* of each its kind */
	struct rt_brief_block block[];
};

/* A function that has been given its ids. */
struct rt_known {
	struct loci_cc_function *function;
	const struct loci_cc_definition *definition; /* of a version that is known .. */
	const struct rt_brief *brief;                /* .. and in brief; NULL: not */
	uint64_t first;                              /* id of its first block */
	uint32_t n_blocks;
};

/* Lock held, as for the others. NULL: there is no room, or nobody is to need it. */
const struct rt_brief *rt_brief_of(const struct loci_cc_definition *definition);
#define RT_BRIEF_KINDS 255
#define RT_BRIEF_OTHER 255 /* the site itself is to be looked at */
extern struct loci_cc_site rt_brief_kind[RT_BRIEF_KINDS] __attribute__((visibility("hidden")));
/* Of the site of that number its first fields, up to flags; brief may be NULL. */
static inline const struct loci_cc_site *rt_brief_site(
	const struct rt_brief *brief, const struct loci_cc_site *sites, uint32_t number)
{
	uint8_t kind = brief ? brief->site[number] : RT_BRIEF_OTHER;

	return kind == RT_BRIEF_OTHER ? sites + number : &rt_brief_kind[kind];
}
/* Pages that were read for briefs since the last time. */
void rt_brief_give_back(void);

#endif
