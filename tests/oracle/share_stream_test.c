// SPDX-License-Identifier: GPL-2.0-or-later
/* Random programs of several threads, from their stream to their profile, against one list for each
 * thread, one for each group and one for all, searched from the top: distances and coherence misses
 * of threads, groups, sites, objects and the whole run, and who took what from whom. */
#include "attribution.h"

#include <errno.h>

#define THREADS     6 /* at a time */
#define MEMBERS     40
#define BLOCKS      512 /* of memory */
#define OBJECTS     24
#define CODE        12 /* blocks of code */
#define CODE_REFS   3
#define SITES       (CODE * CODE_REFS)
#define DISTANCES   256 /* all are shorter, and so have a bin of their own */
#define HOLE        UINT32_MAX
#define SHARE_FIRST 2
#define SHARE_NEXT  3
#define MEMORY      0x600000ull

static uint64_t state;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 33) % n);
}

/* What an owner's touches met. */
struct met {
	uint64_t at[DISTANCES], cold, by_true, by_false, remote;
};

struct write {
	uint64_t bytes;
	unsigned site, object;
};

struct known { /* of a block, by a member */
	bool is_lost, was_touched;
	struct write *write; /* since it was lost */
	size_t n_writes, cap;
};

/* Stacks that invalidate each other. */
struct stacks {
	unsigned share; /* threads of each */
	uint32_t *entry[MEMBERS];
	size_t n[MEMBERS];
	struct known known[MEMBERS][BLOCKS];
	unsigned toucher[BLOCKS]; /* plus one */
	bool written[BLOCKS];     /* after another had touched it */
	struct met met[MEMBERS];
};

/* Caches of a level, each a list for every set, the last used first, and kept coherent. */
#define LEVELS 3
#define WAYS   16

struct met_there {
	uint64_t first_hits, misses, writebacks, coherence, transfers;
};

struct level {
	unsigned sets, ways, threads; /* that share one; 0: all */
	struct line {
		uint32_t block;
		bool is_dirty;
	} line[MEMBERS][WAYS][WAYS]; /* by cache and set */
	unsigned n[MEMBERS][WAYS];
	bool is_lost[MEMBERS][BLOCKS];
	struct met_there member[MEMBERS], site[SITES];
};

struct sharing {
	unsigned write_site, miss_site, write_object, miss_object;
	bool is_false;
	uint64_t misses, reported;
};

struct model {
	struct words words;
	struct {
		uint32_t size_bytes;
		bool is_write;
	} ref[CODE][CODE_REFS];
	unsigned n_refs[CODE];
	uint64_t begins[OBJECTS + 1];
	struct stacks alone, first, next;
	uint32_t shared[BLOCKS];
	size_t n_shared;
	struct met in_shared[MEMBERS], site[SITES], object[OBJECTS];
	struct level level[LEVELS];
	struct sharing *sharing;
	size_t n_sharing, sharing_cap;
	uint32_t id[MEMBERS];     /* of the thread */
	unsigned member[THREADS]; /* plus one; 0: it has not begun */
	unsigned n_members;
	uint32_t last_id;
	uint64_t sequence, touches;
};

/* Takes the i-th entry out; what was above it stays above. */
static void take(uint32_t *entry, size_t *n, size_t i)
{
	memmove(entry + i, entry + i + 1, (--*n - i) * sizeof(*entry));
}

static size_t find(const uint32_t *entry, size_t n, uint32_t what)
{
	size_t i = 0; /* the top is the last */

	for (i = n; i-- > 0;)
		if (entry[i] == what)
			return i;
	return SIZE_MAX;
}

static void lose(struct stacks *s, unsigned loser, uint32_t block, const struct write *write)
{
	struct known *known = &s->known[loser][block];
	size_t i = find(s->entry[loser], s->n[loser], block);

	if (i != SIZE_MAX) {
		s->entry[loser][i] = HOLE;
		known->is_lost = true;
		known->n_writes = 0;
	}
	if (!known->is_lost)
		return;
	if (known->n_writes == known->cap) {
		known->cap = 2 * known->cap + 4;
		known->write = realloc(known->write, known->cap * sizeof(*known->write));
	}
	known->write[known->n_writes++] = *write;
}

