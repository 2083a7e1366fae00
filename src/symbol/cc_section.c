// SPDX-License-Identifier: GPL-2.0-or-later
/* See cc_section.h. Everything is checked when the section is read, but for texts, which are
 * checked when they are asked for. What holds afterwards: numbers of sites, scopes and loops lie in
 * their tables; blocks have their sites in ascending order and none twice; parents stand before
 * their children, so that following them ends. */
#include "symbol/cc_section.h"

#include "symbol/cc_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 8

static const struct loci_cc_part *part_at(const struct loci_cc_section *section, uint64_t address)
{
	for (size_t i = 0; i < section->n_parts; i++)
		if (address >= section->parts[i].low &&
			address - section->parts[i].low < section->parts[i].n)
			return &section->parts[i];
	return NULL;
}

static size_t tables_bytes(const struct loci_cc_definition *header, size_t upto)
{
	const size_t rows[] = { header->n_blocks, header->n_sites, header->n_scopes,
		header->n_loops, header->n_calls };
	const size_t bytes[] = { sizeof(struct loci_cc_block), sizeof(struct loci_cc_site),
		sizeof(struct loci_cc_scope), sizeof(struct loci_cc_loop),
		sizeof(struct loci_cc_call) };
	size_t sum = sizeof(*header);

	for (size_t i = 0; i < upto; i++)
		sum += rows[i] * bytes[i]; /* 32 bits times little: no overflow in 64 */
	return sum;
}

enum { BLOCKS, SITES, SCOPES, LOOPS, CALLS, TABLES };

static const uint8_t *row_at(
	const struct loci_cc_known *known, unsigned table, uint32_t index, size_t bytes)
{
	return known->bytes + tables_bytes(&known->header, table) + index * bytes;
}

struct loci_cc_block loci_cc_block(const struct loci_cc_known *known, uint32_t index)
{
	struct loci_cc_block row;

	memcpy(&row, row_at(known, BLOCKS, index, sizeof(row)), sizeof(row));
	return row;
}

struct loci_cc_site loci_cc_site(const struct loci_cc_known *known, uint32_t index)
{
	struct loci_cc_site row;

	memcpy(&row, row_at(known, SITES, index, sizeof(row)), sizeof(row));
	return row;
}

struct loci_cc_scope loci_cc_scope(const struct loci_cc_known *known, uint32_t index)
{
	struct loci_cc_scope row;

	memcpy(&row, row_at(known, SCOPES, index, sizeof(row)), sizeof(row));
	return row;
}

struct loci_cc_loop loci_cc_loop(const struct loci_cc_known *known, uint32_t index)
{
	struct loci_cc_loop row;

	memcpy(&row, row_at(known, LOOPS, index, sizeof(row)), sizeof(row));
	return row;
}

static bool blocks_sound(const struct loci_cc_known *known)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < known->header.n_blocks; i++) {
		struct loci_cc_block block = loci_cc_block(known, i);

		if (block.first_site < end ||
			(uint64_t)block.first_site + block.n_sites > known->header.n_sites ||
			(block.loop != LOCI_CC_NONE && block.loop >= known->header.n_loops))
			return false;
		end = (uint64_t)block.first_site + block.n_sites;
	}
	return true;
}

static bool rest_sound(const struct loci_cc_known *known)
{
	const struct loci_cc_definition *header = &known->header;

	for (uint32_t i = 0; i < header->n_sites; i++)
		if (loci_cc_site(known, i).scope >= header->n_scopes)
			return false;
	for (uint32_t i = 0; i < header->n_scopes; i++) {
		uint16_t parent = loci_cc_scope(known, i).parent;

		if (parent != UINT16_MAX && parent >= i)
			return false;
	}
	for (uint32_t i = 0; i < header->n_loops; i++) {
		struct loci_cc_loop loop = loci_cc_loop(known, i);

		if (loop.scope >= header->n_scopes ||
			(loop.parent != LOCI_CC_NONE && loop.parent >= i))
			return false;
	}
	return true;
}

/* The definition at an address that has so many bytes behind it. */
static bool accept(
	struct loci_cc_known *known, uint64_t address, const uint8_t *bytes, uint64_t room)
{
	struct loci_cc_definition *header = &known->header;

	memcpy(header, bytes, sizeof(*header));
	if (!loci_cc_is_known(header->version) || header->bytes > room || !header->n_scopes ||
		header->bytes != tables_bytes(header, TABLES) + loci_cc_ops_bytes(header))
		return false;
	known->bytes = bytes;
	known->low = address;
	known->high = address + header->bytes;
	known->ops = bytes + tables_bytes(header, TABLES);
	known->sites = address + tables_bytes(header, SITES);
	known->loops = address + tables_bytes(header, LOOPS);
	known->code = address + offsetof(struct loci_cc_definition, code) +
		(uint64_t)(int64_t)header->code;
	return blocks_sound(known) && rest_sound(known) && loci_cc_ops_sound(known);
}

static bool append(struct loci_cc_section *section, const struct loci_cc_known *item, size_t *cap)
{
	if (section->n_known == *cap) {
		size_t more = *cap ? *cap * 2 : 64;
		void *known = realloc(section->known, more * sizeof(*section->known));

		if (!known)
			return false;
		section->known = known;
		*cap = more;
	}
	section->known[section->n_known++] = *item;
	return true;
}

