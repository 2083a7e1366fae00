// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams of code compiled by `loci cc`: their blocks say whose they are, and returns are not told.
 * The functions stand in this program, with a section of definitions made by hand; what runs is
 * made up, and a stack that knows all says what belongs where. */
#include "attribution.h"

#include <link.h>

enum { FUNCTIONS = 8, BLOCKS = 5, SITES = 7, SITE_BYTES = 24 };

/* Of every function:
 *	0  entry     frame, caller, a load
 *	1  loop 0    its turn
 *	2  loop 1    in loop 0: a load
 *	3            in loop 0, after loop 1: a load
 *	4            a store
 * Function n has line n00, its sites n01 to n07, its loops n50 and n60. */
enum { ENTRY, OUTER, INNER, AFTER, REST };

/* clang-format off */
#define SITE(size, op, line) ".long " #size "\n.byte " #op ", 0\n.short 0\n.long " #line "\n.short 1, 0\n.long 0, 0\n"
#define BLOCK(first, n, flags, depth, loop) ".long " #first "\n.short " #n "\n.byte " #flags ", " #depth "\n.long " #loop ", 0\n"
#define CODE(n)                                                                              \
	void code_##n(void);                                                                 \
	__asm__(".text\n.globl code_" #n "\n.type code_" #n ", @function\ncode_" #n ":\n"    \
		".zero 16, 0x90\nret\n.size code_" #n ", . - code_" #n "\n"                  \
		".section loci_def, \"a\", @progbits\n.balign 8\n.globl def_" #n "\n"        \
		"def_" #n ": .long 0x4346434c\n.short 1, 0\n.long 64+5*16+7*24+24+2*16\n"    \
		".long 5, 7, 1, 2, 0\n.long code_" #n " - .\n.long 9f - .\n.long 0\n.zero 20\n" \
		BLOCK(0, 3, 1, 0, -1) BLOCK(3, 1, 2, 1, 0) BLOCK(4, 1, 2, 2, 1)              \
		BLOCK(5, 1, 0, 1, 0) BLOCK(6, 1, 0, 0, -1)                                   \
		SITE(8, 3, n##01) SITE(8, 4, n##02) SITE(8, 0, n##03) SITE(8, 5, n##04)      \
		SITE(8, 0, n##05) SITE(8, 0, n##06) SITE(8, 1, n##07)                        \
		".long 9f - .\n.long 0\n.long 8f - .\n.long " #n "00, 0\n.short 0, 0xffff\n" \
		".long " #n "50\n.short 3, 0\n.long -1\n.short 1, 0\n"                       \
		".long " #n "60\n.short 5, 0\n.long 0\n.short 2, 0\n"                        \
		".section .rodata\n9: .string \"code_" #n "\"\n8: .string \"/fixed.c\"\n.text\n"); \
	extern const char def_##n[];
/* clang-format on */
CODE(1)
CODE(2)
CODE(3)
CODE(4)
CODE(5)
CODE(6)
CODE(7)
CODE(8)

/* Numbers from 0; names from 1. */
static const char *const definition[FUNCTIONS] = { def_1, def_2, def_3, def_4, def_5, def_6, def_7,
	def_8 };
static void (*const code[FUNCTIONS])(
	void) = { code_1, code_2, code_3, code_4, code_5, code_6, code_7, code_8 };

static uint64_t site(unsigned function, unsigned i)
{
	return (uint64_t)(uintptr_t)definition[function] + 64 + BLOCKS * 16 + i * SITE_BYTES;
}

static uint64_t bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	bias = info->dlpi_addr;
	return 1; /* the program is the first */
}

#define PROGRAM 1
#define STRINGS 1000

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
	dl_iterate_phdr(find_bias, NULL);
	mark(w, LOCI_MARK_MODULE_LOAD, PROGRAM, 6, bias, bias, (uint64_t)64 << 20,
		(uint64_t)STRINGS, (uint64_t)0, (uint64_t)0);
}

static uint64_t block_of(unsigned function, unsigned block)
{
	return function * BLOCKS + block;
}

static void define_block(struct words *w, unsigned function, unsigned block, unsigned flags,
	unsigned first, unsigned n)
{
	static const enum loci_op op[SITES] = { LOCI_OP_FRAME, LOCI_OP_CALLER, LOCI_OP_LOAD,
		LOCI_OP_TURN, LOCI_OP_LOAD, LOCI_OP_LOAD, LOCI_OP_STORE };

	put(w, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * n, block_of(function, block)));
	put(w, (uint64_t)PROGRAM << 32 | flags);
	put(w, (uint64_t)(uintptr_t)code[function]);
	for (unsigned i = first; i < first + n; i++) {
		put(w, loci_ref_word(8, op[i], 0));
		put(w, site(function, i));
	}
}