static void count(struct met *met, const struct met *one)
{
	for (unsigned i = 0; i < DISTANCES; i++)
		met->at[i] += one->at[i];
	met->cold += one->cold;
	met->by_true += one->by_true;
	met->by_false += one->by_false;
	met->remote += one->remote;
}

/* One touch; what it met, and to whom it was lost. */
static struct met touch_in(struct stacks *s, unsigned member, uint32_t block, bool is_write,
	const struct write *touch, const struct write **ret_lost_to)
{
	unsigned m = member / s->share;
	struct known *known = &s->known[m][block];
	uint32_t *entry = s->entry[m];
	size_t at = find(entry, s->n[m], block), hole = find(entry, s->n[m], HOLE);
	struct met met = { 0 };

	met.remote = s->toucher[block] && s->toucher[block] != m + 1;
	s->written[block] |= is_write && met.remote;
	if (is_write && !s->written[block])
		for (unsigned i = 0; i < MEMBERS; i++)
			s->written[block] |= i != m && s->known[i][block].was_touched;
	s->toucher[block] = m + 1;
	if (at != SIZE_MAX) {
		CHECK(s->n[m] - 1 - at < DISTANCES);
		met.at[s->n[m] - 1 - at] = 1;
		if (hole != SIZE_MAX && hole > at) {
			entry[at] = HOLE;
			take(entry, &s->n[m], hole);
		} else {
			take(entry, &s->n[m], at);
		}
	} else {
		if (hole != SIZE_MAX)
			take(entry, &s->n[m], hole);
		met.cold = !known->is_lost;
		for (size_t i = 0; known->is_lost && i < known->n_writes; i++)
			if (known->write[i].bytes & touch->bytes) {
				met.by_true = 1;
				*ret_lost_to = &known->write[i];
			}
		met.by_false = known->is_lost && !met.by_true;
		if (met.by_false)
			*ret_lost_to = &known->write[0];
	}
	known->is_lost = false;
	known->was_touched = true;
	entry[s->n[m]++] = block;
	for (unsigned i = 0; is_write && i < MEMBERS; i++)
		if (i != m && s->entry[i])
			lose(s, i, block, touch);
	return met;
}

static void share(
	struct model *m, const struct write *write, const struct write *miss, bool is_false)
{
	struct sharing *s = m->sharing;
	size_t i = 0;

	while (i < m->n_sharing &&
		(s[i].write_site != write->site || s[i].miss_site != miss->site ||
			s[i].write_object != write->object || s[i].miss_object != miss->object ||
			s[i].is_false != is_false))
		i++;
	if (i == m->n_sharing) {
		if (m->n_sharing == m->sharing_cap) {
			m->sharing_cap = 2 * m->sharing_cap + 64;
			m->sharing = s = realloc(s, m->sharing_cap * sizeof(*s));
		}
		s[m->n_sharing++] = (struct sharing){ write->site, miss->site, write->object,
			miss->object, is_false, 0, 0 };
	}
	s[i].misses++;
}

/* The set, without the block if that was there. */
static bool remove_line(struct level *l, unsigned cache, uint32_t block, struct line *ret)
{
	unsigned set = block % l->sets, i = 0;
	struct line *line = l->line[cache][set];

	while (i < l->n[cache][set] && line[i].block != block)
		i++;
	if (i == l->n[cache][set])
		return false;
	*ret = line[i];
	memmove(line + i, line + i + 1, (--l->n[cache][set] - i) * sizeof(*line));
	return true;
}

/* True: it hits. */
static bool touch_level(
	struct level *l, unsigned member, unsigned site, uint32_t block, bool is_write)
{
	unsigned cache = l->threads ? member / l->threads : 0;
	/* numbers of blocks are those of the whole address space */
	uint32_t number = (uint32_t)(MEMORY / 64) + block;
	unsigned set = number % l->sets;
	struct line line = { number, false }, other;
	bool hit = remove_line(l, cache, number, &line);
	struct met_there met = { .misses = !hit,
		.writebacks = is_write && !line.is_dirty,
		.coherence = !hit && l->is_lost[cache][block] };

