// SPDX-License-Identifier: GPL-2.0-or-later
/* Looking at memory and asking later says what was said at once: the same random changes of memory
 * twice, with lookups in between, the second time told when all is over. */
#include "analyse/object_look.h"
#include "object_fake.h"

#include <sys/mman.h>

#define PROGRAM   0x555555554000ull
#define HEAP      0x555555600000ull
#define MAPPINGS  0x7ffff0000000ull
#define STACK_LOW 0x7ffffff00000ull
#define STACK_END 0x7ffffffff000ull
#define UNKNOWN   0x7fff00000000ull /* nothing is told of it */
#define PAGE      4096
#define STEPS     2000
#define NO_OFFSET UINT64_MAX

static const struct loci_type type_double = { "double" };
static const struct loci_variable globals[] = {
	{ .name = "a", .low = 0x4000, .bytes = 800, .type = &type_double, .elements = 100 },
	{ .name = "b", .low = 0x4320, .bytes = 8, .type = &type_double, .elements = 1 },
};
static const struct loci_variable locals[] = {
	{ .name = "deep", .low = -0x300000, .bytes = 0x1000 },
	{ .name = "v", .low = -0x40, .bytes = 0x20 },
	{ .name = "parameter", .low = 8, .bytes = 8 },
};
static const struct fake_function functions[] = {
	{ "f", 0, 0x1100, 0x1200, NULL, locals, LOCI_ARRAY_SIZE(locals) },
	{ "g", 0, 0x1200, 0x1300, NULL, NULL, 0 },
};

struct lookup {
	uint64_t address, frame, code;
	struct loci_object_look look;
	uint32_t object;
	uint64_t offset;
};

static uint64_t below(uint64_t *state, uint64_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % n;
}

static uint64_t stack_address(uint64_t *state)
{
	return STACK_END - PAGE - 8 * below(state, 8192);
}

static uint64_t frame_at(uint64_t *state)
{
	switch (below(state, 6)) {
	case 0:
		return 0;
	case 1:
		return HEAP + 16 * below(state, 256); /* of a coroutine */
	case 2:
		return MAPPINGS + 16 * below(state, 1024);
	case 3:
		return UNKNOWN + 0x400000;
	default:
		return stack_address(state);
	}
}

static uint64_t address_at(uint64_t *state, uint64_t frame)
{
	switch (below(state, 6)) {
	case 0:
		return HEAP + 8 * below(state, 512);
	case 1:
		return MAPPINGS + 8 * below(state, 2048);
	case 2:
		return PROGRAM + 8 * below(state, 0xa00);
	case 3:
		return frame - 0x300000 + 8 * below(state, 512);
	default:
		return (frame ? frame : UNKNOWN) + 64 - 8 * below(state, 256);
	}
}

static void change(struct bench *bench, uint64_t *state)
{
	uint64_t page = MAPPINGS + PAGE * below(state, 4);
	uint64_t at = (below(state, 4) ? HEAP : stack_address(state)) + 64 * below(state, 64);

	switch (below(state, 8)) {
	case 0:
		give_map(bench, page, PAGE, below(state, 3) ? 0 : MAP_STACK, 0x10, NULL);
		break;
	case 1:
		give_unmap(bench, page, PAGE * (1 + below(state, 2)));
		break;
	case 2:
		give_free(bench, at);
		break;
	case 3:
		give_object(bench, PROGRAM + 0x4000 + 16 * below(state, 64), 32, "part");
		break;
	case 4:
		give_object_end(bench, PROGRAM + 0x4000 + 16 * below(state, 64));
		break;
	default:
		give_alloc(bench, at, 16 + below(state, 600), 0x20 + below(state, 3));
	}
}

static struct loci_shadow shadow_of(const struct lookup *lookup, struct loci_shadow_frame *frame)
{
	*frame = (struct loci_shadow_frame){
		.address = lookup->frame, .entry = lookup->code & ~0xffull, .module = 3
	};
	return (struct loci_shadow){ .frame = frame, .n = lookup->frame > 0 };
}

/* As far as it says where in the object the address is. */
static void take(struct lookup *lookup, const struct loci_object_hit *hit)
{
	lookup->object = hit->object;
	lookup->offset = lookup->address - (hit->framed ? lookup->frame : 0) - hit->low;
	if (!hit->bytes && !lookup->offset)
		lookup->offset = NO_OFFSET;
}

