// SPDX-License-Identifier: GPL-2.0-or-later
// Who is to blame for a cache's misses, as src/model/blame.c has it: counts where the cache was named
// at record time, else estimates from the owners' own histograms.

import { atLeast, binLow, binOf, medianBeyond, medianIn, newHist, total } from "./hist.js";
import { learnBins, predictCache } from "./predict.js";
import { bytes, cacheBlocks, cacheSets, count, percent } from "./units.js";

export const COARSE_BINS = 256;
const OBJECTS_TOLD = 7; // of those that an owner touches

export function cacheName(profile, cache) {
	const room = profile.isObject ? `${count(cache.size_bytes)} objects` : bytes(cache.size_bytes);

	return `${cache.name} (${room})`;
}

// What one cache sees of a profile: the misses of any row of any table.
export class Lens {
	constructor(profile, cache) {
		this.profile = profile;
		this.cache = cache;
		this.blocks = cache ? cacheBlocks(cache) : 0;
		this.level = cache ? this.find(cache) : -1;
		this.fault = "";
		this.columns = new Map();
		this.wholes = new Map();
		if (!cache) this.fault = "no cache is known";
		else if (this.level < 0 && cache.line_bytes !== profile.ownerBlock)
			this.fault = `code and data were recorded with ${profile.ownerBlock}-byte blocks`;
		else if (this.level < 0 && profile.hasSites && !profile.knowsOwners)
			this.fault = "of code and data the profile has no stack distances: their misses are not known";
		this.isEstimate = this.level < 0;
		if (this.isEstimate && !this.fault) this.inBin = learnBins(cache, "coarse", COARSE_BINS);
	}

	find(cache) {
		return this.profile.levels.findIndex(
			(level) =>
				level.size_bytes === cache.size_bytes &&
				level.line_bytes === cache.line_bytes &&
				(level.ways === cache.ways || (cacheSets(level) === 1 && cacheSets(cache) === 1)),
		);
	}

	// Misses as text: whole ones, and "~" where they are estimated.
	text(misses) {
		return this.fault || Number.isNaN(misses) ? "\u2013" : `${this.mark}${count(Math.round(misses))}`;
	}

	// A share of misses as text.
	share(misses, all) {
		return this.fault || !(all > 0) || Number.isNaN(misses) ? "\u2013" : `${this.mark}${percent(misses / all)}`;
	}

	// What the overview says of the cache.
	get result() {
		this.foreseen ??= this.profile.predict([this.cache])[0];
		return this.foreseen;
	}

	get mark() {
		return this.isEstimate ? "~" : "";
	}

	// The cache as a sentence names it: "L1 (32 KiB)".
	get name() {
		return this.cache ? cacheName(this.profile, this.cache) : "the cache";
	}

	ofHist(hist) {
		let misses = hist.cold + hist.coherence;

		for (let i = 0; i < hist.weight.length; i++) misses += hist.weight[i] * this.inBin[i];
		return misses;
	}

	// The misses of every row of a table ("sites", "objects", ..), as one column.
	misses(name) {
		if (!this.columns.has(name)) this.columns.set(name, this.compute(name));
		return this.columns.get(name);
	}

	compute(name) {
		const table = this.profile[name];

		if (this.fault) return new Float64Array(table.n);
		if (!this.isEstimate) return table.misses?.[this.level] ?? new Float64Array(table.n);
		if (name === "accesses") return this.estimateAccesses();
		const { start, bins, weights, cold, coherence } = table.histogram;
		const misses = new Float64Array(table.n);

		for (let i = 0; i < table.n; i++) {
			let sum = cold[i] + coherence[i];

			for (let k = start[i]; k < start[i + 1]; k++) sum += weights[k] * this.inBin[bins[k]];
			misses[i] = sum;
		}
		return misses;
	}

	// Accesses have no histograms: a site's estimate is shared out as its misses were at the first
	// level recorded, or its references where none was.
	estimateAccesses() {
		const misses = new Float64Array(this.profile.accesses.n);
		const ofOne = this.missesOfAccesses();

		for (let i = 0; i < misses.length; i++) misses[i] = ofOne(i);
		return misses;
	}

	// The misses of any access, for who asks for a few of them: not found for all.
	missesOfAccesses() {
		if (!this.isEstimate || this.fault || this.columns.has("accesses")) {
			const column = this.misses("accesses");

			return (row) => column[row];
		}
		const { site } = this.profile.accesses;
		const parts = partsOfSites(this.profile);
		const ofSite = this.misses("sites");

		return (row) => (parts[row] > 0 ? ofSite[site[row]] * parts[row] : 0);
	}

	// Of the rows that the page does not hold.
	rest(name) {
		const { rest } = this.profile[name];

		if (!rest || !rest.n || this.fault) return 0;
		return this.isEstimate ? this.ofHist(rest.histogram) : rest.misses[this.level];
	}

