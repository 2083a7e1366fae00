// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects by hand: every kind, every change, and how long answers hold. */
#include "analyse/object_table.h"
#include "object_fake.h"

#include <errno.h>
#include <sys/mman.h>

#define HEAP      0x555555600000ull
#define PROGRAM   0x555555554000ull /* where module 0 is loaded, and its bias */
#define LIBC      0x7ffff7c00000ull
#define STACK_LOW 0x7ffffff00000ull
#define STACK_END 0x7ffffffff000ull
#define FRAME     0x7fffffffe000ull
#define NO_CODE   0

static const struct loci_type type_double = { "double" }, type_node = { "struct node" };

static uint32_t object_at(struct bench *bench, uint64_t address)
{
	return find(bench, address, NO_CODE).object;
}

static const char *name_at(struct bench *bench, uint64_t address)
{
	return info(bench, object_at(bench, address)).name;
}

static void nothing_known(void)
{
	struct bench bench;
	struct loci_object_hit hit;

	bench_init(&bench);
	hit = find(&bench, 0x1000, NO_CODE);
	CHECK_U64(hit.object, 0);
	CHECK_U64(hit.generation, 0);
	CHECK(still_holds(&bench, &hit, 0) && still_holds(&bench, &hit, UINT64_MAX - 1));
	CHECK_STR(info(&bench, 0).kind, "other");
	CHECK_STR(info(&bench, 0).name, "other");
	give_map(&bench, 0x10000, 0x1000, 0, 0, "/data/input.dat");
	CHECK(!still_holds(&bench, &hit, 0x10000));
	hit = find(&bench, 0x9000, NO_CODE);
	CHECK_U64(hit.object, 0);
	CHECK(still_holds(&bench, &hit, 0xffff) && !still_holds(&bench, &hit, 0x10000));
	CHECK(loci_objects_info(bench.objects, 1000, &(struct loci_object_info){ 0 },
		      &(struct loci_err){ "" }) == -ENOENT);
	bench_fini(&bench);
}

static void heap_blocks(void)
{
	struct bench bench;
	struct loci_object_hit a, b;
	struct loci_object_info about;

	bench_init(&bench);
	push(&bench, FRAME, 0, 0x100, 0, 5);
	bench.refs = 10;
	give_alloc(&bench, HEAP, 100, 0x1234);
	bench.refs = 20;
	give_alloc(&bench, HEAP + 112, 50, 0x1234);
	give_alloc(&bench, HEAP + 176, 10, 0x5678);
	a = find(&bench, HEAP + 99, NO_CODE);
	b = find(&bench, HEAP + 112, NO_CODE);
	CHECK_U64(a.low, HEAP);
	CHECK_U64(a.bytes, 100);
	CHECK_U64(a.object, b.object);
	CHECK_U64(a.epoch, 1);
	CHECK_U64(b.epoch, 2);
	CHECK_U64(loci_objects_epoch(bench.objects, HEAP + 113), 2);
	CHECK_U64(loci_objects_epoch(bench.objects, HEAP + 100), 0);
	CHECK(object_at(&bench, HEAP + 176) != a.object && object_at(&bench, HEAP + 176));
	CHECK_U64(object_at(&bench, HEAP + 100), 0);

	/* Another's end leaves the answer alone; its own does not. */
	bench.refs = 30;
	give_free(&bench, HEAP + 112);
	CHECK(still_holds(&bench, &a, HEAP) && !still_holds(&bench, &b, HEAP + 112));
	CHECK(!still_holds(&bench, &a, HEAP + 100));
	about = info(&bench, a.object);
	CHECK_U64(about.allocations, 2);
	CHECK_U64(about.size_bytes, 100);
	CHECK_U64(about.born_refs, 10);
	CHECK_U64(about.context, 5);
	CHECK(!about.released);
	CHECK_STR(about.kind, "heap");

	/* Some that came and went count, and leave no answer behind; none are none. */
	give(&bench, LOCI_MARK_ALLOC, 60, 0, 0, 0x1234, 7);
	give(&bench, LOCI_MARK_ALLOC, 600, 0, 0, 0x1234, 1);
	give(&bench, LOCI_MARK_ALLOC, 6000, 0, 0, 0x1234, 0);
	CHECK(still_holds(&bench, &a, HEAP));
	about = info(&bench, a.object);
	CHECK_U64(about.allocations, 10);
	CHECK_U64(about.size_bytes, 600);
	CHECK(!about.released);
	CHECK_U64(find(&bench, 0, NO_CODE).object, 0);

	/* Odd releases. */
	give_free(&bench, HEAP + 112);
	give_free(&bench, HEAP + 1);
	give_free(&bench, 0);
	give_free(&bench, UINT64_MAX);
	CHECK(still_holds(&bench, &a, HEAP));
	bench.refs = 40;
	give_free(&bench, HEAP);
	CHECK(!still_holds(&bench, &a, HEAP));
	about = info(&bench, a.object);
	CHECK(about.released);
	CHECK_U64(about.died_refs, 40);

	/* The record is used again, but old answers stay dead; the address is another allocation.
	 */
	give_alloc(&bench, HEAP, 100, 0x1234);
	CHECK(!still_holds(&bench, &a, HEAP) && !still_holds(&bench, &b, HEAP));
	b = find(&bench, HEAP, NO_CODE);
	CHECK_U64(b.object, a.object);
	CHECK(b.epoch != a.epoch);
	CHECK(!info(&bench, a.object).released);

	/* Another context is another object. Failed and empty allocations. */
	push(&bench, FRAME - 64, 0, 0x200, 0, 6);
	give_alloc(&bench, HEAP + 400, 8, 0x1234);
	CHECK(object_at(&bench, HEAP + 400) != b.object);
	CHECK_U64(info(&bench, object_at(&bench, HEAP + 400)).context, 6);
	give_alloc(&bench, 0, 8, 0x1234);
	give_alloc(&bench, HEAP + 800, 0, 0x1234);
	CHECK_U64(find(&bench, HEAP + 800, NO_CODE).bytes, 1);
	give_free(&bench, HEAP + 800);
	CHECK_U64(object_at(&bench, HEAP + 800), 0);

	/* An allocation over a live one: the release was missed. */
	give_alloc(&bench, HEAP + 50, 100, 0x9999);
	CHECK(!still_holds(&bench, &b, HEAP));
	CHECK_U64(object_at(&bench, HEAP), 0);
	bench_fini(&bench);
}

