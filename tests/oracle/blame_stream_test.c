// SPDX-License-Identifier: GPL-2.0-or-later
/* Random programs that know the truth: what is attributed to sites, contexts, objects and pairs,
 * and what the caches do, against a naive stack, naive caches and plain lists. */
#include "attribution.h"

#define N_FUNCTIONS 5
#define N_OBJECTS   6
#define DEPTH       12
#define TOUCHES     6000
#define MAX_DIST    64 /* distances are below: so many blocks there are at most */
#define KEYS        4096

static uint64_t state;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 33) % n);
}

/* A count by name. */
struct tally {
	char key[160];
	uint64_t n, cold, at[MAX_DIST], misses[2], hits[2], writebacks[2];
};

struct tallies {
	struct tally *tally;
	size_t n;
};

static struct tally *find(struct tallies *all, const char *key)
{
	if (!all->tally)
		all->tally = calloc(KEYS, sizeof(*all->tally));
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->tally[i].key, key))
			return &all->tally[i];
	if (all->n == KEYS)
		abort();
	snprintf(all->tally[all->n].key, sizeof(all->tally[0].key), "%s", key);
	return &all->tally[all->n++];
}

struct use {
	uint64_t block;
	char site[32];
	bool is_write;
};

struct cache {
	unsigned sets, ways;
	uint64_t block[64][16]; /* most recent first; 0: none */
	bool dirty[64][16];
};

struct frame {
	unsigned function;
	uint64_t address, call;
};

struct program {
	struct words w;
	struct frame stack[2][DEPTH];
	unsigned depth[2], thread;
	struct use lru[64]; /* most recent first */
	size_t n_lru;
	struct cache cache[2];
	struct tallies sites, contexts, objects, pairs, whole;
	uint64_t refs;
	bool live[N_OBJECTS];
};

static uint64_t entry_of(unsigned function)
{
	return 0x10000 * (1 + (uint64_t)function);
}

/* Innermost first, recursion folded as the tree folds it. */
static void path_of(const struct program *p, char *text, size_t size)
{
	const struct frame *stack = p->stack[p->thread];
	struct frame path[DEPTH];
	size_t n = 0, used = 0;

	for (unsigned i = 0; i < p->depth[p->thread]; i++) {
		size_t same = 0, nearest = 0, n_calls = 0;

		for (size_t k = 1; k <= n; k++) {
			if (path[k - 1].function != stack[i].function)
				continue;
			nearest = k;
			n_calls++;
			if (path[k - 1].call == stack[i].call)
				same = k;
		}
		if (same)
			n = same;
		else if (n_calls >= 2)
			n = nearest;
		else
			path[n++] = stack[i];
	}
	text[0] = 0;
	while (n-- > 0)
		used += (size_t)snprintf(text + used, size - used, "%s0x%" PRIx64, used ? "<" : "",
			entry_of(path[n].function));
}

/* True: a miss. *ret_dirtied: the write made a line dirty. */
static bool look_up(struct cache *cache, uint64_t block, bool is_write, bool *ret_dirtied)
{
	unsigned set = (unsigned)(block % cache->sets), i = 0;
	uint64_t *line = cache->block[set];
	bool *dirty = cache->dirty[set], was_dirty = false, miss;

	while (i < cache->ways && line[i] != block)
		i++;
	miss = i == cache->ways;
	if (miss)
		i = cache->ways - 1;
	else
		was_dirty = dirty[i];
	memmove(line + 1, line, i * sizeof(*line));
	memmove(dirty + 1, dirty, i * sizeof(*dirty));
	line[0] = block;
	dirty[0] = was_dirty || is_write;
	*ret_dirtied = is_write && !was_dirty;
	return miss;
}

static void touch(
	struct program *p, uint64_t address, const char *site, const char *object, bool is_write)
{
	static const char *const kinds[] = { "RAR", "WAR", "RAW", "WAW" };
	uint64_t block = address / 64;
	char path[512], key[160];
	struct tally *to[4];
	size_t d = 0;
	bool missed[2], dirtied[2];