static void define_all(struct words *w)
{
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		define_block(w, i, ENTRY, LOCI_BLOCK_ENTRY, 0, 3);
		define_block(w, i, OUTER, LOCI_BLOCK_LOOP, 3, 1);
		define_block(w, i, INNER, LOCI_BLOCK_LOOP, 4, 1);
		define_block(w, i, AFTER, 0, 5, 1);
		define_block(w, i, REST, 0, 6, 1);
	}
}

static const struct loci_analyse_options options = {
	.attribute = true, .no_sets = true, .pairs = LOCI_PAIRS_ALL, .no_source = true
};

static struct loci_profile *profile_of(
	const struct words *words, const struct loci_analyse_options *how)
{
	static const char path[] = "fixed_code_test.loci";
	struct words_source source = words_source(words);
	struct loci_analyse_summary summary;
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	source.source.info.collector = LOCI_COLLECTOR_CC;
	source.source.info.capabilities |= LOCI_CAP_PARTIAL;
	if (loci_analyse(&source.source, how, path, &summary, &err) < 0 ||
		loci_profile_open(path, &profile, &err) < 0)
		CHECK_FAIL("%s", err.text);
	remove(path);
	return profile;
}

/* What is called at the beginning of a function returns into it; its end is 16 bytes on. */
static uint64_t within(unsigned function)
{
	return (uint64_t)(uintptr_t)code[function] + 5;
}
#define UNSEEN 0x10 /* an address of no module */
#define DATA   0x500000

static void enter(struct words *w, unsigned function, uint64_t frame, uint64_t caller)
{
	RUN(w, block_of(function, ENTRY), frame, caller, DATA);
}

#define FRAME_0 0x7ff000

static uint64_t refs_in(struct loci_profile *profile, const char *path)
{
	return context_refs(profile, path);
}

/* Two calls with no reference of the caller between them: the first callee is not the second's
 * caller, though its frame lies above. */
static void check_callers(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	load_program(&w);
	define_all(&w);
	enter(&w, 0, FRAME_0, UNSEEN);
	enter(&w, 1, FRAME_0 - 0x100, within(0));
	enter(&w, 2, FRAME_0 - 0x200, within(0)); /* pushed arguments first */
	RUN(&w, block_of(2, REST), DATA);
	enter(&w, 3, FRAME_0 - 0x300, within(2));
	RUN(&w, block_of(0, REST), DATA);      /* both have returned */
	enter(&w, 4, FRAME_0 - 0x100, UNSEEN); /* from code that is not seen, which main called */
	enter(&w, 5, FRAME_0 - 0x100, within(0)); /* jumped to */
	profile = profile_of(&w, &options);
	CHECK_U64(refs_in(profile, "code_1"), 2);
	CHECK_U64(refs_in(profile, "code_2<code_1"), 1);
	CHECK_U64(refs_in(profile, "code_3<code_1"), 2);
	CHECK_U64(refs_in(profile, "code_4<code_3<code_1"), 1);
	CHECK_U64(refs_in(profile, "code_5<code_1"), 1);
	CHECK_U64(refs_in(profile, "code_6<code_1"), 1);
	{
		GET(profile, context, contexts);
		CHECK_U64(n_context, 6);
	}
	{
		GET(profile, function, functions);
		CHECK_U64(n_function, 6);
		for (size_t i = 0; i < n_function; i++)
			CHECK_U64(function[i].line % 100, 0);
	}
	free(w.word);
}

/* Recursion: one context however deep, and the caller has its own back. */
static void check_recursion(unsigned depth)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	load_program(&w);
	define_all(&w);
	enter(&w, 0, FRAME_0, UNSEEN);
	for (unsigned i = 0; i < depth; i++)
		enter(&w, 1, FRAME_0 - 0x20 * (i + 1), within(i ? 1 : 0));
	for (unsigned i = 0; i < depth; i++)
		RUN(&w, block_of(1, REST), DATA);
	RUN(&w, block_of(0, REST), DATA);
	profile = profile_of(&w, &options);
	CHECK_U64(refs_in(profile, "code_1"), 2);
	CHECK_U64(refs_in(profile, "code_2<code_1"), 1);
	/* those of the first that ran when the others had returned are theirs: it does not show */
	CHECK_U64(refs_in(profile, "code_2<code_2<code_1"), depth - 1 + depth);
	free(w.word);
}