static void resizes(void)
{
	struct bench bench;
	struct loci_object_hit hit, grown;

	bench_init(&bench);
	give_alloc(&bench, HEAP, 16, 0x10);
	hit = find(&bench, HEAP, NO_CODE);
	give_resize(&bench, HEAP, HEAP, 32, 0x20); /* in place: the same allocation */
	grown = find(&bench, HEAP + 31, NO_CODE);
	CHECK_U64(grown.epoch, hit.epoch);
	CHECK(grown.object != hit.object && !still_holds(&bench, &hit, HEAP));
	give_resize(&bench, HEAP, HEAP + 64, 64, 0x20);
	hit = find(&bench, HEAP + 64, NO_CODE);
	CHECK_U64(hit.object, grown.object); /* one growing loop, one object */
	CHECK(hit.epoch != grown.epoch);
	CHECK_U64(object_at(&bench, HEAP), 0);
	CHECK_U64(info(&bench, hit.object).allocations, 2);
	CHECK_U64(info(&bench, hit.object).size_bytes, 64);
	give_resize(&bench, HEAP + 64, HEAP + 64, 8, 0x20); /* shrinks */
	CHECK(!still_holds(&bench, &hit, HEAP + 72));
	CHECK_U64(object_at(&bench, HEAP + 72), 0);
	give_resize(&bench, 0, HEAP + 512, 8, 0x30); /* of nothing, of what nobody knows */
	give_resize(&bench, HEAP + 3, HEAP + 600, 8, 0x30);
	CHECK_U64(object_at(&bench, HEAP + 512), object_at(&bench, HEAP + 600));
	give_resize(&bench, HEAP + 512, 0, 0, 0x30); /* to nothing */
	CHECK_U64(object_at(&bench, HEAP + 512), 0);
	CHECK_U64(object_at(&bench, HEAP + 600), hit.object + 1);
	bench_fini(&bench);
}

static void nested_blocks(void)
{
	struct bench bench;
	struct loci_object_hit outer, inner;

	bench_init(&bench);
	give_alloc(&bench, HEAP, 0x10000, 0x10);
	outer = find(&bench, HEAP + 0x2000, NO_CODE);
	give_alloc(&bench, HEAP + 0x1000, 0x100, 0x20);
	CHECK(!still_holds(&bench, &outer, HEAP + 0x1000));
	inner = find(&bench, HEAP + 0x10ff, NO_CODE);
	CHECK(inner.object != outer.object);
	CHECK(still_holds(&bench, &inner, HEAP + 0x1000));
	CHECK_U64(object_at(&bench, HEAP + 0x1100), outer.object);
	CHECK_U64(find(&bench, HEAP + 0x1100, NO_CODE).bytes, 0);
	give_alloc(&bench, HEAP, 16, 0x20); /* begins where the outer one does */
	CHECK_U64(object_at(&bench, HEAP), inner.object);
	give_free(&bench, HEAP);
	CHECK_U64(object_at(&bench, HEAP), outer.object);
	give_free(&bench, HEAP);
	CHECK_U64(object_at(&bench, HEAP), 0);
	CHECK(!still_holds(&bench, &inner, HEAP + 0x1000)); /* it went with the outer one */
	CHECK_U64(object_at(&bench, HEAP + 0x1000), 0);
	CHECK(info(&bench, inner.object).released);
	bench_fini(&bench);
}

