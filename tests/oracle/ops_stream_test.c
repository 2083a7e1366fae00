// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations from a stream to the figures. The functions stand in this program, with definitions
 * made by hand; what runs is made up, and plain counters say how often each block ran in which
 * context and region. From these and from a table of the definitions, written down a second time,
 * every figure is recomputed. With an argument: leaves the profile of one such run there. */
#include "attribution.h"

#include "analyse/footprint.h"
#include "model/op_counts.h"

#include <link.h>

enum { FUNCTIONS = 6, TWIN = 6, COUNTED = 5, BLOCKS = 5, SITES = 7 };

/* Of every function:
 *	0  entry   frame, caller, a load
 *	1          nothing
 *	2          a load and a store of 32 bytes
 *	3          a range read and a range written
 *	4          nothing
 * The last function was compiled without operations, and is there twice, as what a header defines
 * is. */

/* clang-format off */
#define SITE(size, op, flags) ".long " #size "\n.byte " #op ", 0\n.short " #flags "\n.long 7\n.short 1, 0\n.long 0, 0\n"
#define BLOCK(first, n, flags) ".long " #first "\n.short " #n "\n.byte " #flags ", 0\n.long -1, 0\n"
#define OF_BLOCK(first, n, line) ".long " #first ", " #n ", " #line "\n.short 1, 0\n"
#define OP(kind, type, lanes, count, bits) ".byte " #kind ", " #type "\n.short " #lanes "\n.long " #count ", " #bits ", 0\n"
#define HEAD(n, line, tables, ops, invocations)                                              \
	".section .text.ops, \"ax\", @progbits\n" /* no lines of this file reach there */       \
	".globl code_" #n "\n.type code_" #n ", @function\ncode_" #n ":\n"                  \
	".zero 16, 0x90\nret\n.size code_" #n ", . - code_" #n "\n"                          \
	".section loci_def, \"a\", @progbits\n.balign 8\n.globl def_" #n "\n"                \
	"def_" #n ": .long 0x4346434c\n.short 1, 0\n.long 64+5*16+7*24+24+" #tables "\n"     \
	".long 5, 7, 1, 0, 0\n.long code_" #n " - .\n.long 9f - .\n.long 0\n"                \
	".long " #ops ", " #invocations ", 0, 0, 0\n"                                        \
	BLOCK(0, 3, 1) BLOCK(3, 0, 0) BLOCK(3, 2, 0) BLOCK(5, 2, 0) BLOCK(7, 0, 0)           \
	SITE(8, 3, 0) SITE(8, 4, 0) SITE(8, 0, 0) SITE(32, 0, 16) SITE(32, 1, 16)            \
	SITE(0, 0, 4) SITE(0, 1, 4)                                                          \
	".long 9f - .\n.long 0\n.long 8f - .\n.long " #line ", 0\n.short 0, 0xffff\n"
#define TAIL(n) ".section .rodata\n9: .string \"code_" #n "\"\n8: .string \"/ops.c\"\n"      \
	"7: .string \"next\"\n6: .string \"puts\"\n.text\n"
