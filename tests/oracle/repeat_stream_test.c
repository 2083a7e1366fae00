// SPDX-License-Identifier: GPL-2.0-or-later
/* Random programs whose loops are told by RUN, against the same with every address written out, and
 * against engines that hear of every touch: the profiles are the same to the last row. Every second
 * program has three threads. */
#include "attribution.h"

#include <sqlite3.h>

#define N_FUNCTIONS 4
#define N_BLOCKS    6
#define N_OBJECTS   5
#define MAX_REFS    14

static uint64_t state;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 33) % n);
}

struct program {
	struct words run, out; /* with RUN, and written out */
	unsigned n_refs[N_FUNCTIONS][N_BLOCKS];
	uint64_t stack;
	uint64_t heap[N_OBJECTS]; /* 0: none */
	uint64_t sequence;
	uint64_t bulk; /* times that RUN told */
	unsigned n_threads;
};

static uint64_t object_bytes(unsigned i)
{
	return 200 + 3000 * (uint64_t)i;
}

static uint64_t id_of(unsigned function, unsigned block)
{
	return 10 * (uint64_t)(function + 1) + block;
}

static void both(struct program *p, uint64_t word)
{
	put(&p->run, word);
	put(&p->out, word);
}

/* The first block is the entry, and has a frame; some have more references than there are recent
 * blocks, some sites occur twice, some are wide. Some begin with what refers, and may be of one
 * instruction, over and over. */
static void define_block(struct program *p, unsigned f, unsigned b)
{
	unsigned n = 1 + below(b == 5 ? MAX_REFS : below(2) ? 5 : 1);
	uint64_t at = 0x10000 * (1 + (uint64_t)f) + 0x100 * b, gap = below(2) && b ? 0 : 4;

	p->n_refs[f][b] = n;
	both(p, loci_mark_word(LOCI_MARK_DEFINE, 2 + 2 * (n + !b), id_of(f, b)));
	both(p, !b ? LOCI_BLOCK_ENTRY : 0);
	both(p, at);
	if (!b) {
		both(p, loci_ref_word(8, LOCI_OP_FRAME, 0));
		both(p, at);
	}
	for (unsigned i = 0; i < n; i++) {
		both(p,
			loci_ref_word(below(9) ? 4u << below(2) : 32u << below(3),
				below(3) ? LOCI_OP_LOAD : LOCI_OP_STORE, 0));
		both(p, at + 4 * (below(4) ? i : i / 2) + gap);
	}
}

static void define_all(struct program *p)
{
	for (unsigned f = 0; f < N_FUNCTIONS; f++)
		for (unsigned b = 0; b < N_BLOCKS; b++)
			define_block(p, f, b);
}

static uint64_t somewhere(struct program *p)
{
	unsigned i = below(N_OBJECTS + 2);

	if (i < N_OBJECTS && p->heap[i])
		return p->heap[i] + below((unsigned)object_bytes(i));
	if (i == N_OBJECTS)
		return p->stack - 0x20000 - below(300); /* no return address is ever loaded */
	return 0x600000 + below(20000);
}

static void allocate(struct program *p)
{
	unsigned i = below(N_OBJECTS);

	if (p->heap[i]) {
		both(p, loci_mark_word(LOCI_MARK_FREE, 2, 0));
		both(p, p->heap[i]);
		both(p, ++p->sequence);
		p->heap[i] = 0;
	} else {
		p->heap[i] = 0x10000000 + 0x10000 * (uint64_t)i;
		both(p, loci_mark_word(LOCI_MARK_ALLOC, 3, object_bytes(i)));
		both(p, p->heap[i]);
		both(p, ++p->sequence);
		both(p, 0x10004);
	}
}

static void run_block(struct program *p, unsigned f, unsigned b, uint64_t times)
{
	static const int64_t steps[] = { 0, 0, 8, 8, 8, 4, -8, 1, 16, -24, 64, 72, -4096, 63 };
	uint64_t address[MAX_REFS], step[MAX_REFS];
	unsigned n = p->n_refs[f][b];
	bool short_ones = below(3);

	for (unsigned i = 0; i < n; i++) {
		address[i] = i && !below(3) ? address[i - 1] : somewhere(p);
		if (below(2))
			address[i] &= -64ull;
		step[i] = (uint64_t)steps[below(short_ones ? 8 : LOCI_ARRAY_SIZE(steps))];
	}
	if (!below(40))
		address[0] |= 1ull << 63;
	put(&p->run, loci_mark_word(LOCI_MARK_RUN, 2 + 2 * n, id_of(f, b)));
	put(&p->run, times);
	put(&p->run, 0);
	put(&p->out, loci_mark_word(LOCI_MARK_BLOCK, 0, id_of(f, b)));
	for (unsigned i = 0; i < n; i++) {
		put(&p->run, address[i]);
		put(&p->run, step[i]);
	}
	for (uint64_t time = 0; time < times; time++)
		for (unsigned i = 0; i < n; i++) {
			uint64_t at = address[i] + time * step[i];

			if (at >> 63)
				put(&p->out, loci_mark_word(LOCI_MARK_WIDE, 1, 0));
			put(&p->out, at);
		}
	p->bulk += times;
}

