// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of definitions on a section made by hand, whole and damaged. */
#include "cc_image.h"
#include "check.h"

#include <errno.h>

static struct cc_image image;

/* The bytes in memory of their own size: what is read too far shows. */
static struct loci_cc_part parts[2];

static void open_image(struct loci_cc_section *section)
{
	parts[0] = (struct loci_cc_part){ CC_IMAGE_LOW, malloc(image.n_section), image.n_section };
	parts[1] = (struct loci_cc_part){ CC_IMAGE_TEXTS, malloc(image.n_texts), image.n_texts };
	memcpy((void *)parts[0].bytes, image.section, image.n_section);
	memcpy((void *)parts[1].bytes, image.texts, image.n_texts);
	CHECK(loci_cc_section_read(
		      section, parts, 2, CC_IMAGE_LOW, CC_IMAGE_LOW + image.n_section) == 0);
}

static void close_image(struct loci_cc_section *section)
{
	loci_cc_section_fini(section);
	free((void *)parts[0].bytes);
	free((void *)parts[1].bytes);
}

static void check_whole(void)
{
	struct loci_cc_section section;
	const struct loci_cc_known *known;
	uint32_t index = 0;

	cc_image_make(&image);
	open_image(&section);
	CHECK_U64(section.n_known, 2);
	CHECK_U64(section.n_damaged, 0);
	CHECK(cc_image_ask(&section) > 40);
	known = &section.known[0];
	CHECK_STR(loci_cc_name(&section, known), "_Z5outeri");
	CHECK_U64(known->code, CC_IMAGE_LOW + 32 - 0x1000);
	CHECK_U64(known->sites, CC_IMAGE_LOW + 64 + 3 * 16);
	CHECK_U64(known->loops, known->sites + 5 * 24 + 3 * 24);
	CHECK(loci_cc_find(&section, known->sites + 24 * 4) == known);
	CHECK(loci_cc_site_at(known, known->sites + 24 * 4 + 5, &index) && index == 4);
	CHECK(!loci_cc_site_at(known, known->sites + 24 * 5, &index));
	CHECK(!loci_cc_site_at(known, known->sites - 1, &index));
	CHECK_U64(loci_cc_block_of(known, 0), 0);
	CHECK_U64(loci_cc_block_of(known, 1), 1);
	CHECK_U64(loci_cc_block_of(known, 4), 2);
	CHECK_U64(loci_cc_site(known, 3).line, 13);
	CHECK_STR(loci_cc_variable(&section, known, 3), "node->next");
	CHECK(!loci_cc_variable(&section, known, 2));
	CHECK_STR(loci_cc_scope_text(&section, known, 1, LOCI_CC_SCOPE_LINKAGE), "_Z6middlev");
	CHECK_STR(loci_cc_scope_text(&section, known, 2, LOCI_CC_SCOPE_FILE), "/b.h");
	CHECK_U64(loci_cc_loop(known, 1).line, 12);
	CHECK(!loci_cc_loop_at(known, known->loops + 8, &index));
	CHECK(!loci_cc_loop_at(known, known->loops + 32, &index));
	/* The gap between them, before and behind. */
	CHECK(!loci_cc_find(&section, known->high) && !loci_cc_find(&section, known->low - 1));
	CHECK(!loci_cc_find(&section, section.known[1].high));
	CHECK_STR(loci_cc_name(&section, &section.known[1]), "small");
	close_image(&section);
}

