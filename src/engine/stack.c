// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine's life outside the kernel: room for the next chunk, and results. */
#include "engine/stack_state.h"

#include "base/cleanup.h"

#include <errno.h>

/* Slots per deep block after a renumbering: the sweep over the map is paid by those left over. */
#define SLOTS_PER_BLOCK 6
/* Slots carry numbers of 32 bits, an eighth of which is skipped. */
#define MAX_SLOTS       (UINT32_MAX / 512 * LOCI_STACK_LINE_BITS - 2 * LOCI_STACK_LINE_BITS)
/* With less memory than this to use, huge pages would waste too much of it. */
#define LITTLE_BYTES    (64 << 20)

static loci_stack_kernel *const kernels[] = {
	[LOCI_ISA_SCALAR] = loci_stack_run_scalar,
#if defined(__x86_64__)
	[LOCI_ISA_AVX2] = loci_stack_run_avx2,
	[LOCI_ISA_AVX512] = loci_stack_run_avx512,
#endif
};

uint64_t loci_stack_slots_for(const struct loci_stack *stack, uint64_t n_deep)
{
	uint64_t n = n_deep * SLOTS_PER_BLOCK;

	if (n < stack->tuning.min_slots)
		n = stack->tuning.min_slots;
	return n < MAX_SLOTS ? n : MAX_SLOTS;
}

static uint64_t fixed_bytes(const struct loci_stack *stack)
{
	return sizeof(*stack) + sizeof(*stack->counts) +
		(stack->max_bytes ? sizeof(*stack->sample) + LOCI_STACK_FRONT_BYTES : 0);
}

/* What the engine may come to use with a map of so many homes; while slots are renumbered there are
 * two sets of them. */
static uint64_t bytes_with(const struct loci_stack *stack, uint64_t n_homes)
{
	uint64_t n_slots = loci_stack_slots_for(stack, n_homes * LOCI_STACK_WAYS);

	return fixed_bytes(stack) + loci_stack_map_bytes(&stack->map, n_homes) +
		2 *
		loci_stack_slots_bytes(n_slots, stack->slots.use != NULL, stack->tuning.page_bytes);
}

int loci_stack_new(
	const struct loci_stack_options *options, struct loci_stack **ret, struct loci_err *err)
{
	struct loci_stack_tuning tuning = {
		.min_homes = 8192,
		.min_slots = 1 << 17,
		.chunk = LOCI_STACK_MAX_CHUNK,
		.page_bytes = 2 << 20,
		.near_homes = 16384,
	};

	if (options->little || (options->max_bytes && options->max_bytes < LITTLE_BYTES))
		tuning.page_bytes = 4096;
	return loci_stack_new_tuned(options, &tuning, ret, err);
}

static void stack_freep(struct loci_stack **stack)
{
	loci_stack_free(*stack);
}

/* A place not taken yet must not be taken for a block's, whatever its hash: its key has no hint
 * that leads to it. The last place, where most lead to, is taken first. */
static void no_hints(struct loci_stack *stack)
{
	memset(stack->hint, LOCI_STACK_TOP - 1, sizeof(stack->hint));
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		stack->key[i] = 1;
	stack->hint[1ull >> LOCI_STACK_HINT_SHIFT] = 0;
	stack->key[0] = UINT64_MAX;
}

int loci_stack_new_tuned(const struct loci_stack_options *options,
	const struct loci_stack_tuning *tuning, struct loci_stack **ret, struct loci_err *err)
{
	loci_cleanup(stack_freep) struct loci_stack *stack =
		aligned_alloc(64, (sizeof(*stack) + 63) & ~63ul);

	if (!stack)
		return loci_err_nomem(err);
	memset(stack, 0, sizeof(*stack));
	stack->kernel = kernels[loci_isa_resolve(options->isa)];
	stack->tuning = *tuning;
	stack->max_bytes = options->max_bytes;
	stack->now = 1;
	stack->recent = options->recent;
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		stack->rank[i] =
			options->recent && i >= LOCI_STACK_RANKED ? LOCI_STACK_NO_RANK : (uint8_t)i;
	no_hints(stack);
	stack->counts = calloc(1, sizeof(*stack->counts));
	if (!stack->counts || loci_stack_map_init(&stack->map, tuning) < 0 ||
		loci_stack_slots_init(&stack->slots, tuning->min_slots, 0, options->keep_uses,
			tuning->page_bytes) < 0)
		return loci_err_nomem(err);
	if (stack->max_bytes && bytes_with(stack, tuning->min_homes) > stack->max_bytes)
		return loci_err_set(err, EINVAL,
			"the stack engine cannot do with %llu KiB of memory; it needs at least "
			"%llu KiB",
			(unsigned long long)stack->max_bytes / 1024,
			(unsigned long long)bytes_with(stack, tuning->min_homes) / 1024 + 1);
	*ret = stack;
	stack = NULL;
	return 0;
}

void loci_stack_free(struct loci_stack *stack)
{
	if (!stack)
		return;
	loci_stack_map_fini(&stack->map);
	loci_stack_slots_fini(&stack->slots);
	loci_stack_sample_free(stack->sample);
	free(stack->counts);
	free(stack);
}