	line.is_dirty |= is_write;
	l->is_lost[cache][block] = false;
	if (l->n[cache][set] == l->ways)
		l->n[cache][set]--;
	memmove(l->line[cache][set] + 1, l->line[cache][set], l->n[cache][set]++ * sizeof(line));
	l->line[cache][set][0] = line;
	for (unsigned i = 0; is_write && i < MEMBERS; i++)
		if (i != cache && remove_line(l, i, number, &other)) {
			l->is_lost[i][block] = true;
			met.transfers += other.is_dirty;
		}
	for (unsigned i = 0; i < 2; i++) {
		struct met_there *to = i ? &l->site[site] : &l->member[member];

		to->misses += met.misses;
		to->writebacks += met.writebacks;
		to->coherence += met.coherence;
		to->transfers += met.transfers;
	}
	return hit;
}

static void touch_levels(
	struct model *m, unsigned member, unsigned site, uint32_t block, bool is_write)
{
	bool is_first = true;

	for (unsigned i = 0; i < LEVELS; i++)
		if (touch_level(&m->level[i], member, site, block, is_write) && is_first) {
			m->level[i].member[member].first_hits++;
			m->level[i].site[site].first_hits++;
			is_first = false;
		}
}

static unsigned object_of(const struct model *m, uint64_t address)
{
	unsigned i = 0;

	while (address >= m->begins[i + 1])
		i++;
	return i;
}

static void touch(struct model *m, unsigned member, uint64_t address, uint64_t bytes, bool is_write,
	unsigned site)
{
	struct write one = { .bytes = ((1ull << bytes) - 1) << (address & 63),
		.site = site,
		.object = object_of(m, address) };
	uint32_t block = (uint32_t)((address - MEMORY) / 64);
	const struct write *lost_to = NULL, *ignored = NULL;
	struct met met;
	size_t at = find(m->shared, m->n_shared, block);

	if (at == SIZE_MAX) {
		m->in_shared[member].cold++;
	} else {
		m->in_shared[member].at[m->n_shared - 1 - at]++;
		take(m->shared, &m->n_shared, at);
	}
	m->shared[m->n_shared++] = block;
	touch_levels(m, member, site, block, is_write);
	met = touch_in(&m->first, member, block, is_write, &one, &ignored);
	count(&m->first.met[member / m->first.share], &met);
	met = touch_in(&m->next, member, block, is_write, &one, &ignored);
	count(&m->next.met[member / m->next.share], &met);
	met = touch_in(&m->alone, member, block, is_write, &one, &lost_to);
	if (met.by_true | met.by_false)
		share(m, lost_to, &one, met.by_false);
	count(&m->alone.met[member], &met);
	count(&m->site[site], &met);
	count(&m->object[one.object], &met);
	m->touches++;
}

static void refer(struct model *m, unsigned member, uint64_t address, unsigned code, unsigned i)
{
	uint64_t bytes = m->ref[code][i].size_bytes;

	while (bytes) {
		uint64_t left = 64 - address % 64, n = bytes < left ? bytes : left;

		touch(m, member, address, n, m->ref[code][i].is_write, code * CODE_REFS + i);
		address += n;
		bytes -= n;
	}
}

static uint64_t site_address(unsigned code, unsigned i)
{
	return 0x10000 + 0x100 * code + 4 * i;
}

static void stacks_init(struct stacks *s, unsigned share)
{
	s->share = share;
	for (unsigned i = 0; i < MEMBERS; i++)
		s->entry[i] = calloc(BLOCKS + 1, sizeof(uint32_t));
}

static void stacks_fini(struct stacks *s)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		free(s->entry[i]);
		for (unsigned k = 0; k < BLOCKS; k++)
			free(s->known[i][k].write);
	}
}

