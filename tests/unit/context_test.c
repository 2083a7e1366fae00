// SPDX-License-Identifier: GPL-2.0-or-later
/* Calling contexts, counted by hand: calls and returns, tail calls, recursion, what leaves frames
 * without return, handlers on other stacks, threads. */
#include "attribution.h"

#include "analyse/code.h"
#include "analyse/context.h"

static const struct loci_analyse_options options = { .attribute = true, .no_sets = true };

enum { MAIN = 1, MAIN_CALL, MAIN_REST, F, F_RET, G, G_RET, STUB, F_BODY };

/* Frames of main and of what it calls. */
#define FRAME_0 0x7ff000
#define FRAME_1 (FRAME_0 - 0x100)
#define FRAME_2 (FRAME_1 - 0x100)
#define DATA    0x500000

/* main at 0x1000, f at 0x2000, g at 0x3000. */
static void define_code(struct words *w)
{
	DEFINE(w, MAIN, LOCI_BLOCK_ENTRY, FRAME(0x1000), LOAD(0x1004));
	DEFINE(w, MAIN_CALL, 0, STORE(0x1010));
	DEFINE(w, MAIN_REST, 0, LOAD(0x1015), LOAD(0x1020));
	DEFINE(w, F, LOCI_BLOCK_ENTRY, FRAME(0x2000), LOAD(0x2004), STORE(0x2010));
	DEFINE(w, F_RET, 0, LOAD(0x2015), LOAD(0x2020));
	DEFINE(w, F_BODY, 0, LOAD(0x2018));
	DEFINE(w, G, LOCI_BLOCK_ENTRY, FRAME(0x3000), LOAD(0x3004));
	DEFINE(w, G_RET, 0, LOAD(0x3020));
	DEFINE(w, STUB, LOCI_BLOCK_ENTRY, FRAME(0x4000), LOAD(0x4004));
}

/* f calls g and returns; main goes on. Every reference is where it belongs, the return's load in
 * the function that returns. */
static void check_calls(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	const struct loci_context_row *context = NULL;
	size_t n = 0;

	define_code(&w);
	RUN(&w, MAIN, FRAME_0, DATA);
	for (int i = 0; i < 3; i++) {
		RUN(&w, MAIN_CALL, FRAME_1);
		RUN(&w, F, FRAME_1, DATA, FRAME_2);
		RUN(&w, G, FRAME_2, DATA);
		RUN(&w, G_RET, FRAME_2);
		RUN(&w, F_RET, DATA, FRAME_1);
		RUN(&w, MAIN_REST, DATA, DATA);
	}
	RUN(&w, MAIN_CALL, FRAME_1);
	RUN(&w, G, FRAME_1, DATA); /* called by main itself */
	RUN(&w, G_RET, FRAME_1);
	profile = attributed(&w, &options);
	CHECK_U64(context_refs(profile, "0x1000"), 1 + 3 * 3 + 1);
	CHECK_U64(context_refs(profile, "0x2000<0x1000"), 3 * 4);
	CHECK_U64(context_refs(profile, "0x3000<0x2000<0x1000"), 3 * 2);
	CHECK_U64(context_refs(profile, "0x3000<0x1000"), 2);
	CHECK(loci_profile_contexts(profile, &context, &n, NULL) == 0);
	CHECK_U64(n, 4);
	free(w.word);
}

/* Without the load of a return, a block that is known to be the caller's tells it; so does one
 * right behind the call. */
static void check_unseen_returns(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	define_code(&w);
	RUN(&w, MAIN, FRAME_0, DATA);
	RUN(&w, MAIN_CALL, FRAME_1);
	RUN(&w, F, FRAME_1, DATA, FRAME_2);
	RUN(&w, G, FRAME_2, DATA);
	RUN(&w, F_RET, DATA, DATA);  /* behind f's call of g, never seen before */
	RUN(&w, MAIN_CALL, FRAME_1); /* known to be main's: f is gone, too */
	RUN(&w, F, FRAME_1, DATA, FRAME_2);
	RUN(&w, G, FRAME_2, DATA);
	RUN(&w, MAIN_CALL, FRAME_1); /* longjmp */
	profile = attributed(&w, &options);
	CHECK_U64(context_refs(profile, "0x1000"), 1 + 3);
	CHECK_U64(context_refs(profile, "0x2000<0x1000"), 2 + 2 + 2);
	CHECK_U64(context_refs(profile, "0x3000<0x2000<0x1000"), 2);
	free(w.word);
}