#define CODE(n)                                                                              \
	void code_##n(void);                                                                 \
	__asm__(HEAD(n, n##00, 5*16+11*16+2*16, 11, 2)                                       \
		OF_BLOCK(0, 3, n##10) OF_BLOCK(3, 2, n##20) OF_BLOCK(5, 3, n##30)            \
		OF_BLOCK(8, 2, n##40) OF_BLOCK(10, 1, 0)                                     \
		OP(1, 10, 1, 1, 64) OP(27, 0, 1, 1, 0) OP(16, 10, 1, 1, 129)                 \
		OP(3, 4, 1, n, 96) OP(23, 1, 1, 1, 1)                                        \
		OP(1, 9, 8, 1, 256) OP(14, 9, 8, 3, 1024) OP(2, 9, 8, 1, 256)                \
		OP(30, 0, 1, 1, 0) OP(5, 5, 4, 2, 768)                                       \
		OP(26, 0, 1, 1, 0)                                                           \
		".long 0, 1\n.long 7f - .\n.long 0\n.long 3, 2\n.long 6f - .\n.long 0\n"     \
		TAIL(n));                                                                    \
	extern const char def_##n[];
/* clang-format on */
CODE(1)
CODE(2)
CODE(3)
CODE(4)
CODE(5)
void code_6(void);
__asm__(HEAD(6, 600, 0, 0, 0) TAIL(6));
extern const char def_6[];
void code_7(void);
__asm__(HEAD(7, 600, 0, 0, 0) TAIL(6));
extern const char def_7[];

static const char *const definition[] = { def_1, def_2, def_3, def_4, def_5, def_6, def_7 };
static void (*const code[])(void) = { code_1, code_2, code_3, code_4, code_5, code_6, code_7 };

/* The same once more. Counts of 0 are the function's number. */
static const struct wanted_op {
	unsigned block;
	const char *kind, *type;
	unsigned lanes, count, bits;
} wanted_ops[] = {
	{ 0, "load", "f64", 1, 1, 64 },
	{ 0, "call", NULL, 1, 1, 0 },
	{ 0, "float compare", "f64", 1, 1, 129 },
	{ 1, "int add", "i32", 1, 0, 96 },
	{ 1, "branch cond", "i1", 1, 1, 1 },
	{ 2, "load", "f32", 8, 1, 256 },
	{ 2, "float fma", "f32", 8, 3, 1024 },
	{ 2, "store", "f32", 8, 1, 256 },
	{ 3, "memcpy", NULL, 1, 1, 0 },
	{ 3, "int mul", "i64", 4, 2, 768 },
	{ 4, "return", NULL, 1, 1, 0 },
};

#define PROGRAM 1
#define STRINGS 1000
#define REGIONS 2000 /* and the next */
#define DATA    0x500000
#define UNSEEN  0x10
#define SPAN    8192 /* bytes from DATA on */

static uint64_t bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	bias = info->dlpi_addr;
	return 1;
}

static void load_program(struct words *w)
{
	char path[512] = "";
	uint64_t text[64] = { 0 };
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CHECK(n > 0);
	memcpy(text, path, (size_t)n);
	put(w, loci_mark_word(LOCI_MARK_STRING, 64, STRINGS));
	for (int i = 0; i < 64; i++)
		put(w, text[i]);
	name(w, REGIONS, "inner");
	name(w, REGIONS + 1, "outer");
	dl_iterate_phdr(find_bias, NULL);
	mark(w, LOCI_MARK_MODULE_LOAD, PROGRAM, 6, bias, bias, (uint64_t)64 << 20,
		(uint64_t)STRINGS, (uint64_t)0, (uint64_t)0);
	mark(w, LOCI_MARK_ALLOC, SPAN, 3, (uint64_t)DATA, (uint64_t)1, (uint64_t)UNSEEN);
}

static uint64_t block_of(unsigned function, unsigned block)
{
	return 100 + function * BLOCKS + block;
}

static void define_all(struct words *w)
{
	static const struct {
		unsigned first, n;
	} shape[BLOCKS] = { { 0, 3 }, { 3, 0 }, { 3, 2 }, { 5, 2 }, { 7, 0 } };
	static const uint32_t size[SITES] = { 8, 8, 8, 32, 32, 0, 0 };
	static const enum loci_op op[SITES] = { LOCI_OP_FRAME, LOCI_OP_CALLER, LOCI_OP_LOAD,
		LOCI_OP_LOAD, LOCI_OP_STORE, LOCI_OP_LOAD, LOCI_OP_STORE };

	for (unsigned f = 0; f <= TWIN; f++)
		for (unsigned b = 0; b < BLOCKS; b++) {
			unsigned n = shape[b].n;

			put(w, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * n, block_of(f, b)));
			put(w, (uint64_t)PROGRAM << 32 | (b ? 0 : LOCI_BLOCK_ENTRY));
			put(w, (uint64_t)(uintptr_t)code[f]);
			for (unsigned i = shape[b].first; i < shape[b].first + n; i++) {
				put(w, loci_ref_word(size[i], op[i], size[i] ? 0 : LOCI_REF_BULK));
				put(w,
					(uint64_t)(uintptr_t)definition[f] + 64 + BLOCKS * 16 +
						i * 24);
			}
		}
}

/* What ran. */
struct want {
	unsigned function, block;
	char path[128];
	const char *region;
	uint64_t times;
};

struct thread {
	unsigned function[FUNCTIONS];
	uint64_t frame[FUNCTIONS];
	char path[FUNCTIONS][128];
	unsigned depth, regions;
};

struct program {
	struct words w;
	struct thread thread[2];
	unsigned running;
	uint64_t random;
	bool paused;
	struct want want[4096];
	unsigned n_want;
	uint64_t total[FUNCTIONS][BLOCKS], range_bytes[FUNCTIONS][2]; /* loaded, stored */
	uint8_t bytes[TWIN + 1][2][SPAN];                             /* loaded, stored */
	uint64_t uses[SPAN / 8];
};

static unsigned any(struct program *p, unsigned n)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(p->random >> 40) % n;
}