void loci_stack_limit(struct loci_stack *stack, uint64_t max_bytes)
{
	if (stack->max_bytes)
		stack->max_bytes = max_bytes;
}

uint64_t loci_stack_n_deep(const struct loci_stack *stack)
{
	uint64_t n = stack->map.n_entries;

	for (unsigned i = 0; i < LOCI_STACK_TOP; i++)
		n -= stack->place[i] && !loci_stack_in_front(stack->sample, stack->place[i]);
	return n;
}

/* How many homes the map may grow to, if it wants n_homes; as many as now: it must not. */
static uint64_t allowed_homes(const struct loci_stack *stack, uint64_t n_homes)
{
	uint64_t now = stack->map.n_homes;

	if (n_homes > LOCI_STACK_MAX_HOMES)
		n_homes = LOCI_STACK_MAX_HOMES;
	while (stack->max_bytes && n_homes > now && bytes_with(stack, n_homes) > stack->max_bytes)
		n_homes -= (n_homes - now + 7) / 8;
	return n_homes >= now + now / 8 ? n_homes : now;
}

static int grow_map(struct loci_stack *stack, struct loci_err *err)
{
	uint64_t wanted = loci_stack_map_next_homes(&stack->map);
	uint64_t n_homes = allowed_homes(stack, wanted);

	if (n_homes == stack->map.n_homes)
		return loci_stack_sample_less(stack, err);
	if (loci_stack_map_grow(&stack->map, n_homes, stack->place) < 0)
		return loci_err_nomem(err);
	if (n_homes == wanted && !loci_stack_map_has_room(&stack->map))
		return loci_err_set(err, EOVERFLOW,
			"touch %llu: too many blocks have nearly the same hash; was this trace "
			"made "
			"to break its reader?",
			(unsigned long long)stack->now);
	return 0;
}

static int make_room(struct loci_stack *stack, struct loci_err *err)
{
	while (!loci_stack_map_has_room(&stack->map)) {
		int r = grow_map(stack, err);

		if (r < 0)
			return r;
	}
	if (!loci_stack_slots_have_room(&stack->slots, stack->tuning.chunk)) {
		uint64_t n_deep = loci_stack_n_deep(stack);

		if (loci_stack_slots_renumber(&stack->slots, &stack->map, n_deep,
			    loci_stack_slots_for(stack, n_deep)) < 0)
			return loci_err_nomem(err);
	}
	return 0;
}

static size_t chunk(const struct loci_stack *stack)
{
	size_t most = stack->tuning.chunk;

	return stack->sample && most > LOCI_STACK_FRONT_CHUNK ? LOCI_STACK_FRONT_CHUNK : most;
}

static struct loci_stack_recent part_recent(const struct loci_stack_recent *all, size_t from)
{
	if (!all->place)
		return *all;
	return (struct loci_stack_recent){ .block = all->block + from,
		.is_write = all->is_write + from,
		.place = all->place + from,
		.rank = all->rank + from,
		.farthest = all->farthest + from,
		.left_time = all->left_time + from,
		.left = all->left ? all->left + from : NULL,
		.time = all->time + from };
}

static struct loci_stack_touches part(const struct loci_stack_touches *t, size_t from, size_t n)
{
	return (struct loci_stack_touches){
		.block = t->block + from,
		.is_write = t->is_write ? t->is_write + from : NULL,
		.more = t->more ? t->more + from : NULL,
		.more_writes = t->more ? t->more_writes + from : NULL,
		.use = t->use ? t->use + from : NULL,
		.recent = part_recent(&t->recent, from),
		.n = n,
		.ret_distance = t->ret_distance ? t->ret_distance + from : NULL,
		.ret_last_use = t->ret_last_use ? t->ret_last_use + from : NULL,
	};
}

static int check_time(const struct loci_stack *stack, uint64_t n, struct loci_err *err)
{
	if (n < LOCI_STACK_MAX_TIME - stack->now)
		return 0;
	return loci_err_set(err, EOVERFLOW, "more than 2^%d touches", 64 - LOCI_STACK_BIN_BITS);
}

static int feed(
	struct loci_stack *stack, const struct loci_stack_touches *touches, struct loci_err *err)
{
	size_t n = touches->n;

	for (size_t done = 0, take; done < n; done += take) {
		int r = make_room(stack, err);

		if (r < 0)
			return r;
		take = n - done < chunk(stack) ? n - done : chunk(stack);
		struct loci_stack_touches some = part(touches, done, take);

		if (stack->sample) {
			loci_stack_sample_clean(stack);
			for (size_t i = 0; some.is_write && i < take; i++)
				stack->sample->writes += some.is_write[i];
		}
		stack->kernel(stack, &some);
	}
	return 0;
}

int loci_stack_feed(struct loci_stack *stack, const uint64_t *block, const uint8_t *is_write,
	size_t n, uint64_t *ret_distance, struct loci_err *err)
{
	struct loci_stack_touches touches = {
		.block = block, .is_write = is_write, .n = n, .ret_distance = ret_distance
	};
	int r = check_time(stack, n, err);

	return r < 0 ? r : feed(stack, &touches, err);
}

