// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers as a caller uses them: sites look addresses up and keep what they learn for as long as it
 * is said to hold. Through random allocations, releases, resizes, mappings, unmappings,
 * registrations, modules, calls and returns whatever is kept must equal what a fresh lookup says;
 * and fresh lookups must agree with plain lists of what is allocated and registered, and a plain
 * count of unmappings per page. */
#include "object_fake.h"

#include <sys/mman.h>

#define PAGE      4096
#define PAGES     64
#define AREA      0x7f0000000000ull /* mapped, unmapped, allocated and registered in at random */
#define AREA_END  (AREA + PAGES * PAGE)
#define PROGRAM   0x555555554000ull
#define STACK_LOW 0x7ffffff00000ull
#define STACK_END 0x7ffffff40000ull
#define SITES     24
#define FUNCTIONS 4

static uint64_t random_state;

static uint64_t draw(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

struct range {
	uint64_t low, bytes, number; /* of the allocation; site of a block, name of an object */
};

struct list {
	struct range range[256];
	size_t n;
};

struct site {
	unsigned function;
	uint64_t pc;
	uint64_t address, offset; /* where it was, and relative to the top frame */
	struct loci_object_hit hit;
};

struct world {
	struct bench bench;
	struct list heap, registered;
	uint64_t unmapped[PAGES];
	struct site site[SITES];
	uint64_t kept, asked, framed, pinned;
	bool loaded;
};

static const struct loci_variable locals[FUNCTIONS][5] = {
	{ { .name = "a", .low = -0x100, .bytes = 0x40 },
		{ .name = "b", .low = -0x80, .bytes = 8 } },
	{ { .name = "c", .low = -0x60, .bytes = 0x30 },
		{ .name = "d", .low = -0x50, .bytes = 8, .pc_low = 0x1110, .pc_high = 0x1130 },
		{ .name = "e", .low = -0x48, .bytes = 0x20, .pc_low = 0x1108, .pc_high = 0x1150 },
		{ .name = "p", .low = 8, .bytes = 16 } },
	{ { .name = "f", .low = -0x2000, .bytes = 0x1fe0 } },
};
static const size_t n_locals[FUNCTIONS] = { 2, 4, 1, 0 };
static const uint64_t frame_bytes[FUNCTIONS] = { 0x108, 0x68, 0x2008, 0x8 };
static const struct loci_variable globals[] = {
	{ .name = "g", .low = 0x4000, .bytes = 0x100 },
	{ .name = "h", .low = 0x4100, .bytes = 0x10 },
	{ .name = "i", .low = 0x4200, .bytes = 0x800 },
};
static struct fake_function functions[FUNCTIONS];

static bool overlap(const struct range *a, uint64_t low, uint64_t bytes)
{
	return a->low < low + bytes && low < a->low + a->bytes;
}

static void list_remove(struct list *list, size_t i)
{
	list->range[i] = list->range[--list->n];
}

static void list_clear(struct list *list, uint64_t low, uint64_t bytes)
{
	for (size_t i = list->n; i--;)
		if (overlap(&list->range[i], low, bytes))
			list_remove(list, i);
}

static const struct range *list_find(const struct list *list, uint64_t address)
{
	for (size_t i = 0; i < list->n; i++)
		if (address - list->range[i].low < list->range[i].bytes)
			return &list->range[i];
	return NULL;
}

static uint64_t draw_address(const struct world *world)
{
	uint64_t stack = world->bench.shadow.n
		? world->bench.frame[draw(world->bench.shadow.n)].address
		: STACK_END - 0x1000;

	switch (draw(8)) {
	case 0:
	case 1:
		return PROGRAM + 0x3f00 + draw(0xc00);
	case 2:
	case 3:
		return stack - 0x120 + draw(0x140);
	case 4:
		return STACK_LOW + draw(STACK_END - STACK_LOW + 64);
	default:
		return AREA + draw(AREA_END - AREA);
	}
}

/* Ranges that do not nest, so that a plain list is enough; object_heap_test has the rest. */
static bool draw_range(struct world *world, const struct list *list, uint64_t *low, uint64_t *bytes)
{
	*low = draw_address(world) & -(uint64_t)16;
	*bytes = 1 + draw(draw(8) ? 200 : 40000);
	for (size_t i = 0; i < list->n; i++)
		if (overlap(&list->range[i], *low, *bytes) || list->range[i].low >> 3 == *low >> 3)
			return false;
	return list->n < LOCI_ARRAY_SIZE(list->range);
}

static void allocate(struct world *world)
{
	uint64_t low, bytes, site = 0x9000 + draw(5);

	if (!draw_range(world, &world->heap, &low, &bytes))
		return;
	give_alloc(&world->bench, low, bytes, site);
	world->heap.range[world->heap.n++] = (struct range){ low, bytes, site };
}

static void release(struct world *world)
{
	size_t i = world->heap.n ? draw(world->heap.n) : 0;

	if (!world->heap.n)
		return;
	give_free(&world->bench, world->heap.range[i].low + !draw(8));
	if (!loci_objects_epoch(world->bench.objects, world->heap.range[i].low))
		list_remove(&world->heap, i);
}

static void resize(struct world *world)
{
	size_t i = world->heap.n ? draw(world->heap.n) : 0;
	struct range *range = &world->heap.range[i];
	uint64_t site = 0x9000 + draw(5), bytes;

	if (!world->heap.n)
		return;
	bytes = range->bytes - draw(range->bytes);
	give_resize(&world->bench, range->low, range->low, bytes, site);
	range->bytes = bytes;
	range->number = site;
}

static void reg(struct world *world)
{
	char name[16];
	uint64_t low, bytes, number = draw(5);

	if (world->registered.n > 3 || !draw_range(world, &world->registered, &low, &bytes))
		return;
	snprintf(name, sizeof(name), "r%" PRIu64, number);
	give_object(&world->bench, low, bytes, name);
	world->registered.range[world->registered.n++] = (struct range){ low, bytes, number };
}

static void unreg(struct world *world)
{
	size_t i = world->registered.n ? draw(world->registered.n) : 0;

	if (world->registered.n) {
		give_object_end(&world->bench, world->registered.range[i].low);
		list_remove(&world->registered, i);
	}
}

static void map(struct world *world)
{
	static const char *const files[] = { NULL, "one", "two", "[heap]" };
	uint64_t page = draw(PAGES), n = 1 + draw(PAGES - page);

	give_map(&world->bench, AREA + page * PAGE, n * PAGE, draw(8) ? 0 : MAP_STACK, draw(3),
		files[draw(LOCI_ARRAY_SIZE(files))]);
}

static void unmap(struct world *world)
{
	uint64_t page = draw(PAGES), n = 1 + draw(draw(2) ? 3 : PAGES - page);

	n = n > PAGES - page ? PAGES - page : n;
	give_unmap(&world->bench, AREA + page * PAGE, n * PAGE);
	list_clear(&world->heap, AREA + page * PAGE, n * PAGE);
	list_clear(&world->registered, AREA + page * PAGE, n * PAGE);
	for (uint64_t i = page; i < page + n; i++)
		world->unmapped[i]++;
}

static void module(struct world *world)
{
	if (world->loaded)
		give_unload(&world->bench, 3);
	else
		give_load(&world->bench, 3, PROGRAM, PROGRAM, 0x5000, "/bin/prog");
	world->loaded = !world->loaded;
}

static void call(struct world *world)
{
	struct bench *bench = &world->bench;
	const struct loci_shadow_frame *frame =
		bench->shadow.n ? &bench->frame[bench->shadow.n - 1] : NULL;
	uint64_t top = frame ? frame->address - frame_bytes[(frame->entry - PROGRAM) / 0x100 - 16]
			     : STACK_END - 64;

	if (bench->shadow.n < 20)
		push(bench, top - 16 - draw(0x100) / 8 * 8, 3,
			PROGRAM + 0x1000 + 0x100 * draw(FUNCTIONS), PROGRAM + 0x1000 + draw(0x400),
			(uint32_t)draw(4));
}

static void leave(struct world *world)
{
	for (size_t n = draw(3); n && world->bench.shadow.n; n--)
		pop(&world->bench);
}

/* Sites stay near where they were, or at the same place in their frames. */
static uint64_t site_address(const struct world *world, const struct site *site, uint64_t top)
{
	switch (site->address ? draw(6) : 0) {
	case 0:
		return draw_address(world);
	case 1:
	case 2:
		return top + site->offset + draw(2) * draw(16);
	default:
		return site->address + draw(2) * draw(64);
	}
}

/* A lookup of one of the sites in the function that runs. */
static void refer(struct world *world)
{
	struct bench *bench = &world->bench;
	struct site *site = &world->site[draw(SITES)];
	uint64_t entry = PROGRAM + 0x1000 + 0x100ull * site->function,
		 top = bench->shadow.n ? bench->frame[bench->shadow.n - 1].address : 0,
		 address = site_address(world, site, top);
	struct loci_object_hit fresh;
	const struct range *block, *registered;
	bool coroutine;

	if (bench->shadow.n && bench->frame[bench->shadow.n - 1].entry != entry)
		return;
	site->address = address;
	site->offset = address - top;
	fresh = find(bench, address, site->pc);
	if (still_holds(bench, &site->hit, address)) {
		world->kept++;
		world->framed += site->hit.framed;
		world->pinned += !site->hit.framed && address > STACK_LOW;
		CHECK_U64(site->hit.object, fresh.object);
		CHECK_U64(site->hit.generation, fresh.generation);
		CHECK_U64(site->hit.epoch, fresh.epoch);
		if (site->hit.object != fresh.object)
			fprintf(stderr,
				"  address %#" PRIx64 ", top %#" PRIx64 ", %s%#" PRIx64
				" + %#" PRIx64 ": kept \"%s\", is \"%s\"\n",
				address, top, site->hit.framed ? "frame " : "", site->hit.low,
				site->hit.bytes, info(bench, site->hit.object).name,
				info(bench, fresh.object).name);
	} else {
		site->hit = fresh;
		world->asked++;
	}
	CHECK_U64(fresh.generation,
		address - AREA < AREA_END - AREA ? world->unmapped[(address - AREA) / PAGE] : 0);
	block = list_find(&world->heap, address);
	registered = list_find(&world->registered, address);
	CHECK((block != NULL) == (loci_objects_epoch(bench->objects, address) != 0));
	coroutine = block && !registered && top - block->low < block->bytes; /* whose stack it is */
	CHECK_U64(fresh.epoch, coroutine ? 0 : loci_objects_epoch(bench->objects, address));
	if (registered) {
		char name[16];

		snprintf(name, sizeof(name), "r%" PRIu64, registered->number);
		CHECK_STR(info(bench, fresh.object).name, name);
	} else if (coroutine) {
		CHECK_STR(info(bench, fresh.object).kind, "stack");
	} else if (block) {
		CHECK_STR(info(bench, fresh.object).kind, "heap");
		CHECK_STR(info(bench, fresh.object).name, "heap");
		CHECK_U64(info(bench, fresh.object).code_address, block->number - 1);
	} else {
		CHECK(strcmp(info(bench, fresh.object).name, "heap"));
	}
}

static struct {
	uint64_t kept, framed, pinned, asked;
} used;

static void run(uint64_t seed, unsigned steps, bool quiet)
{
	static void (*const events[])(struct world * world) = { allocate, release, resize, reg,
		unreg, map, unmap, module };
	struct world *world = calloc(1, sizeof(*world));
	int failures = check_failures;

	random_state = seed * 0x9e3779b97f4a7c15 + 1;
	bench_init(&world->bench);
	fake.function = functions;
	fake.n_functions = FUNCTIONS;
	fake.global = globals;
	fake.n_globals = LOCI_ARRAY_SIZE(globals);
	module(world);
	give_map(&world->bench, STACK_LOW, STACK_END - STACK_LOW, MAP_GROWSDOWN, 0, NULL);
	for (size_t i = 0; i < SITES; i++) {
		world->site[i].function = (unsigned)draw(FUNCTIONS);
		world->site[i].pc =
			PROGRAM + 0x1000 + 0x100 * world->site[i].function + draw(0x100);
		world->site[i].hit.serial = &world->site[i].hit.seen;
	}
	for (unsigned i = 0; i < steps && check_failures == failures; i++) {
		if (!draw(quiet ? 40 : 3))
			events[draw(LOCI_ARRAY_SIZE(events))](world);
		if (!draw(3))
			(draw(2) ? call : leave)(world);
		for (unsigned k = 0; k < 8; k++)
			refer(world);
	}
	used.kept += world->kept;
	used.framed += world->framed;
	used.pinned += world->pinned;
	used.asked += world->asked;
	if (check_failures != failures)
		fprintf(stderr, "  seed %" PRIu64 "%s\n", seed, quiet ? ", few events" : "");
	bench_fini(&world->bench);
	free(world);
}

int main(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		functions[i] = (struct fake_function){ "function", 0, 0x1000 + 0x100 * i,
			0x1100 + 0x100 * i, NULL, locals[i], n_locals[i] };
	for (uint64_t seed = 1; seed <= 40; seed++) {
		run(seed, 4000, false);
		run(seed, 4000, true);
	}
	/* Else little was tested. */
	CHECK(used.kept > 50000);
	CHECK(used.framed > 5000);
	CHECK(used.pinned > 1000);
	CHECK(used.asked > 50000);
	return check_status();
}