/* What takes a frame's place at its very address was called from where that was. */
static void check_tail_call(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	const struct loci_context_row *context = NULL;
	size_t n = 0;

	define_code(&w);
	RUN(&w, MAIN, FRAME_0, DATA);
	RUN(&w, MAIN_CALL, FRAME_1);
	RUN(&w, STUB, FRAME_1, DATA);
	RUN(&w, F, FRAME_1, DATA, FRAME_2);
	RUN(&w, F_RET, DATA, FRAME_1);
	RUN(&w, MAIN_CALL, FRAME_1);
	RUN(&w, F, FRAME_1, DATA, FRAME_2); /* the same call without stub: the same context */
	profile = attributed(&w, &options);
	CHECK_U64(context_refs(profile, "0x1000"), 3);
	CHECK_U64(context_refs(profile, "0x4000<0x1000"), 1);
	CHECK_U64(context_refs(profile, "0x2000<0x1000"), 4 + 2);
	CHECK(loci_profile_contexts(profile, &context, &n, NULL) == 0);
	CHECK_U64(n, 3);
	free(w.word);
}

/* f calls itself from one place: one context below the first, however deep. */
static void check_recursion(int depth)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	const struct loci_context_row *context = NULL;
	size_t n = 0;

	define_code(&w);
	RUN(&w, MAIN, FRAME_0, DATA);
	RUN(&w, MAIN_CALL, FRAME_1);
	for (int i = 0; i < depth; i++)
		RUN(&w, F, FRAME_1 - 0x10 * (uint64_t)i, DATA, FRAME_1 - 0x10 * (uint64_t)(i + 1));
	for (int i = depth; i-- > 0;)
		RUN(&w, F_RET, DATA, FRAME_1 - 0x10 * (uint64_t)i);
	RUN(&w, MAIN_REST, DATA, DATA);
	profile = attributed(&w, &options);
	CHECK_U64(context_refs(profile, "0x1000"), 4);
	CHECK_U64(context_refs(profile, "0x2000<0x1000"), 4);
	CHECK_U64(context_refs(profile, "0x2000<0x2000<0x1000"), 4 * (uint64_t)(depth - 1));
	CHECK(loci_profile_contexts(profile, &context, &n, NULL) == 0);
	CHECK_U64(n, 3);
	free(w.word);
}

/* f reads where it will return to, and calls g then: that is no return, wherever reading stops. */
static void check_own_return(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	define_code(&w);
	RUN(&w, MAIN, FRAME_0, DATA);
	RUN(&w, MAIN_CALL, FRAME_1);
	RUN(&w, F, FRAME_1, FRAME_1, FRAME_2);
	RUN(&w, G, FRAME_2, DATA);
	RUN(&w, G_RET, FRAME_2);
	RUN(&w, F_RET, DATA, FRAME_1);
	RUN(&w, MAIN_REST, DATA, DATA);
	profile = attributed(&w, &options);
	CHECK_U64(context_refs(profile, "0x1000"), 4);
	CHECK_U64(context_refs(profile, "0x2000<0x1000"), 4);
	CHECK_U64(context_refs(profile, "0x3000<0x2000<0x1000"), 2);
	free(w.word);
}

/* f calls itself from n places: a context below the first for each of these, whichever came before.
 */
static void check_orders(void)
{
	enum { MAIN_SITE = 1, F_SITE, FIRST_CALL, N_CALLS = 12, DEPTH = 30 };
	struct loci_contexts contexts;
	uint32_t main_id = 0, first = 0, id, state = 1;

	CHECK(loci_contexts_init(&contexts) == 0);
	CHECK(loci_contexts_child(
		      &contexts, LOCI_CONTEXT_ROOT, MAIN_SITE, LOCI_NO_SITE, &main_id) == 0);
	CHECK(loci_contexts_child(&contexts, main_id, F_SITE, FIRST_CALL + N_CALLS, &first) == 0);
	for (int round = 0; round < 1000; round++) {
		id = first;
		for (int depth = 0; depth < DEPTH; depth++) {
			state = state * 1664525 + 1013904223;
			CHECK(loci_contexts_child(&contexts, id, F_SITE,
				      FIRST_CALL + (state >> 16) % N_CALLS, &id) == 0);
			CHECK_U64(contexts.node[id].entry, F_SITE);
			CHECK_U64(contexts.node[id].parent, first);
		}
	}
	CHECK_U64(contexts.n, 1 + 2 + N_CALLS);
	CHECK(!contexts.full);
	loci_contexts_fini(&contexts);
}

/* A handler's stack lies above all others, and its frames must not end those of what it interrupts;
 * another thread has frames of its own. */
