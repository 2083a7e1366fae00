// SPDX-License-Identifier: GPL-2.0-or-later
// The misses of any LRU cache from the histograms of one line size: src/model/predict.c once more,
// so that a cache can be dragged. tests/web holds the two against each other.

import { atLeast, binHigh, binLow, total } from "./hist.js";
import { binomialAtLeast } from "./binomial.js";
import { cacheBlocks, cacheSets } from "./units.js";

const SETS_KNOWN = 65536;
const WAYS_KNOWN = 64;
const POINTS_PER_BIN = 16;

export const BASES = {
	exact: { worst: 0, note: "" },
	interpolated: {
		worst: 0,
		note: "the size lies within a bin of the histogram, whose reuses are thought to be spread evenly",
	},
	"binomial model": {
		worst: 40,
		note: "blocks are thought to fall into sets at random: off by about 2 points on unstructured addresses, up to 40 for a loop that just fits",
	},
	StatStack: {
		worst: 33,
		note: "LRU from time distances: close on loops, streams and tiles; up to 25 points off where data is walked back and forth, 33 where phases differ",
	},
	sampled: { worst: 0, note: "from a sample of the blocks; the error is a 95 % interval" },
};

// Mean over a bin's values of P(Binomial(value, 1/sets) >= ways).
function tailInBin(scheme, bin, p, ways) {
	const low = binLow(scheme, bin);
	const width = binHigh(scheme, bin) - low;
	const first = binomialAtLeast(low, p, ways);
	const n = Math.min(width, POINTS_PER_BIN);
	let sum = 0;

	if (n <= 1 || binomialAtLeast(low + width - 1, p, ways) - first < 1e-9) return first;
	for (let i = 0; i < n; i++) sum += binomialAtLeast(Math.floor(low + ((i + 0.5) * width) / n), p, ways);
	return sum / n;
}

function binomialMisses(hist, cache) {
	const p = 1 / cacheSets(cache);
	let misses = 0;

	for (let i = 0; i < hist.weight.length; i++)
		if (hist.weight[i] > 0) misses += hist.weight[i] * tailInBin(hist.scheme, i, p, cache.ways);
	return misses;
}

function reaching(hist, cache, associative) {
	const finite = associative ? atLeast(hist, cacheBlocks(cache)).sum : binomialMisses(hist, cache);

	return hist.cold + hist.coherence + finite;
}

// Why a set-associative cache cannot be read off a per-set histogram, or null if it can.
function notExact(input, cache) {
	const sets = cacheSets(cache);

	if (input.is_private) return "sets of private caches are known of those named at record time alone";
	if (!Number.isInteger(Math.log2(sets))) return "the number of sets is no power of two";
	if (sets > SETS_KNOWN) return "there are more than 65536 sets";
	if (cache.ways > WAYS_KNOWN) return "there are more than 64 ways";
	if (!input.set) return "the profile has no per-set histograms at this line size";
	return null;
}

function points(part, whole) {
	return whole > 0 ? (100 * part) / whole : 0;
}

function fromStack(input, result) {
	const { stack } = input;
	const { cache } = result;
	const blocks = cacheBlocks(cache);
	const associative = cacheSets(cache) === 1;
	const why = associative ? null : notExact(input, cache);
	const all = total(stack);
	const scale = input.touches > 0 && all > 0 ? input.touches / all : 1;
	const full = atLeast(stack, blocks);
	let uncertain = 0;

	result.basis = stack.model ?? "exact";
	if (stack.model) {
		if (associative) uncertain = full.uncertain;
		result.misses = scale * reaching(stack, cache, associative);
	} else if (input.counted) {
		result.misses = input.counted.misses;
	} else if (!associative && !why) {
		result.misses = input.set.cold + atLeast(input.set, cache.ways).sum;
	} else if (associative) {
		uncertain = full.uncertain;
		result.misses = scale * reaching(stack, cache, true);
		if (input.sampled) result.basis = "sampled";
		else if (uncertain > 0) result.basis = "interpolated";
	} else {
		result.misses = scale * reaching(stack, cache, false);
		result.basis = "binomial model";
	}
	result.why = result.basis === "binomial model" ? why : null;
	result.error_points = 0;
	if (result.basis !== "exact")
		result.error_points =
			BASES[result.basis].worst +
			points(scale * uncertain, result.accesses) +
			(input.sampled ? input.sampling_points : 0);
	result.cold = scale * stack.cold;
	result.coherence = scale * stack.coherence;
	result.capacity = scale * full.sum;
	result.conflict = result.misses - result.cold - result.coherence - result.capacity;
	if (Math.abs(result.conflict) < 1e-9 * result.accesses) result.conflict = 0;
	result.split_error_points = points(scale * full.uncertain, result.accesses);
}