static void expect(struct program *p, unsigned function, unsigned block)
{
	static const char *const regions[] = { "-", "outer", "inner" };
	const struct thread *t = &p->thread[p->running];
	const char *path = t->path[t->depth - 1];
	unsigned i = 0;

	if (function >= COUNTED || p->paused)
		return;
	p->total[function][block]++;
	while (i < p->n_want &&
		(p->want[i].function != function || p->want[i].block != block ||
			strcmp(p->want[i].path, path) != 0 ||
			p->want[i].region != regions[t->regions]))
		i++;
	if (i == p->n_want) {
		p->want[p->n_want] = (struct want){
			.function = function, .block = block, .region = regions[t->regions]
		};
		memcpy(p->want[p->n_want++].path, path, sizeof(p->want[0].path));
	}
	p->want[i].times++;
}

static void touch(struct program *p, unsigned function, uint64_t address, uint64_t n, bool stores)
{
	uint64_t first = address - DATA;

	if (p->paused || !n)
		return;
	memset(p->bytes[function][stores] + first, 1, n);
	for (uint64_t word = first / 8; word <= (first + n - 1) / 8; word++)
		p->uses[word]++;
}

/* Functions call such with higher numbers, so that a context is its path. */
static void call(struct program *p)
{
	struct thread *t = &p->thread[p->running];
	unsigned lowest = t->depth ? t->function[t->depth - 1] + 1 : 0, function;
	uint64_t caller = UNSEEN;

	if (lowest >= FUNCTIONS)
		return;
	function = lowest + any(p, FUNCTIONS - lowest);
	if (t->depth)
		caller = (uint64_t)(uintptr_t)code[t->function[t->depth - 1]] + 5;
	t->frame[t->depth] = 0x7ff000 + 0x100000 * p->running - 0x100 * t->depth;
	t->function[t->depth] = function;
	snprintf(t->path[t->depth], sizeof(t->path[0]), "code_%u%s%s", function + 1,
		t->depth ? "<" : "", t->depth ? t->path[t->depth - 1] : "");
	RUN(&p->w, block_of(function, 0), t->frame[t->depth], caller, DATA);
	t->depth++;
	touch(p, function, DATA, 8, false);
	expect(p, function, 0);
}

/* The load and the store, many times at once. */
static void run_loop(struct program *p, unsigned function)
{
	static const int64_t steps[] = { 0, 4, 8, 32, 64, -8 };
	uint64_t from = DATA + 1000 + any(p, 1000), to = DATA + 1000 + any(p, 1000);
	uint64_t from_step = (uint64_t)steps[any(p, LOCI_ARRAY_SIZE(steps))];
	uint64_t to_step = (uint64_t)steps[any(p, LOCI_ARRAY_SIZE(steps))];
	uint64_t times = 1 + any(p, 40);

	mark(&p->w, LOCI_MARK_RUN, block_of(function, 2), 6, times, (uint64_t)0, from, from_step,
		to, to_step);
	for (uint64_t i = 0; i < times; i++) {
		touch(p, function, from + i * from_step, 32, false);
		touch(p, function, to + i * to_step, 32, true);
		expect(p, function, 2);
	}
}