static void function(struct program *p, unsigned f, unsigned depth)
{
	unsigned n_steps = 3 + below(12);

	p->stack -= 0x100;
	if (f == 1)
		both(p, loci_mark_word(LOCI_MARK_REGION_BEGIN, 0, 1));
	both(p, loci_mark_word(LOCI_MARK_BLOCK, 0, id_of(f, 0)));
	both(p, p->stack);
	for (unsigned i = 0; i < p->n_refs[f][0]; i++)
		both(p, somewhere(p));
	for (unsigned k = 0; k < n_steps; k++) {
		unsigned what = below(10), b = 1 + below(N_BLOCKS - 1);

		if (what < 4) {
			run_block(p, f, b, 1 + below(below(5) ? 12 : 300));
		} else if (what < 7) {
			both(p, loci_mark_word(LOCI_MARK_BLOCK, 0, id_of(f, b)));
			for (unsigned i = 0; i < p->n_refs[f][b]; i++)
				both(p, somewhere(p));
		} else if (what < 8) {
			if (below(8))
				allocate(p);
			else
				define_block(p, f, b); /* anew: other code is there from now on */
		} else if (what < 9 && depth < 3) {
			function(p, below(N_FUNCTIONS), depth + 1);
		} else {
			both(p, loci_mark_word(LOCI_MARK_SWITCH, 0, below(p->n_threads)));
		}
	}
	if (f == 1)
		both(p, loci_mark_word(LOCI_MARK_REGION_END, 0, 1));
	p->stack += 0x100;
}

/* All rows of all tables but the run's, which knows times. */
static char *dump(const struct words *words, const struct loci_analyse_options *options,
	const char *path, enum loci_collector collector)
{
	struct words_source source = words_source(words);
	struct loci_analyse_summary summary;
	struct loci_err err = { "" };
	sqlite3_stmt *table, *row;
	sqlite3 *db;
	size_t bytes;
	char *text, sql[256];
	FILE *out = open_memstream(&text, &bytes);

	source.source.info.collector = collector;
	if (loci_analyse(&source.source, options, path, &summary, &err) < 0)
		CHECK_FAIL("%s", err.text);
	CHECK(sqlite3_open(path, &db) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(db,
		      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN "
		      "('run', 'environment', 'machine') ORDER BY name",
		      -1, &table, NULL) == SQLITE_OK);
	while (sqlite3_step(table) == SQLITE_ROW) {
		snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\"", sqlite3_column_text(table, 0));
		CHECK(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK);
		while (sqlite3_step(row) == SQLITE_ROW) {
			fprintf(out, "%s", sqlite3_column_text(table, 0));
			for (int i = 0; i < sqlite3_column_count(row); i++)
				fprintf(out, "|%s",
					sqlite3_column_text(row, i)
						? (const char *)sqlite3_column_text(row, i)
						: "");
			fputc('\n', out);
		}
		sqlite3_finalize(row);
	}
	sqlite3_finalize(table);
	sqlite3_close(db);
	fclose(out);
	remove(path);
	return text;
}

static void compare(unsigned seed, const char *what, char *got, const char *want)
{
	const char *a = got, *b = want;

	check_count++;
	if (strcmp(got, want)) {
		while (*a && *a == *b)
			a++, b++;
		while (a > got && a[-1] != '\n')
			a--, b--;
		CHECK_FAIL("seed %u, %s:\n%.*s\n, not\n%.*s", seed, what, (int)strcspn(a, "\n"), a,
			(int)strcspn(b, "\n"), b);
	}
	free(got);
}

static void check_program(unsigned seed)
{
	static const struct loci_level_row levels[] = {
		{ .name = "L1",
			.size_bytes = 1024,
			.ways = 8,
			.line_bytes = 64,
			.share = "private" },
		{ .name = "L2",
			.size_bytes = 8192,
			.ways = 8,
			.line_bytes = 64,
			.share = "private" },
	};
	struct loci_analyse_options options = {
		.no_sets = true, .attribute = true, .levels = levels, .n_levels = 2
	};
	struct program p = { .stack = 0x7ffe0000, .n_threads = seed % 2 ? 1 : 3 };
	char path[64], *want;

	state = seed * 0x9e3779b97f4a7c15ull + 1;
	for (int i = 0; i < 10; i++)
		below(2);
	name(&p.run, 1, "region");
	name(&p.out, 1, "region");
	define_all(&p);
	for (unsigned i = 0; i < 30; i++)
		function(&p, below(N_FUNCTIONS), 0);
	both(&p, loci_mark_word(LOCI_MARK_END, 0, 0));
	CHECK(p.bulk > 1000 && p.out.n > p.run.n);
	if (seed % 3 == 1)
		options.pairs = LOCI_PAIRS_NONE;
	snprintf(path, sizeof(path), "repeat_stream_test.%d.loci", (int)getpid());
	options.one_by_one = true;
	want = dump(&p.out, &options, path, LOCI_COLLECTOR_ANY);
	CHECK(strlen(want) > 5000);
	compare(seed, "RUN, one by one", dump(&p.run, &options, path, LOCI_COLLECTOR_ANY), want);
	options.one_by_one = false;
	compare(seed, "RUN", dump(&p.run, &options, path, LOCI_COLLECTOR_ANY), want);
	compare(seed, "written out", dump(&p.out, &options, path, LOCI_COLLECTOR_ANY), want);
	free(want);
	free(p.run.word);
	free(p.out.word);
}

int main(void)
{
	for (unsigned seed = 1; seed <= check_amount(60); seed++)
		check_program(seed);
	return check_status();
}