// Each write whose dirty level reaches the cache's size makes one write-back.
function writeBacks(input, result) {
	const { cache } = result;
	const associative = cacheSets(cache) === 1;
	const bySet = !associative && !notExact(input, cache);
	const byCount = Boolean(input.counted) && result.basis === "exact";
	const dirty = bySet ? input.set_dirty : input.dirty;

	if (!input.stores_known || !(dirty || byCount)) return null;
	if (byCount) return input.counted.writebacks;
	return bySet ? dirty.cold + atLeast(dirty, cache.ways).sum : reaching(dirty, cache, associative);
}

// Between which shares the miss ratio lies: the model's error around it, and no further than is
// possible: none below or above all and, where every reuse is known, none below first touches or
// above those with what was reused after at least as many blocks as a set has ways.
function rangeOf(input, result) {
	const { stack } = input;
	const all = total(stack);
	const isKnown = all > 0 && !input.sampled && !stack.model;
	const { ways } = result.cache;
	const least = isKnown ? (stack.cold + stack.coherence) / all : 0;
	const most = isKnown && ways ? (stack.cold + stack.coherence + atLeast(stack, ways).sum) / all : 1;
	const middle = result.accesses > 0 ? result.misses / result.accesses : 0;
	const error = result.error_points / 100;

	return [Math.max(least, middle - error), Math.min(most, middle + error)];
}

export function predictCache(input, cache) {
	const { sharing = null } = input;
	const result = {
		cache,
		threaded: Boolean(input.is_threaded),
		true_sharing: sharing?.true_sharing ?? null,
		false_sharing: sharing?.false_sharing ?? null,
		remote: sharing?.remote ?? null,
		accesses: input.touches > 0 ? input.touches : total(input.stack),
	};

	fromStack(input, result);
	result.writebacks = cache.is_tlb || input.stack.model ? null : writeBacks(input, result);
	result.hits = result.accesses - result.misses;
	result.hits_estimated = false;
	result.range = rangeOf(input, result);
	result.miss_ratio = result.accesses > 0 ? result.misses / result.accesses : 0;
	result.moved_bytes = cache.is_tlb ? null : (result.misses + (result.writebacks ?? 0)) * cache.line_bytes;
	return result;
}

// What hits inside hits outside too if each outer set takes blocks of one inner set only and holds
// at least as many. Where more threads share the outer one, theirs may fill it.
function includes(outside, inside) {
	const outer = outside.cache;
	const inner = inside.cache;
	const outerWays = outer.ways || cacheBlocks(outer);
	const innerWays = inner.ways || cacheBlocks(inner);

	if (outside.threaded && (outer.share ?? "private") !== (inner.share ?? "private")) return false;
	return (
		outer.line_bytes === inner.line_bytes &&
		outerWays >= innerWays &&
		cacheSets(outer) % cacheSets(inner) === 0
	);
}

// What each level satisfies: misses of the level before less its own. TLBs stand outside that chain.
export function predictHits(results) {
	let inner = null;
	let left = 0;

	for (const result of results) {
		if (!result || result.cache.is_tlb) continue;
		if (inner) result.hits_estimated = !includes(result, inner);
		else left = result.accesses;
		const missing = Math.min(result.misses, left);

		result.hits = left - missing;
		left = missing;
		inner = result;
	}
}

// What one reuse in each bin of a histogram's scheme would miss, for owners whose histograms know no
// sets: a thousand owners then cost a thousand products.
export function learnBins(cache, scheme, nBins) {
	const share = new Float64Array(nBins);
	const blocks = cacheBlocks(cache);
	const associative = cacheSets(cache) === 1;
	const p = 1 / cacheSets(cache);

	for (let i = 0; i < nBins; i++) {
		const low = binLow(scheme, i);
		const high = binHigh(scheme, i);

		if (!associative) share[i] = tailInBin(scheme, i, p, cache.ways);
		else share[i] = blocks <= low ? 1 : blocks >= high ? 0 : (high - blocks) / (high - low);
	}
	return share;
}