static void mappings(void)
{
	struct bench bench;
	struct loci_object_hit file, rest, arena;
	struct loci_object_info about;

	bench_init(&bench);
	give_map(&bench, HEAP, 0x10000, MAP_PRIVATE | MAP_ANONYMOUS, 0, "[heap]");
	give_map(&bench, 0x7f0000000000, 0x3000, MAP_PRIVATE, 0x77, "/data/input.dat");
	give_map(&bench, 0x7f0000010000, 0x4000, MAP_PRIVATE | MAP_ANONYMOUS, 0x88, NULL);
	give_map(&bench, 0x7f0000020000, 0x1000, 0, 0, "[vdso]");
	file = find(&bench, 0x7f0000001000, NO_CODE);
	CHECK_STR(info(&bench, file.object).name, "input.dat (mapped)");
	CHECK_STR(info(&bench, file.object).kind, "other");
	CHECK_U64(file.low, 0x7f0000000000);
	CHECK_U64(file.bytes, 0x3000);
	CHECK_STR(name_at(&bench, 0x7f0000020000), "[vdso]");
	CHECK_U64(object_at(&bench, 0x7f0000003000), 0);
	CHECK_STR(name_at(&bench, HEAP), "heap, not allocated");
	CHECK_STR(info(&bench, object_at(&bench, HEAP)).kind, "heap");

	/* brk moves: one area. */
	rest = find(&bench, HEAP, NO_CODE);
	give_map(&bench, HEAP + 0x10000, 0x10000, MAP_PRIVATE | MAP_ANONYMOUS, 0, "[heap]");
	CHECK_U64(find(&bench, HEAP + 0x18000, NO_CODE).low, HEAP);
	CHECK_U64(object_at(&bench, HEAP + 0x18000), rest.object);

	/* Memory that allocations lie in is a heap's. */
	arena = find(&bench, 0x7f0000010000, NO_CODE);
	about = info(&bench, arena.object);
	CHECK_STR(about.name, "anonymous mapping");
	CHECK_U64(about.allocations, 1);
	CHECK_U64(arena.bytes, 0x4000);
	give_alloc(&bench, 0x7f0000010010, 0x100, 0x99);
	CHECK(!still_holds(&bench, &arena, 0x7f0000010000));
	CHECK_STR(name_at(&bench, 0x7f0000010000), "heap, not allocated");
	CHECK_U64(find(&bench, 0x7f0000010000, NO_CODE).bytes, 0);

	/* A mapping in the middle of another. */
	give_map(&bench, 0x7f0000001000, 0x1000, MAP_FIXED, 0, "other.dat");
	CHECK(!still_holds(&bench, &file, 0x7f0000000000));
	CHECK_STR(name_at(&bench, 0x7f0000000fff), "input.dat (mapped)");
	CHECK_STR(name_at(&bench, 0x7f0000001fff), "other.dat (mapped)");
	file = find(&bench, 0x7f0000002000, NO_CODE);
	CHECK_U64(file.bytes, 0x1000);
	give_unmap(&bench, 0x7f0000000000, 0x3000);
	CHECK_U64(object_at(&bench, 0x7f0000002000), 0);
	CHECK(!still_holds(&bench, &file, 0x7f0000002000));
	CHECK(info(&bench, file.object).allocations == 1);
	give_map(&bench, 0x1000, 0, 0, 0, NULL); /* of nothing */
	give_unmap(&bench, 0x1000, 0);
	bench_fini(&bench);
}

static void generations(void)
{
	struct bench bench;
	struct loci_object_hit hit;

	bench_init(&bench);
	give_map(&bench, 0x10000, 0x10000, 0, 0, "f");
	CHECK_U64(find(&bench, 0x14000, NO_CODE).generation, 0);
	give_unmap(&bench, 0x14000, 0x2000);
	give_map(&bench, 0x14000, 0x1000, 0, 0, "f");
	hit = find(&bench, 0x14fff, NO_CODE);
	CHECK_U64(hit.generation, 1);
	CHECK(!still_holds(&bench, &hit, 0x13fff) && !still_holds(&bench, &hit, 0x15000));
	CHECK_U64(find(&bench, 0x13fff, NO_CODE).generation, 0);
	CHECK_U64(find(&bench, 0x16000, NO_CODE).generation, 0);
	give_unmap(&bench, 0x10000, 0x10000);
	give_map(&bench, 0x10000, 0x10000, 0, 0, "f"); /* one mapping, three generations */
	CHECK(!still_holds(&bench, &hit, 0x14fff));
	hit = find(&bench, 0x15001, NO_CODE);
	CHECK_U64(hit.generation, 2);
	CHECK_U64(hit.low, 0x14000);
	CHECK_U64(hit.bytes, 0x2000);
	CHECK_U64(hit.begin, 0x10000);
	hit = find(&bench, 0x16000, NO_CODE);
	CHECK_U64(hit.generation, 1);
	CHECK_U64(hit.bytes, 0xa000);
	/* What was allocated there ends with the mapping; what is after it is new. */
	give_alloc(&bench, 0x15f00, 0x200, 0x10);
	hit = find(&bench, 0x15f00, NO_CODE);
	CHECK_U64(hit.generation, 2);
	CHECK_U64(hit.bytes, 0x100);
	give_unmap(&bench, 0x16000, 0x1000);
	CHECK(!still_holds(&bench, &hit, 0x15f00));
	CHECK_U64(loci_objects_epoch(bench.objects, 0x15f00), 0);
	bench_fini(&bench);
}

static const struct loci_variable globals[] = {
	{ .name = "a",
		.file = "a.c",
		.line = 3,
		.low = 0x4000,
		.bytes = 800,
		.type = &type_double,
		.elements = 100 },
	{ .name = "b",
		.file = "a.c",
		.line = 4,
		.low = 0x4320,
		.bytes = 8,
		.type = &type_double,
		.elements = 1 },
	{ .name = "c", .low = 0x4400, .bytes = 4 },
};