	// Of a thread, region or phase.
	ofStage(stage) {
		if (this.fault) return NaN;
		if (!this.isEstimate) return stage.misses[this.level];
		if (!stage.histogram) return NaN;
		if (stage.histogram.scheme === "coarse") return this.ofHist(stage.histogram);
		return predictCache({ touches: 0, stack: stage.histogram }, this.cache).misses;
	}

	// All misses there were: counted, or estimated as the owners' are.
	whole(name = "sites") {
		if (!this.wholes.has(name)) this.wholes.set(name, this.fault ? 0 : this.sum(name));
		return this.wholes.get(name);
	}

	sum(name) {
		const { profile } = this;
		const column = this.misses(name);
		const table = profile[name];
		let owned = this.rest(name);

		for (let i = 0; i < table.n; i++) owned += column[i];
		if (!this.isEstimate) return Math.max(owned, profile.whole.misses[this.level]);
		table.allRefs ??= (table.refs ?? []).reduce((sum, refs) => sum + refs, table.rest?.refs ?? 0);
		const refs = table.allRefs;

		if (name === "pairs" || !(refs < profile.run.references)) return owned;
		const all = predictCache(
			{ touches: 0, stack: profile.hist("stack", profile.ownerBlock) },
			this.cache,
		).misses;

		return owned + all * (1 - refs / profile.run.references);
	}
}

// The part of its site's misses that each access has; 0: of no site that is known.
export function partsOfSites(profile) {
	const { accesses, sites, levels } = profile;

	if (!profile.parts) {
		const weights = levels.length ? accesses.misses[0] : accesses.refs;
		const sums = new Float64Array(sites.n);

		profile.parts = new Float64Array(accesses.n);
		for (let i = 0; i < accesses.n; i++) if (accesses.site[i] >= 0) sums[accesses.site[i]] += weights[i];
		for (let i = 0; i < accesses.n; i++) if (weights[i] > 0) profile.parts[i] = weights[i] / sums[accesses.site[i]] || 0;
	}
	return profile.parts;
}

// The histogram of some rows of a table together.
export function sumHists(table, rows) {
	const hist = newHist("coarse", COARSE_BINS);

	hist.lost = 0; // to other threads' writes, where each thread has a cache of its own
	if (!table.histogram) return hist;
	const { start, bins, weights, cold, coherence } = table.histogram;

	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];

		if (row < 0) continue; // one that the page lacks
		for (let k = start[row]; k < start[row + 1]; k++) hist.weight[bins[k]] += weights[k];
		hist.cold += cold[row];
		hist.coherence += coherence[row];
		hist.lost += (table.true_sharing?.[row] ?? 0) + (table.false_sharing?.[row] ?? 0);
	}
	return hist;
}

const LOW = Float64Array.from({ length: COARSE_BINS + 1 }, (_, i) => binLow("coarse", i));
const scratch = new Float64Array(COARSE_BINS);
let lastAsked = { from: 0, bin: 0 };

// medianBeyond of some rows together, without a histogram for each: a table is sorted by it. Of the rows,
// those from `begin` to `end`.
export function medianOf(table, rows, from, begin = 0, end = rows.length) {
	if (!table.histogram) return 0;
	const { start, bins, weights } = table.histogram;
	const first = firstBin(from);
	let last = -1;
	let left = 0;

	for (let i = begin; i < end; i++) {
		const row = rows[i];

		for (let k = start[row]; k < start[row + 1]; k++) {
			const bin = bins[k];

			if (bin < first) continue;
			const weight =
				bin > first || from <= LOW[bin]
					? weights[k]
					: (weights[k] * (LOW[bin + 1] - from)) / (LOW[bin + 1] - LOW[bin]);

			scratch[bin] += weight;
			left += weight / 2;
			if (bin > last) last = bin;
		}
	}
	let bin = first;

	for (; bin <= last && !(scratch[bin] > 0 && scratch[bin] >= left); bin++) left -= scratch[bin];
	scratch.fill(0, first, last + 1);
	return bin <= last ? medianIn(Math.max(from, LOW[bin]), LOW[bin + 1]) : 0;
}

// The bin of a distance, which is asked for again and again.
function firstBin(from) {
	if (lastAsked.from !== from) lastAsked = { from, bin: binOf("coarse", from) };
	return lastAsked.bin;
}