static int check_uses(const struct loci_stack *stack, struct loci_err *err)
{
	if (stack->slots.use)
		return 0;
	return loci_err_set(err, EINVAL, "the stack engine was not made to keep uses");
}

int loci_stack_feed_uses(struct loci_stack *stack, const uint64_t *block, const uint8_t *is_write,
	const uint64_t *use, size_t n, uint64_t *ret_distance, uint64_t *ret_last_use,
	struct loci_err *err)
{
	struct loci_stack_touches touches = { .block = block,
		.is_write = is_write,
		.use = use,
		.n = n,
		.ret_distance = ret_distance,
		.ret_last_use = ret_last_use };
	int r = check_time(stack, n, err);

	if (r == 0)
		r = check_uses(stack, err);
	return r < 0 ? r : feed(stack, &touches, err);
}

/* The touches after the first ones, or that they are few enough. */
static uint64_t most_after(const struct loci_stack *stack, const uint32_t *more, size_t n)
{
	uint64_t total = 0;

	if (n < (LOCI_STACK_MAX_TIME - stack->now) >> 33)
		return 0;
	for (size_t i = 0; i < n; i++)
		total += more[i];
	return total;
}

int loci_stack_feed_runs(struct loci_stack *stack, const struct loci_stack_runs *runs, size_t n,
	uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err)
{
	struct loci_stack_touches touches = { .block = runs->block,
		.is_write = runs->is_write,
		.more = runs->more,
		.more_writes = runs->more_writes,
		.use = runs->left,
		.n = n,
		.ret_distance = ret_distance,
		.ret_last_use = ret_last_use };
	int r = check_time(stack, n + most_after(stack, runs->more, n), err);

	if (r == 0 && runs->left)
		r = check_uses(stack, err);
	return r < 0 ? r : feed(stack, &touches, err);
}

int loci_stack_feed_recent(struct loci_stack *stack, const struct loci_stack_recent *recent,
	size_t n, uint64_t *ret_distance, uint64_t *ret_last_use, struct loci_err *err)
{
	struct loci_stack_touches touches = { .block = recent->block,
		.is_write = recent->is_write,
		.use = recent->left,
		.recent = *recent,
		.n = n,
		.ret_distance = ret_distance,
		.ret_last_use = ret_last_use };
	int r = recent->left ? check_uses(stack, err) : 0;

	if (r == 0 && n && recent->time[n - 1] >= LOCI_STACK_MAX_TIME)
		r = check_time(stack, LOCI_STACK_MAX_TIME, err);
	return r < 0 ? r : feed(stack, &touches, err);
}

void loci_stack_add_recent(struct loci_stack *stack, const struct loci_recent *recent,
	const uint64_t stack_count[LOCI_RECENT])
{
	struct loci_stack_counts *counts = stack->counts;

	for (unsigned i = 0; i < LOCI_RECENT; i++) {
		counts->stack[i] += stack_count[i];
		counts->dirty[i] += recent->dirty_count[i];
		if (stack->sample)
			stack->sample->writes += recent->dirty_count[i];
	}
	for (unsigned i = 0; i < LOCI_STACK_BINS; i++)
		counts->time[i] += recent->time_count[i];
	stack->now = recent->now + 1;
}

static int fill(struct loci_hist *hist, const uint64_t *count)
{
	hist->cold = (double)count[LOCI_STACK_BIN_COLD];
	return loci_hist_from_counts(hist, count, LOCI_FINE_BINS);
}

static int exact_result(const struct loci_stack *stack, struct loci_stack_result *ret)
{
	const struct loci_stack_counts *counts = stack->counts;

	ret->blocks = (double)stack->map.n_entries;
	ret->sampling_rate = 1;
	for (unsigned i = 0; i < LOCI_STACK_BINS; i++)
		ret->writes += counts->dirty[i];
	if (fill(&ret->stack, counts->stack) < 0 || fill(&ret->time, counts->time) < 0 ||
		fill(&ret->dirty, counts->dirty) < 0)
		return -ENOMEM;
	return 0;
}

int loci_stack_result(
	const struct loci_stack *stack, struct loci_stack_result *ret, struct loci_err *err)
{
	int r;

	*ret = (struct loci_stack_result){
		.touches = stack->now - 1,
		.bytes = fixed_bytes(stack) + stack->map.bytes + stack->slots.bytes,
	};
	loci_hist_init(&ret->stack, LOCI_SCHEME_FINE);
	loci_hist_init(&ret->time, LOCI_SCHEME_FINE);
	loci_hist_init(&ret->dirty, LOCI_SCHEME_FINE);
	r = stack->sample ? loci_stack_sample_result(stack, ret) : exact_result(stack, ret);
	if (r < 0) {
		loci_stack_result_fini(ret);
		return loci_err_nomem(err);
	}
	return 0;
}

void loci_stack_result_fini(struct loci_stack_result *result)
{
	loci_hist_fini(&result->stack);
	loci_hist_fini(&result->time);
	loci_hist_fini(&result->dirty);
}
