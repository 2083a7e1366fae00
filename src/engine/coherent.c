// SPDX-License-Identifier: GPL-2.0-or-later
/* The coherent stacks' life outside the kernel: members, room for the next touches, results. */
#include "engine/coherent_state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>

/* A touch takes at most a record, three sharers and two writes. */
#define ITEMS_PER_TOUCH 6
#define MAX_CHUNK       1024 /* touches between checks for room */

static loci_coherent_kernel *const kernels[] = {
	[LOCI_ISA_SCALAR] = loci_coherent_run_scalar,
#if defined(__x86_64__)
	[LOCI_ISA_AVX2] = loci_coherent_run_avx2,
	[LOCI_ISA_AVX512] = loci_coherent_run_avx512,
#endif
};

static void coherent_freep(struct loci_coherent **coherent)
{
	loci_coherent_free(*coherent);
}

int loci_coherent_new(const struct loci_coherent_options *options, struct loci_coherent **ret,
	struct loci_err *err)
{
	struct loci_coherent_tuning tuning = {
		.stack = { .min_homes = 8192,
			.min_slots = 1 << 13,
			.chunk = MAX_CHUNK,
			.page_bytes = 4096 },
		.min_items = 2 * ITEMS_PER_TOUCH * MAX_CHUNK,
	};

	return loci_coherent_new_tuned(options, &tuning, ret, err);
}

int loci_coherent_new_tuned(const struct loci_coherent_options *options,
	const struct loci_coherent_tuning *tuning, struct loci_coherent **ret, struct loci_err *err)
{
	loci_cleanup(coherent_freep) struct loci_coherent *coherent = calloc(1, sizeof(*coherent));

	if (!coherent)
		return loci_err_nomem(err);
	coherent->tuning = *tuning;
	coherent->max_bytes = options->max_bytes;
	coherent->taken_by = options->taken_by;
	coherent->kernel = kernels[loci_isa_resolve(options->isa)];
	if (loci_stack_map_init(&coherent->map, &tuning->stack) < 0)
		return loci_err_nomem(err);
	if (options->max_bytes && loci_coherent_bytes(coherent) > options->max_bytes)
		return loci_err_set(err, EINVAL,
			"coherent stacks cannot do with %llu KiB of memory; they need at least "
			"%llu KiB",
			(unsigned long long)options->max_bytes / 1024,
			(unsigned long long)loci_coherent_bytes(coherent) / 1024 + 1);
	*ret = coherent;
	coherent = NULL;
	return 0;
}

static void free_member(struct loci_coherent *coherent, struct loci_coherent_member *member)
{
	if (!member)
		return;
	loci_coherent_slots_fini(coherent, member);
	free(member);
}

void loci_coherent_free(struct loci_coherent *coherent)
{
	if (!coherent)
		return;
	for (uint32_t i = 0; i < coherent->n_members; i++) {
		free_member(coherent, coherent->member[i]);
		loci_coherent_tally_free(coherent->tally[i]);
	}
	free(coherent->member);
	free(coherent->tally);
	free(coherent->pool.item);
	loci_stack_map_fini(&coherent->map);
	free(coherent);
}

static uint64_t members_bytes(const struct loci_coherent *coherent)
{
	uint64_t bytes = coherent->n_members * 2 * sizeof(void *);

	for (uint32_t i = 0; i < coherent->n_members; i++) {
		const struct loci_coherent_tally *tally = coherent->tally[i];

		if (!tally)
			continue;
		bytes += loci_coherent_tally_bytes(tally) +
			(coherent->member[i] ? sizeof(*coherent->member[i]) : 0);
	}
	return bytes;
}

/* What grows with the blocks. */
static uint64_t blocks_bytes(const struct loci_coherent *coherent)
{
	return coherent->map.bytes + coherent->slots_bytes +
		coherent->pool.room * sizeof(*coherent->pool.item);
}

uint64_t loci_coherent_bytes(const struct loci_coherent *coherent)
{
	return sizeof(*coherent) + blocks_bytes(coherent) + members_bytes(coherent);
}

double loci_coherent_sampling_rate(const struct loci_coherent *coherent)
{
	return ldexp(1, -(int)coherent->shift);
}

void loci_coherent_blocks(const struct loci_coherent *coherent, struct loci_coherent_blocks *ret)
{
	*ret = (struct loci_coherent_blocks){
		.alone = coherent->blocks[0] << coherent->shift,
		.read_only = coherent->blocks[1] << coherent->shift,
		.written = coherent->blocks[2] << coherent->shift,
	};
}

static bool fits(const struct loci_coherent *coherent, uint64_t more_bytes)
{
	return !coherent->max_bytes || blocks_bytes(coherent) + more_bytes <= coherent->max_bytes;
}

