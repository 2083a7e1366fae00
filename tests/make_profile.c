// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a small profile for tests of what reads profiles, without the engines and the analyser:
 *
 *	make_profile OUT [KEY=VALUE..] [PATTERN..]
 *
 * PATTERN: cyclic:BLOCKS:ROUNDS, stride:BLOCKS:STRIDE:ROUNDS, random:BLOCKS:TOUCHES; a leading w
 * makes them writes. Patterns of one profile share their blocks, a leading + starts at new ones.
 * KEY: command, caches, machine, note, unit, mode; block (bytes, several with commas), error
 * (points: pretends sampling), stores=no, sets=no, complete=no, lost; matrix: instead of patterns
 * the program of matrix_program.h, with code, data, contexts, pairs and levels. Everything is
 * counted by plain lists, which is slow: a few thousand blocks are the limit. */
#include "matrix_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX (1u << 16)
#define SET_BITS   10
#define WAYS       64
#define GRAINS_MAX 4

struct lru {
	uint32_t *list; /* most recent first */
	uint32_t n, cap;
};

/* Position before this touch, or UINT32_MAX. */
static uint32_t lru_touch(struct lru *lru, uint32_t block)
{
	uint32_t at = 0, found;

	while (at < lru->n && lru->list[at] != block)
		at++;
	found = at < lru->n ? at : UINT32_MAX;
	if (at == lru->n && lru->n < lru->cap)
		lru->n++;
	if (at == lru->cap)
		at--;
	memmove(lru->list + 1, lru->list, at * sizeof(uint32_t));
	lru->list[0] = block;
	return found;
}

/* All that is counted at one block size. */
struct counter {
	struct loci_grain grain;
	struct lru stack;
	struct loci_hist hist, time, dirty, set[SET_BITS + 1], set_dirty[SET_BITS + 1];
	struct lru *sets[SET_BITS + 1];
	uint64_t last[BLOCKS_MAX];
	uint32_t
		level[BLOCKS_MAX]; /* largest distance since the last write; UINT32_MAX: infinite */
	uint32_t set_level[SET_BITS + 1][BLOCKS_MAX];
};

static void die(const char *what)
{
	fprintf(stderr, "make_profile: %s\n", what);
	exit(1);
}