static void global_variables(void)
{
	struct bench bench;
	struct loci_object_hit a, gap;
	struct loci_object_info about;

	bench_init(&bench);
	fake.global = globals;
	fake.n_globals = LOCI_ARRAY_SIZE(globals);
	give_map(&bench, PROGRAM - 0x1000, 0x7000, MAP_PRIVATE, 0, "/bin/prog");
	a = find(&bench, PROGRAM + 0x4000, NO_CODE);
	CHECK_STR(info(&bench, a.object).name, "prog (mapped)");
	give_load(&bench, 9, PROGRAM, PROGRAM, 0x5000, "/bin/prog");
	CHECK(!still_holds(&bench, &a, PROGRAM + 0x4000));
	CHECK_U64(fake.asked_globals, 0);
	a = find(&bench, PROGRAM + 0x431f, NO_CODE);
	CHECK_U64(a.low, PROGRAM + 0x4000);
	CHECK_U64(a.bytes, 800);
	about = info(&bench, a.object);
	CHECK_STR(about.kind, "global");
	CHECK_STR(about.name, "a");
	CHECK_STR(about.type, "double[100]");
	CHECK(about.element == &type_double);
	CHECK_STR(about.file, "a.c");
	CHECK_U64(about.line, 3);
	CHECK_U64(about.symbol_module, 0);
	CHECK_U64(about.size_bytes, 800);
	CHECK_STR(name_at(&bench, PROGRAM + 0x4320), "b");
	CHECK_STR(info(&bench, object_at(&bench, PROGRAM + 0x4320)).type, "double");
	CHECK(!info(&bench, object_at(&bench, PROGRAM + 0x4400)).type);
	gap = find(&bench, PROGRAM + 0x4328, NO_CODE);
	CHECK_STR(info(&bench, gap.object).name, "prog data");
	CHECK_U64(gap.low, PROGRAM + 0x4328);
	CHECK_U64(gap.bytes, 0x4400 - 0x4328);
	gap = find(&bench, PROGRAM, NO_CODE); /* before all */
	CHECK_U64(gap.low, PROGRAM);
	CHECK_U64(gap.bytes, 0x4000);
	gap = find(&bench, PROGRAM + 0x4fff, NO_CODE); /* after all */
	CHECK_U64(gap.low, PROGRAM + 0x4404);
	CHECK_U64(gap.bytes, 0x5000 - 0x4404);
	CHECK_U64(fake.asked_globals, 1);
	gap = find(&bench, PROGRAM + 0x5000, NO_CODE); /* mapped beside the module */
	CHECK_STR(info(&bench, gap.object).name, "prog (mapped)");
	CHECK_U64(gap.low, PROGRAM + 0x5000);
	CHECK_U64(gap.bytes, 0x1000);
	gap = find(&bench, PROGRAM - 1, NO_CODE);
	CHECK_U64(gap.low, PROGRAM - 0x1000);
	CHECK_U64(gap.bytes, 0x1000);

	/* An allocator in a variable: the others' answers hold, or are asked for again. */
	give_alloc(&bench, PROGRAM + 0x4010, 16, 0x10);
	CHECK(!still_holds(&bench, &a, PROGRAM + 0x4010));
	CHECK_U64(find(&bench, PROGRAM + 0x4000, NO_CODE).bytes, 0);
	CHECK_U64(find(&bench, PROGRAM + 0x4320, NO_CODE).bytes, 8);
	give_free(&bench, PROGRAM + 0x4010);
	CHECK_U64(find(&bench, PROGRAM + 0x4000, NO_CODE).bytes, 800);

	/* Unloaded and loaded elsewhere: the same variables. */
	gap = find(&bench, PROGRAM + 0x4320, NO_CODE);
	give_unload(&bench, 9);
	CHECK(!still_holds(&bench, &gap, PROGRAM + 0x4320));
	CHECK_STR(name_at(&bench, PROGRAM + 0x4320), "prog (mapped)");
	give_unload(&bench, 77);
	give_load(&bench, 10, LIBC, LIBC, 0x5000, "/bin/prog");
	CHECK_U64(object_at(&bench, LIBC + 0x4000), a.object);
	give_load(&bench, 11, LIBC, LIBC + 0x1000, 0x1000, "/lib/libother.so"); /* over it */
	CHECK_STR(name_at(&bench, LIBC + 0x1000), "libother.so data");
	CHECK_U64(object_at(&bench, LIBC + 0x4000), 0);
	give_unmap(&bench, LIBC, 0x5000);
	CHECK_U64(object_at(&bench, LIBC + 0x1000), 0);
	bench_fini(&bench);
}

/* main keeps an array, f an array and, in two scopes, x and y in the same place. */
static const struct loci_variable main_locals[] = {
	{ .name = "m", .low = -0x100, .bytes = 0x80, .type = &type_double, .elements = 16 },
	{ .name = "scoped", .low = -0x80, .bytes = 8, .pc_low = 0x1010, .pc_high = 0x1020 },
	{ .name = "scoped_too", .low = -0x80, .bytes = 8, .pc_low = 0x1020, .pc_high = 0x1030 },
};
static const struct loci_variable f_locals[] = {
	{ .name = "v", .low = -0x40, .bytes = 0x20 },
	{ .name = "x", .low = -0x18, .bytes = 8, .pc_low = 0x1110, .pc_high = 0x1120 },
	{ .name = "y", .low = -0x18, .bytes = 4, .pc_low = 0x1120, .pc_high = 0x1130 },
	{ .name = "parameter", .low = 8, .bytes = 8 },
};
static const struct fake_function stack_functions[] = {
	{ "main", 0, 0x1000, 0x1100, NULL, main_locals, LOCI_ARRAY_SIZE(main_locals) },
	{ "f", 0, 0x1100, 0x1200, NULL, f_locals, LOCI_ARRAY_SIZE(f_locals) },
	{ "g", 0, 0x1200, 0x1300, NULL, NULL, 0 },
};

static void stack_bench(struct bench *bench)
{
	bench_init(bench);
	fake.function = stack_functions;
	fake.n_functions = LOCI_ARRAY_SIZE(stack_functions);
	give_load(bench, 3, PROGRAM, PROGRAM, 0x5000, "/bin/prog");
	give_map(bench, STACK_LOW, STACK_END - STACK_LOW, MAP_GROWSDOWN, 0, NULL);
}