/* Objects lie side by side, some in one block; those of more than a block are cut from the rest. */
static void define_all(struct model *m)
{
	char text[24];

	m->begins[0] = MEMORY;
	for (unsigned i = 0; i < OBJECTS; i++) {
		uint64_t bytes = below(3) ? 8 + 8 * below(7) : 64 * (1 + below(16));

		m->begins[i + 1] = m->begins[i] + bytes;
		snprintf(text, sizeof(text), "object %u", i);
		object(&m->words, m->begins[i], bytes, text);
	}
	for (unsigned k = 0; k < CODE; k++) {
		struct ref refs[CODE_REFS];

		m->n_refs[k] = 1 + below(CODE_REFS);
		for (unsigned i = 0; i < m->n_refs[k]; i++) {
			m->ref[k][i].size_bytes = 1u << below(4);
			m->ref[k][i].is_write = below(3) == 0;
			refs[i] = (struct ref){ m->ref[k][i].size_bytes,
				m->ref[k][i].is_write ? LOCI_OP_STORE : LOCI_OP_LOAD,
				site_address(k, i), 0 };
		}
		define(&m->words, 1 + k, 0, refs, m->n_refs[k]);
	}
}

static uint64_t somewhere(const struct model *m, unsigned n_objects)
{
	unsigned i = below(n_objects);
	uint64_t bytes = m->begins[i + 1] - m->begins[i];

	return m->begins[i] + 8 * below((unsigned)(bytes / 8)) + (below(5) ? 0 : below(8));
}

static bool is_within(const struct model *m, uint64_t address, uint64_t bytes)
{
	return object_of(m, address) == object_of(m, address + bytes - 1);
}

/* Some code, once, or in a loop that goes on by equal steps. */
static void run_code(struct model *m, unsigned member)
{
	unsigned k = below(CODE), n = m->n_refs[k], times = below(4) ? 1 : 2 + below(12);
	uint64_t address[CODE_REFS], step[CODE_REFS], end = m->begins[OBJECTS] - 8;

	for (unsigned i = 0; i < n; i++) {
		address[i] = somewhere(m, below(3) ? OBJECTS : 4);
		step[i] = times > 1 ? 8 * below(3) : 0;
		if (address[i] + step[i] * times > end || !is_within(m, address[i], 8))
			address[i] = m->begins[below(OBJECTS)];
		if (address[i] + step[i] * times > end)
			step[i] = 0;
		if (step[i])
			address[i] &= -8ull;
	}
	if (times > 1) {
		put(&m->words, loci_mark_word(LOCI_MARK_RUN, 2 + 2 * n, 1 + k));
		put(&m->words, times);
		put(&m->words, 0);
		for (unsigned i = 0; i < n; i++) {
			put(&m->words, address[i]);
			put(&m->words, step[i]);
		}
	} else {
		run(&m->words, 1 + k, address, n);
	}
	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < n; i++)
			refer(m, member, address[i] + t * step[i], k, i);
}

/* A thread comes. One in three has the number of one that is gone. */
static void begin_thread(struct model *m, unsigned i)
{
	uint32_t id = m->last_id + 1;

	for (unsigned k = 0; k < m->n_members && !below(3); k++) {
		bool is_used = false;

		for (unsigned t = 0; t < THREADS; t++)
			is_used |= m->member[t] && m->id[m->member[t] - 1] == m->id[k];
		if (!is_used)
			id = m->id[k];
	}
	if (id > m->last_id)
		m->last_id = id;
	m->id[m->n_members] = id;
	m->member[i] = ++m->n_members;
}

static void end_thread(struct model *m, unsigned i)
{
	mark(&m->words, LOCI_MARK_THREAD_EXIT, m->id[m->member[i] - 1], 2, (uint64_t)0,
		++m->sequence);
	for (unsigned k = 0; k < LEVELS; k++) /* it flushes caches that it had to itself */
		if (m->level[k].threads == 1)
			memset(m->level[k].n[m->member[i] - 1], 0, sizeof(m->level[k].n[0]));
	m->member[i] = 0;
}