/* A block of the top function, some times in a row: what repeats with references needs no BLOCK. */
static void run_block(struct program *p)
{
	const struct thread *t = &p->thread[p->running];
	unsigned function = t->function[t->depth - 1], block = 1 + any(p, BLOCKS - 1);
	unsigned times = 1 + any(p, 3);
	uint64_t loaded = any(p, 200), stored = any(p, 300);

	if (function >= COUNTED)
		block = 2 + any(p, 2);
	if (block == 2 && any(p, 3) == 0) {
		run_loop(p, function);
		return;
	}
	for (unsigned i = 0; i < times; i++) {
		if (!i || block == 1 || block == 4)
			put(&p->w, loci_mark_word(LOCI_MARK_BLOCK, 0, block_of(function, block)));
		if (block == 2) {
			uint64_t from = DATA + any(p, 1000), to = DATA + any(p, 1000);

			put(&p->w, from);
			put(&p->w, to);
			touch(p, function, from, 32, false);
			touch(p, function, to, 32, true);
		} else if (block == 3) {
			put(&p->w, DATA);
			put(&p->w, loaded);
			put(&p->w, DATA + 4096);
			put(&p->w, stored);
			touch(p, function, DATA, loaded, false);
			touch(p, function, DATA + 4096, stored, true);
			p->range_bytes[function][0] += p->paused ? 0 : loaded;
			p->range_bytes[function][1] += p->paused ? 0 : stored;
		}
		expect(p, function, block);
	}
}

static void change_region(struct program *p)
{
	struct thread *t = &p->thread[p->running];

	if (t->regions < 2 && any(p, 2)) {
		t->regions++;
		mark(&p->w, LOCI_MARK_REGION_BEGIN, REGIONS + (t->regions == 1), 0);
	} else if (t->regions) {
		mark(&p->w, LOCI_MARK_REGION_END, REGIONS + (t->regions == 1), 0);
		t->regions--;
	}
}

static void step(struct program *p)
{
	struct thread *t = &p->thread[p->running];
	unsigned what = any(p, 40);

	if (!t->depth || what < 6) {
		call(p);
	} else if (what < 11 && t->depth > 1) {
		t->depth--;
		run_block(p); /* which shows it */
	} else if (what < 13) {
		change_region(p);
	} else if (what < 15) {
		p->running = !p->running;
		mark(&p->w, LOCI_MARK_SWITCH, p->running, 0);
	} else if (what == 15 && any(p, 8) == 0) {
		p->paused = !p->paused;
		mark(&p->w, LOCI_MARK_PAUSE, p->paused, 1, (uint64_t)p->w.n);
	} else {
		run_block(p);
	}
}

/* Threads also tell of blocks that they ran without words: the last word of each counts, and a new
 * thread of an old number begins anew. */
static void tell(struct program *p)
{
	for (unsigned t = 0; t < 2; t++) {
		mark(&p->w, LOCI_MARK_SWITCH, t, 0);
		mark(&p->w, LOCI_MARK_EXECUTED, block_of(1, 4), 1, (uint64_t)10);
		mark(&p->w, LOCI_MARK_EXECUTED, block_of(1, 2), 1, (uint64_t)3);
		mark(&p->w, LOCI_MARK_EXECUTED, block_of(1, 4), 1, 100 + (uint64_t)t);
		mark(&p->w, LOCI_MARK_EXECUTED, block_of(5, 2), 1, (uint64_t)77);
		p->total[1][4] += 100 + t;
		p->total[1][2] += 3;
	}
	RUN(&p->w, block_of(TWIN, 0), 0x7ff000, UNSEEN, DATA);
	touch(p, TWIN, DATA, 8, false);
	mark(&p->w, LOCI_MARK_THREAD_EXIT, 1, 2, (uint64_t)0, (uint64_t)p->w.n);
	mark(&p->w, LOCI_MARK_EXECUTED, block_of(1, 4), 1, (uint64_t)5);
	p->total[1][4] += 5;
}