/* Entries have moved: every place looks for its own. */
static void find_places(struct loci_coherent *coherent)
{
	for (uint32_t i = 0; i < coherent->n_members; i++) {
		struct loci_coherent_member *member = coherent->member[i];

		if (!member)
			continue;
		for (unsigned place = 0; place < LOCI_STACK_TOP; place++)
			if (member->entry[place])
				member->entry[place] =
					loci_coherent_entry(coherent, member->key[place]);
	}
}

static int grow_map(struct loci_coherent *coherent, struct loci_err *err)
{
	struct loci_stack_map *map = &coherent->map;
	uint64_t n_homes = loci_stack_map_next_homes(map);

	if (n_homes > LOCI_STACK_MAX_HOMES)
		return loci_coherent_sample_less(coherent, err);
	if (!fits(coherent, loci_stack_map_bytes(map, n_homes) - map->bytes))
		return loci_coherent_sample_less(coherent, err);
	if (loci_stack_map_grow(map, n_homes, NULL) < 0)
		return loci_err_nomem(err);
	find_places(coherent);
	if (!loci_stack_map_has_room(map))
		return loci_err_set(err, EOVERFLOW,
			"too many blocks have nearly the same hash; was this trace made to break "
			"its reader?");
	return 0;
}

static int grow_pool(struct loci_coherent *coherent, struct loci_err *err)
{
	struct loci_coherent_pool *pool = &coherent->pool;
	uint64_t room = pool->room ? pool->room + pool->room / 2 : coherent->tuning.min_items;
	union loci_coherent_item *item;

	if (room > UINT32_MAX - LOCI_COHERENT_RECORD ||
		(pool->room && !fits(coherent, room * sizeof(*item))))
		return loci_coherent_sample_less(coherent, err);
	item = realloc(pool->item, room * sizeof(*item));
	if (!item)
		return loci_err_nomem(err);
	pool->item = item;
	pool->room = (uint32_t)room;
	return 0;
}

static bool pool_has_room(const struct loci_coherent_pool *pool, uint64_t items)
{
	return (uint64_t)pool->n_free + pool->room > pool->n + items + 1;
}

static int make_room(
	struct loci_coherent *coherent, struct loci_coherent_member *member, struct loci_err *err)
{
	uint64_t chunk = coherent->tuning.stack.chunk;
	int r = 0;

	while (r == 0 && !loci_stack_map_has_room(&coherent->map))
		r = grow_map(coherent, err);
	while (r == 0 && !pool_has_room(&coherent->pool, ITEMS_PER_TOUCH * chunk))
		r = grow_pool(coherent, err);
	while (r == 0 && !loci_stack_slots_have_room(&member->slots, chunk)) {
		uint64_t bytes = loci_coherent_slots_bytes(coherent, member->n_deep);

		if (bytes > loci_coherent_slots_bytes(coherent, 0) && !fits(coherent, bytes))
			r = loci_coherent_sample_less(coherent, err);
		else if (loci_coherent_renumber(coherent, member) < 0)
			r = loci_err_nomem(err);
	}
	return r;
}

static int add_number(struct loci_coherent *coherent, uint32_t number)
{
	uint64_t had = coherent->n_members, n = had ? had : 16;
	struct loci_coherent_member **member;
	struct loci_coherent_tally **tally;

	if (number < had)
		return 0;
	while (n <= number)
		n *= 2;
	member = realloc(coherent->member, n * sizeof(*member));
	if (member)
		coherent->member = member;
	tally = realloc(coherent->tally, n * sizeof(*tally));
	if (tally)
		coherent->tally = tally;
	if (!member || !tally || n > UINT32_MAX)
		return -ENOMEM;
	memset(member + had, 0, (n - had) * sizeof(*member));
	memset(tally + had, 0, (n - had) * sizeof(*tally));
	coherent->n_members = (uint32_t)n;
	return 0;
}

static int begin(struct loci_coherent *coherent, uint32_t number, struct loci_err *err)
{
	struct loci_coherent_member *member;

	if (add_number(coherent, number) < 0)
		return loci_err_nomem(err);
	member = aligned_alloc(64, (sizeof(*member) + 63) & ~63ul);
	if (!member)
		return loci_err_nomem(err);
	memset(member, 0, sizeof(*member));
	member->number = number;
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		member->rank[i] = (uint8_t)i;
	member->tally = loci_coherent_tally_new(coherent);
	if (!member->tally || loci_coherent_slots_init(coherent, member, 0) < 0) {
		loci_coherent_tally_free(member->tally);
		free(member);
		return loci_err_nomem(err);
	}
	coherent->member[number] = member;
	coherent->tally[number] = member->tally;
	return 0;
}

static int get(struct loci_coherent *coherent, uint32_t number, struct loci_coherent_member **ret,
	struct loci_err *err)
{
	int r = 0;

	if (number >= coherent->n_members || !coherent->tally[number])
		r = begin(coherent, number, err);
	if (r < 0)
		return r;
	*ret = coherent->member[number];
	if (!*ret)
		return loci_err_set(
			err, EINVAL, "member %u of the coherent stacks has ended", number);
	return 0;
}

