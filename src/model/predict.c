// SPDX-License-Identifier: GPL-2.0-or-later
/* One cache from the histograms of one line size. Pure: histograms in, numbers out.
 *
 * A fully associative LRU cache of C blocks misses what is cold, lost to another thread, or reused
 * from a stack distance of C or more. A set-associative one of a power of two of sets misses what
 * lies at or beyond its ways in the per-set histogram. For all others each of the d blocks in
 * between is thought to fall into the same set with probability 1/sets, independently: good for
 * unstructured addresses, wrong for strides that favour some sets and for loops over contiguous
 * memory, which favour none. */
#include "model/predict.h"

#include "base/units.h"
#include "model/binomial.h"

#include <errno.h>
#include <math.h>

#define SETS_KNOWN     65536 /* per-set histograms end here */
#define POINTS_PER_BIN 16    /* where the binomial tail is averaged over a wide bin */

static const struct {
	const char *name, *note;
	double worst_points; /* seen in checks; see doc/method.md */
} bases[] = {
	[LOCI_BASIS_EXACT] = { "exact", "", 0 },
	[LOCI_BASIS_INTERPOLATED] = { "interpolated",
		"the size lies within a bin of the histogram, whose reuses are thought to be "
		"spread evenly",
		0 },
	[LOCI_BASIS_BINOMIAL] = { "binomial model",
		"blocks are thought to fall into sets at random: off by about 2 points on "
		"unstructured "
		"addresses, up to 40 for a loop that just fits, whose blocks share the sets evenly",
		40 },
	[LOCI_BASIS_STATSTACK] = { "StatStack",
		"LRU from time distances: close on loops, streams and tiles; up to 25 points off "
		"where data is walked back and forth, 33 where phases differ",
		33 },
	[LOCI_BASIS_SHEN] = { "Shen",
		"LRU from time distances with a binomial spread: up to 45 points off on tiled code",
		45 },
	[LOCI_BASIS_STATCACHE] = { "StatCache",
		"random replacement, fully associative, from time distances: mostly within a "
		"point; up to "
		"10 off for tiles that just fill the cache, 25 where phases differ",
		25 },
	[LOCI_BASIS_SAMPLED] = { "sampled",
		"from a sample of the blocks; the error is a 95 % interval", 0 },
};

const char *loci_basis_name(enum loci_basis basis)
{
	return bases[basis].name;
}

const char *loci_basis_note(enum loci_basis basis)
{
	return bases[basis].note;
}

static double infinite(const struct loci_hist *hist)
{
	return hist->cold + hist->coherence;
}

/* Mean over a bin's values of P(Binomial(value, 1/sets) >= ways). */
static double tail_in_bin(const struct loci_hist *hist, uint32_t bin, double p, double ways)
{
	double low = (double)loci_bin_low(hist->scheme, bin);
	double width = (double)loci_bin_high(hist->scheme, bin) - low;
	double first = loci_binomial_at_least(low, p, ways), last, sum = 0;
	unsigned n = width < POINTS_PER_BIN ? (unsigned)width : POINTS_PER_BIN;

	if (n <= 1)
		return first;
	last = loci_binomial_at_least(low + width - 1, p, ways);
	if (last - first < 1e-9)
		return first;
	/* the middles of n equal parts; every value once where the bin has no more */
	for (unsigned i = 0; i < n; i++)
		sum += loci_binomial_at_least(floor(low + (i + 0.5) * width / n), p, ways);
	return sum / n;
}

double loci_predict_binomial(const struct loci_hist *hist, double sets, double ways)
{
	double misses = 0;

	for (uint32_t i = 0; i < hist->n_bins; i++)
		if (hist->weight[i] > 0)
			misses += hist->weight[i] * tail_in_bin(hist, i, 1 / sets, ways);
	return misses;
}

static double reaching(
	const struct loci_hist *hist, const struct loci_cache *cache, bool associative)
{
	return infinite(hist) +
		(associative ? loci_hist_at_least(hist, loci_cache_blocks(cache), NULL)
			     : loci_predict_binomial(
				       hist, (double)loci_cache_sets(cache), cache->ways));
}