static void check_ops(void)
{
	struct loci_cc_section section;
	const struct loci_cc_known *known;
	struct loci_cc_op op;
	uint32_t first;

	cc_image_make(&image);
	open_image(&section);
	known = &section.known[0];
	CHECK(loci_cc_has_ops(known) && !loci_cc_has_ops(&section.known[1]));
	CHECK_U64(loci_cc_invocations(&section.known[1], 0, &first), 0);
	CHECK_U64(loci_cc_block_ops(known, 0).line, 9);
	CHECK_U64(loci_cc_block_ops(known, 1).n_ops, 0);
	CHECK_U64(loci_cc_block_ops(known, 2).scope, 2);
	op = loci_cc_op(known, loci_cc_block_ops(known, 2).first_op);
	CHECK_STR(loci_cc_op_kind_text(op.kind), "float mul");
	CHECK_STR(loci_cc_type_text(op.type), "f32");
	CHECK(op.lanes == 4 && op.count == 1 && op.bits == 384);
	CHECK_U64(loci_cc_invocations(known, 0, &first), 1);
	CHECK_U64(first, 0);
	CHECK_U64(loci_cc_invocations(known, 1, &first), 0);
	CHECK_U64(loci_cc_invocations(known, 2, &first), 2);
	CHECK_U64(first, 1);
	CHECK_U64(loci_cc_invocation(known, 2).count, 2);
	CHECK_STR(loci_cc_invocation_callee(&section, known, 1), "exit");
	CHECK_STR(loci_cc_invocation_callee(&section, known, 2), "_Z6middlev");
	CHECK_STR(loci_cc_op_kind_text(LOCI_CC_OP_OTHER), "other");
	CHECK_STR(loci_cc_type_text(LOCI_CC_TYPE_OTHER), "other");
	CHECK(!loci_cc_op_kind_text(0) && !loci_cc_op_kind_text(LOCI_CC_OP_OTHER + 1));
	CHECK(!loci_cc_type_text(0) && !loci_cc_type_text(LOCI_CC_TYPE_OTHER + 1));
	close_image(&section);
}

/* One field of the first definition is wrong: it is left out, and the second is not. */
static void check_refused(const char *what, size_t at, uint32_t value, size_t bytes)
{
	struct loci_cc_section section;

	cc_image_make(&image);
	memcpy(image.section + at, &value, bytes);
	open_image(&section);
	if (section.n_known != 1 || section.n_damaged != 1 ||
		strcmp(loci_cc_name(&section, &section.known[0]), "small") != 0)
		CHECK_FAIL("%s: %zu definitions, %zu damaged", what, section.n_known,
			section.n_damaged);
	cc_image_ask(&section);
	close_image(&section);
}

#define HEADER(field) offsetof(struct loci_cc_definition, field)

static void check_fields(void)
{
	size_t blocks = 64, sites = blocks + 3 * 16, scopes = sites + 5 * 24,
	       loops = scopes + 3 * 24, ops = loops + 2 * 16 + 8;

	check_refused("magic", 0, 0x12345678, 4);
	check_refused("version", HEADER(version), LOCI_CC_VERSION + 1, 2);
	check_refused("bytes, too few", HEADER(bytes), 64, 4);
	check_refused("bytes, beyond the end", HEADER(bytes), 1 << 20, 4);
	check_refused("blocks", HEADER(n_blocks), UINT32_MAX, 4);
	check_refused("sites", HEADER(n_sites), 6, 4);
	check_refused("sites, many", HEADER(n_sites), UINT32_MAX, 4);
	check_refused("no scopes", HEADER(n_scopes), 0, 4);
	check_refused("loops", HEADER(n_loops), 0x10000000, 4);
	check_refused("calls", HEADER(n_calls), UINT32_MAX, 4);
	check_refused("a block that begins in another", blocks + 16, 0, 4);
	check_refused("a block beyond the sites", blocks + 2 * 16, 3, 4);
	check_refused("a block's number of sites", blocks + 2 * 16 + 4, UINT16_MAX, 2);
	check_refused("a block's loop", blocks + 16 + 8, 2, 4);
	check_refused("a site's scope", sites + 14, 3, 2);
	check_refused("a scope that is its own parent", scopes + 24 + 22, 1, 2);
	check_refused("a scope whose parent comes later", scopes + 22, 2, 2);
	check_refused("a loop's scope", loops + 6, 3, 2);
	check_refused("a loop that is its own parent", loops + 16 + 8, 1, 4);
	check_refused("a loop whose parent is not there", loops + 8, 7, 4);
	check_refused("no operations", HEADER(n_ops), 0, 4);
	check_refused("operations", HEADER(n_ops), UINT32_MAX, 4);
	check_refused("invocations", HEADER(n_invocations), UINT32_MAX, 4);
	check_refused("terms", HEADER(n_terms), UINT32_MAX, 4);
	check_refused("counters", HEADER(n_counters), 1, 4);
	check_refused("operations that begin in another block's", ops + 2 * 16, 1, 4);
	check_refused("a block's number of operations", ops + 2 * 16 + 4, 3, 4);
	check_refused("the scope of a block's operations", ops + 14, 3, 2);
	check_refused("an invocation of no block", ops + 9 * 16, 3, 4);
	check_refused("an invocation of a block before", ops + 9 * 16, 1, 4);
	check_refused("a term of no block", ops + 10 * 16 + 3 * 8, 3, 4);
	check_refused("a term of a block before", ops + 10 * 16, 2, 4);
	check_refused("a term of no counter", ops + 10 * 16 + 4, 2, 4);
}

