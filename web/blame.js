// SPDX-License-Identifier: GPL-2.0-or-later
// Who is to blame for a cache's misses, as src/model/blame.c has it: counts where the cache was named
// at record time, else estimates from the owners' own histograms. And trees of owners.

import { atLeast, binLow, binOf, medianBeyond, newHist, total } from "./hist.js";
import { learnBins, predictCache } from "./predict.js";
import { cacheBlocks, cacheSets } from "./units.js";

const COARSE_BINS = 256;

// What one cache sees of a profile: the misses of any row of any table.
export class Lens {
	constructor(profile, cache) {
		this.profile = profile;
		this.cache = cache;
		this.blocks = cache ? cacheBlocks(cache) : 0;
		this.level = cache ? this.find(cache) : -1;
		this.fault = "";
		this.columns = new Map();
		if (!cache) this.fault = "no cache is known";
		else if (this.level < 0 && cache.line_bytes !== profile.ownerBlock)
			this.fault = `code and data were recorded with ${profile.ownerBlock}-byte blocks`;
		this.isEstimate = this.level < 0;
		if (this.isEstimate && !this.fault) this.share = learnBins(cache, "coarse", COARSE_BINS);
	}

	find(cache) {
		return this.profile.levels.findIndex(
			(level) =>
				level.size_bytes === cache.size_bytes &&
				level.line_bytes === cache.line_bytes &&
				(level.ways === cache.ways || (cacheSets(level) === 1 && cacheSets(cache) === 1)),
		);
	}

	ofHist(hist) {
		let misses = hist.cold + hist.coherence;

		for (let i = 0; i < hist.weight.length; i++) misses += hist.weight[i] * this.share[i];
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

			for (let k = start[i]; k < start[i + 1]; k++) sum += weights[k] * this.share[bins[k]];
			misses[i] = sum;
		}
		return misses;
	}

	// Accesses have no histograms: a site's estimate is shared out as its misses were at the first
	// level recorded, or its references where none was.
	estimateAccesses() {
		const { accesses, sites, levels } = this.profile;
		const part = levels.length ? accesses.misses[0] : accesses.refs;
		const ofSite = this.misses("sites");
		const sum = new Float64Array(sites.n);
		const misses = new Float64Array(accesses.n);

		for (let i = 0; i < accesses.n; i++) if (accesses.site[i] >= 0) sum[accesses.site[i]] += part[i];
		for (let i = 0; i < accesses.n; i++) {
			const site = accesses.site[i];

			if (site >= 0 && sum[site] > 0) misses[i] = (ofSite[site] * part[i]) / sum[site];
		}
		return misses;
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
		const { profile } = this;

		if (this.fault) return 0;
		const column = this.misses(name);
		const table = profile[name];
		let owned = this.rest(name);
		let refs = table.rest?.refs ?? 0;

		for (let i = 0; i < table.n; i++) {
			owned += column[i];
			refs += table.refs[i];
		}
		if (!this.isEstimate) return Math.max(owned, profile.whole.misses[this.level]);
		if (name === "pairs" || !(refs < profile.run.references)) return owned;
		const all = predictCache(
			{ touches: 0, stack: profile.hist("stack", profile.ownerBlock) },
			this.cache,
		).misses;

		return owned + all * (1 - refs / profile.run.references);
	}
}

// The histogram of some rows of a table together.
export function sumHists(table, rows) {
	const hist = newHist("coarse", COARSE_BINS);

	if (!table.histogram) return hist;
	const { start, bins, weights, cold, coherence } = table.histogram;

	for (const row of rows) {
		for (let k = start[row]; k < start[row + 1]; k++) hist.weight[bins[k]] += weights[k];
		hist.cold += cold[row];
		hist.coherence += coherence[row];
	}
	return hist;
}

// What makes most of the misses: reuses from too far, first touches, other threads, or the sets.
export function causeOf(hist, misses, lens) {
	const far = atLeast(hist, lens.blocks).sum;
	const causes = [
		["far", far],
		["cold", hist.cold],
		["shared", hist.coherence],
		["conflict", misses > 0 ? misses - far - hist.cold - hist.coherence : 0],
	];

	if (lens.fault || !(total(hist) > 0)) return { cause: null, distance: 0 };
	const [cause, weight] = causes.reduce((most, next) => (next[1] > most[1] ? next : most));

	return { cause: weight > 0 ? cause : null, distance: medianBeyond(hist, lens.blocks) };
}

// Accesses of sites, as a list for each: start and rows.
function accessesBy(profile, key) {
	const { accesses } = profile;
	const n = key === "site" ? profile.sites.n : profile.objects.n;
	const start = new Uint32Array(n + 1);
	const rows = new Uint32Array(accesses.n);

	for (let i = 0; i < accesses.n; i++) if (accesses[key][i] >= 0) start[accesses[key][i] + 1]++;
	for (let i = 0; i < n; i++) start[i + 1] += start[i];
	const next = start.slice();

	for (let i = 0; i < accesses.n; i++) if (accesses[key][i] >= 0) rows[next[accesses[key][i]]++] = i;
	return { start, rows };
}

