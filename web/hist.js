// SPDX-License-Identifier: GPL-2.0-or-later
// Histograms of distances, as src/hist has them: bins are exact below a bound and then so many per
// power of two; infinite distances stand beside them.

const SCHEMES = {
	fine: { bits: 7, linear: 256, bins: 256 + 56 * 128 },
	coarse: { bits: 2, linear: 16, bins: 16 + 60 * 4 },
	linear: { bits: 0, linear: 64, bins: 64 },
};

function floorLog2(value) {
	let log2 = value < 2 ** 31 ? 31 - Math.clz32(value) : 31;

	while (2 ** (log2 + 1) <= value) log2++;
	return log2;
}

export function binOf(scheme, value) {
	const { bits, linear, bins } = SCHEMES[scheme];

	if (scheme === "linear") return Math.min(value, bins - 1);
	if (value < linear) return value;
	const log2 = floorLog2(value);

	return (
		linear + (log2 - floorLog2(linear)) * 2 ** bits + (Math.floor(value / 2 ** (log2 - bits)) % 2 ** bits)
	);
}

export function binLow(scheme, bin) {
	const { bits, linear } = SCHEMES[scheme];

	if (bin < linear || scheme === "linear") return bin;
	const above = bin - linear;

	return (2 ** bits + (above % 2 ** bits)) * 2 ** (Math.floor(above / 2 ** bits) + floorLog2(linear) - bits);
}

export function binHigh(scheme, bin) {
	return scheme !== "linear" && bin + 1 >= SCHEMES[scheme].bins ? 2 ** 64 : binLow(scheme, bin + 1);
}

export function newHist(scheme, length = 0) {
	return { scheme, weight: new Float64Array(length), cold: 0, coherence: 0, model: null };
}

// From the document: bins by their differences, and a weight for each.
export function decodeHist(packed) {
	let bin = 0;
	const at = packed.bins.map((difference) => (bin += difference));
	const hist = newHist(packed.scheme, at.length ? at[at.length - 1] + 1 : 0);

	at.forEach((where, i) => (hist.weight[where] = packed.weights[i]));
	hist.cold = packed.cold;
	hist.coherence = packed.coherence;
	hist.model = packed.model ?? null; // what made it of other distances
	return hist;
}

function finite(hist) {
	let sum = 0;

	for (let i = 0; i < hist.weight.length; i++) sum += hist.weight[i];
	return sum;
}

export function total(hist) {
	return finite(hist) + hist.cold + hist.coherence;
}

// The share of a bin that lies at or beyond a value inside it, reuses thought to be spread evenly.
function shareBeyond(scheme, bin, value) {
	const low = binLow(scheme, bin);
	const high = binHigh(scheme, bin);

	return value >= high ? 0 : value <= low ? 1 : (high - value) / (high - low);
}

// Weight of values >= value, infinite ones not included; uncertain: the weight of the bin that the
// value divides, the most that the answer can be off.
export function atLeast(hist, value) {
	const { scheme, weight } = hist;
	const bin = binOf(scheme, value);
	let sum = 0;

	for (let i = weight.length; i-- > bin + 1; ) sum += weight[i];
	if (bin >= weight.length) return { sum, uncertain: 0 };
	const share = shareBeyond(scheme, bin, value);

	return { sum: sum + weight[bin] * share, uncertain: share > 0 && share < 1 ? weight[bin] : 0 };
}

export function missRatio(hist, blocks) {
	const all = total(hist);

	return all > 0 ? (hist.cold + hist.coherence + atLeast(hist, blocks).sum) / all : 0;
}

// The distances at which misses change, and the misses of caches that large: one pass for all sizes.
export function curve(hist) {
	const { scheme, weight } = hist;
	const all = total(hist);
	const points = [{ blocks: 0, ratio: 1 }];
	let left = finite(hist);

	if (!(all > 0)) return [];
	for (let i = 0; i < weight.length; i++) {
		if (!(weight[i] > 0)) continue;
		points.push({ blocks: binLow(scheme, i), ratio: (left + hist.cold + hist.coherence) / all });
		// a bin of one distance is a step; within a wider one reuses are thought to be spread
		if (binHigh(scheme, i) - binLow(scheme, i) === 1)
			points.push({ blocks: binHigh(scheme, i), ratio: points.at(-1).ratio });
		left = Math.max(0, left - weight[i]);
		points.push({ blocks: binHigh(scheme, i), ratio: (left + hist.cold + hist.coherence) / all });
	}
	return points;
}

// Shares of all touches per power of two of blocks: [low, high).
export function log2Rows(hist) {
	const { scheme, weight } = hist;
	const all = total(hist);
	const rows = [];

	for (let i = 0; all > 0 && i < weight.length; i++) {
		if (!(weight[i] > 0)) continue;
		const low = binLow(scheme, i);
		const row = low === 0 ? 0 : floorLog2(low) + 1;

		while (rows.length <= row)
			rows.push({ low: rows.length ? 2 ** (rows.length - 1) : 0, high: 2 ** rows.length, share: 0 });
		rows[row].share += weight[i] / all;
	}
	return rows;
}

// What is said of a median that lies in [low, high): the cache that would just hold it where that is
// one distance, else the least it can be, so that it never lies above the size that holds all of it.
export function medianIn(low, high) {
	return high - low > 1 ? low : high;
}

// The median of the reuses of at least `from` blocks; 0: none.
export function medianBeyond(hist, from) {
	const { scheme, weight } = hist;
	let left = atLeast(hist, from).sum / 2;

	for (let i = 0; left > 0 && i < weight.length; i++) {
		let low = binLow(scheme, i);
		const high = binHigh(scheme, i);
		let own = weight[i];

		if (high <= from || !(own > 0)) continue;
		if (low < from) {
			own *= (high - from) / (high - low);
			low = from;
		}
		if (own >= left) return medianIn(low, high);
		left -= own;
	}
	return 0;
}