static void top_frame(void)
{
	struct bench bench;
	struct loci_object_hit v, x, y, spill, parameter, below;
	struct loci_object_info about;

	stack_bench(&bench);
	push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
	push(&bench, FRAME - 0x200, 3, PROGRAM + 0x1100, PROGRAM + 0x1015, 2);
	v = find(&bench, FRAME - 0x240, PROGRAM + 0x1105);
	CHECK(v.framed);
	CHECK_U64(v.low, -(uint64_t)0x40);
	CHECK_U64(v.bytes, 0x20);
	about = info(&bench, v.object);
	CHECK_STR(about.kind, "stack");
	CHECK_STR(about.name, "v");
	CHECK_U64(about.code_address, 0x1100);
	CHECK_U64(about.symbol_module, 0);
	x = find(&bench, FRAME - 0x218, PROGRAM + 0x1110);
	y = find(&bench, FRAME - 0x218, PROGRAM + 0x112f);
	CHECK_STR(info(&bench, x.object).name, "x");
	CHECK_STR(info(&bench, y.object).name, "y");
	CHECK_U64(y.bytes, 4);
	CHECK_U64(y.begin, -(uint64_t)0x18);
	CHECK_STR(info(&bench, find(&bench, FRAME - 0x214, PROGRAM + 0x1125).object).name, "x");
	spill = find(&bench, FRAME - 0x204, PROGRAM + 0x1105);
	CHECK_STR(info(&bench, spill.object).name, "stack of f");
	CHECK_U64(spill.low, -(uint64_t)0x10);
	CHECK_U64(spill.bytes, 0x18); /* the return address too */
	CHECK_U64(find(&bench, FRAME - 0x220 + 4, PROGRAM + 0x1105).bytes, 8);
	below = find(&bench, FRAME - 0x300, PROGRAM + 0x1105);
	CHECK_U64(below.object, spill.object);
	CHECK_U64(below.low, -(uint64_t)0x1000);
	CHECK_U64(below.bytes, 0x1000 - 0x40);
	parameter = find(&bench, FRAME - 0x1f8, PROGRAM + 0x1105);
	CHECK_STR(info(&bench, parameter.object).name, "parameter");
	CHECK(parameter.framed);
	CHECK_U64(fake.asked_locals, 1);

	/* The same code in another call, deeper: answers follow the frame. */
	push(&bench, FRAME - 0x1000, 3, PROGRAM + 0x1100, PROGRAM + 0x1150, 3);
	CHECK(still_holds(&bench, &v, FRAME - 0x1040));
	CHECK(!still_holds(&bench, &v, FRAME - 0x240));
	CHECK_U64(find(&bench, FRAME - 0x1040, PROGRAM + 0x1105).object, v.object);

	/* A function without variables. */
	push(&bench, FRAME - 0x3000, 3, PROGRAM + 0x1200, PROGRAM + 0x1150, 3);
	spill = find(&bench, FRAME - 0x3000 - 0x1001, PROGRAM + 0x1210);
	CHECK_STR(info(&bench, spill.object).name, "stack of g");
	CHECK_U64(spill.low, -(uint64_t)0x2000);
	CHECK_U64(spill.bytes, 0x2008);
	/* A module nobody knows. */
	push(&bench, FRAME - 0x6000, 99, 0xabc, 0, 3);
	CHECK_STR(name_at(&bench, FRAME - 0x6000), "stack");
	bench_fini(&bench);
}

static void other_frames(void)
{
	struct bench bench;
	struct loci_object_hit m, scoped;

	stack_bench(&bench);
	push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
	push(&bench, FRAME - 0x200, 3, PROGRAM + 0x1100, PROGRAM + 0x1015, 2);
	push(&bench, FRAME - 0x300, 3, PROGRAM + 0x1200, PROGRAM + 0x1115, 2);
	m = find(&bench, FRAME - 0x100, PROGRAM + 0x1210);
	CHECK_STR(info(&bench, m.object).name, "m");
	CHECK_STR(info(&bench, m.object).type, "double[16]");
	CHECK(!m.framed);
	CHECK_U64(m.low, FRAME - 0x100);
	CHECK_U64(m.bytes, 0x80);
	/* What shares its place is told by where main calls. */
	scoped = find(&bench, FRAME - 0x80, PROGRAM + 0x1210);
	CHECK_STR(info(&bench, scoped.object).name, "scoped");
	CHECK_U64(scoped.bytes, 0);
	CHECK_U64(find(&bench, FRAME - 0x7c, PROGRAM + 0x1210).begin, FRAME - 0x80);
	CHECK_U64(find(&bench, FRAME - 0xf0, PROGRAM + 0x1210).begin, FRAME - 0x100);
	bench.frame[1].call_site = PROGRAM + 0x1025;
	CHECK_STR(name_at(&bench, FRAME - 0x80), "scoped_too");
	CHECK_STR(name_at(&bench, FRAME - 0x78), "stack of main");
	CHECK_U64(find(&bench, FRAME - 0x78, NO_CODE).bytes, 0);
	CHECK_STR(name_at(&bench, FRAME - 0x1f8), "parameter");
	CHECK_STR(name_at(&bench, FRAME - 0x200), "stack of f");
	CHECK_STR(name_at(&bench, FRAME + 7), "stack of main");
	CHECK_STR(name_at(&bench, FRAME + 8), "stack");

	/* The answer holds until main's frame is gone. */
	pop(&bench);
	pop(&bench);
	CHECK(still_holds(&bench, &m, FRAME - 0x100));
	push(&bench, FRAME - 0x180, 3, PROGRAM + 0x1100, 0, 2);
	CHECK(still_holds(&bench, &m, FRAME - 0x100));
	push(&bench, FRAME, 3, PROGRAM + 0x1200, 0, 2);
	CHECK(!still_holds(&bench, &m, FRAME - 0x100));
	/* Pins are used again. */
	for (int i = 0; i < 1000; i++) {
		push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
		push(&bench, FRAME - 0x200, 3, PROGRAM + 0x1200, 0, 2);
		m = find(&bench, FRAME - 0x100, PROGRAM + 0x1210);
		CHECK(still_holds(&bench, &m, FRAME - 0x81));
		push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
		CHECK(!still_holds(&bench, &m, FRAME - 0x81));
	}
	/* Without them nothing is promised. */
	bench.shadow.pins = false;
	push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
	push(&bench, FRAME - 0x200, 3, PROGRAM + 0x1200, 0, 2);
	CHECK_U64(find(&bench, FRAME - 0x100, NO_CODE).bytes, 0);
	CHECK(!bench.frame[0].pin);
	bench.shadow.n = 0; /* a thread without frames */
	CHECK_STR(name_at(&bench, FRAME - 0x100), "stack");
	CHECK_U64(find(&bench, FRAME - 0x100, NO_CODE).bytes, 0);
	bench_fini(&bench);
}