export function accessesOf(profile, key, ids) {
	profile.accessIndex ??= {};
	const { start, rows } = (profile.accessIndex[key] ??= accessesBy(profile, key));
	const found = [];

	for (const id of ids) for (let k = start[id]; k < start[id + 1]; k++) found.push(rows[k]);
	return found;
}

// How some accesses walk: the stride of the one with the most misses, how regular, how much of what
// they bring in is used, and which objects they touch.
export function walkOf(profile, rows, lens) {
	const { accesses } = profile;
	const misses = lens.misses("accesses");
	// which one speaks for all is not a matter of estimates: the first level recorded says
	const rank = lens.isEstimate && profile.levels.length ? accesses.misses[0] : misses;
	const objects = new Map();
	let worst = -1;
	let refs = 0;
	let regular = 0;
	let fills = 0;
	let used = 0;

	for (const row of rows) {
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
		const object = objects.get(accesses.object[row]) ?? { object: accesses.object[row], refs: 0, misses: 0 };

		object.refs += accesses.refs[row];
		object.misses += misses[row];
		objects.set(object.object, object);
	}
	const line = profile.levels[0]?.line_bytes ?? profile.ownerBlock;

	return {
		stride: worst >= 0 && refs > 0 ? accesses.stride_bytes[worst] : null,
		regular: refs > 0 ? regular / refs : 0,
		spatial: fills > 0 ? used / (fills * line) : null,
		objects: [...objects.values()].sort((a, b) => b.misses - a.misses || b.refs - a.refs),
	};
}

const GROUPS = {
	function: {
		key: (p, i) => p.sites.function[i],
		name: (p, id) => p.functionName(id) || "(no function known)",
	},
	loop: { key: (p, i) => p.sites.loop[i], name: (p, id) => p.loopName(id) },
	file: {
		key: (p, i) => p.sites.source[i],
		name: (p, id) => (id >= 0 ? p.sources.path[id] : "(no file known)"),
	},
	module: {
		key: (p, i) => p.sites.module[i],
		name: (p, id) => (id >= 0 ? p.modules.path[id] : "(no module known)"),
	},
};
const BELOW = { function: "line", loop: "line", file: "function", module: "function" };

// Sites of one line of one function are one; where no line is known each is by itself.
function lineKey(profile, site) {
	const { sites, sources } = profile;

	if (!sites.line[site]) return -1 - site;
	return ((sites.function[site] + 1) * (sources.n + 1) + sites.source[site] + 1) * 2 ** 22 + sites.line[site];
}

// All sites by what they belong to, which no choice of a cache changes: made once.
function siteGroups(profile, by) {
	profile.siteGroups ??= {};
	if (!profile.siteGroups[by]) {
		profile.siteGroups[by] = groupsOf(
			profile,
			by,
			Array.from({ length: profile.sites.n }, (_, i) => i),
		);
	}
	return profile.siteGroups[by];
}

export function sitesOfFile(profile, source) {
	return siteGroups(profile, "file").get(source) ?? [];
}

function groupsOf(profile, by, rows) {
	return groupBy(
		rows,
		by === "line" ? (row) => lineKey(profile, row) : (row) => GROUPS[by].key(profile, row),
	);
}

function groupBy(rows, keyOf) {
	const groups = new Map();

	for (const row of rows) {
		const key = keyOf(row);
		const group = groups.get(key);

		if (group) group.push(row);
		else groups.set(key, [row]);
	}
	return groups;
}

// A node of the tree: its sites, or what else it is made of, and its figures.
function siteNode(profile, lens, kind, id, name, rows, depth) {
	const misses = lens.misses("sites");
	const { sites } = profile;
	const node = { kind, id, name, rows, depth, refs: 0, touches: 0, misses: 0, table: "sites" };
	let most = -1;

	for (const row of rows) {
		node.refs += sites.refs[row];
		node.touches += sites.touches[row];
		node.misses += misses[row];
		if (
			most < 0 ||
			misses[row] > misses[most] ||
			(misses[row] === misses[most] && sites.refs[row] > sites.refs[most])
		)
			most = row;
	}
	node.worst = most; // the site that stands for it
	node.expands = kind !== "line";
	return node;
}

function nodesOf(profile, lens, by, groups, depth) {
	const nodes = [];

	if (by === "line")
		for (const group of groups.values())
			nodes.push(siteNode(profile, lens, "line", group[0], profile.siteName(group[0]), group, depth));
	else
		for (const [id, group] of groups)
			nodes.push(siteNode(profile, lens, by, id, GROUPS[by].name(profile, id), group, depth));
	return nodes;
}

function objectNodes(profile, lens) {
	const { objects } = profile;
	const misses = lens.misses("objects");

	return Array.from({ length: objects.n }, (_, i) => ({
		kind: "object",
		id: i,
		name: objects.name[i],
		rows: [i],
		depth: 0,
		table: "objects",
		worst: -1,
		expands: true,
		refs: objects.refs[i],
		touches: objects.touches[i],
		misses: misses[i],
	}));
}