/* A damaged definition does not say where the next one is: whatever looks like one is tried. */
static int read_all(struct loci_cc_section *section, const uint8_t *bytes, uint64_t n)
{
	uint64_t at = (ALIGNMENT - section->low % ALIGNMENT) % ALIGNMENT;
	bool lost = false; /* in what has been counted as damaged */
	size_t cap = 0;

	while (at + sizeof(struct loci_cc_definition) <= n) {
		struct loci_cc_known known;
		uint32_t magic;

		memcpy(&magic, bytes + at, sizeof(magic));
		if (magic == LOCI_CC_DEFINITION_MAGIC &&
			accept(&known, section->low + at, bytes + at, n - at)) {
			if (!append(section, &known, &cap))
				return -ENOMEM;
			lost = false;
			at += (known.high - known.low + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
			continue;
		}
		if (magic == LOCI_CC_DEFINITION_MAGIC || (magic && !lost)) {
			section->n_damaged++;
			lost = true;
		}
		at += ALIGNMENT;
	}
	return 0;
}

int loci_cc_section_read(struct loci_cc_section *section, const struct loci_cc_part *parts,
	size_t n_parts, uint64_t low, uint64_t high)
{
	const struct loci_cc_part *part;

	memset(section, 0, sizeof(*section));
	section->parts = calloc(n_parts ? n_parts : 1, sizeof(*parts));
	if (!section->parts)
		return -ENOMEM;
	if (n_parts)
		memcpy(section->parts, parts, n_parts * sizeof(*parts));
	section->n_parts = n_parts;
	part = part_at(section, low);
	if (!part || high <= low || high - low > part->n - (low - part->low)) {
		section->n_damaged = high > low;
		return 0;
	}
	section->low = low;
	section->high = high;
	return read_all(section, part->bytes + (low - part->low), high - low);
}

void loci_cc_section_fini(struct loci_cc_section *section)
{
	free(section->parts);
	free(section->known);
	memset(section, 0, sizeof(*section));
}

const struct loci_cc_known *loci_cc_find(const struct loci_cc_section *section, uint64_t address)
{
	size_t low = 0, high = section->n_known;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (section->known[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < section->n_known && section->known[low].low <= address ? &section->known[low]
									    : NULL;
}

bool loci_cc_site_at(const struct loci_cc_known *known, uint64_t address, uint32_t *ret_index)
{
	if (address < known->sites ||
		(address - known->sites) / sizeof(struct loci_cc_site) >= known->header.n_sites)
		return false;
	*ret_index = (uint32_t)((address - known->sites) / sizeof(struct loci_cc_site));
	return true;
}

bool loci_cc_loop_at(const struct loci_cc_known *known, uint64_t address, uint32_t *ret_index)
{
	if (address < known->loops || (address - known->loops) % sizeof(struct loci_cc_loop) ||
		(address - known->loops) / sizeof(struct loci_cc_loop) >= known->header.n_loops)
		return false;
	*ret_index = (uint32_t)((address - known->loops) / sizeof(struct loci_cc_loop));
	return true;
}

uint32_t loci_cc_block_of(const struct loci_cc_known *known, uint32_t site)
{
	uint32_t low = 0, high = known->header.n_blocks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct loci_cc_block block = loci_cc_block(known, middle);

		if ((uint64_t)block.first_site + block.n_sites <= site)
			low = middle + 1;
		else
			high = middle;
	}
	return low < known->header.n_blocks && loci_cc_block(known, low).first_site <= site
		? low
		: LOCI_CC_NONE;
}

const char *loci_cc_text_at(
	const struct loci_cc_section *section, const struct loci_cc_known *known, size_t field)
{
	const struct loci_cc_part *part;
	uint64_t address;
	int32_t distance;

	memcpy(&distance, known->bytes + field, sizeof(distance));
	if (!distance)
		return NULL;
	address = known->low + field + (uint64_t)(int64_t)distance;
	part = part_at(section, address);
	if (!part ||
		!memchr(part->bytes + (address - part->low), '\0', part->n - (address - part->low)))
		return NULL;
	return (const char *)part->bytes + (address - part->low);
}

const char *loci_cc_name(const struct loci_cc_section *section, const struct loci_cc_known *known)
{
	return loci_cc_text_at(section, known, offsetof(struct loci_cc_definition, name));
}

const char *loci_cc_variable(
	const struct loci_cc_section *section, const struct loci_cc_known *known, uint32_t site)
{
	return loci_cc_text_at(section, known,
		tables_bytes(&known->header, SITES) + site * sizeof(struct loci_cc_site) +
			offsetof(struct loci_cc_site, variable));
}

const char *loci_cc_scope_text(const struct loci_cc_section *section,
	const struct loci_cc_known *known, uint32_t scope, enum loci_cc_scope_text which)
{
	static const size_t field[] = { offsetof(struct loci_cc_scope, name),
		offsetof(struct loci_cc_scope, linkage), offsetof(struct loci_cc_scope, file) };

	return loci_cc_text_at(section, known,
		tables_bytes(&known->header, SCOPES) + scope * sizeof(struct loci_cc_scope) +
			field[which]);
}
