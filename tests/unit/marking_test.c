// SPDX-License-Identifier: GPL-2.0-or-later
/* What marks become in the stream: random ones, right and wrong, against a plain model. Regions
 * that are told are well nested whatever the program does, names are defined once, and a child is
 * told what holds. */
#include "check.h"

#include "collect/runtime/marking.h"

#include <stdlib.h>
#include <string.h>

#define NAMES   300
#define OBJECTS 500
#define MANY    2000 /* strings: more are not compared with each other */

/* What the collector has been told. */
static struct {
	char *string[100000]; /* by id */
	uint64_t times[100000];
	size_t n_strings;
	uint64_t sequence, n_blocks, n_defined;
	uint64_t open[1000]; /* regions, string ids */
	size_t depth;
	struct {
		uint64_t bytes, element_bytes, name;
	} object[OBJECTS + 1]; /* by base / 1000 */
	uint64_t parts, ends, mistakes, phase, paused;
	bool locked;
} told;

/* Given for ever: here, until the program ends. */
static void *given[1000];
static size_t n_given;

static void *memory(size_t bytes)
{
	return given[n_given++] = calloc(1, bytes);
}

static void lock(void)
{
	CHECK(!told.locked);
	told.locked = true;
}

static void unlock(void)
{
	CHECK(told.locked);
	told.locked = false;
}

static uint64_t string(const char *text)
{
	CHECK(told.locked);
	for (size_t i = 1; i <= told.n_strings && told.n_strings < MANY; i++)
		if (!strcmp(told.string[i], text))
			CHECK_FAIL("\"%s\" is defined twice", text);
	told.string[++told.n_strings] = strdup(text);
	return told.n_strings;
}

static uint64_t sequence(void)
{
	return ++told.sequence;
}

static uint64_t block(uint64_t site, uint64_t descriptor, uint64_t id)
{
	(void)site;
	(void)descriptor;
	CHECK(told.locked);
	told.n_defined++;
	return id ? id : ++told.n_blocks;
}

static void mark(
	void *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw, const uint64_t *raw)
{
	(void)thread;
	(void)n_raw;
	CHECK(!told.locked);
	switch (kind) {
	case LOCI_MARK_REGION_BEGIN:
		told.open[told.depth++] = payload;
		break;
	case LOCI_MARK_REGION_END:
		CHECK(told.depth && told.open[told.depth - 1] == payload);
		told.depth -= told.depth > 0;
		break;
	case LOCI_MARK_OBJECT:
		told.object[raw[0] / 1000].bytes = payload;
		told.object[raw[0] / 1000].name = raw[2];
		told.object[raw[0] / 1000].element_bytes = raw[3];
		break;
	case LOCI_MARK_OBJECT_PART:
		CHECK(raw[1] - raw[0] + payload <= told.object[raw[0] / 1000].bytes);
		told.parts++;
		break;
	case LOCI_MARK_OBJECT_END:
		CHECK(told.object[raw[0] / 1000].bytes != 0);
		told.object[raw[0] / 1000].bytes = 0;
		told.ends++;
		break;
	case LOCI_MARK_PHASE:
		told.phase = payload;
		break;
	case LOCI_MARK_PAUSE:
		CHECK(told.paused != payload);
		told.paused = payload;
		break;
	case LOCI_MARK_MISTAKE:
		CHECK_U64(raw[0], ++told.times[payload]);
		told.mistakes++;
		break;
	default:
		CHECK_FAIL("marker %d", (int)kind);
	}
}

static const struct loci_marking_ops ops = { .memory = memory,
	.lock = lock,
	.unlock = unlock,
	.string = string,
	.sequence = sequence,
	.mark = mark,
	.block = block };

static void forget(void)
{
	for (size_t i = 1; i <= told.n_strings; i++)
		free(told.string[i]);
	memset(&told, 0, sizeof(told));
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static const char *name_of(uint64_t i, char buf[16])
{
	snprintf(buf, 16, "name %d", (int)i);
	return buf;
}

/* Regions: ends of any name, open or not. */
static void check_regions(uint64_t seed)
{
	struct loci_marking marking = { .ops = &ops };
	struct loci_marking_thread thread = { 0 };
	uint64_t random = seed, open[LOCI_MARKING_DEPTH], depth = 0, mistakes = 0;
	char buf[16];

	forget();
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t name = next_random(&random) % (next_random(&random) % 2 ? 3 : NAMES);
		size_t at = depth;

		if (next_random(&random) % 2 && depth < LOCI_MARKING_DEPTH) {
			open[depth++] = name;
			name_of(name, buf); /* of so many bytes: no NUL is needed */
			loci_marking_region_begin(&marking, &thread, NULL, buf, strlen(buf));
		} else {
			while (at && open[at - 1] != name)
				at--;
			mistakes += at ? depth - at : 1;
			depth = at ? at - 1 : depth;
			loci_marking_region_end(
				&marking, &thread, NULL, name_of(name, buf), SIZE_MAX);
		}
		CHECK_U64(told.depth, depth);
		if (depth)
			CHECK_STR(told.string[told.open[depth - 1]], name_of(open[depth - 1], buf));
		CHECK_U64(told.mistakes, mistakes);
	}
	loci_marking_leave(&marking, &thread, NULL);
	CHECK_U64(told.depth, 0);
	CHECK_U64(told.mistakes, mistakes + depth);
}

