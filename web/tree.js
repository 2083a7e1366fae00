// SPDX-License-Identifier: GPL-2.0-or-later
// Owners as trees: functions with their lines, objects with who touches them, contexts with what they
// call; each node with its figures.

import { binLow, binOf } from "./hist.js";
import { COARSE_BINS, accessesOf, sumHists } from "./blame.js";

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

// Misses of all touches made here, or of references where touches are not known.
export function ratioOf(node) {
	return node.touches > 0 ? node.misses / node.touches : node.refs > 0 ? node.misses / node.refs : 0;
}