// What makes most of the misses: reuses from too far, first touches, other threads, or the sets.
export function causeOf(hist, misses, lens) {
	const far = atLeast(hist, lens.blocks).sum;
	const lost = hist.coherence + (lens.cache?.share === "shared" ? 0 : (hist.lost ?? 0));
	const causes = [
		["far", far],
		["cold", hist.cold],
		["shared", lost],
		["conflict", misses > 0 ? misses - far - hist.cold - lost : 0],
	];

	if (lens.fault || !(total(hist) > 0)) return { cause: null, distance: 0 };
	const [cause, weight] = causes.reduce((most, next) => (next[1] > most[1] ? next : most));

	return { cause: weight > 0 ? cause : null, distance: medianBeyond(hist, lens.blocks) };
}

// Rows of a table by one of its columns, as a list for each value: start and rows.
function newIndex(column, n) {
	const start = new Uint32Array(n + 1);
	const rows = new Uint32Array(column.length);

	for (let i = 0; i < column.length; i++) if (column[i] >= 0) start[column[i] + 1]++;
	for (let i = 0; i < n; i++) start[i + 1] += start[i];
	const next = start.slice();

	for (let i = 0; i < column.length; i++) if (column[i] >= 0) rows[next[column[i]]++] = i;
	return { start, rows };
}

// Which rows of a table have one of some values in a column that names rows of another table.
function rowsWith(profile, table, key, ids, n) {
	profile.indexes ??= {};
	const { start, rows } = (profile.indexes[`${table} ${key}`] ??= newIndex(profile[table][key] ?? [], n));
	let length = 0;

	for (let i = 0; i < ids.length; i++) if (ids[i] >= 0) length += start[ids[i] + 1] - start[ids[i]];
	const found = new Uint32Array(length);

	length = 0;
	for (let i = 0; i < ids.length; i++)
		for (let k = start[ids[i]]; k < start[ids[i] + 1]; k++) found[length++] = rows[k];
	return found;
}

// key: "site" or "object".
export function accessesOf(profile, key, ids) {
	return rowsWith(profile, "accesses", key, ids, key === "site" ? profile.sites.n : profile.objects.n);
}

// key: "reuse" (a site), "reuse_context" or "object".
export function pairsOf(profile, key, ids) {
	const n = { reuse: profile.sites.n, reuse_context: profile.contexts.n, object: profile.objects.n }[key];

	return rowsWith(profile, "pairs", key, ids, n);
}

// The few rows with the most misses, and of those the most references, the worst first.
export function worstRows(rows, misses, refs, few) {
	const isWorse = (a, b) => misses[a] > misses[b] || (misses[a] === misses[b] && refs[a] > refs[b]);
	const worst = [];

	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];

		if (worst.length === few && !isWorse(row, worst[few - 1])) continue;
		let at = Math.min(worst.length, few - 1);

		for (; at > 0 && isWorse(row, worst[at - 1]); at--) worst[at] = worst[at - 1];
		worst[at] = row;
	}
	return worst;
}

// Room for sums of references and misses of each object, unknown ones first; misses of -1: nothing yet.
function objectSums(profile) {
	profile.sums ??= {
		touched: new Float64Array(profile.objects.n + 1),
		seen: new Float64Array(profile.objects.n + 1).fill(-1),
	};
	return profile.sums;
}

// How some accesses walk: the stride of the one with the most misses, how regular, how much of what
// they bring in is used, and which objects they touch most.
export function walkOf(profile, rows, lens) {
	const { accesses } = profile;
	const misses = lens.missesOfAccesses();
	// which one speaks for all is not a matter of estimates: the first level recorded says
	const rank = lens.isEstimate && profile.levels.length ? accesses.misses[0] : lens.misses("accesses");
	const { touched, seen } = objectSums(profile);
	const ids = [];
	let worst = -1;
	let refs = 0;
	let regular = 0;
	let fills = 0;
	let used = 0;

	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];

		if (
			worst < 0 ||
			rank[row] > rank[worst] ||
			(rank[row] === rank[worst] && accesses.refs[row] > accesses.refs[worst])
		)
			worst = row;
		refs += accesses.refs[row];
		regular += accesses.regular_refs[row];
		fills += accesses.fills[row];
		used += accesses.used_bytes[row];
		const id = accesses.object[row] + 1;

		if (seen[id] < 0) {
			ids.push(id);
			seen[id] = touched[id] = 0;
		}
		touched[id] += accesses.refs[row];
		seen[id] += misses(row);
	}
	const objects = worstRows(ids, seen, touched, OBJECTS_TOLD).map((id) => ({
		object: id - 1,
		refs: touched[id],
		misses: seen[id],
	}));

	for (const id of ids) seen[id] = -1;
	const line = profile.levels[0]?.line_bytes ?? profile.ownerBlock;

	return {
		stride: worst >= 0 && refs > 0 && profile.knowsWalks ? accesses.stride_bytes[worst] : null,
		regular: refs > 0 ? regular / refs : 0,
		spatial: fills > 0 ? used / (fills * line) : null,
		objects,
	};
}
