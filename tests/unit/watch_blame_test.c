// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of a watching collector, made by hand: which pairs, sites, objects and contexts they
 * give. The code stands in this program, with a section of definitions for it made by hand, so that
 * what a watch tells, an address of code, can be looked up. */
#include "analyse/watch_events.h"
#include "attribution.h"

#include "symbol/symbol.h"

#include <link.h>

void code_1(volatile long *p), code_2(volatile long *p), plain(volatile long *p);

/* clang-format off */
#line 100 "/fixed.c"
__attribute__((noinline)) void code_1(volatile long *p) {
	(void)p[0];
	p[1] = 3; (void)p[2];
	p[3] = 4;
}
__attribute__((noinline)) void code_2(volatile long *p) {
	code_1(p);
	p[4] = 5;
}
__attribute__((noinline)) void plain(volatile long *p) {
	code_2(p);
	p[5] = 6;
}
#line 29 "watch_blame_test.c"
enum { LOAD_101, STORE_102, LOAD_102, STORE_103, SITES };

#define SITE(op, line, variable) ".long 8\n.byte " #op ", 0\n.short 0\n.long " #line "\n.short 0, 0\n.long " variable ", 0\n"
#define BLOCK(first, n, flags) ".long " #first "\n.short " #n "\n.byte " #flags ", 0\n.long -1, 0\n"
#define DEFINITION(name, sites)                                                                  \
	__asm__(".section loci_def, \"a\", @progbits\n.balign 8\n.globl def_" #name "\n"         \
		"def_" #name ": .long 0x4346434c\n.short 1, 0\n.long 64+16+4*24+24\n"            \
		".long 1, 4, 1, 0, 0\n.long " #name " - .\n.long 9f - .\n.long 0\n.zero 20\n"    \
		BLOCK(0, 4, 0) sites                                                             \
		".long 9f - .\n.long 0\n.long 8f - .\n.long 100, 0\n.short 0, 0xffff\n"          \
		".section .rodata\n9: .string \"" #name "\"\n8: .string \"/fixed.c\"\n"         \
		"7: .string \"v[]\"\n6: .string \"w[]\"\n.text\n"); \
	extern const char def_##name[];
DEFINITION(code_1, SITE(0, 101, "0") SITE(1, 102, "7f - .") SITE(0, 102, "6f - .") SITE(1, 103, "0"))
DEFINITION(code_2, SITE(0, 1, "0") SITE(0, 2, "0") SITE(0, 3, "0") SITE(0, 4, "0"))
/* clang-format on */

static uint64_t bias;

static int find_bias(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	bias = info->dlpi_addr;
	return 1; /* the program is the first */
}

#define STRING 1000

static const char *own_path(void)
{
	static char path[512];

	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	return path;
}

static void load_program(struct words *w)
{
	uint64_t text[64] = { 0 };

	memcpy(text, own_path(), strlen(own_path()));
	put(w, loci_mark_word(LOCI_MARK_STRING, 64, STRING));
	for (int i = 0; i < 64; i++)
		put(w, text[i]);
	mark(w, LOCI_MARK_MODULE_LOAD, 1, 6, bias, bias, (uint64_t)64 << 20, (uint64_t)STRING,
		(uint64_t)0, (uint64_t)0);
}

static uint64_t site(unsigned i)
{
	return (uint64_t)(uintptr_t)def_code_1 + 64 + 16 + i * 24;
}

static uint64_t descriptor(unsigned i)
{
	return loci_ref_word(8, i == STORE_102 || i == STORE_103 ? LOCI_OP_STORE : LOCI_OP_LOAD, 0);
}

static uint64_t within(void (*function)(volatile long *))
{
	return (uint64_t)(uintptr_t)function + 2;
}

/* Just behind the first instruction of code_1 in a line. */
static uint64_t behind_line(unsigned line)
{
	struct loci_frame_name frames[LOCI_FRAMES_MAX];
	uint64_t code = (uint64_t)(uintptr_t)code_1 - bias;
	struct loci_symbols *symbols = NULL;
	uint32_t module;
	size_t n;

	CHECK(loci_symbols_new(&symbols, NULL) == 0);
	CHECK(loci_symbols_module(symbols, own_path(), NULL, 0, &module, NULL) == 0);
	for (uint64_t at = code; at < code + 64; at++)
		if (loci_symbols_frames(symbols, module, at, frames, LOCI_FRAMES_MAX, &n, NULL) ==
				0 &&
			n && frames[0].line == line && !strcmp(frames[0].mangled, "code_1")) {
			loci_symbols_free(symbols);
			return at + bias + 1;
		}
	loci_symbols_free(symbols);
	CHECK_FAIL("no code in line %u", line);
	return 0;
}