static void execute(struct model *m, unsigned n_threads, unsigned turns)
{
	unsigned first = below(60);

	for (unsigned t = 0; t < turns; t++) {
		unsigned i = t < first ? 0 : below(n_threads);

		if (!m->member[i] && m->n_members == MEMBERS)
			continue;
		if (!m->member[i])
			begin_thread(m, i);
		mark(&m->words, LOCI_MARK_SWITCH, m->id[m->member[i] - 1], 0);
		for (unsigned k = 1 + below(below(4) ? 4 : 40); k; k--)
			run_code(m, m->member[i] - 1);
		if (t >= first / 2 && !below(60))
			end_thread(m, i);
	}
}

/* What the profile says of an owner, and the model. */
static void expect_hist(struct loci_profile *profile, enum loci_distance distance,
	enum loci_owner owner, int64_t id, const struct met *want)
{
	struct loci_hist_key key = { distance, 64, 0, owner, id };
	const struct loci_hist *got = NULL;
	double weight[DISTANCES] = { 0 };

	if (loci_profile_hist(profile, &key, &got, NULL) < 0) {
		CHECK_FAIL("no %s distances of %s %" PRId64, loci_distance_name(distance),
			loci_owner_name(owner), id);
		return;
	}
	for (unsigned i = 0; i < DISTANCES; i++)
		weight[loci_bin_of(got->scheme, i)] += (double)want->at[i];
	for (uint32_t i = 0; i < DISTANCES; i++)
		if ((i < got->n_bins ? got->weight[i] : 0) != weight[i])
			CHECK_FAIL("%s %" PRId64 " has %g %s distances in bin %u, want %g",
				loci_owner_name(owner), id, i < got->n_bins ? got->weight[i] : 0,
				loci_distance_name(distance), i, weight[i]);
	check_count++;
	CHECK_NEAR(got->cold, (double)want->cold, 0);
	CHECK_NEAR(got->coherence, (double)(want->by_true + want->by_false), 0);
}

static void expect_met(struct loci_profile *profile, enum loci_owner owner, int64_t id,
	const struct met *want, bool may_lack)
{
	uint64_t touches = want->cold + want->by_true + want->by_false;

	GET(profile, coherence, coherences);
	for (unsigned i = 0; i < DISTANCES; i++)
		touches += want->at[i];
	for (size_t i = 0; i < n_coherence; i++)
		if (coherence[i].owner == owner && coherence[i].owner_id == id) {
			CHECK_U64(coherence[i].block_bytes, 64);
			CHECK_U64(coherence[i].touches, touches);
			CHECK_U64(coherence[i].true_sharing, want->by_true);
			CHECK_U64(coherence[i].false_sharing, want->by_false);
			CHECK_U64(coherence[i].remote, want->remote);
			return;
		}
	if (!may_lack || want->by_true || want->by_false || want->remote)
		CHECK_FAIL("no coherence of %s %" PRId64, loci_owner_name(owner), id);
}

static void expect_owner(struct loci_profile *profile, enum loci_owner owner, int64_t id,
	const struct met *want, bool may_lack)
{
	expect_hist(profile, LOCI_DISTANCE_PRIVATE, owner, id, want);
	expect_met(profile, owner, id, want, may_lack);
}

static bool is_empty(const struct met *met)
{
	static const struct met nothing;

	return !memcmp(met, &nothing, sizeof(nothing));
}

static void check_threads(struct model *m, struct loci_profile *profile)
{
	struct met whole = { 0 };

	for (unsigned i = 0; i < m->n_members; i++) {
		struct met alone = { 0 }, shared = { 0 };
		bool is_first = true;

		count(&whole, &m->alone.met[i]);
		for (unsigned k = 0; k < m->n_members; k++) {
			if (m->id[k] != m->id[i])
				continue;
			is_first &= k >= i;
			count(&alone, &m->alone.met[k]);
			count(&shared, &m->in_shared[k]);
		}
		if (!is_first)
			continue;
		expect_owner(profile, LOCI_OWNER_THREAD, m->id[i], &alone, false);
		expect_hist(profile, LOCI_DISTANCE_STACK, LOCI_OWNER_THREAD, m->id[i], &shared);
	}
	expect_owner(profile, LOCI_OWNER_WHOLE, 0, &whole, false);
}