static void begin(struct bench *bench)
{
	bench_init(bench);
	fake.function = functions;
	fake.n_functions = LOCI_ARRAY_SIZE(functions);
	fake.global = globals;
	fake.n_globals = LOCI_ARRAY_SIZE(globals);
	give_load(bench, 3, PROGRAM, PROGRAM, 0x5000, "/bin/prog");
	give_map(bench, STACK_LOW, STACK_END - STACK_LOW, MAP_GROWSDOWN, 0, NULL);
}

/* Names stand for objects, whose numbers differ. */
static void run(uint64_t seed, bool looks, struct lookup *lookups, char (*name)[64])
{
	struct loci_shadow_frame frame;
	struct loci_shadow shadow;
	struct loci_object_hit hit;
	struct loci_err err = { "" };
	struct bench bench;

	begin(&bench);
	for (size_t i = 0; i < STEPS; i++) {
		struct lookup *at = &lookups[i];

		change(&bench, &seed);
		*at = (struct lookup){ .frame = frame_at(&seed) };
		at->address = address_at(&seed, at->frame);
		at->code = PROGRAM + 0x1100 + 0x100 * below(&seed, 2) + below(&seed, 0x100);
		shadow = shadow_of(at, &frame);
		if (looks) { /* which asks for nothing; to register may */
			unsigned asked = fake.asked_globals + fake.asked_locals;

			CHECK(loci_objects_look(
				      bench.objects, at->address, at->frame, &at->look, &err) == 0);
			CHECK_U64(fake.asked_globals + fake.asked_locals, asked);
			continue;
		}
		CHECK(loci_objects_find(
			      bench.objects, at->address, at->code, &shadow, &hit, &err) == 0);
		take(at, &hit);
	}
	for (size_t i = 0; i < STEPS; i++) {
		struct lookup *at = &lookups[i];

		if (looks) {
			shadow = shadow_of(at, &frame);
			CHECK(loci_objects_tell(bench.objects, &at->look, at->address, at->code,
				      &shadow, &hit, &err) == 0);
			take(at, &hit);
		}
		snprintf(name[i], sizeof(name[i]), "%s %s", info(&bench, at->object).kind,
			info(&bench, at->object).name);
	}
	bench_fini(&bench);
}

static void compare(uint64_t seed)
{
	static struct lookup once[STEPS], later[STEPS];
	static char expected[STEPS][64], name[STEPS][64];
	size_t kinds[LOCI_LOOK_DEEP + 1] = { 0 };

	run(seed, false, once, expected);
	run(seed, true, later, name);
	for (size_t i = 0; i < STEPS; i++) {
		kinds[later[i].look.kind]++;
		CHECK_STR(name[i], expected[i]);
		/* A global that somebody has registered a part of is asked for every time, of which
		 * nothing is known later. */
		if (later[i].look.kind != LOCI_LOOK_GLOBAL)
			CHECK_U64(later[i].offset, once[i].offset);
	}
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(kinds); i++)
		CHECK(kinds[i] > 20);
}

static bool loses(
	struct bench *bench, enum loci_marker kind, uint64_t payload, uint64_t low, uint64_t bytes)
{
	uint64_t raw[6] = { kind == LOCI_MARK_MODULE_LOAD ? 0 : low,
		kind == LOCI_MARK_MODULE_LOAD ? low : bytes, bytes };
	struct loci_event event = { .kind = kind, .payload = payload, .raw = raw, .n_raw = 6 };

	return loci_objects_loses_module(bench->objects, &event);
}

static void lost_modules(void)
{
	struct bench bench;

	begin(&bench);
	CHECK(loses(&bench, LOCI_MARK_MODULE_UNLOAD, 3, 0, 0));
	CHECK(!loses(&bench, LOCI_MARK_MODULE_UNLOAD, 4, 0, 0));
	CHECK(loses(&bench, LOCI_MARK_MODULE_LOAD, 3, MAPPINGS, 0x1000));
	CHECK(loses(&bench, LOCI_MARK_MODULE_LOAD, 4, PROGRAM + 0x4fff, 0x1000));
	CHECK(!loses(&bench, LOCI_MARK_MODULE_LOAD, 4, PROGRAM + 0x5000, 0x1000));
	CHECK(loses(&bench, LOCI_MARK_UNMAP, 0, PROGRAM - 0x1000, 0x7000));
	CHECK(!loses(&bench, LOCI_MARK_UNMAP, 3, HEAP, 0x7000));
	CHECK(!loses(&bench, LOCI_MARK_ALLOC, 3, PROGRAM, 0x1000));
	bench_fini(&bench);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		compare(seed);
	lost_modules();
	return check_status();
}