	path_of(p, path, sizeof(path));
	to[0] = find(&p->sites, site);
	to[1] = find(&p->contexts, path);
	to[2] = find(&p->objects, object);
	to[3] = find(&p->whole, "");
	while (d < p->n_lru && p->lru[d].block != block)
		d++;
	for (int k = 0; k < 2; k++)
		missed[k] = look_up(&p->cache[k], block, is_write, &dirtied[k]);
	for (int i = 0; i < 4; i++) {
		if (d == p->n_lru)
			to[i]->cold++;
		else
			to[i]->at[d]++;
		for (int k = 0; k < 2; k++) {
			to[i]->misses[k] += missed[k];
			to[i]->writebacks[k] += dirtied[k];
		}
		to[i]->hits[0] += !missed[0];
		to[i]->hits[1] += missed[0] && !missed[1];
	}
	if (d < p->n_lru) {
		snprintf(key, sizeof(key), "%s>%s %s", p->lru[d].site, site,
			kinds[2 * p->lru[d].is_write + is_write]);
		find(&p->pairs, key)->n++;
	} else {
		p->n_lru++;
	}
	memmove(p->lru + 1, p->lru, d * sizeof(*p->lru));
	p->lru[0] = (struct use){ .block = block, .is_write = is_write };
	snprintf(p->lru[0].site, sizeof(p->lru[0].site), "%s", site);
}

static uint64_t object_at(unsigned i)
{
	return 0x500000 + 0x1000 * (uint64_t)i;
}

/* Which object an address is in; stacks, and objects that are gone, are none. */
static void object_of(const struct program *p, uint64_t address, char *text, size_t size)
{
	snprintf(text, size, "-");
	for (unsigned i = 0; i < N_OBJECTS; i++)
		if (p->live[i] && address >= object_at(i) && address < object_at(i) + 200)
			snprintf(text, size, "o%u", i);
}

static void refer(struct program *p, uint64_t code, bool is_write, uint64_t address)
{
	char site[32], object[32], path[512];

	snprintf(site, sizeof(site), "%s %" PRIx64, is_write ? "store" : "load", code);
	path_of(p, path, sizeof(path));
	object_of(p, address, object, sizeof(object));
	put(&p->w, address);
	p->refs++;
	find(&p->sites, site)->n++;
	find(&p->contexts, path)->n++;
	find(&p->objects, object)->n++;
	find(&p->whole, "")->n++;
	touch(p, address, site, object, is_write);
	if (address / 64 != (address + 7) / 64) {
		address = (address / 64 + 1) * 64;
		object_of(p, address, object, sizeof(object));
		touch(p, address, site, object, is_write);
	}
}

/* Blocks of function f: entry 10 f + 0, body + 1, a call + 2 and + 3, return + 4. */
static void define_functions(struct program *p)
{
	for (unsigned f = 0; f < N_FUNCTIONS; f++) {
		uint64_t at = entry_of(f), id = 10 * (uint64_t)f;

		DEFINE(&p->w, id, LOCI_BLOCK_ENTRY, FRAME(at), LOAD(at + 4));
		DEFINE(&p->w, id + 1, 0, LOAD(at + 0x10), STORE(at + 0x18), LOAD(at + 0x20));
		DEFINE(&p->w, id + 2, 0, STORE(at + 0x40));
		DEFINE(&p->w, id + 3, 0, STORE(at + 0x60));
		DEFINE(&p->w, id + 4, 0, LOAD(at + 0x80));
	}
}

static uint64_t some_address(const struct program *p)
{
	(void)p;
	return object_at(below(N_OBJECTS)) + below(4) * 64 + below(64);
}

static struct frame *top(struct program *p)
{
	return &p->stack[p->thread][p->depth[p->thread] - 1];
}

static void block(struct program *p, unsigned kind)
{
	put(&p->w, loci_mark_word(LOCI_MARK_BLOCK, 0, 10 * (uint64_t)top(p)->function + kind));
}

static void body(struct program *p)
{
	uint64_t at = entry_of(top(p)->function);
	unsigned n = 1 + below(3); /* it may be left early */

	block(p, 1);
	refer(p, at + 0x10, false, some_address(p));
	if (n > 1)
		refer(p, at + 0x18, true, some_address(p));
	if (n > 2)
		refer(p, at + 0x20, false, some_address(p));
}

static void enter(struct program *p, unsigned function, uint64_t address, uint64_t call)
{
	p->stack[p->thread][p->depth[p->thread]++] =
		(struct frame){ .function = function, .address = address, .call = call };
	block(p, 0);
	put(&p->w, address);
	refer(p, entry_of(function) + 4, false, some_address(p));
	body(p);
}

static void call(struct program *p)
{
	unsigned which = below(2);
	uint64_t address = top(p)->address - 64, site = which ? 0x60 : 0x40;

	if (p->depth[p->thread] == DEPTH)
		return;
	block(p, 2 + which);
	refer(p, entry_of(top(p)->function) + site, true, address);
	enter(p, below(N_FUNCTIONS), address, entry_of(top(p)->function) + site);
}