/* Which of two in one line it is: the variable tells, else the kind that is preferred. */
static void check_reference(void)
{
	static const struct {
		struct loci_reference_hint hint;
		unsigned site;
	} all[] = {
		{ { .stores = false, .variable = NULL }, LOAD_102 },
		{ { .stores = true, .variable = NULL }, STORE_102 },
		{ { .stores = false, .variable = "v" }, STORE_102 },
		{ { .stores = true, .variable = "w" }, LOAD_102 },
		{ { .stores = false, .variable = "vw" }, LOAD_102 },
		{ { .stores = true, .variable = "x" }, STORE_102 },
	};
	struct loci_symbol_reference got;
	struct loci_symbols *symbols = NULL;
	uint64_t behind = behind_line(102) - bias;
	uint32_t module;

	CHECK(loci_symbols_new(&symbols, NULL) == 0);
	CHECK(loci_symbols_module(symbols, own_path(), NULL, 0, &module, NULL) == 0);
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(all); i++) {
		CHECK(loci_symbols_reference(symbols, module, behind, &all[i].hint, &got, NULL) ==
			1);
		CHECK_U64(got.site, site(all[i].site) - bias);
		CHECK_U64(got.code, (uint64_t)(uintptr_t)code_1 - bias);
	}
	/* code that nobody watches, and a watched function's line without a site */
	CHECK(loci_symbols_reference(
		      symbols, module, within(plain) - bias, &all[0].hint, &got, NULL) == 0);
	CHECK_U64(got.code, 0);
	CHECK(loci_symbols_reference(
		      symbols, module, within(code_2) - bias, &all[0].hint, &got, NULL) == 0);
	CHECK_U64(got.code, (uint64_t)(uintptr_t)code_2 - bias);
	CHECK(loci_symbols_is_defined(symbols, module, got.code, NULL) == 1);
	CHECK(loci_symbols_is_defined(symbols, module, got.code + 1, NULL) == 0);
	loci_symbols_free(symbols);
}

#define A 0x100000ull
#define B 0x200000ull
#define C 0x300000ull

/* A sample that stands for 1000 references. */
static void open_sample(
	struct words *w, uint64_t id, uint64_t address, unsigned at, uint64_t watch, uint64_t after)
{
	mark(w, LOCI_MARK_SAMPLE_OPEN, id, 12, address, 1000 * id, site(at), descriptor(at), watch,
		0ull, 1000ull, 1ull, 1ull, 0ull, 0ull, after);
}

static void fire(struct words *w, uint64_t id, uint64_t address, uint64_t count, uint64_t at,
	uint64_t what, uint64_t thread, uint64_t touches, uint64_t after)
{
	mark(w, LOCI_MARK_SAMPLE_FIRE, id, 9, address, count, at, what, thread, 0ull, touches, 0ull,
		after);
}

static void named(struct words *w, uint64_t address, const char *text, uint64_t sequence)
{
	name(w, address, text);
	mark(w, LOCI_MARK_OBJECT, 4096, 3, address, sequence, address);
}

static struct words made(void)
{
	struct words w = { 0 };