/* Recording began when 1 ran, called by 0; neither was entered before our eyes. */
static void check_middle(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	load_program(&w);
	define_all(&w);
	RUN(&w, block_of(1, REST), DATA);
	enter(&w, 2, FRAME_0, within(1));
	RUN(&w, block_of(1, REST), DATA);
	enter(&w, 3, FRAME_0 + 0x100, within(0)); /* 1 has returned */
	RUN(&w, block_of(0, REST), DATA);
	profile = profile_of(&w, &options);
	CHECK_U64(refs_in(profile, "code_2"), 2);
	CHECK_U64(refs_in(profile, "code_3<code_2"), 1);
	CHECK_U64(refs_in(profile, "code_4<code_1"), 1);
	CHECK_U64(refs_in(profile, "code_1"), 1);
	free(w.word);
}

/* Where entries do not tell their caller it is the frame above; what takes a frame's place was
 * called by who called that. */
static void check_no_callers(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	load_program(&w);
	define_all(&w);
	for (unsigned i = 0; i < 3; i++)
		define_block(&w, i, ENTRY, LOCI_BLOCK_ENTRY, 0, 1);
	RUN(&w, block_of(0, ENTRY), FRAME_0);
	RUN(&w, block_of(0, REST), DATA);
	RUN(&w, block_of(1, ENTRY), FRAME_0 - 0x100);
	RUN(&w, block_of(1, REST), DATA);
	RUN(&w, block_of(2, ENTRY), FRAME_0 - 0x100);
	RUN(&w, block_of(2, REST), DATA);
	RUN(&w, block_of(1, ENTRY), FRAME_0 - 0x200);
	RUN(&w, block_of(1, REST), DATA);
	RUN(&w, block_of(0, REST), DATA);
	profile = profile_of(&w, &options);
	CHECK_U64(refs_in(profile, "code_1"), 2);
	CHECK_U64(refs_in(profile, "code_2<code_1"), 1);
	CHECK_U64(refs_in(profile, "code_3<code_1"), 1);
	CHECK_U64(refs_in(profile, "code_2<code_3<code_1"), 1);
	free(w.word);
}

/* Whatever happens in a random program. Functions call only such with higher numbers, so that a
 * function has one frame at most; 0 to 3 run on the thread's stack, 4 to 7 on a coroutine's. */
struct stack {
	struct {
		unsigned function;
		uint64_t frame;
		char path[256];
	} at[FUNCTIONS];
	unsigned n, lowest, highest;
	uint64_t base;
};

struct program {
	struct words w;
	struct stack stack[2];
	unsigned running;
	uint64_t random;
	struct {
		char path[256];
		uint64_t refs;
	} want[256];
	unsigned n_want;
};

static unsigned any(struct program *p, unsigned n)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(p->random >> 40) % n;
}

static void expect(struct program *p, const char *path)
{
	unsigned i = 0;

	while (i < p->n_want && strcmp(p->want[i].path, path) != 0)
		i++;
	if (i == p->n_want)
		snprintf(p->want[p->n_want++].path, sizeof(p->want[0].path), "%s", path);
	p->want[i].refs++;
}

/* A reference of the function on top. */
static void refer(struct program *p)
{
	const struct stack *stack = &p->stack[p->running];
	static const unsigned blocks[] = { INNER, AFTER, REST };

	RUN(&p->w, block_of(stack->at[stack->n - 1].function, blocks[any(p, 3)]), DATA);
	expect(p, stack->at[stack->n - 1].path);
}

static void call(struct program *p)
{
	struct stack *stack = &p->stack[p->running];
	const struct stack *other = &p->stack[!p->running];
	unsigned above = stack->n ? stack->at[stack->n - 1].function + 1 : stack->lowest, function;
	uint64_t frame = stack->n ? stack->at[stack->n - 1].frame : stack->base;
	const char *caller = stack->n                   ? stack->at[stack->n - 1].path
		: other->n && other->base > stack->base ? other->at[other->n - 1].path
							: NULL;

	if (above > stack->highest)
		return;
	function = above + any(p, stack->highest - above + 1);
	frame -= 0x40 * (1 + any(p, 4)); /* callees have different places */
	stack->at[stack->n].function = function;
	stack->at[stack->n].frame = frame;
	snprintf(stack->at[stack->n].path, sizeof(stack->at[0].path), "code_%u%s%s", function + 1,
		caller ? "<" : "", caller ? caller : "");
	RUN(&p->w, block_of(function, ENTRY), frame,
		stack->n ? within(stack->at[stack->n - 1].function) : UNSEEN);
	stack->n++;
	if (any(p, 2)) { /* the entry's own reference */
		put(&p->w, DATA);
		expect(p, stack->at[stack->n - 1].path);
	}
}