static void give_back(struct program *p)
{
	if (p->depth[p->thread] == 1)
		return;
	block(p, 4);
	refer(p, entry_of(top(p)->function) + 0x80, false, top(p)->address);
	p->depth[p->thread]--;
}

/* To a function that runs only there, so that its block can tell. */
static void jump_out(struct program *p)
{
	const struct frame *stack = p->stack[p->thread];
	unsigned to = below(p->depth[p->thread]);

	for (unsigned i = to + 1; i < p->depth[p->thread]; i++)
		if (stack[i].function == stack[to].function)
			return;
	p->depth[p->thread] = to + 1;
	body(p);
}

static void turn_object(struct program *p)
{
	unsigned i = below(N_OBJECTS);
	char text[8];

	snprintf(text, sizeof(text), "o%u", i);
	if (p->live[i])
		mark(&p->w, LOCI_MARK_OBJECT_END, 0, 2, object_at(i), (uint64_t)p->w.n);
	else
		object(&p->w, object_at(i), 200, text);
	p->live[i] = !p->live[i];
}

static void generate(struct program *p, uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1;
	*p = (struct program){ .cache = { { .sets = 3, .ways = 2 }, { .sets = 4, .ways = 4 } } };
	define_functions(p);
	for (unsigned i = 0; i < N_OBJECTS; i++)
		turn_object(p);
	for (p->thread = 2; p->thread-- > 0;) {
		mark(&p->w, LOCI_MARK_SWITCH, p->thread, 0);
		enter(p, p->thread, 0x7f0000 + 0x10000 * p->thread, 0);
	}
	p->thread = 0;
	while (p->refs < TOUCHES) {
		unsigned what = below(100);

		if (what < 50) {
			body(p);
		} else if (what < 70) {
			call(p);
		} else if (what < 88) {
			give_back(p);
		} else if (what < 91) {
			jump_out(p);
		} else if (what < 95) {
			turn_object(p);
		} else {
			p->thread = !p->thread;
			mark(&p->w, LOCI_MARK_SWITCH, p->thread, 0);
		}
	}
}

static void check_owner(struct loci_profile *profile, const struct tally *want,
	enum loci_owner owner, const int64_t *id, size_t n_ids)
{
	for (unsigned d = 0; d <= MAX_DIST; d++) {
		uint64_t distance = d < MAX_DIST ? d : LOCI_INFINITE;
		double got = 0, sum = 0;

		for (size_t i = 0; i < n_ids; i++) {
			double n = touches_at(profile, owner, id[i], distance);

			got += n > 0 ? n : 0;
		}
		for (unsigned k = 0; k < MAX_DIST; k++) /* those in the same bin */
			if (d < MAX_DIST && loci_bin_coarse(k) == loci_bin_coarse(d))
				sum += (double)want->at[k];
		if (got != (d < MAX_DIST ? sum : (double)want->cold))
			CHECK_FAIL("%s: %g touches at distance %u, want %g", want->key, got, d,
				d < MAX_DIST ? sum : (double)want->cold);
		check_count++;
	}
	for (int64_t k = 0; k < 2; k++) {
		struct loci_level_count_row got = { 0 };

		for (size_t i = 0; i < n_ids; i++) {
			struct loci_level_count_row row = level_count(profile, k + 1, owner, id[i]);

			got.misses += row.misses;
			got.first_hits += row.first_hits;
			got.writebacks += row.writebacks;
		}
		CHECK_U64(got.misses, want->misses[k]);
		CHECK_U64(got.first_hits, want->hits[k]);
		CHECK_U64(got.writebacks, want->writebacks[k]);
	}
}

static void check_sites(struct loci_profile *profile, const struct program *p)
{
	uint64_t refs = 0;

	GET(profile, site, sites);
	CHECK_U64(n_site, p->sites.n);
	for (size_t i = 0; i < n_site; i++) {
		struct tallies all = p->sites;
		char key[64];
		struct tally *want;

		snprintf(key, sizeof(key), "%s %" PRIx64, site[i].op, site[i].code_offset);
		want = find(&all, key);
		CHECK_U64(site[i].refs, want->n);
		check_owner(profile, want, LOCI_OWNER_SITE, &site[i].id, 1);
		refs += site[i].refs;
	}
	CHECK_U64(refs, p->refs);
}