	load_program(&w);
	named(&w, A, "a", 5);
	/* Its reuse was seen. Return addresses may come in pieces. */
	open_sample(&w, 1, A, LOAD_101, LOCI_WATCH_BURST, 0);
	mark(&w, LOCI_MARK_STACK, 0, 1, within(code_2));
	fire(&w, 1, A, 1004, site(STORE_102), descriptor(STORE_102), 1, 5, 0);
	mark(&w, LOCI_MARK_STACK, 0, 1, within(code_2) - 1); /* the same line: one call */
	/* A watch met it; between the calls is code that nobody watches. */
	open_sample(&w, 2, A, STORE_103, 0, 0);
	mark(&w, LOCI_MARK_STACK, 0, 1, within(code_2));
	mark(&w, LOCI_MARK_FREE, 0, 2, 0ull, 6ull); /* of a thread, while they are written */
	mark(&w, LOCI_MARK_STACK, 0, 2, within(plain), within(code_2));
	fire(&w, 2, A, 2600, behind_line(101), 0, 1, 0, 0);
	/* Never reused; of memory that is told of later. */
	open_sample(&w, 3, B, LOAD_101, 1, 7);
	/* Another thread's, and code whose line has a load and a store. */
	open_sample(&w, 4, C, STORE_103, 2, 9);
	fire(&w, 4, C, 4010, behind_line(102), 0, 2, 0, 9);
	mark(&w, LOCI_MARK_SWITCH, 1, 0);
	named(&w, B, "b", 7);
	mark(&w, LOCI_MARK_OBJECT_END, 0, 2, B, 8ull);
	named(&w, C, "c", 9);
	mark(&w, LOCI_MARK_OBJECT_END, 0, 2, C, 10ull);
	mark(&w, LOCI_MARK_COUNT, 0, 1, 4000ull);
	return w;
}

static struct loci_profile *profile_of(const struct words *words, bool writes_only)
{
	static const char path[] = "watch_blame_test.loci";
	const struct loci_analyse_watching watching = { .period = 1000,
		.writes_only = writes_only };
	const struct loci_analyse_options options = {
		.attribute = true, .no_sets = true, .no_source = true, .watching = &watching
	};
	struct words_source source = words_source(words);
	struct loci_analyse_summary summary;
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };

	source.source.info.collector = LOCI_COLLECTOR_CC;
	if (loci_analyse(&source.source, &options, path, &summary, &err) < 0 ||
		loci_profile_open(path, &profile, &err) < 0)
		CHECK_FAIL("%s", err.text);
	remove(path);
	return profile;
}

struct expected {
	unsigned use, reuse;
	const char *object, *kind, *use_context, *reuse_context;
};

static void check_pair(struct loci_profile *profile, const struct expected *want)
{
	int64_t use =
		site_id(profile, site(want->use) - bias, want->use == STORE_103 ? "store" : "load");
	int64_t reuse = site_id(
		profile, site(want->reuse) - bias, want->reuse == STORE_102 ? "store" : "load");
	char text[256];

	GET(profile, pair, pairs);
	for (size_t i = 0; i < n_pair; i++) {
		if (pair[i].use_site_id != use || pair[i].reuse_site_id != reuse ||
			pair[i].object_id != object_named(profile, want->object))
			continue;
		CHECK_STR(pair[i].kind, want->kind);
		CHECK_U64(pair[i].refs, 1000);
		CHECK(!pair[i].recycled);
		CHECK_STR(context_path(profile, pair[i].use_context_id, text, sizeof(text)),
			want->use_context);
		CHECK_STR(context_path(profile, pair[i].reuse_context_id, text, sizeof(text)),
			want->reuse_context);
		return;
	}
	CHECK_FAIL("no pair %s", want->object);
}

/* Weight at a time distance, of a site. */
static double at_time(struct loci_profile *profile, unsigned i, const char *op, uint64_t distance)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_TIME,
		.block_bytes = 64,
		.owner = LOCI_OWNER_SITE,
		.owner_id = site_id(profile, site(i) - bias, op) };
	const struct loci_hist *hist = NULL;
	uint32_t bin;

	if (loci_profile_hist(profile, &key, &hist, NULL) < 0)
		return -1;
	if (distance == LOCI_INFINITE)
		return hist->cold;
	bin = loci_bin_of(hist->scheme, distance);
	return bin < hist->n_bins ? hist->weight[bin] : 0;
}

static void check_whole(struct loci_profile *profile)
{
	struct loci_hist_key key = { .distance = LOCI_DISTANCE_TIME, .block_bytes = 64 };
	const struct loci_hist *hist = NULL;

	CHECK(loci_profile_hist(profile, &key, &hist, NULL) == 0);
	CHECK_NEAR(loci_hist_total(hist), 4000, 1e-6);
	CHECK_NEAR(hist->cold, 1000, 1e-6);
	key.distance = LOCI_DISTANCE_TIME_REMOTE;
	CHECK(loci_profile_hist(profile, &key, &hist, NULL) == 0);
	CHECK_NEAR(loci_hist_total(hist), 1000, 1e-6);
}