static void odd_stacks(void)
{
	const uint64_t thread = 0x7f0000000000, area = 0x7e0000000000;
	struct bench bench;
	struct loci_object_hit main_spill, v, heap;

	stack_bench(&bench);
	give_map(&bench, thread, 0x10000, MAP_STACK, 0, NULL);
	give_map(&bench, area, 0x10000, MAP_ANONYMOUS, 0x44, NULL);
	push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
	main_spill = find(&bench, FRAME - 8, PROGRAM + 0x1050);
	CHECK(still_holds(&bench, &main_spill, FRAME - 8));

	/* A coroutine on a mapping: what was said of it ends when this shows. */
	heap = find(&bench, area + 0x100, NO_CODE);
	CHECK_STR(info(&bench, heap.object).name, "anonymous mapping");
	push(&bench, area + 0x8000, 3, PROGRAM + 0x1100, PROGRAM + 0x1015, 2);
	v = find(&bench, area + 0x8000 - 0x40, PROGRAM + 0x1105);
	CHECK_STR(info(&bench, v.object).name, "v");
	CHECK(v.framed && !still_holds(&bench, &heap, area + 0x100));
	CHECK_STR(name_at(&bench, area + 0x8100), "stack"); /* no frame of that stack is above */
	CHECK_STR(name_at(&bench, FRAME - 0x100), "m");

	/* The same on the heap. */
	give_alloc(&bench, HEAP, 0x10000, 0x55);
	heap = find(&bench, HEAP + 0x4000, NO_CODE);
	push(&bench, HEAP + 0x8000, 3, PROGRAM + 0x1100, PROGRAM + 0x1015, 2);
	CHECK_STR(name_at(&bench, HEAP + 0x8000 - 0x40), "v");
	CHECK(!still_holds(&bench, &heap, HEAP + 0x4000));
	pop(&bench);
	pop(&bench);
	CHECK_U64(object_at(&bench, HEAP + 0x4000), heap.object);

	/* A thread's stack where one was before: its blocks are new, and no answer can be relative
	 * to frames of both. */
	main_spill = find(&bench, FRAME - 8, PROGRAM + 0x1050);
	CHECK(still_holds(&bench, &main_spill, FRAME - 8));
	give_unmap(&bench, thread, 0x10000);
	give_map(&bench, thread, 0x10000, MAP_STACK, 0, NULL);
	CHECK(!still_holds(&bench, &main_spill, FRAME - 8));
	main_spill = find(&bench, FRAME - 8, PROGRAM + 0x1050);
	CHECK_U64(main_spill.bytes, 0);
	CHECK_U64(main_spill.generation, 0);
	CHECK_U64(find(&bench, FRAME - 0xf8, PROGRAM + 0x1050).begin, FRAME - 0x100);
	push(&bench, thread + 0x8000, 3, PROGRAM + 0x1000, 0, 1);
	CHECK_U64(find(&bench, thread + 0x7ff8, PROGRAM + 0x1050).generation, 1);
	pop(&bench);
	give_unmap(&bench, thread, 0x10000);
	CHECK(find(&bench, FRAME - 8, PROGRAM + 0x1050).bytes);

	/* A stack nobody told of, and one that grew. */
	give_unmap(&bench, STACK_LOW, STACK_END - STACK_LOW);
	bench.shadow.n = 0;
	push(&bench, 0x7ee000000000, 3, PROGRAM + 0x1000, 0, 1);
	CHECK_STR(name_at(&bench, 0x7ee000000000 - 0x100), "m");
	CHECK(find(&bench, 0x7ee000000000 - 0x100, NO_CODE).framed);
	CHECK_U64(object_at(&bench, 0x7ee000000000 - 0x10000000), 0);
	CHECK_U64(object_at(&bench, 0x7ee000001000), 0);
	bench_fini(&bench);
}