static uint64_t n_set(const uint8_t *is, size_t n)
{
	uint64_t set = 0;

	for (size_t i = 0; i < n; i++)
		set += is[i];
	return set;
}

static int feed_turn(struct loci_coherent *coherent, uint32_t number,
	const struct loci_coherent_touches *t, size_t from, size_t to, struct loci_err *err)
{
	struct loci_coherent_member *member;
	int r = get(coherent, number, &member, err);

	if (r < 0)
		return r;
	for (size_t n; from < to; from += n) {
		struct loci_coherent_piece piece;

		n = to - from < coherent->tuning.stack.chunk ? to - from
							     : coherent->tuning.stack.chunk;
		r = make_room(coherent, member, err);
		if (r < 0)
			return r;
		piece = (struct loci_coherent_piece){ .block = t->block + from,
			.bytes = t->bytes + from,
			.use = t->use ? t->use + from : NULL,
			.is_write = t->is_write + from,
			.n = n,
			.ret_distance = t->ret_distance + from,
			.ret_kind = t->ret_kind + from,
			.ret_lost_to = t->ret_lost_to ? t->ret_lost_to + from : NULL };
		member->tally->touches += n;
		member->tally->writes += n_set(piece.is_write, n);
		coherent->kernel(coherent, member, &piece);
	}
	return 0;
}

int loci_coherent_feed(struct loci_coherent *coherent, const struct loci_coherent_touches *touches,
	struct loci_err *err)
{
	for (size_t i = 0; i < touches->n_turns; i++) {
		size_t to = i + 1 < touches->n_turns ? touches->turn_touch[i + 1] : touches->n;
		int r = feed_turn(coherent, touches->turn_member[i], touches,
			touches->turn_touch[i], to, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* A block that nobody has touched yet. */
static void add_block(struct loci_coherent *coherent, uint32_t member, uint64_t hash)
{
	uint32_t *entry = loci_coherent_entry(coherent, hash);

	coherent->map.n_entries++;
	coherent->blocks[0]++;
	*entry = LOCI_COHERENT_ALONE;
	*loci_stack_key(entry) = hash;
	*loci_stack_stamp(entry) = loci_coherent_stamp(member, LOCI_COHERENT_NOWHERE);
}

int loci_coherent_adopt(struct loci_coherent *coherent, uint32_t number, const uint64_t *block,
	size_t n, double sampling_rate, struct loci_err *err)
{
	loci_autofree uint64_t *hash = malloc((n + 1) * sizeof(*hash));
	struct loci_coherent_member *member;
	size_t n_followed = 0;
	int r;

	if (coherent->map.n_entries)
		return loci_err_set(err, EINVAL, "coherent stacks in use cannot adopt a plain one");
	while (ldexp(1, -(int)coherent->shift) > sampling_rate)
		coherent->shift++;
	r = hash ? get(coherent, number, &member, err) : loci_err_nomem(err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		uint64_t h = loci_stack_hash(block[i]);

		if (i % coherent->tuning.stack.chunk == 0)
			r = make_room(coherent, member, err);
		if (r == 0 && loci_coherent_follows(coherent, h))
			add_block(coherent, number, h);
	}
	/* While blocks were added the rate may have changed. */
	for (size_t i = 0; r == 0 && i < n; i++) {
		hash[n_followed] = loci_stack_hash(block[i]);
		n_followed += loci_coherent_follows(coherent, hash[n_followed]);
	}
	if (r == 0 && loci_coherent_set_stack(coherent, member, hash, NULL, n_followed) < 0)
		r = loci_err_nomem(err);
	return r;
}

void loci_coherent_end(struct loci_coherent *coherent, uint32_t number)
{
	if (number >= coherent->n_members || !coherent->member[number])
		return;
	free_member(coherent, coherent->member[number]);
	coherent->member[number] = NULL;
	loci_coherent_tally_shrink(coherent->tally[number]);
}

int loci_coherent_result(const struct loci_coherent *coherent, uint32_t number,
	struct loci_coherent_result *ret, struct loci_err *err)
{
	const struct loci_coherent_tally *tally;
	int r;

	*ret = (struct loci_coherent_result){ .touches = 0 };
	loci_hist_init(&ret->stack, LOCI_SCHEME_FINE);
	loci_hist_init(&ret->remote_stack, LOCI_SCHEME_FINE);
	if (number >= coherent->n_members || !coherent->tally[number])
		return 0; /* it never touched anything */
	tally = coherent->tally[number];
	r = loci_coherent_tally_result(tally, ret);
	if (r == 0)
		return 0;
	loci_coherent_result_fini(ret);
	return loci_err_nomem(err);
}

void loci_coherent_result_fini(struct loci_coherent_result *result)
{
	loci_hist_fini(&result->stack);
	loci_hist_fini(&result->remote_stack);
}