static void check(void)
{
	const struct expected expected[] = {
		{ LOAD_101, STORE_102, "a", "WAR", "code_1<code_2", "code_1<code_2" },
		{ STORE_103, LOAD_101, "a", "RAW", "code_1<code_2<code_2", "code_1" },
		{ STORE_103, LOAD_102, "c", "RAW", "code_1", "code_1" },
	};
	struct words words = made();
	struct loci_profile *profile = profile_of(&words, false);

	GET(profile, pair, pairs);
	CHECK_U64(n_pair, LOCI_ARRAY_SIZE(expected));
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(expected); i++)
		check_pair(profile, &expected[i]);
	for (size_t i = 0; i < n_pair; i++)
		if (!strcmp(pair[i].kind, "WAR"))
			CHECK(pair[i].use_context_id == pair[i].reuse_context_id);
	CHECK_U64(site_at(profile, site(LOAD_101) - bias, "load")->refs, 2000);
	CHECK_U64(site_at(profile, site(LOAD_101) - bias, "load")->line, 101);
	CHECK_U64(site_at(profile, site(STORE_103) - bias, "store")->refs, 2000);
	/* met as reuses only */
	CHECK_U64(site_at(profile, site(STORE_102) - bias, "store")->refs, 0);
	CHECK_NEAR(at_time(profile, STORE_102, "store", 5), 1000, 0);
	CHECK_NEAR(at_time(profile, LOAD_101, "load", 600), 1000, 0);
	CHECK_NEAR(at_time(profile, LOAD_101, "load", LOCI_INFINITE), 1000, 0);
	CHECK_NEAR(at_time(profile, LOAD_102, "load", 10), 1000, 0);
	CHECK_U64(context_refs(profile, "code_1<code_2"), 1000);
	CHECK_U64(context_refs(profile, "code_1<code_2<code_2"), 1000);
	CHECK_U64(context_refs(profile, "code_1"), 2000);
	CHECK(object_named(profile, "b") > 0);
	check_whole(profile);
	loci_profile_close(profile);

	/* where only writes are watched the store of that line is meant */
	profile = profile_of(&words, true);
	check_pair(profile,
		&(struct expected){ STORE_103, STORE_102, "c", "WAW", "code_1", "code_1" });
	loci_profile_close(profile);
	free(words.word);
}

static void hear(struct loci_watch_events *watched, unsigned kind, uint64_t payload,
	const uint64_t *raw, unsigned n_raw, uint32_t thread)
{
	const struct loci_event event = { kind, payload, raw, n_raw, thread };

	loci_watch_events_event(watched, &event);
}

/* What a thread counted is counted once, also if its last samples are heard of when it is over; and
 * so is another of its number. */
static void check_threads(void)
{
	const uint64_t counted = 1000, sample[] = { 4096, 900, 1, 0, LOCI_WATCH_NONE, 0, 10, 2 };
	struct loci_sample_sum sum;
	struct loci_watch_events watched;

	CHECK(loci_watch_events_init(&watched, LOCI_WEIGH_INVERSE, 0, NULL) == 0);
	for (uint64_t id = 1; id <= 2; id++) {
		hear(&watched, LOCI_MARK_THREAD_START, 2, NULL, 0, 2);
		hear(&watched, LOCI_MARK_COUNT, 0, &counted, 1, 2);
		hear(&watched, LOCI_MARK_THREAD_EXIT, 2, NULL, 0, 2);
		hear(&watched, LOCI_MARK_SAMPLE_OPEN, id, sample, 8, 0);
	}
	loci_sample_sum_init(&sum);
	CHECK(loci_watch_events_finish(&watched, &sum, NULL) == 0);
	CHECK_U64(sum.references, 2000);
	CHECK_U64(sum.samples, 2);
	loci_sample_sum_fini(&sum);
	loci_watch_events_fini(&watched);
}

int main(void)
{
	check_threads();
	dl_iterate_phdr(find_bias, NULL);
	plain((volatile long[6]){ 0 });
	check_reference();
	check();
	return check_status();
}