static struct loci_analyse_options options_of(bool footprint)
{
	return (struct loci_analyse_options){
		.attribute = true,
		.no_sets = true,
		.pairs = footprint ? LOCI_PAIRS_ALL : LOCI_PAIRS_FAR,
		.no_source = true,
		.footprint = footprint,
	};
}

static struct loci_profile *profile_of(
	const struct words *words, const struct loci_analyse_options *options, const char *keep)
{
	const char *path = keep ? keep : "ops_stream_test.loci";
	struct words_source source = words_source(words);
	struct loci_analyse_summary summary;
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	source.source.info.collector = LOCI_COLLECTOR_CC;
	source.source.info.capabilities |= LOCI_CAP_PARTIAL;
	if (loci_analyse(&source.source, options, path, &summary, &err) < 0 ||
		loci_profile_open(path, &profile, &err) < 0)
		CHECK_FAIL("%s", err.text);
	if (!keep)
		remove(path);
	return profile;
}

/* Which function and block a row is of: lines say it. A block without line is the last. */
static void identify(struct loci_profile *profile, const struct loci_block_row *block,
	unsigned *ret_function, unsigned *ret_block)
{
	const char *of = function_name(profile, block->function_id);

	*ret_function = (unsigned)(of[5] - '1');
	*ret_block = block->line ? block->line % 100 / 10 - 1 : 4;
	if (block->line)
		CHECK_U64(block->line / 100, *ret_function + 1);
	CHECK_U64(block->source_id != 0, block->line != 0);
	CHECK_U64(block->entry, *ret_block == 0);
}

static void check_contents(
	struct loci_profile *profile, const struct loci_block_row *block, unsigned f, unsigned b)
{
	GET(profile, operation, operations);
	GET(profile, invocation, invocations);
	size_t k = 0;

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(wanted_ops); i++) {
		const struct wanted_op *want = &wanted_ops[i];

		if (want->block != b)
			continue;
		while (k < n_operation && operation[k].block_id != block->id)
			k++;
		if (k == n_operation) {
			CHECK_FAIL("block %u of %u lacks %s", b, f, want->kind);
			return;
		}
		CHECK_STR(operation[k].kind, want->kind);
		CHECK_STR(
			operation[k].type ? operation[k].type : "-", want->type ? want->type : "-");
		CHECK_U64(operation[k].lanes, want->lanes);
		CHECK_U64(operation[k].count, want->count ? want->count : f + 1);
		CHECK_U64(operation[k].bits, want->bits);
		k++;
	}
	while (k < n_operation && operation[k].block_id != block->id)
		k++;
	CHECK_U64(k, n_operation);
	for (size_t i = 0; i < n_invocation; i++)
		if (invocation[i].block_id == block->id) {
			CHECK(b == 0 || b == 3);
			CHECK_STR(invocation[i].callee, b ? "puts" : "next");
			CHECK_U64(invocation[i].count, b ? 2 : 1);
		}
}

static const char *region_name(struct loci_profile *profile, int64_t id)
{
	GET(profile, region, regions);
	const struct loci_region_row *row = loci_row_find(region, n_region, sizeof(*region), id);

	return row ? row->name : "-";
}