static void check_contexts(struct loci_profile *profile, const struct program *p)
{
	uint64_t refs = 0;

	GET(profile, context, contexts);
	for (size_t i = 0; i < p->contexts.n; i++) {
		const struct tally *want = &p->contexts.tally[i];
		int64_t id[KEYS];
		size_t n = 0;

		for (size_t k = 0; k < n_context; k++) {
			char path[2048];

			if (!strcmp(context_path(profile, context[k].id, path, sizeof(path)),
				    want->key)) {
				id[n++] = context[k].id;
				refs += context[k].refs;
			}
		}
		CHECK_U64(context_refs(profile, want->key), want->n);
		check_owner(profile, want, LOCI_OWNER_CONTEXT, id, n);
	}
	CHECK_U64(refs, p->refs);
}

static void check_objects(struct loci_profile *profile, const struct program *p)
{
	uint64_t refs = 0, other = 0;

	GET(profile, object, objects);
	for (size_t i = 0; i < n_object; i++) {
		refs += object[i].refs;
		other += object[i].name[0] != 'o' || object[i].name[2] ? object[i].refs : 0;
	}
	CHECK_U64(refs, p->refs);
	for (size_t i = 0; i < p->objects.n; i++) {
		const struct tally *want = &p->objects.tally[i];
		int64_t id[1];

		if (!strcmp(want->key, "-")) {
			CHECK_U64(other, want->n);
			continue;
		}
		id[0] = object_named(profile, want->key);
		check_owner(profile, want, LOCI_OWNER_OBJECT, id, 1);
	}
}

static void check_pairs(struct loci_profile *profile, const struct program *p)
{
	struct tallies got = { 0 };

	GET(profile, pair, pairs);
	GET(profile, site, sites);
	for (size_t i = 0; i < n_pair; i++) {
		const struct loci_site_row *use =
			loci_row_find(site, n_site, sizeof(*site), pair[i].use_site_id);
		const struct loci_site_row *reuse =
			loci_row_find(site, n_site, sizeof(*site), pair[i].reuse_site_id);
		char key[160];

		snprintf(key, sizeof(key), "%s %" PRIx64 ">%s %" PRIx64 " %s", use->op,
			use->code_offset, reuse->op, reuse->code_offset, pair[i].kind);
		find(&got, key)->n += pair[i].refs;
	}
	CHECK_U64(got.n, p->pairs.n);
	for (size_t i = 0; i < p->pairs.n; i++)
		CHECK_U64(find(&got, p->pairs.tally[i].key)->n, p->pairs.tally[i].n);
	free(got.tally);
}

/* Unless all pairs are wanted, touches of the block touched before are joined: all else is the
 * same. */
static void check_program(uint64_t seed, enum loci_analyse_pairs pairs)
{
	static const struct loci_level_row levels[] = {
		{ .name = "A",
			.size_bytes = 6 * 64,
			.ways = 2,
			.line_bytes = 64,
			.share = "shared" },
		{ .name = "B",
			.size_bytes = 16 * 64,
			.ways = 4,
			.line_bytes = 64,
			.share = "shared" },
	};
	const struct loci_analyse_options options = { .attribute = true,
		.pairs = pairs,
		.verify = UINT64_MAX,
		.levels = levels,
		.n_levels = 2 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	static struct program p;

	generate(&p, seed);
	profile = attributed(&p.w, &options);
	if (!profile)
		return;
	CHECK_U64(loci_profile_run(profile)->references, p.refs);
	check_sites(profile, &p);
	check_contexts(profile, &p);
	check_objects(profile, &p);
	if (pairs == LOCI_PAIRS_ALL)
		check_pairs(profile, &p);
	for (int64_t k = 0; k < 2; k++) {
		CHECK_U64(level_count(profile, k + 1, LOCI_OWNER_WHOLE, 0).misses,
			p.whole.tally[0].misses[k]);
		CHECK_U64(level_count(profile, k + 1, LOCI_OWNER_WHOLE, 0).writebacks,
			p.whole.tally[0].writebacks[k]);
	}
	free(p.sites.tally);
	free(p.contexts.tally);
	free(p.objects.tally);
	free(p.pairs.tally);
	free(p.whole.tally);
	free(p.w.word);
}

int main(void)
{
	char dir[] = "/tmp/blame_stream_test.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	for (uint64_t seed = 1; seed <= check_turns(4); seed++)
		for (int pairs = 0; pairs < 3; pairs++)
			check_program(seed, (enum loci_analyse_pairs)pairs);
	rmdir(dir);
	return check_status();
}