static void check_groups(struct model *m, struct loci_profile *profile, const struct stacks *s)
{
	unsigned n = (m->n_members + s->share - 1) / s->share, found = 0;

	GET(profile, thread_group, thread_groups);
	for (size_t i = 0; i < n_thread_group; i++) {
		char want[8 * MEMBERS] = "";
		unsigned seen = 0;

		if (thread_group[i].share != s->share)
			continue;
		CHECK(found < n);
		for (unsigned k = found * s->share; k < m->n_members && k < (found + 1) * s->share;
			k++) {
			bool is_new = true;

			for (unsigned l = found * s->share; l < k; l++)
				is_new &= m->id[l] != m->id[k];
			if (is_new)
				sprintf(want + strlen(want), "%s%u", seen++ ? "," : "", m->id[k]);
		}
		CHECK_STR(thread_group[i].threads, want);
		CHECK_U64(thread_group[i].thread, m->id[found * s->share]);
		expect_owner(profile, LOCI_OWNER_THREAD_GROUP, thread_group[i].id, &s->met[found],
			false);
		found++;
	}
	CHECK_U64(found, n);
}

static int64_t site_of(struct loci_profile *profile, unsigned number)
{
	unsigned k = number / CODE_REFS, i = number % CODE_REFS;

	GET(profile, site, sites);
	for (size_t s = 0; s < n_site; s++)
		if (site[s].code_offset == site_address(k, i))
			return site[s].id;
	return 0;
}

static void expect_level(struct loci_profile *profile, unsigned i, enum loci_owner owner,
	int64_t id, const struct met_there *want)
{
	struct loci_level_count_row got = level_count(profile, i + 1, owner, id);

	CHECK_U64(got.first_hits, want->first_hits);
	CHECK_U64(got.misses, want->misses);
	CHECK_U64(got.writebacks, want->writebacks);
	CHECK_U64(got.coherence, want->coherence);
	CHECK_U64(got.transfers, want->transfers);
}

static void add_there(struct met_there *sum, const struct met_there *one)
{
	sum->first_hits += one->first_hits;
	sum->misses += one->misses;
	sum->writebacks += one->writebacks;
	sum->coherence += one->coherence;
	sum->transfers += one->transfers;
}

static void check_levels(struct model *m, struct loci_profile *profile)
{
	for (unsigned i = 0; i < LEVELS; i++) {
		struct met_there whole = { 0 };

		for (unsigned k = 0; k < m->n_members; k++) {
			struct met_there thread = { 0 };

			for (unsigned l = 0; l < m->n_members; l++)
				if (m->id[l] == m->id[k])
					add_there(&thread, &m->level[i].member[l]);
			add_there(&whole, &m->level[i].member[k]);
			expect_level(profile, i, LOCI_OWNER_THREAD, m->id[k], &thread);
		}
		expect_level(profile, i, LOCI_OWNER_WHOLE, 0, &whole);
		for (unsigned k = 0; k < SITES; k++)
			if (site_of(profile, k))
				expect_level(profile, i, LOCI_OWNER_SITE, site_of(profile, k),
					&m->level[i].site[k]);
	}
}

static int64_t object_id_of(struct loci_profile *profile, unsigned i)
{
	char text[24];

	snprintf(text, sizeof(text), "object %u", i);
	return object_named(profile, text);
}

static void check_sharing(struct model *m, struct loci_profile *profile)
{
	int64_t site[SITES], object[OBJECTS];

	GET(profile, sharing, sharings);
	for (unsigned i = 0; i < SITES; i++)
		site[i] = site_of(profile, i);
	for (unsigned i = 0; i < OBJECTS; i++)
		object[i] = is_empty(&m->object[i]) ? 0 : object_id_of(profile, i);
	for (size_t i = 0; i < m->n_sharing; i++) {
		const struct sharing *want = &m->sharing[i];
		uint64_t got = 0;

		for (size_t k = 0; k < n_sharing; k++)
			if (sharing[k].write_site_id == site[want->write_site] &&
				sharing[k].miss_site_id == site[want->miss_site] &&
				sharing[k].object_id == object[want->miss_object] &&
				sharing[k].write_object_id == object[want->write_object] &&
				!strcmp(sharing[k].kind, want->is_false ? "false" : "true")) {
				got += sharing[k].misses;
				CHECK(sharing[k].threads >= 1);
			}
		CHECK_U64(got, want->misses);
	}
	CHECK_U64(n_sharing, m->n_sharing);
	for (unsigned i = 0; i < SITES; i++)
		if (site[i])
			expect_owner(profile, LOCI_OWNER_SITE, site[i], &m->site[i], true);
	for (unsigned i = 0; i < OBJECTS; i++)
		if (object[i])
			expect_owner(profile, LOCI_OWNER_OBJECT, object[i], &m->object[i], true);
}