static void check_executions(
	const struct program *p, struct loci_profile *profile, const struct loci_block_row *block)
{
	unsigned f, b;
	uint64_t sum = 0, want_sum = 0, n = 0, want_n = 0;

	GET(profile, execution, executions);
	identify(profile, block, &f, &b);
	for (size_t i = 0; i < n_execution; i++) {
		char path[512];
		uint64_t want = 0;

		if (execution[i].block_id != block->id)
			continue;
		context_path(profile, execution[i].context_id, path, sizeof(path));
		for (unsigned k = 0; k < p->n_want; k++)
			if (p->want[k].function == f && p->want[k].block == b &&
				!strcmp(p->want[k].path, path) &&
				!strcmp(p->want[k].region,
					region_name(profile, execution[i].region_id)))
				want += p->want[k].times;
		if (execution[i].executions != want)
			CHECK_FAIL("block %u of %u in %s, %s: %" PRIu64 ", want %" PRIu64, b, f,
				path, region_name(profile, execution[i].region_id),
				execution[i].executions, want);
		sum += execution[i].executions;
		n++;
	}
	for (unsigned k = 0; k < p->n_want; k++)
		if (p->want[k].function == f && p->want[k].block == b) {
			want_sum += p->want[k].times;
			want_n++;
		}
	CHECK_U64(sum, want_sum);
	CHECK_U64(n, want_n);
}

/* Plain sums over the table above. */
static void check_sums(const struct program *p, struct loci_profile *profile)
{
	struct loci_ops_sum want = { 0 };
	struct loci_ops_row *row = NULL;
	struct loci_ops_callee *callee = NULL;
	struct loci_ops ops;
	struct loci_err err = { "" };
	uint64_t next = 0, other = 0, rows = 0;
	size_t n = 0;

	CHECK(loci_ops_new(&ops, profile, &err) == 0);
	for (unsigned f = 0; f < COUNTED; f++)
		for (unsigned b = 0; b < BLOCKS; b++) {
			want.executions += p->total[f][b];
			want.invocations += b ? 0 : p->total[f][b];
			next += b == 0 ? p->total[f][b] : 0;
			other += b == 3 ? 2 * p->total[f][b] : 0;
		}
	for (unsigned f = 0; f < COUNTED; f++) {
		uint64_t n0 = p->total[f][0], n1 = p->total[f][1], n2 = p->total[f][2];
		uint64_t n3 = p->total[f][3], n4 = p->total[f][4];

		want.instructions += 3 * n0 + (f + 1 + 1) * n1 + 5 * n2 + 3 * n3 + n4;
		want.flops += n0 + 48 * n2; /* a comparison; 3 * 8 * 2 */
		want.vector_flops += 48 * n2;
		want.int_ops += (f + 1) * n1 + 8 * n3;
		want.vector_int_ops += 8 * n3;
		want.loaded_bytes += 8 * n0 + 32 * n2;
		want.stored_bytes += 32 * n2;
		want.flop_bits += 129 * n0 + 3 * 1024 * n2;
		want.op_bits += 129 * n0 + 3 * 1024 * n2 + 96 * (f + 1) * n1 + 2 * 768 * n3;
		want.vector_ops += 3 * n2 + 2 * n3;
		want.vector_elements += 24 * n2 + 8 * n3;
		want.element_bits += 24 * 32 * n2 + 8 * 64 * n3;
		want.memcpy_bytes += p->range_bytes[f][1];
	}
	CHECK_U64(ops.whole.executions, want.executions);
	CHECK_U64(ops.whole.invocations, want.invocations);
	CHECK_U64(ops.whole.instructions, want.instructions);
	CHECK_U64(ops.whole.flops, want.flops);
	CHECK_U64(ops.whole.int_ops, want.int_ops);
	CHECK_U64(ops.whole.vector_flops, want.vector_flops);
	CHECK_U64(ops.whole.vector_int_ops, want.vector_int_ops);
	CHECK_U64(ops.whole.loaded_bytes, want.loaded_bytes);
	CHECK_U64(ops.whole.stored_bytes, want.stored_bytes);
	CHECK_U64(ops.whole.op_bits, want.op_bits);
	CHECK_U64(ops.whole.flop_bits, want.flop_bits);
	CHECK_U64(ops.whole.vector_ops, want.vector_ops);
	CHECK_U64(ops.whole.vector_elements, want.vector_elements);
	CHECK_U64(ops.whole.element_bits, want.element_bits);
	CHECK_U64(ops.whole.memcpy_bytes, want.memcpy_bytes);
	CHECK_U64(ops.whole.memset_bytes, 0);
	CHECK(loci_ops_rows(&ops, LOCI_OPS_CONTEXT, &row, &n, &err) == 0);
	for (size_t i = 0; i < n; i++)
		rows += row[i].own.instructions;
	/* all but what was told */
	CHECK_U64(rows, want.instructions - (100 + 101 + 5) - 2 * 3 * 5);
	for (size_t i = 0; i < n; i++) {
		uint64_t below = row[i].own.instructions;

		for (size_t k = i + 1; k < n && row[k].depth > row[i].depth; k++)
			below += row[k].own.instructions;
		CHECK_U64(row[i].sum.instructions, below);
	}
	free(row);
	CHECK(loci_ops_callees(&ops, &callee, &n, &err) == 0);
	CHECK_U64(n, (next > 0) + (other > 0));
	for (size_t i = 0; i < n; i++) {
		CHECK_U64(callee[i].calls, strcmp(callee[i].name, "next") ? other : next);
		CHECK(!callee[i].function);
	}
	free(callee);
	loci_ops_fini(&ops);
}

