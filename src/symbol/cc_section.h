/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the section of definitions that code compiled by `loci cc` carries
 * (collect/runtime/cc_abi.h). It is foreign input: a definition of which any count, number or
 * distance leads outside is left out, and a text that does is none. */
#ifndef LOCI_SYMBOL_CC_SECTION_H
#define LOCI_SYMBOL_CC_SECTION_H

#include "collect/runtime/cc_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the file as they are loaded. */
struct loci_cc_part {
	uint64_t low;
	const uint8_t *bytes;
	uint64_t n;
};

/* One definition, checked. Its tables may be read without further checks; they are aligned to
 * nothing. */
struct loci_cc_known {
	uint64_t low, high; /* its addresses */
	uint64_t sites;     /* address of its first site */
	uint64_t loops;     /* of its first loop */
	uint64_t code;      /* the function's first instruction */
	const uint8_t *bytes;
	const uint8_t *ops; /* the tables of operations, if there are any: see cc_ops.h */
	struct loci_cc_definition header;
};

struct loci_cc_section {
	struct loci_cc_part *parts;
	size_t n_parts;
	uint64_t low, high;          /* 0, 0: there is none */
	struct loci_cc_known *known; /* ascending */
	size_t n_known;
	size_t n_damaged; /* definitions left out; of another version too */
};

/* The section at [low, high), which is part of one of the parts; the bytes stay the caller's, the
 * list of parts is copied. 0 or -ENOMEM. */
int loci_cc_section_read(struct loci_cc_section *section, const struct loci_cc_part *parts,
	size_t n_parts, uint64_t low, uint64_t high);
void loci_cc_section_fini(struct loci_cc_section *section);

/* The definition that an address is part of; NULL: none. */
const struct loci_cc_known *loci_cc_find(const struct loci_cc_section *section, uint64_t address);
/* The site at an address within it, from its first byte to its last. */
bool loci_cc_site_at(const struct loci_cc_known *known, uint64_t address, uint32_t *ret_index);
bool loci_cc_loop_at(const struct loci_cc_known *known, uint64_t address, uint32_t *ret_index);

struct loci_cc_site loci_cc_site(const struct loci_cc_known *known, uint32_t index);
struct loci_cc_block loci_cc_block(const struct loci_cc_known *known, uint32_t index);
struct loci_cc_scope loci_cc_scope(const struct loci_cc_known *known, uint32_t index);
struct loci_cc_loop loci_cc_loop(const struct loci_cc_known *known, uint32_t index);
/* The block that a site is part of; LOCI_CC_NONE: none. */
uint32_t loci_cc_block_of(const struct loci_cc_known *known, uint32_t site);

/* The text that a field gives; NULL: none. Lives as long as the bytes. The first: of a field that
 * stands so far into a definition. */
const char *loci_cc_text_at(
	const struct loci_cc_section *section, const struct loci_cc_known *known, size_t field);
const char *loci_cc_name(const struct loci_cc_section *section, const struct loci_cc_known *known);
const char *loci_cc_variable(
	const struct loci_cc_section *section, const struct loci_cc_known *known, uint32_t site);
enum loci_cc_scope_text { LOCI_CC_SCOPE_NAME, LOCI_CC_SCOPE_LINKAGE, LOCI_CC_SCOPE_FILE };
const char *loci_cc_scope_text(const struct loci_cc_section *section,
	const struct loci_cc_known *known, uint32_t scope, enum loci_cc_scope_text which);

#endif