static void check_objects(uint64_t seed)
{
	struct loci_marking marking = { .ops = &ops };
	struct loci_marking_thread thread = { 0 };
	uint64_t random = seed, bytes[OBJECTS + 1] = { 0 }, mistakes = 0, parts = 0, ends = 0;
	char buf[16];

	forget();
	for (unsigned i = 0; i < 30000; i++) {
		uint64_t at = 1 + next_random(&random) % OBJECTS, size = next_random(&random) % 200;
		uint64_t offset = next_random(&random) % 200, length = next_random(&random) % 100;

		switch (next_random(&random) % 3) {
		case 0:
			loci_marking_object(
				&marking, NULL, name_of(at % 7, buf), SIZE_MAX, 1000 * at, size, 8);
			if (size)
				bytes[at] = size;
			mistakes += !size;
			break;
		case 1:
			loci_marking_object_part(&marking, NULL, "part", SIZE_MAX, 1000 * at,
				1000 * at + offset, length);
			if (offset < bytes[at] && length <= bytes[at] - offset)
				parts++;
			else
				mistakes++;
			break;
		default:
			loci_marking_object_end(&marking, NULL, 1000 * at);
			ends += bytes[at] != 0;
			mistakes += bytes[at] == 0;
			bytes[at] = 0;
		}
		CHECK_U64(told.object[at].bytes, bytes[at]);
	}
	CHECK_U64(told.parts, parts);
	CHECK_U64(told.ends, ends);
	CHECK_U64(told.mistakes, mistakes);
	/* a child */
	loci_marking_phase(&marking, NULL, "phase", SIZE_MAX);
	loci_marking_disable(&marking, NULL);
	loci_marking_disable(&marking, NULL);
	loci_marking_region_begin(&marking, &thread, NULL, "one", SIZE_MAX);
	loci_marking_region_begin(&marking, &thread, NULL, "two", 3);
	forget();
	loci_marking_again(&marking, &thread, NULL);
	for (unsigned i = 1; i <= OBJECTS; i++) {
		CHECK_U64(told.object[i].bytes, bytes[i]);
		if (bytes[i])
			CHECK_STR(told.string[told.object[i].name], name_of(i % 7, buf));
	}
	CHECK_STR(told.string[told.phase], "phase");
	CHECK_U64(told.paused, 1);
	CHECK_U64(told.depth, 2);
	CHECK_STR(told.string[told.open[1]], "two");
	loci_marking_enable(&marking, NULL);
	CHECK_U64(told.paused, 1);
	loci_marking_enable(&marking, NULL);
	CHECK_U64(told.paused, 0);
	loci_marking_enable(&marking, NULL);
	loci_marking_object_end(&marking, NULL, 1); /* as the parent did, who has told it */
	CHECK_U64(told.mistakes, 2);
}

static void check_blocks(void)
{
	struct loci_marking marking = { .ops = &ops };
	struct loci_marking_thread thread = { 0 };
	uint64_t id[2000];

	forget();
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t site = 0x1000 + i / 4, descriptor = loci_marking_descriptor(i % 4, i % 2);

		CHECK_U64(loci_marking_block_known(&marking, site, descriptor), 0);
		id[i] = loci_marking_block(&marking, site, descriptor);
	}
	for (unsigned i = 0; i < 2000; i++)
		CHECK_U64(loci_marking_block_known(
				  &marking, 0x1000 + i / 4, loci_marking_descriptor(i % 4, i % 2)),
			id[i]);
	CHECK_U64(told.n_defined, 2000);
	CHECK_U64(loci_marking_descriptor(64, false), loci_ref_word(64, LOCI_OP_LOAD, 0));
	CHECK_U64(loci_marking_descriptor(65, true), loci_ref_word(0, LOCI_OP_STORE, 0));
	loci_marking_again(&marking, &thread, NULL);
	CHECK_U64(told.n_defined, 4000);
	loci_marking_too_long(&marking, NULL);
	CHECK_U64(told.mistakes, 1);
}

/* A character of `bytes` bytes, again and again after `before` others: whole ones are left. */
static void check_cut(size_t before, size_t bytes)
{
	static const char *const character[] = { "", "x", "\xc3\xa9", "\xe2\x82\xac",
		"\xf0\x9f\x90\x8c" };
	struct loci_marking marking = { .ops = &ops };
	char name[600] = "xxx";
	size_t n = before;

	for (; n + bytes < sizeof(name); n += bytes)
		memcpy(name + n, character[bytes], bytes + 1);
	forget();
	loci_marking_phase(&marking, NULL, name, SIZE_MAX);
	CHECK_U64(strlen(told.string[1]), 255 - (255 - before) % bytes);
}

/* Too many names have one in common, and long ones are cut. */
static void check_names(void)
{
	struct loci_marking marking = { .ops = &ops };
	struct loci_marking_thread thread = { 0 };
	char buf[16], name[1000];

	forget();
	memset(name, 'x', sizeof(name));
	loci_marking_region_begin(&marking, &thread, NULL, name, sizeof(name));
	CHECK_U64(strlen(told.string[1]), 255);
	loci_marking_region_end(&marking, &thread, NULL, name, 256);
	loci_marking_region_begin(&marking, &thread, NULL, NULL, SIZE_MAX);
	CHECK_STR(told.string[2], "?");
	loci_marking_region_end(&marking, &thread, NULL, NULL, SIZE_MAX);
	CHECK_U64(told.mistakes, 0);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 40000; i++)
			loci_marking_phase(&marking, NULL, name_of(i, buf), SIZE_MAX);
		CHECK_U64(told.n_strings, 32768 + 1);
		CHECK_STR(told.string[told.phase], "(too many names)");
	}
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		check_regions(seed);
		check_objects(seed);
	}
	check_blocks();
	check_names();
	for (size_t before = 0; before < 4; before++)
		for (size_t bytes = 1; bytes <= 4; bytes++)
			check_cut(before, bytes);
	forget();
	while (n_given)
		free(given[--n_given]);
	return check_status();
}