static void count_bytes(const struct program *p, unsigned from, unsigned to, uint64_t want[3])
{
	memset(want, 0, 3 * sizeof(*want));
	for (unsigned i = 0; i < SPAN; i++) {
		bool loaded = false, stored = false;

		for (unsigned f = from; f < to; f++) {
			loaded |= p->bytes[f][0][i];
			stored |= p->bytes[f][1][i];
		}
		want[0] += loaded;
		want[1] += stored;
		want[2] += loaded || stored;
	}
}

static int most_first(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a < *b) - (*a > *b);
}

static void check_footprints(struct program *p, struct loci_profile *profile)
{
	GET(profile, footprint, footprints);
	GET(profile, memory_use, memory_uses);
	uint64_t want[3], of_twin[3], total = 0, sum = 0;
	size_t words = 0;

	for (size_t i = 0; i < n_footprint; i++) {
		const struct loci_footprint_row *row = &footprint[i];
		bool whole = row->owner == LOCI_OWNER_WHOLE;
		unsigned f = whole ? 0 : (unsigned)(function_name(profile, row->owner_id)[5] - '1');

		CHECK(whole == (i == 0));
		count_bytes(p, f, whole ? TWIN + 1 : f + 1, want);
		if (!whole && f == COUNTED) { /* what two of one name touch adds up */
			count_bytes(p, TWIN, TWIN + 1, of_twin);
			for (unsigned k = 0; k < 3; k++)
				want[k] += of_twin[k];
		}
		CHECK_NEAR(row->loaded_bytes, (double)want[0], 0);
		CHECK_NEAR(row->stored_bytes, (double)want[1], 0);
		CHECK_NEAR(row->touched_bytes, (double)want[2], 0);
		CHECK_NEAR(row->error, 0, 0);
	}
	for (unsigned i = 0; i < SPAN / 8; i++)
		total += p->uses[i];
	qsort(p->uses, SPAN / 8, sizeof(*p->uses), most_first);
	CHECK_U64(n_memory_use, 20);
	for (size_t i = 0; i < n_memory_use; i++) {
		CHECK_U64((uint64_t)memory_use[i].percent, 5 * (i + 1));
		while (100 * sum < 5 * (i + 1) * total)
			sum += p->uses[words++];
		CHECK_U64(memory_use[i].bytes, 8 * words);
	}
}