static void *get(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

static void lru_init(struct lru *lru, uint32_t cap)
{
	*lru = (struct lru){ .list = get(cap, sizeof(uint32_t)), .cap = cap };
}

static struct counter *counter_new(uint64_t block_bytes)
{
	struct counter *c = get(1, sizeof(*c));

	c->grain.block_bytes = block_bytes;
	c->grain.sampling_rate = 1;
	lru_init(&c->stack, BLOCKS_MAX);
	loci_hist_init(&c->hist, LOCI_SCHEME_FINE);
	loci_hist_init(&c->time, LOCI_SCHEME_FINE);
	loci_hist_init(&c->dirty, LOCI_SCHEME_FINE);
	memset(c->level, 0xff, sizeof(c->level));
	memset(c->set_level, 0xff, sizeof(c->set_level));
	for (unsigned a = 0; a <= SET_BITS; a++) {
		loci_hist_init(&c->set[a], LOCI_SCHEME_LINEAR);
		loci_hist_init(&c->set_dirty[a], LOCI_SCHEME_LINEAR);
		c->sets[a] = get(1u << a, sizeof(struct lru));
		for (unsigned i = 0; i < 1u << a; i++)
			lru_init(&c->sets[a][i], WAYS);
	}
	return c;
}

static void counter_free(struct counter *c)
{
	for (unsigned a = 0; a <= SET_BITS; a++) {
		loci_hist_fini(&c->set[a]);
		loci_hist_fini(&c->set_dirty[a]);
		for (unsigned i = 0; i < 1u << a; i++)
			free(c->sets[a][i].list);
		free(c->sets[a]);
	}
	loci_hist_fini(&c->hist);
	loci_hist_fini(&c->time);
	loci_hist_fini(&c->dirty);
	free(c->stack.list);
	free(c);
}

static void add(struct loci_hist *hist, uint64_t value)
{
	if (value == UINT32_MAX)
		hist->cold++;
	else if (loci_hist_add(hist, value, 1) < 0)
		die("out of memory");
}

/* The dirty level of a write, or the level grown by a read. */
static void count_dirty(struct loci_hist *hist, uint32_t *level, uint32_t distance, int is_write)
{
	if (distance > *level || distance == UINT32_MAX)
		*level = distance;
	if (!is_write)
		return;
	add(hist, *level);
	*level = 0;
}

static void touch(struct counter *c, uint32_t block, int is_write)
{
	uint32_t distance = lru_touch(&c->stack, block);

	c->grain.touches++;
	c->grain.writes += (uint64_t)is_write;
	c->grain.blocks += distance == UINT32_MAX;
	add(&c->hist, distance);
	add(&c->time, distance == UINT32_MAX ? UINT32_MAX : c->grain.touches - c->last[block]);
	c->last[block] = c->grain.touches;
	count_dirty(&c->dirty, &c->level[block], distance, is_write);
	for (unsigned a = 0; a <= SET_BITS; a++) {
		distance = lru_touch(&c->sets[a][block & ((1u << a) - 1)], block);
		add(&c->set[a], distance);
		count_dirty(&c->set_dirty[a], &c->set_level[a][block], distance, is_write);
	}
}

struct maker {
	struct loci_run run;
	struct counter *counter[GRAINS_MAX];
	unsigned n_counters;
	double error_points;
	int no_sets;
	uint64_t base; /* patterns begin here, in units of 64 bytes, or objects */
	struct matrix_counts *matrix;
};

static void count_reference(struct maker *m, int is_write)
{
	m->run.references++;
	m->run.loads += !is_write;
	m->run.stores += (uint64_t)is_write;
}

static void touch_at(struct counter *c, uint64_t block, int is_write)
{
	if (block >= BLOCKS_MAX)
		die("too many blocks");
	touch(c, (uint32_t)block, is_write);
}

static void reference(struct maker *m, uint64_t block, int is_write)
{
	count_reference(m, is_write);
	for (unsigned i = 0; i < m->n_counters; i++) {
		uint64_t bytes = m->counter[i]->grain.block_bytes;

		touch_at(m->counter[i],
			bytes == 1 ? m->base + block : (m->base + block) * 64 / bytes, is_write);
	}
}

static void matrix_reference(void *data, unsigned site, unsigned object, unsigned field,
	unsigned context, uint64_t address, int is_write)
{
	struct maker *m = data;

	count_reference(m, is_write);
	m->run.bulk += site == SITE_SUM_CLEAR;
	for (unsigned i = 0; i < m->n_counters; i++)
		touch_at(m->counter[i], address / m->counter[i]->grain.block_bytes, is_write);
	matrix_visit_reference(m->matrix, site, object, field, context, address, is_write);
}

static void set_matrix(struct maker *m)
{
	m->matrix = get(1, sizeof(*m->matrix));
	m->run.command = "./mm";
	m->run.collector = "any";
	m->run.capabilities = "complete stores sites";
	m->run.caches = MATRIX_CACHES;
}

static void put_matrix(struct loci_profile *profile, struct maker *m, struct loci_err *err)
{
	struct loci_thread_totals thread = { .references = m->run.references };

	if (loci_profile_put_thread(profile, &thread, err) < 0 ||
		matrix_put(profile, m->matrix, err) < 0)
		die(err->text);
	matrix_counts_fini(m->matrix);
	free(m->matrix);
}

static void pattern(struct maker *m, const char *text)
{
	static uint64_t seed = 1;
	uint64_t a, b, c;
	int is_write = 0, is_new = 0;

	for (; *text == 'w' || *text == '+'; text++) {
		is_write |= *text == 'w';
		is_new |= *text == '+';
	}
	if (is_new && m->n_counters)
		m->base += (uint64_t)m->counter[0]->grain.blocks;
	if (sscanf(text, "cyclic:%" SCNu64 ":%" SCNu64, &a, &b) == 2) {
		for (uint64_t i = 0; i < a * b; i++)
			reference(m, i % a, is_write);
	} else if (sscanf(text, "stride:%" SCNu64 ":%" SCNu64 ":%" SCNu64, &a, &b, &c) == 3) {
		for (uint64_t i = 0; i < a * c; i++)
			reference(m, i % a * b, is_write);
	} else if (sscanf(text, "random:%" SCNu64 ":%" SCNu64, &a, &b) == 2) {
		for (uint64_t i = 0; i < b; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			reference(m, (seed >> 33) % a, is_write);
		}
	} else {
		die(text);
	}
}

static void set_blocks(struct maker *m, const char *list)
{
	char *end;

	for (; *list; list = *end ? end + 1 : end) {
		if (m->n_counters == GRAINS_MAX)
			die("too many block sizes");
		m->counter[m->n_counters++] = counter_new(strtoull(list, &end, 10));
	}
}

static int setting(struct maker *m, const char *text)
{
	const struct {
		const char *key;
		char **string;
	} strings[] = {
		{ "command=", &m->run.command },
		{ "caches=", &m->run.caches },
		{ "machine=", &m->run.machine },
		{ "note=", &m->run.note },
		{ "unit=", &m->run.unit },
		{ "mode=", &m->run.mode },
		{ "capabilities=", &m->run.capabilities },
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		if (!strncmp(text, strings[i].key, strlen(strings[i].key))) {
			*strings[i].string = (char *)text + strlen(strings[i].key);
			return 1;
		}
	if (!strncmp(text, "block=", 6))
		set_blocks(m, text + 6);
	else if (!strncmp(text, "error=", 6))
		m->error_points = strtod(text + 6, NULL);
	else if (!strncmp(text, "lost=", 5))
		m->run.lost = strtoull(text + 5, NULL, 10);
	else if (!strcmp(text, "matrix"))
		set_matrix(m);
	else if (!strcmp(text, "stores=no"))
		m->run.capabilities = "complete";
	else if (!strcmp(text, "sets=no"))
		m->no_sets = 1;
	else if (!strcmp(text, "complete=no"))
		m->run.complete = false;
	else
		return 0;
	return 1;
}

static int put(struct loci_profile *profile, const struct counter *c, enum loci_distance distance,
	unsigned set_bits, const struct loci_hist *hist, struct loci_err *err)
{
	struct loci_hist_key key = {
		.distance = distance,
		.block_bytes = c->grain.block_bytes,
		.set_bits = set_bits,
		.owner = LOCI_OWNER_WHOLE,
	};

	return loci_profile_put_hist(profile, &key, hist, err);
}

static int put_counter(
	struct loci_profile *profile, const struct counter *c, int with_sets, struct loci_err *err)
{
	if (loci_profile_put_grain(profile, &c->grain, err) < 0 ||
		put(profile, c, LOCI_DISTANCE_STACK, 0, &c->hist, err) < 0 ||
		put(profile, c, LOCI_DISTANCE_TIME, 0, &c->time, err) < 0 ||
		put(profile, c, LOCI_DISTANCE_DIRTY, 0, &c->dirty, err) < 0)
		return -1;
	for (unsigned a = 0; with_sets && a <= SET_BITS; a++)
		if (put(profile, c, LOCI_DISTANCE_SET, a, &c->set[a], err) < 0 ||
			put(profile, c, LOCI_DISTANCE_SET_DIRTY, a, &c->set_dirty[a], err) < 0)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct maker m = { .run = { .command = "./a.out",
				   .collector = "import",
				   .origin = "test",
				   .mode = "exact",
				   .unit = "byte",
				   .capabilities = "complete stores",
				   .program_version = "0.1.0",
				   .machine = "Test CPU",
				   .caches = "L1=4K/4,L2=32K/8,L3=256K/16",
				   .started = "2024-01-01T00:00:00Z",
				   .seconds = 1.5,
				   .complete = true,
				   .threads = 1,
				   .merged = 1 } };
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };
	int first = 2;

	if (argc < 2)
		die("OUT [KEY=VALUE..] [PATTERN..]");
	while (first < argc && setting(&m, argv[first]))
		first++;
	if (!m.n_counters)
		set_blocks(&m, strcmp(m.run.unit, "byte") ? "1" : "64");
	if (m.matrix) {
		matrix_counts_init(m.matrix);
		matrix_run(matrix_reference, &m);
		matrix_counts_end(m.matrix);
	}
	for (; first < argc; first++)
		pattern(&m, argv[first]);
	if (loci_profile_create(argv[1], &profile, &err) < 0 ||
		loci_profile_put_run(profile, &m.run, &err) < 0)
		die(err.text);
	for (unsigned i = 0; i < m.n_counters; i++) {
		m.counter[i]->grain.error_points = m.error_points;
		if (m.error_points > 0)
			m.counter[i]->grain.sampling_rate = 0.01;
		if (put_counter(profile, m.counter[i], !m.no_sets && m.error_points == 0, &err) < 0)
			die(err.text);
	}
	if (m.matrix)
		put_matrix(profile, &m, &err);
	if (loci_profile_commit(profile, &err) < 0)
		die(err.text);
	loci_profile_close(profile);
	for (unsigned i = 0; i < m.n_counters; i++)
		counter_free(m.counter[i]);
	return 0;
}
