// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack engine's life outside the kernel: room for the next chunk, and results. */
#include "engine/stack_state.h"

#include "base/cleanup.h"

#include <errno.h>

/* Slots per deep block after a renumbering: the sweep over the map is paid by those left over. */
#define SLOTS_PER_BLOCK 6
/* Slots carry numbers of 32 bits, an eighth of which is skipped. */
#define MAX_SLOTS       (UINT32_MAX / 512 * LOCI_STACK_LINE_BITS - LOCI_STACK_DEEP)

static loci_stack_kernel *const kernels[] = {
	[LOCI_ISA_SCALAR] = loci_stack_run_scalar,
#if defined(__x86_64__)
	[LOCI_ISA_AVX2] = loci_stack_run_avx2,
	[LOCI_ISA_AVX512] = loci_stack_run_avx512,
#endif
};

int loci_stack_new(
	const struct loci_stack_options *options, struct loci_stack **ret, struct loci_err *err)
{
	static const struct loci_stack_tuning tuning = {
		.min_homes = 8192,
		.min_slots = 1 << 17,
		.chunk = 4096,
		.page_bytes = 2 << 20,
	};

	return loci_stack_new_tuned(options, &tuning, ret, err);
}

static void stack_freep(struct loci_stack **stack)
{
	loci_stack_free(*stack);
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
	for (unsigned i = 0; i < LOCI_STACK_TOP; i++) {
		stack->rank[i] = (uint8_t)i;
		stack->place[i] = NULL;
	}
	stack->counts = calloc(1, sizeof(*stack->counts));
	if (!stack->counts || loci_stack_map_init(&stack->map, tuning) < 0 ||
		loci_stack_slots_init(&stack->slots, tuning->min_slots, 0, tuning->page_bytes) < 0)
		return loci_err_nomem(err);
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
	free(stack->counts);
	free(stack);
}

static int make_room(struct loci_stack *stack, struct loci_err *err)
{
	if (!loci_stack_map_has_room(&stack->map)) {
		uint64_t n_homes = loci_stack_map_next_homes(&stack->map);

		if (loci_stack_map_grow(&stack->map, n_homes, stack->place) < 0)
			return loci_err_nomem(err);
		if (!loci_stack_map_has_room(&stack->map))
			return loci_err_set(err, EOVERFLOW,
				"touch %llu: too many blocks have the same hash; was this trace "
				"made to break its reader?",
				(unsigned long long)stack->now);
	}
	if (!loci_stack_slots_have_room(&stack->slots, stack->tuning.chunk)) {
		uint64_t n_live = stack->map.n_entries - stack->n_top;
		uint64_t n_slots = n_live * SLOTS_PER_BLOCK;

		if (n_slots < stack->tuning.min_slots)
			n_slots = stack->tuning.min_slots;
		if (loci_stack_slots_renumber(&stack->slots, &stack->map, n_live, n_slots) < 0)
			return loci_err_nomem(err);
	}
	return 0;
}

int loci_stack_feed(struct loci_stack *stack, const uint64_t *block, const uint8_t *is_write,
	size_t n, uint64_t *ret_distance, struct loci_err *err)
{
	for (size_t done = 0; done < n;) {
		size_t take = n - done < stack->tuning.chunk ? n - done : stack->tuning.chunk;
		int r = make_room(stack, err);

		if (r < 0)
			return r;
		stack->kernel(stack, block + done, is_write ? is_write + done : NULL, NULL, take,
			ret_distance ? ret_distance + done : NULL);
		done += take;
	}
	return 0;
}

static int fill(struct loci_hist *hist, const uint64_t *count)
{
	loci_hist_init(hist, LOCI_SCHEME_FINE);
	hist->cold = (double)count[LOCI_STACK_BIN_COLD];
	return loci_hist_from_counts(hist, count, LOCI_FINE_BINS);
}

int loci_stack_result(
	const struct loci_stack *stack, struct loci_stack_result *ret, struct loci_err *err)
{
	const struct loci_stack_counts *counts = stack->counts;

	*ret = (struct loci_stack_result){
		.touches = stack->now - 1,
		.blocks = (double)stack->map.n_entries,
		.sampling_rate = 1,
		.bytes = sizeof(*stack) + sizeof(*counts) + stack->map.bytes +
			stack->slots.bytes,
	};
	for (unsigned i = 0; i < LOCI_STACK_BINS; i++)
		ret->writes += counts->dirty[i];
	if (fill(&ret->stack, counts->stack) < 0 || fill(&ret->time, counts->time) < 0 ||
		fill(&ret->dirty, counts->dirty) < 0) {
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