/* A text that leads nowhere is none; the rest holds. */
static void check_text(const char *what, int32_t distance)
{
	struct loci_cc_section section;

	cc_image_make(&image);
	memcpy(image.section + HEADER(name), &distance, sizeof(distance));
	open_image(&section);
	CHECK_U64(section.n_known, 2);
	if (loci_cc_name(&section, &section.known[0]))
		CHECK_FAIL("%s: a text", what);
	close_image(&section);
}

static void check_texts(void)
{
	int32_t to_texts = (int32_t)(CC_IMAGE_TEXTS - (CC_IMAGE_LOW + HEADER(name)));

	check_text("none", 0);
	check_text("before all", -0x1800);
	check_text("far", INT32_MAX);
	check_text("far before", INT32_MIN);
	cc_image_make(&image);
	check_text("behind the last", to_texts + (int32_t)image.n_texts);
	/* The last text loses its end. */
	cc_image_make(&image);
	size_t last = image.n_texts - strlen("small") - 1;
	struct loci_cc_section section;

	image.n_texts--;
	open_image(&section);
	CHECK(!loci_cc_name(&section, &section.known[1]));
	CHECK(last > 0 && loci_cc_name(&section, &section.known[0]));
	close_image(&section);
}

/* Cut off anywhere, and every byte changed in a few ways: what is believed holds. */
static void check_bytes(void)
{
	static const uint8_t change[] = { 0xff, 0x80, 0x01, 0x7f };
	struct loci_cc_section section;
	struct cc_image whole;
	size_t known = 0, damaged = 0;

	cc_image_make(&whole);
	for (size_t n = 0; n <= whole.n_section; n++) {
		image = whole;
		image.n_section = n;
		open_image(&section);
		cc_image_ask(&section);
		known += section.n_known;
		close_image(&section);
	}
	CHECK(known > 0);
	known = 0;
	for (size_t at = 0; at < whole.n_section; at++)
		for (size_t k = 0; k < sizeof(change); k++) {
			image = whole;
			image.section[at] ^= change[k];
			open_image(&section);
			CHECK(section.n_known >= 1 && section.n_known <= 2);
			cc_image_ask(&section);
			known += section.n_known;
			damaged += section.n_damaged;
			close_image(&section);
		}
	CHECK(damaged > 0 && known > whole.n_section * sizeof(change));
}

/* Sections that are not in the file, or not where they say. */
static void check_places(void)
{
	struct loci_cc_section section;

	cc_image_make(&image);
	parts[0] = (struct loci_cc_part){ CC_IMAGE_LOW, image.section, image.n_section };
	CHECK(loci_cc_section_read(
		      &section, parts, 1, CC_IMAGE_LOW, CC_IMAGE_LOW + image.n_section + 1) == 0);
	CHECK(!section.n_known && section.n_damaged == 1);
	loci_cc_section_fini(&section);
	CHECK(loci_cc_section_read(&section, parts, 1, 0x100, 0x200) == 0);
	CHECK(!section.n_known && section.n_damaged == 1 && !section.high);
	loci_cc_section_fini(&section);
	CHECK(loci_cc_section_read(&section, NULL, 0, 0, 0) == 0);
	CHECK(!section.n_known && !section.n_damaged && !loci_cc_find(&section, 0));
	loci_cc_section_fini(&section);
	/* Where the section does not begin aligned, what is aligned is read. */
	CHECK(loci_cc_section_read(
		      &section, parts, 1, CC_IMAGE_LOW + 1, CC_IMAGE_LOW + image.n_section) == 0);
	CHECK_U64(section.n_known, 1);
	loci_cc_section_fini(&section);
}

int main(void)
{
	check_whole();
	check_ops();
	check_fields();
	check_texts();
	check_bytes();
	check_places();
	return check_status();
}