/* To any of them: a return, or what goes over several. */
static void leave(struct program *p, unsigned n)
{
	struct stack *stack = &p->stack[p->running];

	stack->n = n;
}

static void jump(struct program *p)
{
	struct stack *stack = &p->stack[p->running];
	unsigned function = stack->at[stack->n - 1].function;
	char caller[200];

	if (stack->n < 2 || function == stack->highest)
		return;
	function += 1 + any(p, stack->highest - function);
	stack->at[stack->n - 1].function = function;
	snprintf(caller, sizeof(caller), "%s", stack->at[stack->n - 2].path);
	snprintf(stack->at[stack->n - 1].path, sizeof(stack->at[0].path), "code_%u<%s",
		function + 1, caller);
	enter(&p->w, function, stack->at[stack->n - 1].frame,
		within(stack->at[stack->n - 2].function));
	expect(p, stack->at[stack->n - 1].path);
}

/* The other stack goes on. A coroutine that begins on a stack below is called by who starts it; on
 * a stack above all, by nobody. */
static void change(struct program *p)
{
	refer(p);
	p->running = !p->running;
	if (!p->stack[p->running].n) {
		call(p);
		refer(p);
	} else {
		refer(p);
	}
}

static void check_random(uint64_t seed, uint64_t coroutine_base)
{
	struct program p = { .random = seed,
		.stack = { { .base = FRAME_0, .highest = 3 },
			{ .base = coroutine_base, .lowest = 4, .highest = 7 } } };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	uint64_t refs = 0;

	load_program(&p.w);
	define_all(&p.w);
	call(&p);
	for (int i = 0; i < 2000; i++) {
		struct stack *stack = &p.stack[p.running];

		switch (any(&p, 8)) {
		case 0:
		case 1:
			refer(&p);
			break;
		case 2:
		case 3:
			call(&p);
			break;
		case 4:
			jump(&p);
			break;
		case 5:
			change(&p);
			break;
		default:
			leave(&p, 1 + any(&p, stack->n));
		}
	}
	profile = profile_of(&p.w, &options);
	for (unsigned i = 0; i < p.n_want; i++) {
		if (refs_in(profile, p.want[i].path) != p.want[i].refs)
			CHECK_FAIL("seed %" PRIu64 ": %s has %" PRIu64 " references, want %" PRIu64,
				seed, p.want[i].path, refs_in(profile, p.want[i].path),
				p.want[i].refs);
		refs += p.want[i].refs;
	}
	{
		GET(profile, context, contexts);
		for (size_t i = 0; i < n_context; i++)
			refs -= context[i].refs;
	}
	CHECK_U64(refs, 0);
	free(p.w.word);
}

static const struct loci_loop_row *loop_at(struct loci_profile *profile, unsigned line)
{
	GET(profile, loop, loops);
	for (size_t i = 0; i < n_loop; i++)
		if (loop[i].line == line)
			return &loop[i];
	CHECK_FAIL("no loop at line %u", line);
	return loop;
}

/* The references of all pairs of a site with itself that a loop carries; 0: none does. */
static uint64_t carried(struct loci_profile *profile, unsigned line, int64_t loop)
{
	uint64_t refs = 0;

	GET(profile, site, sites);
	GET(profile, pair, pairs);
	for (size_t i = 0; i < n_pair; i++) {
		const struct loci_site_row *use =
			loci_row_find(site, n_site, sizeof(*site), pair[i].use_site_id);

		if (use && use->line == line && pair[i].reuse_site_id == use->id &&
			pair[i].loop_id == loop)
			refs += pair[i].refs;
	}
	return refs;
}

/* for 3 { for 4 lines { load } }: only the turn of the outer loop tells that the inner one was
 * left, and so that the outer one carries the reuse. Called twice, by a loop that has a turn only,
 * too. */