// The lines that touch an object, with their references and misses there.
function spotNodes(profile, lens, object, depth) {
	const { accesses, sites } = profile;
	const misses = lens.misses("accesses");
	const nodes = [];

	for (const rows of groupBy(accessesOf(profile, "object", [object]), (row) =>
		lineKey(profile, accesses.site[row]),
	).values()) {
		const node = {
			kind: "spot",
			id: rows[0],
			object,
			depth,
			refs: 0,
			touches: 0,
			misses: 0,
			table: "sites",
			expands: false,
			name: profile.siteName(accesses.site[rows[0]]),
			rows: rows.map((row) => accesses.site[row]),
		};

		for (const row of rows) {
			node.refs += accesses.refs[row];
			node.touches += accesses.touches[row];
			node.misses += misses[row];
		}
		node.worst = node.rows.reduce((a, b) => (sites.refs[b] > sites.refs[a] ? b : a));
		nodes.push(node);
	}
	return nodes;
}

function contextTree(profile, lens) {
	const { contexts } = profile;
	const misses = lens.misses("contexts");
	const nodes = Array.from({ length: contexts.n }, (_, i) => ({
		kind: "context",
		id: i,
		rows: [i],
		table: "contexts",
		worst: -1,
		depth: 0,
		children: [],
		name: profile.contextName(i),
		refs: contexts.refs[i],
		touches: contexts.touches[i],
		misses: misses[i],
		own: misses[i],
		expands: false,
	}));
	const roots = [];
	const order = [];

	nodes.forEach((node, i) => {
		if (contexts.parent[i] >= 0) nodes[contexts.parent[i]].children.push(node);
		else roots.push(node);
	});
	for (const stack = [...roots]; stack.length; ) {
		const node = stack.pop();

		order.push(node);
		for (const child of node.children) {
			child.depth = node.depth + 1;
			stack.push(child);
		}
	}
	for (const node of order.reverse()) {
		node.expands = node.children.length > 0;
		for (const child of node.children) {
			node.refs += child.refs;
			node.touches += child.touches;
			node.misses += child.misses;
		}
	}
	return roots;
}

export const TREES = ["function", "line", "loop", "file", "module", "object", "context"];

// The nodes at the top of a tree.
export function treeOf(profile, lens, by) {
	if (by === "object") return objectNodes(profile, lens);
	if (by === "context") return contextTree(profile, lens);
	return nodesOf(profile, lens, by, siteGroups(profile, by), 0);
}

// What a node falls into.
export function childrenOf(profile, lens, node) {
	if (node.children) return node.children;
	if (node.kind === "object") node.children = spotNodes(profile, lens, node.id, node.depth + 1);
	else
		node.children = BELOW[node.kind]
			? nodesOf(
					profile,
					lens,
					BELOW[node.kind],
					groupsOf(profile, BELOW[node.kind], node.rows),
					node.depth + 1,
				)
			: [];
	return node.children;
}

// Of a context: itself and all below it.
function rowsOf(node) {
	if (node.kind !== "context") return node.rows;
	const rows = [];

	for (const stack = [node]; stack.length; ) {
		const next = stack.pop();

		rows.push(next.id);
		stack.push(...next.children);
	}
	return rows;
}

export function histOf(profile, node) {
	node.hist ??= sumHists(profile[node.table], rowsOf(node));
	return node.hist;
}

const LOW = Float64Array.from({ length: COARSE_BINS + 1 }, (_, i) => binLow("coarse", i));
const scratch = new Float64Array(COARSE_BINS);

// medianBeyond of some rows together, without a histogram for each: a table is sorted by it.
function medianOf(table, rows, from) {
	const { start, bins, weights } = table.histogram;
	const first = binOf("coarse", from);
	let last = -1;
	let left = 0;
	let found = 0;

	for (const row of rows)
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
	for (let bin = first; bin <= last; bin++) {
		const own = scratch[bin];
		const low = Math.max(from, LOW[bin]);

		scratch[bin] = 0;
		if (found || !(own > 0)) continue;
		if (own >= left) found = low + Math.ceil(((LOW[bin + 1] - low) * left) / own);
		left -= own;
	}
	return found;
}

export function distanceOf(profile, lens, node) {
	node.far ??=
		lens.fault || !profile[node.table].histogram
			? 0
			: medianOf(profile[node.table], rowsOf(node), lens.blocks);
	return node.far;
}

// The rows that the page lacks, as one.
export function restNode(profile, lens, table) {
	const { rest } = profile[table];

	return rest?.n
		? {
				kind: "rest",
				id: -1,
				name: `${rest.n} more`,
				refs: rest.refs,
				touches: rest.touches,
				misses: lens.rest(table),
				rows: [],
				table,
				depth: 0,
				expands: false,
				worst: -1,
				hist: rest.histogram,
			}
		: null;
}

// Groups of sites that somebody may ask for, made while nobody waits.
export function prepare(profile) {
	for (const by of ["line", ...Object.keys(GROUPS)]) siteGroups(profile, by);
}