static void registered_objects(void)
{
	struct bench bench;
	struct loci_object_hit heap, mine, global, spill;

	stack_bench(&bench);
	fake.global = globals;
	fake.n_globals = LOCI_ARRAY_SIZE(globals);
	push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
	give_alloc(&bench, HEAP, 0x1000, 0x10);
	heap = find(&bench, HEAP, NO_CODE);
	global = find(&bench, PROGRAM + 0x4000, NO_CODE);
	spill = find(&bench, FRAME - 8, PROGRAM + 0x1050);
	bench.refs = 7;
	give_object(&bench, HEAP + 0x100, 0x100, "table");
	CHECK(!still_holds(&bench, &heap, HEAP + 0x100));
	CHECK(still_holds(&bench, &global, PROGRAM + 0x4000));
	CHECK(still_holds(&bench, &spill, FRAME - 8));
	mine = find(&bench, HEAP + 0x1ff, NO_CODE);
	CHECK_STR(info(&bench, mine.object).kind, "registered");
	CHECK_STR(info(&bench, mine.object).name, "table");
	CHECK_U64(info(&bench, mine.object).born_refs, 7);
	CHECK_U64(mine.epoch, heap.epoch);
	CHECK_U64(mine.low, HEAP + 0x100);
	CHECK_U64(mine.bytes, 0x100);
	CHECK_U64(object_at(&bench, HEAP + 0x200), heap.object);
	give_free(&bench, HEAP); /* under it: another epoch */
	CHECK(!still_holds(&bench, &mine, HEAP + 0x100));
	mine = find(&bench, HEAP + 0x1ff, NO_CODE);
	CHECK_STR(info(&bench, mine.object).name, "table");
	CHECK_U64(mine.epoch, 0);
	give_alloc(&bench, HEAP, 0x1000, 0x10);
	CHECK_STR(name_at(&bench, HEAP + 0x100), "table");
	CHECK_U64(find(&bench, HEAP, NO_CODE).bytes, 0);
	give_object_end(&bench, HEAP + 0x101);
	CHECK_STR(name_at(&bench, HEAP + 0x100), "table");
	give_object_end(&bench, HEAP + 0x100);
	CHECK_U64(object_at(&bench, HEAP + 0x100), heap.object);
	CHECK(info(&bench, mine.object).released);

	give_object(&bench, PROGRAM + 0x4008, 8, "inner");
	CHECK(!still_holds(&bench, &global, PROGRAM + 0x4000));
	CHECK_STR(name_at(&bench, PROGRAM + 0x4008), "inner");
	CHECK_STR(name_at(&bench, PROGRAM + 0x4000), "a");
	give_object(&bench, FRAME - 0x100, 0x10, "on stack");
	CHECK(!still_holds(&bench, &spill, FRAME - 8));
	CHECK_STR(name_at(&bench, FRAME - 0x100), "on stack");
	CHECK_STR(name_at(&bench, FRAME - 0xf0), "m");
	CHECK_U64(find(&bench, FRAME - 8, PROGRAM + 0x1050).bytes, 0);
	give_object_end(&bench, FRAME - 0x100);
	CHECK(find(&bench, FRAME - 8, PROGRAM + 0x1050).bytes);
	/* One name, one object; none has one too. */
	give_object(&bench, 0x10000, 8, "inner");
	CHECK_U64(object_at(&bench, 0x10000), object_at(&bench, PROGRAM + 0x4008));
	give(&bench, LOCI_MARK_OBJECT, 8, 0x20000, 0, 12345);
	CHECK_STR(name_at(&bench, 0x20000), "registered object");
	bench_fini(&bench);
}

static const struct fake_function name_functions[] = {
	{ "main", 0, 0x1000, 0x1100, NULL, NULL, 0 },
	{ "xmalloc", 0, 0x1100, 0x1200, NULL, NULL, 0 },
	{ "alloc_matrix", 0, 0x1200, 0x1300, NULL, NULL, 0 },
	{ "std::vector<int>::grow()", 0, 0x1300, 0x1400, NULL, NULL, 0 },
	{ "fill(std::vector<int>)", 0, 0x1400, 0x1500, "std::allocator<int>::allocate", NULL, 0 },
	{ "solve", 0, 0x1500, 0x1600, "make_rows", NULL, 0 },
	{ "malloc", 1, 0x1000, 0x1100, NULL, NULL, 0 },
	{ "operator new(unsigned long)", 1, 0x2000, 0x2100, NULL, NULL, 0 },
};
static const struct fake_assignment assignments[] = {
	{ 0, 0x1015, "b", &type_double },
	{ 0, 0x1115, "p", NULL },
	{ 0, 0x1026, "list", &type_node }, /* call at 0x1025 */
	{ 0, 0x1215, "m->rows", &type_double },
	{ 0, 0x1225, "q", &type_double },
};

static const char *heap_name(struct bench *bench, uint64_t site)
{
	static uint64_t address = HEAP;

	give_alloc(bench, address += 64, 8, site);
	return name_at(bench, address);
}