static void check_loops(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	define_all(&w);
	RUN(&w, block_of(1, REST), DATA); /* in another thread, before its module is told */
	load_program(&w);
	enter(&w, 0, FRAME_0, UNSEEN);
	for (unsigned k = 0; k < 2; k++) {
		RUN(&w, block_of(0, OUTER), 0);
		enter(&w, 1, FRAME_0 - 0x100, within(0));
		for (unsigned i = 0; i < 3; i++) {
			RUN(&w, block_of(1, OUTER), 0);
			for (uint64_t j = 0; j < 4; j++)
				RUN(&w, block_of(1, INNER), DATA + 64 * (j + 1));
		}
		RUN(&w, block_of(1, REST), DATA);
		RUN(&w, block_of(0, AFTER), DATA);
	}
	profile = profile_of(&w, &options);
	{
		const struct loci_loop_row *outer = loop_at(profile, 250),
					   *inner = loop_at(profile, 260);
		const struct loci_loop_row *around = loop_at(profile, 150);

		CHECK_U64(around->iterations, 1);
		CHECK_U64(outer->iterations, 2 * 2);
		CHECK_U64(inner->iterations, 2 * 3 * 3);
		CHECK_U64((uint64_t)inner->parent_id, (uint64_t)outer->id);
		CHECK_U64((uint64_t)outer->parent_id, 0);
		CHECK_U64(outer->last_line, 250);
		CHECK_U64(inner->last_line, 260);
		CHECK_U64(carried(profile, 205, outer->id), 2 * 2 * 4);
		CHECK_U64(carried(profile, 205, around->id), 4);
		CHECK_U64(carried(profile, 205, inner->id), 0);
		CHECK_U64((uint64_t)site_at(profile, site(1, 4) - bias, "load")->loop_id,
			(uint64_t)inner->id);
		CHECK_U64((uint64_t)site_at(profile, site(1, 6) - bias, "store")->loop_id, 0);
		CHECK_U64(site_at(profile, site(1, 4) - bias, "load")->line, 205);
	}
	{
		GET(profile, loop, loops);
		CHECK_U64(n_loop, 3);
	}
	free(w.word);
}

/* References of functions that are not wanted are left out; who called whom is not. */
static void check_wanted(const char *only, const char *skip, uint64_t first, uint64_t second)
{
	struct loci_analyse_options how = options;
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	how.only = only;
	how.skip = skip;
	define_all(&w); /* the module may be told after its code */
	load_program(&w);
	enter(&w, 0, FRAME_0, UNSEEN);
	RUN(&w, block_of(0, REST), DATA);
	enter(&w, 1, FRAME_0 - 0x100, within(0));
	enter(&w, 2, FRAME_0 - 0x200, within(1));
	profile = profile_of(&w, &how);
	CHECK_U64(refs_in(profile, "code_1"), first);
	CHECK_U64(refs_in(profile, "code_2<code_1"), second);
	CHECK_U64(refs_in(profile, "code_3<code_2<code_1"), 1);
	free(w.word);
}

/* What is not seen is said. */
static void check_unseen(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_analyse_options how = options;
	const struct loci_unseen_calls *unseen;
	const struct loci_run *run;
	size_t n;

	how.only = "*";
	load_program(&w);
	define_all(&w);
	enter(&w, 0, FRAME_0, UNSEEN);
	name(&w, 2, "/lib/libz.so.1");
	name(&w, 3, "libm.so.6");
	mark(&w, LOCI_MARK_UNSEEN, 2, 2, (uint64_t)17, (uint64_t)0);
	mark(&w, LOCI_MARK_UNSEEN, 3, 2, (uint64_t)1204000, (uint64_t)0);
	mark(&w, LOCI_MARK_UNSEEN, 3, 2, (uint64_t)331, (uint64_t)0);
	profile = profile_of(&w, &how);
	run = loci_profile_run(profile);
	unseen = loci_profile_unseen(profile, &n);
	CHECK_U64(n, 2);
	CHECK(!strcmp(unseen[0].library, "libm.so.6"));
	CHECK_U64(unseen[0].calls, 1204331);
	CHECK(!strcmp(unseen[1].library, "libz.so.1"));
	CHECK_U64(unseen[1].calls, 17);
	CHECK(strstr(run->note, "nothing of the kernel"));
	CHECK(strstr(run->capabilities, "partial"));
	CHECK(!strstr(run->capabilities, "complete"));
	free(w.word);
}

int main(void)
{
	check_callers();
	check_recursion(5);
	check_recursion(1000);
	check_middle();
	check_no_callers();
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_random(seed, seed % 2 ? FRAME_0 + 0x10000 : FRAME_0 / 2);
	check_loops();
	check_wanted("code_2,code_3", NULL, 0, 1);
	check_wanted("*_[23],code?3", NULL, 0, 0);
	check_wanted("*3", "code_2", 0, 0);
	check_wanted(NULL, "c*_1,*2*", 0, 0);
	check_wanted(NULL, "code_11,*d?_2", 2, 0);
	check_unseen();
	return check_status();
}