static void check_blocks(struct model *m, struct loci_profile *profile)
{
	uint64_t alone = 0, read_only = 0, written = 0;

	GET(profile, shared_blocks, shared_blocks);
	for (unsigned b = 0; b < BLOCKS; b++) {
		unsigned n = 0;

		for (unsigned i = 0; i < m->n_members; i++)
			n += m->alone.known[i][b].was_touched;
		alone += n == 1;
		read_only += n > 1 && !m->alone.written[b];
		written += n > 1 && m->alone.written[b];
	}
	CHECK_U64(n_shared_blocks, 1);
	if (n_shared_blocks != 1)
		return;
	CHECK_U64(shared_blocks->block_bytes, 64);
	CHECK_U64(shared_blocks->alone, alone);
	CHECK_U64(shared_blocks->read_only, read_only);
	CHECK_U64(shared_blocks->written, written);
}

static void check_program(uint64_t seed)
{
	struct model *m = calloc(1, sizeof(*m));
	const unsigned ways = seed % 3 ? 8 : 2;
	const struct loci_level_row levels[LEVELS] = {
		{ .name = "L1",
			.size_bytes = 128 * ways,
			.ways = ways,
			.line_bytes = 64,
			.share = "private" },
		{ .name = "L2",
			.size_bytes = 64 * 64,
			.ways = 8,
			.line_bytes = 64,
			.share = "share2" },
		{ .name = "L3",
			.size_bytes = 128 * 64,
			.ways = 16,
			.line_bytes = 64,
			.share = "shared" },
	};
	struct loci_analyse_options options = { .attribute = true,
		.no_source = true,
		.no_sets = seed % 4 != 3,
		.one_by_one = seed % 4 == 2,
		.pairs = seed % 5 == 4 ? LOCI_PAIRS_NONE : LOCI_PAIRS_FAR,
		.share = { SHARE_FIRST, SHARE_NEXT },
		.n_share = 2,
		.levels = levels,
		.n_levels = LEVELS };
	struct loci_profile *profile;

	state = seed * 0x9e3779b97f4a7c15u + 1;
	stacks_init(&m->alone, 1);
	stacks_init(&m->first, SHARE_FIRST);
	stacks_init(&m->next, SHARE_NEXT);
	for (unsigned i = 0; i < LEVELS; i++) {
		m->level[i].ways = (unsigned)levels[i].ways;
		m->level[i].sets = (unsigned)(levels[i].size_bytes / 64 / levels[i].ways);
		m->level[i].threads = i == 2 ? 0 : i + 1;
	}
	define_all(m);
	execute(m, 2 + below(THREADS - 1), 40 + below(400));
	profile = attributed(&m->words, &options);
	if (profile && m->n_members > 1) {
		check_threads(m, profile);
		check_groups(m, profile, &m->first);
		check_groups(m, profile, &m->next);
		check_sharing(m, profile);
		check_blocks(m, profile);
		check_levels(m, profile);
	}
	loci_profile_close(profile);
	stacks_fini(&m->alone);
	stacks_fini(&m->first);
	stacks_fini(&m->next);
	free(m->sharing);
	free(m->words.word);
	free(m);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : check_amount(60);

	for (uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0; n--; seed++) {
		int before = check_failures;

		check_program(seed);
		if (check_failures != before)
			fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
	}
	return check_status();
}