static void check_random(uint64_t seed, unsigned steps, const char *keep)
{
	struct program *p = calloc(1, sizeof(*p));
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	bool footprint = keep || seed % 2; /* without, loops are counted at once */
	struct loci_analyse_options options;
	unsigned ran = 0;

	if (!p)
		abort();
	p->random = seed;
	load_program(&p->w);
	define_all(&p->w);
	for (unsigned i = 0; i < steps; i++)
		step(p);
	tell(p);
	options = options_of(footprint);
	profile = profile_of(&p->w, &options, keep);
	if (!profile) {
		free(p->w.word);
		free(p);
		return;
	}
	{
		GET(profile, block, blocks);
		for (unsigned f = 0; f < COUNTED; f++)
			for (unsigned b = 0; b < BLOCKS; b++)
				ran += p->total[f][b] > 0;
		CHECK_U64(n_block, ran);
		for (size_t i = 0; i < n_block; i++) {
			unsigned f, b;

			identify(profile, &block[i], &f, &b);
			CHECK_U64(block[i].executions, p->total[f][b]);
			CHECK_U64(block[i].range_loaded_bytes, b == 3 ? p->range_bytes[f][0] : 0);
			CHECK_U64(block[i].range_stored_bytes, b == 3 ? p->range_bytes[f][1] : 0);
			check_contents(profile, &block[i], f, b);
			check_executions(p, profile, &block[i]);
		}
	}
	check_sums(p, profile);
	if (footprint)
		check_footprints(p, profile);
	free(p->w.word);
	free(p);
}

/* Two functions of one name touch more than is kept of them: the profile has the sum of what their
 * samples say, and its error. */
static void check_estimate(void)
{
	static const uint64_t times[] = { 20000, 9000 };
	static const uint32_t map[64] = { 0, 1, 1 };
	struct loci_footprint *touched = loci_footprint_new(0);
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_options options = options_of(true);
	struct loci_footprint_sum sum = { 0 };
	struct words w = { 0 };
	uint64_t at = DATA;

	load_program(&w);
	define_all(&w);
	for (uint32_t i = 0; i < 2; i++) {
		RUN(&w, block_of(COUNTED + i, 0), 0x7ff000, UNSEEN, DATA);
		CHECK(loci_footprint_touch(touched, DATA, 8, false, 1 + i) == 0);
		mark(&w, LOCI_MARK_RUN, block_of(COUNTED + i, 2), 6, times[i], (uint64_t)0, at,
			(uint64_t)64, at + 32, (uint64_t)64);
		for (uint64_t k = 0; k < times[i]; k++, at += 64) {
			CHECK(loci_footprint_touch(touched, at, 32, false, 1 + i) == 0);
			CHECK(loci_footprint_touch(touched, at + 32, 32, true, 1 + i) == 0);
		}
	}
	CHECK(touched->sketch_cap <= LOCI_ARRAY_SIZE(map));
	CHECK(loci_footprint_add(&sum, touched, map) == 0);
	profile = profile_of(&w, &options, NULL);
	if (profile) {
		GET(profile, footprint, footprints);
		CHECK_U64(n_footprint, 2);
		CHECK_NEAR(footprint[0].touched_bytes, (double)(at - DATA), 0);
		CHECK_NEAR(footprint[0].error, 0, 0);
		CHECK_NEAR(footprint[1].touched_bytes, sum.function[0].touched, 0);
		CHECK_NEAR(footprint[1].loaded_bytes, sum.function[0].loaded, 0);
		CHECK_NEAR(footprint[1].stored_bytes, sum.function[0].stored, 0);
		CHECK_NEAR(footprint[1].error,
			1.96 * sqrt(sum.function[0].variance) / sum.function[0].touched, 1e-12);
		CHECK(footprint[1].error > 0.01 && footprint[1].error < 0.04);
	}
	/* without room for all there is nothing, which a part would pass for */
	mark(&w, LOCI_MARK_RUN, block_of(TWIN, 2), 6, (uint64_t)5000, (uint64_t)0, at,
		(uint64_t)4096, at, (uint64_t)4096);
	options.max_memory = 33u << 20;
	loci_profile_closep(&profile);
	profile = profile_of(&w, &options, NULL);
	if (profile) {
		GET(profile, footprint, footprints);
		GET(profile, memory_use, memory_uses);
		CHECK_U64(n_footprint + n_memory_use, 0);
	}
	loci_footprint_sum_fini(&sum);
	loci_footprint_free(touched);
	free(w.word);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		check_random(2, 3000, argv[1]);
		return check_status();
	}
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_random(seed, 40 * (unsigned)seed, NULL);
	check_estimate();
	return check_status();
}