static void check_handlers_and_threads(void)
{
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;

	define_code(&w);
	RUN(&w, MAIN, FRAME_0, DATA);
	RUN(&w, MAIN_CALL, FRAME_1);
	RUN(&w, F, FRAME_1, DATA, FRAME_2);
	mark(&w, LOCI_MARK_SIGNAL_ENTER, 10, 0);
	RUN(&w, G, FRAME_0 + 0x10000, DATA);
	RUN(&w, G_RET, FRAME_0 + 0x10000);
	mark(&w, LOCI_MARK_SIGNAL_LEAVE, 10, 0);
	RUN(&w, F_BODY, DATA); /* still in f */
	mark(&w, LOCI_MARK_SWITCH, 7, 0);
	RUN(&w, G, FRAME_2 + 8, DATA); /* lies between the first thread's frames */
	mark(&w, LOCI_MARK_SWITCH, 0, 0);
	RUN(&w, F_BODY, DATA);
	RUN(&w, F_RET, DATA, FRAME_1);
	RUN(&w, MAIN_REST, DATA, DATA);
	mark(&w, LOCI_MARK_SWITCH, 7, 0);
	RUN(&w, G_RET, FRAME_2 + 8);
	/* handlers that are never left, more than are remembered */
	for (int i = 0; i < 100; i++)
		mark(&w, LOCI_MARK_SIGNAL_ENTER, 10, 0);
	for (int i = 0; i < 110; i++)
		mark(&w, LOCI_MARK_SIGNAL_LEAVE, 10, 0);
	RUN(&w, G, FRAME_1, DATA);
	profile = attributed(&w, &options);
	CHECK_U64(context_refs(profile, "0x1000"), 4);
	CHECK_U64(context_refs(profile, "0x2000<0x1000"), 6);
	CHECK_U64(context_refs(profile, "0x3000"), 2 + 2 + 1);
	free(w.word);
}

/* Distances and levels of contexts, and what the kernel touches on their behalf. */
static void check_figures(void)
{
	static const struct loci_level_row level[] = { { .name = "L1",
		.size_bytes = 2 * 64,
		.ways = 2,
		.line_bytes = 64,
		.share = "private" } };
	struct loci_analyse_options with = options;
	struct words w = { 0 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	loci_cleanup(loci_profile_closep) struct loci_profile *without = NULL;
	const struct loci_context_row *context = NULL;
	size_t n = 0;

	with.levels = level;
	with.n_levels = 1;
	define_code(&w);
	DEFINE(&w, 20, LOCI_BLOCK_KERNEL, { 8, LOCI_OP_STORE, 0, LOCI_REF_KERNEL });
	RUN(&w, MAIN, FRAME_0, DATA);        /* block 0: cold */
	RUN(&w, 20, DATA + 64);              /* block 1: cold, dirty */
	RUN(&w, G, FRAME_1, DATA);           /* 0: distance 1, hit */
	RUN(&w, G_RET, FRAME_1);             /* the stack: cold */
	RUN(&w, MAIN_REST, DATA + 64, DATA); /* 1: distance 2, miss; 0: distance 2, miss */
	profile = attributed(&w, &with);
	CHECK(loci_profile_contexts(profile, &context, &n, NULL) == 0);
	CHECK_U64(n, 2);
	CHECK_U64(context_refs(profile, "0x1000"), 4);
	CHECK_U64(context_refs(profile, "0x3000<0x1000"), 2);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_CONTEXT, context[0].id, LOCI_INFINITE), 2, 0);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_CONTEXT, context[0].id, 2), 2, 0);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_CONTEXT, context[1].id, 1), 1, 0);
	CHECK_NEAR(touches_at(profile, LOCI_OWNER_CONTEXT, context[1].id, LOCI_INFINITE), 1, 0);
	CHECK_U64(level_count(profile, 1, LOCI_OWNER_CONTEXT, context[0].id).misses, 4);
	CHECK_U64(level_count(profile, 1, LOCI_OWNER_CONTEXT, context[0].id).writebacks, 1);
	CHECK_U64(level_count(profile, 1, LOCI_OWNER_CONTEXT, context[1].id).misses, 1);
	CHECK_U64(level_count(profile, 1, LOCI_OWNER_CONTEXT, context[1].id).first_hits, 1);
	with.no_kernel = true;
	without = attributed(&w, &with);
	CHECK_U64(loci_profile_run(without)->references, 5);
	CHECK_U64(context_refs(without, "0x1000"), 3);
	free(w.word);
}

int main(void)
{
	char dir[] = "/tmp/context_test.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	for (size_t i = 0; i < 5; i++) {
		words_step = (const size_t[]){ 300, 1, 2, 3, 5 }[i];
		check_calls();
		check_own_return();
		check_unseen_returns();
		check_tail_call();
		check_recursion(2);
		check_recursion(5000);
		check_handlers_and_threads();
	}
	check_orders();
	check_figures();
	rmdir(dir);
	return check_status();
}