/* Why a set-associative cache cannot be read off a per-set histogram, or NULL if it can. */
static const char *not_exact(const struct loci_predict_input *input, const struct loci_cache *cache)
{
	uint64_t sets = loci_cache_sets(cache);

	if (input->is_private)
		return "sets of private caches are known of those named at record time alone";
	if (!loci_is_power_of_2(sets))
		return "the number of sets is no power of two";
	if (sets > SETS_KNOWN)
		return "there are more than 65536 sets";
	if (cache->ways > LOCI_LINEAR_BINS)
		return "there are more than 64 ways";
	if (!input->set)
		return "the profile has no per-set histograms at this line size";
	return NULL;
}

static double points(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Scales weights of a sample to the touches there were; 1 in an exact profile. */
static double scale_of(const struct loci_predict_input *input, const struct loci_hist *hist)
{
	double total = loci_hist_total(hist);

	return input->touches > 0 && total > 0 ? input->touches / total : 1;
}

static void split(const struct loci_hist *stack, double scale, struct loci_prediction *ret)
{
	double uncertain;
	double full = loci_hist_at_least(stack, loci_cache_blocks(&ret->cache), &uncertain);

	ret->has_split = true;
	ret->cold = scale * stack->cold;
	ret->coherence = scale * stack->coherence;
	ret->capacity = scale * full;
	ret->conflict = ret->misses - ret->cold - ret->coherence - ret->capacity;
	ret->split_points = points(scale * uncertain, ret->accesses);
	/* what differs by rounding alone does not differ */
	if (fabs(ret->conflict) < 1e-9 * ret->accesses)
		ret->conflict = 0;
}

static void from_stack(const struct loci_predict_input *input, const struct loci_hist *stack,
	enum loci_basis basis, struct loci_prediction *ret)
{
	bool associative = loci_cache_sets(&ret->cache) == 1;
	const char *why = associative ? NULL : not_exact(input, &ret->cache);
	bool by_set = !associative && !why && basis == LOCI_BASIS_EXACT;
	double scale = scale_of(input, stack), uncertain = 0;

	/* Counts and per-set lists know every touch, also where the stack follows a sample of the
	 * blocks. */
	if (input->is_counted && basis == LOCI_BASIS_EXACT) {
		ret->misses = input->counted_misses;
	} else if (by_set) {
		ret->misses =
			input->set->cold + loci_hist_at_least(input->set, ret->cache.ways, NULL);
	} else if (associative) {
		loci_hist_at_least(stack, loci_cache_blocks(&ret->cache), &uncertain);
		ret->misses = scale * reaching(stack, &ret->cache, true);
		if (basis == LOCI_BASIS_EXACT && input->sampled)
			basis = LOCI_BASIS_SAMPLED;
		else if (basis == LOCI_BASIS_EXACT && uncertain > 0)
			basis = LOCI_BASIS_INTERPOLATED;
	} else {
		ret->misses = scale * reaching(stack, &ret->cache, false);
		if (basis == LOCI_BASIS_EXACT)
			basis = LOCI_BASIS_BINOMIAL;
	}
	ret->basis = basis;
	ret->why = basis == LOCI_BASIS_BINOMIAL ? why : NULL;
	if (basis != LOCI_BASIS_EXACT)
		ret->chance_points = points(scale * uncertain, ret->accesses) +
			(input->sampled ? input->sampling_points : 0);
	ret->error_points = bases[basis].worst_points + ret->chance_points;
	split(stack, scale, ret);
}

/* Writes whose dirty level reaches the cache's size find the block clean or gone: each such write
 * makes one write-back, at the block's next eviction or at the final flush. */
static void write_backs(const struct loci_predict_input *input, struct loci_prediction *ret)
{
	bool by_set = loci_cache_sets(&ret->cache) > 1 && !not_exact(input, &ret->cache);
	bool by_count = input->is_counted && ret->basis == LOCI_BASIS_EXACT;
	const struct loci_hist *dirty = by_set ? input->set_dirty : input->dirty;

	if (!input->stores_known || !(dirty || by_count))
		return;
	ret->has_writebacks = true;
	if (by_count)
		ret->writebacks = input->counted_writebacks;
	else if (!by_set)
		ret->writebacks = reaching(dirty, &ret->cache, loci_cache_sets(&ret->cache) == 1);
	else
		ret->writebacks = dirty->cold + loci_hist_at_least(dirty, ret->cache.ways, NULL);
}

/* Where the per-set lists know the misses. They know those of a single set, too, whose misses are
 * the stack's. */
static void by_reference(const struct loci_predict_input *input, struct loci_prediction *ret)
{
	if (ret->basis != LOCI_BASIS_EXACT || !input->set_both || not_exact(input, &ret->cache))
		return;
	ret->has_reference_misses = true;
	ret->reference_misses = ret->misses - input->set_both->cold -
		loci_hist_at_least(input->set_both, ret->cache.ways, NULL);
}

static int from_time(const struct loci_predict_input *input, enum loci_conversion conversion,
	struct loci_prediction *ret, struct loci_err *err)
{
	struct loci_hist stack;
	int r;

	if (conversion == LOCI_CONVERT_STATSTACK)
		r = loci_convert_statstack_near(input->time, input->near, input->near_time, &stack);
	else
		r = loci_convert(conversion, input->time, input->blocks, &stack);
	if (r < 0)
		return loci_err_nomem(err);
	from_stack(input, &stack,
		conversion == LOCI_CONVERT_SHEN ? LOCI_BASIS_SHEN : LOCI_BASIS_STATSTACK, ret);
	loci_hist_fini(&stack);
	return 0;
}

static void random_replacement(const struct loci_predict_input *input, struct loci_prediction *ret)
{
	double scale = scale_of(input, input->time);

	ret->basis = LOCI_BASIS_STATCACHE;
	ret->misses = ret->accesses *
		loci_convert_statcache(input->time, input->blocks, loci_cache_blocks(&ret->cache));
	ret->chance_points = input->sampled ? input->sampling_points : 0;
	ret->error_points = bases[ret->basis].worst_points + ret->chance_points;
	ret->has_split = true;
	ret->cold = scale * input->time->cold;
	ret->coherence = scale * input->time->coherence;
	ret->capacity = ret->misses - ret->cold - ret->coherence;
	if (ret->capacity < 1e-9 * ret->accesses) /* by rounding */
		ret->capacity = 0;
}

int loci_predict_cache(const struct loci_predict_input *input, const struct loci_cache *cache,
	const struct loci_predict_options *options, struct loci_prediction *ret,
	struct loci_err *err)
{
	enum loci_conversion conversion = options->from_time;
	bool is_random = options->policy == LOCI_POLICY_RANDOM;
	int r = 0;

	/* profiles of watched samples have time distances only */
	if (!conversion && !input->stack)
		conversion = LOCI_CONVERT_STATSTACK;
	if ((conversion || is_random) && !input->time && input->is_threaded)
		return loci_err_set(err, ENOENT,
			"%s: time distances are wanted, and of threads apart there are none: "
			"write :shared, for all of them",
			cache->name);
	if ((conversion || is_random) && !input->time)
		return loci_err_set(err, ENOENT,
			input->stack ? "%s: time distances are wanted, and the profile has none at "
				       "this line size"
				     : "%s: the profile has neither stack nor time distances at "
				       "this line size",
			cache->name);
	*ret = (struct loci_prediction){
		.cache = *cache,
		.is_threaded = input->is_threaded,
		.has_sharing = input->has_sharing,
		.true_sharing = input->true_sharing,
		.false_sharing = input->false_sharing,
		.remote = input->remote,
	};
	ret->accesses = input->touches > 0
		? input->touches
		: loci_hist_total(conversion || is_random ? input->time : input->stack);
	if (is_random)
		random_replacement(input, ret);
	else if (conversion)
		r = from_time(input, conversion, ret, err);
	else
		from_stack(input, input->stack, LOCI_BASIS_EXACT, ret);
	/* a TLB holds translations: its misses move no pages, and it writes none back */
	if (!is_random && !conversion && !cache->is_tlb)
		write_backs(input, ret);
	if (!is_random && !conversion)
		by_reference(input, ret);
	ret->hits = ret->accesses - ret->misses;
	if (!cache->is_tlb)
		ret->moved_bytes = (ret->misses + ret->writebacks) * (double)cache->line_bytes;
	return r;
}