static void names(void)
{
	struct bench bench;
	struct loci_object_info about;

	bench_init(&bench);
	fake.function = name_functions;
	fake.n_functions = LOCI_ARRAY_SIZE(name_functions);
	fake.assignment = assignments;
	fake.n_assignments = LOCI_ARRAY_SIZE(assignments);
	give_load(&bench, 3, PROGRAM, PROGRAM, 0x5000, "/bin/prog");
	give_load(&bench, 4, LIBC, LIBC, 0x5000, "/lib/libc.so.6");
	push(&bench, FRAME, 3, PROGRAM + 0x1000, 0, 1);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1015), "b");
	about = info(&bench, (uint32_t)loci_objects_count(bench.objects) - 1);
	CHECK_STR(about.type, "double");
	CHECK(about.element == &type_double);
	CHECK_U64(about.code_address, 0x1014);
	CHECK_STR(about.file, "a.c");
	CHECK_U64(about.line, 0x14);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1035), "allocated in main");
	CHECK_STR(heap_name(&bench, 0x999999), "heap");
	CHECK_STR(heap_name(&bench, 0), "heap");

	/* xmalloc is called at 0x1025; its own variable says nothing. */
	push(&bench, FRAME - 0x40, 3, PROGRAM + 0x1100, PROGRAM + 0x1025, 2);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1115), "list");
	about = info(&bench, (uint32_t)loci_objects_count(bench.objects) - 1);
	CHECK_STR(about.type, "struct node");
	CHECK_U64(about.code_address, 0x1025);
	CHECK_U64(about.context, 2); /* the real one */
	/* malloc's own frames may still be there: the object is the same. */
	push(&bench, FRAME - 0x80, 4, LIBC + 0x1000, PROGRAM + 0x1110, 77);
	push(&bench, FRAME - 0xc0, 4, LIBC + 0x1010, LIBC + 0x1020, 78);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1115), "list");
	about = info(&bench, (uint32_t)loci_objects_count(bench.objects) - 1);
	CHECK_U64(about.context, 2);
	CHECK_U64(about.allocations, 2);
	bench.frame[2].call_site = bench.frame[3].call_site = 0; /* then the module tells */
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1115), "list");
	CHECK_U64(info(&bench, (uint32_t)loci_objects_count(bench.objects) - 1).allocations, 3);

	/* A function named like an allocator that fills fields names them; else its caller does. */
	push(&bench, FRAME - 0x40, 3, PROGRAM + 0x1200, PROGRAM + 0x1025, 3);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1215), "m->rows");
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1225), "list");
	/* Two libraries deep. */
	push(&bench, FRAME - 0x40, 3, PROGRAM + 0x1300, PROGRAM + 0x1025, 4);
	push(&bench, FRAME - 0x80, 4, LIBC + 0x2000, PROGRAM + 0x1350, 5);
	CHECK_STR(heap_name(&bench, LIBC + 0x2010), "list");
	/* Inlined wrappers are passed over; other inlined functions count. */
	push(&bench, FRAME - 0x40, 3, PROGRAM + 0x1400, PROGRAM + 0x1025, 6);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1410), "allocated in fill(std::vector<int>)");
	push(&bench, FRAME - 0x40, 3, PROGRAM + 0x1500, PROGRAM + 0x1025, 7);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1510), "allocated in make_rows");
	about = info(&bench, (uint32_t)loci_objects_count(bench.objects) - 1);
	CHECK_STR(about.file, "inlined.h");
	/* Wrappers all the way: the innermost. */
	bench.shadow.n = 0;
	push(&bench, FRAME, 3, PROGRAM + 0x1100, 0, 8);
	CHECK_STR(heap_name(&bench, PROGRAM + 0x1115), "p");
	/* Mappings are told apart like allocations. */
	give_map(&bench, 0x7e0000000000, 0x1000, MAP_ANONYMOUS, LIBC + 0x1010, NULL);
	about = info(&bench, object_at(&bench, 0x7e0000000000));
	CHECK_STR(about.name, "anonymous mapping");
	CHECK_U64(about.symbol_module, 1);
	bench_fini(&bench);
}

static void too_many(void)
{
	struct loci_object_table table = { 0 };
	struct loci_err err = { "" };
	uint32_t object = 0;
	bool is_new;

	CHECK(loci_object_table_init(&table, &err) == 0);
	for (uint32_t i = 1; i < LOCI_OBJECTS_MAX; i++)
		if (loci_object_table_get(&table, LOCI_OBJECT_HEAP, i, 0, &object, &is_new, &err) <
				0 ||
			object != i || !is_new)
			CHECK_FAIL("object %u", i);
	CHECK_U64(table.dropped, 0);
	CHECK(loci_object_table_get(&table, LOCI_OBJECT_HEAP, 0, 1, &object, &is_new, &err) == 0);
	CHECK_U64(object, 0);
	CHECK(!is_new);
	CHECK(loci_object_table_get_text(&table, LOCI_OBJECT_FILE, "f", &object, &err) == 0);
	CHECK_U64(object, 0);
	CHECK_U64(table.dropped, 2);
	CHECK(loci_object_table_get(&table, LOCI_OBJECT_HEAP, 77, 0, &object, &is_new, &err) == 0);
	CHECK_U64(object, 77);
	loci_object_table_fini(&table);
}

static void other_markers(void)
{
	struct bench bench;
	struct loci_object_module module = { 0 };

	bench_init(&bench);
	give(&bench, LOCI_MARK_THREAD_START, 1, 0, 0, 0, 0);
	give(&bench, LOCI_MARK_THREAD_EXIT, 1, 0, 0);
	give(&bench, LOCI_MARK_COUNT, 1, 0);
	give(&bench, (enum loci_marker)0x7f, 1, 0);
	CHECK_U64(loci_objects_count(bench.objects), 3);
	CHECK_U64(loci_objects_dropped(bench.objects), 0);
	CHECK(!loci_objects_module(bench.objects, 3, &module));
	give_load(&bench, 3, 0x1000, 0x2000, 0x1000, "/bin/prog");
	CHECK(loci_objects_module(bench.objects, 3, &module));
	CHECK_U64(module.bias, 0x1000);
	CHECK_U64(module.symbol_module, 0);
	bench_fini(&bench);
}

int main(void)
{
	nothing_known();
	heap_blocks();
	resizes();
	nested_blocks();
	mappings();
	generations();
	global_variables();
	top_frame();
	other_frames();
	odd_stacks();
	registered_objects();
	names();
	too_many();
	other_markers();
	return check_status();
}
