// SPDX-License-Identifier: GPL-2.0-or-later
// Owners as trees: functions with their lines, objects with who touches them, contexts with what they
// call; each node with its figures.

import { accessesOf, medianOf, sumHists } from "./blame.js";
import { Orders, nameKeys } from "./order.js";

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
const FEW = 64; // to sort so many nothing is kept
const BELOW = { function: "line", loop: "line", file: "function", module: "function" };

// Sites of one line of one function are one; where no line is known each is by itself.
function lineKey(profile, site) {
	const { sites, sources } = profile;

	if (!sites.line[site]) return -1 - site;
	return ((sites.function[site] + 1) * (sources.n + 1) + sites.source[site] + 1) * 2 ** 22 + sites.line[site];
}

export function sitesOfFile(profile, source) {
	return treeFor(profile, "file").nodes.find((node) => node.id === source)?.rows ?? [];
}

// The node of its line for each site.
function linesOfSites(profile) {
	if (!profile.lines) {
		const { nodes } = treeFor(profile, "line");

		profile.lines = new Uint32Array(profile.sites.n);
		nodes.forEach((node, i) => node.rows.forEach((row) => (profile.lines[row] = i)));
	}
	return profile.lines;
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

// A node of a tree. What it is made of stays; its misses, and what follows from them, are those of the
// lens that looked last.
class Owner {
	constructor(kind, table, id, name, rows, depth) {
		this.kind = kind;
		this.table = table;
		this.id = id;
		this.name = name;
		this.rows = rows;
		this.depth = depth;
		this.refs = 0;
		this.touches = 0;
		this.misses = 0;
		this.own = 0; // of a context: without what it calls
		this.worst = -1; // the site that stands for it
		this.far = -1; // distance: not known yet
		this.object = -1; // of a spot: where
		this.accesses = null; // of a spot: which
		this.below = null; // of a context: it and all that it calls
		this.children = null;
		this.seen = null; // the lens that gave the children their misses
		this.expands = false;
		this.open = false;
		this.hist = null;
		this.small = null; // its name in small letters, for search
	}

	get lower() {
		this.small ??= this.name.toLowerCase();
		return this.small;
	}
}

function siteNode(profile, kind, id, name, rows, depth) {
	const { refs, touches } = profile.sites;
	const node = new Owner(kind, "sites", id, name, rows, depth);

	for (let k = 0; k < rows.length; k++) {
		node.refs += refs[rows[k]];
		node.touches += touches[rows[k]];
	}
	node.expands = kind !== "line";
	return node;
}

// Sites by what they belong to.
function ownerNodes(profile, by, rows, depth) {
	const { key, name } = GROUPS[by];
	const groups = groupBy(rows, (row) => key(profile, row));

	return Array.from(groups, ([id, group]) =>
		siteNode(profile, by, id, name(profile, id), group, depth),
	);
}

function lineNodes(profile, rows) {
	const groups = groupBy(rows, (row) => lineKey(profile, row));

	return Array.from(groups.values(), (group) =>
		siteNode(profile, "line", group[0], profile.siteName(group[0]), group, 0),
	);
}

// Some sites by line, where all are by line already.
function someLines(profile, rows, depth) {
	const { nodes } = treeFor(profile, "line");
	const lines = linesOfSites(profile);

	return Array.from(
		groupBy(rows, (row) => lines[row]),
		([line, group]) => siteNode(profile, "line", group[0], nodes[line].name, group, depth),
	);
}

function objectNodes(profile) {
	const { objects } = profile;

	return Array.from({ length: objects.n }, (_, i) => {
		const node = new Owner("object", "objects", i, objects.name[i], [i], 0);

		node.refs = objects.refs[i];
		node.touches = objects.touches[i];
		node.expands = true;
		return node;
	});
}

// The lines that touch an object, with their references and misses there.
function spotNodes(profile, object, depth) {
	const { accesses, sites } = profile;
	const groups = groupBy(accessesOf(profile, "object", [object]), (row) =>
		lineKey(profile, accesses.site[row]),
	);

	return Array.from(groups.values(), (rows) => {
		const at = rows.map((row) => accesses.site[row]);
		const node = new Owner("spot", "sites", rows[0], profile.siteName(at[0]), at, depth);

		node.object = object;
		node.accesses = rows;
		for (const row of rows) {
			node.refs += accesses.refs[row];
			node.touches += accesses.touches[row];
		}
		node.worst = at.reduce((a, b) => (sites.refs[b] > sites.refs[a] ? b : a));
		return node;
	});
}

// Roots, and all contexts with those they call before them. What one calls, and what that calls, lies
// right before it.
function contextTree(profile) {
	const { contexts } = profile;
	const nodes = [];
	const order = [];

	for (let i = 0; i < contexts.n; i++) {
		const node = new Owner("context", "contexts", i, profile.contextName(i), [i], 0);

		node.children = [];
		node.refs = contexts.refs[i];
		node.touches = contexts.touches[i];
		nodes.push(node);
	}
	nodes.forEach((node, i) => {
		if (contexts.parent[i] >= 0) nodes[contexts.parent[i]].children.push(node);
	});
	const roots = nodes.filter((_, i) => !(contexts.parent[i] >= 0));

	for (const stack = [...roots]; stack.length; ) {
		const node = stack.pop();

		order.push(node);
		for (const child of node.children) {
			child.depth = node.depth + 1;
			stack.push(child);
		}
	}
	order.reverse();
	const ids = Uint32Array.from(order, (node) => node.id);

	order.forEach((node, i) => {
		let first = i;

		node.expands = node.children.length > 0;
		for (const child of node.children) {
			node.refs += child.refs;
			node.touches += child.touches;
			first -= child.below.length;
		}
		node.below = ids.subarray(first, i + 1);
	});
	return { nodes: roots, order };
}

// Gives contexts their misses, those of what they call included.
function judgeContexts(order, misses) {
	for (const node of order) {
		node.far = -1;
		node.own = misses[node.id];
		node.misses = node.own;
		for (const child of node.children) node.misses += child.misses;
	}
}

// Gives nodes the misses of a lens.
function judge(profile, lens, nodes) {
	const { refs } = profile.sites;
	const ofTable = { sites: lens.misses("sites"), objects: lens.misses("objects") };
	const ofAccess = lens.misses("accesses");

	for (const node of nodes) {
		const misses = node.accesses ? ofAccess : ofTable[node.table];
		const rows = node.accesses ?? node.rows;
		let sum = 0;

		for (let k = 0; k < rows.length; k++) sum += misses[rows[k]];
		node.misses = sum;
		node.far = -1;
		if (node.kind !== "object" && node.kind !== "spot") node.worst = worstOf(rows, misses, refs);
	}
}

function worstOf(rows, misses, refs) {
	let most = rows[0];

	for (let k = 1; k < rows.length; k++) {
		const row = rows[k];

		if (misses[row] > misses[most] || (misses[row] === misses[most] && refs[row] > refs[most])) most = row;
	}
	return most;
}

// A whole tree, made once: no choice of a cache changes what belongs to what.
function treeFor(profile, by) {
	profile.trees ??= {};
	profile.trees[by] ??= { lens: null, ...newTree(profile, by) };
	return profile.trees[by];
}

function newTree(profile, by) {
	if (by === "context") return contextTree(profile);
	if (by === "object") return { nodes: objectNodes(profile) };
	const rows = Array.from({ length: profile.sites.n }, (_, i) => i);

	return { nodes: by === "line" ? lineNodes(profile, rows) : ownerNodes(profile, by, rows, 0) };
}

export const TREES = ["function", "line", "loop", "file", "module", "object", "context"];

// The nodes at the top of a tree, in an order that stays, with the misses of a lens.
export function treeOf(profile, lens, by) {
	const tree = treeFor(profile, by);

	if (tree.lens !== lens) {
		tree.lens = lens;
		if (by === "context") judgeContexts(tree.order, lens.misses("contexts"));
		else judge(profile, lens, tree.nodes);
	}
	return tree.nodes;
}

// Every context of the tree, those called before their callers.
export function allContexts(profile) {
	return treeFor(profile, "context").order;
}

// What a node falls into.
export function childrenOf(profile, lens, node) {
	if (node.kind === "context" || !node.expands) return node.children ?? [];
	if (!node.children) {
		const below = BELOW[node.kind];

		node.children =
			node.kind === "object"
				? spotNodes(profile, node.id, node.depth + 1)
				: below === "line"
					? someLines(profile, node.rows, node.depth + 1)
					: ownerNodes(profile, below, node.rows, node.depth + 1);
	}
	if (node.seen !== lens) {
		node.seen = lens;
		judge(profile, lens, node.children);
	}
	return node.children;
}

export function histOf(profile, node) {
	node.hist ??= sumHists(profile[node.table], node.below ?? node.rows);
	return node.hist;
}

export function distanceOf(profile, lens, node) {
	if (node.far < 0)
		node.far = lens.fault ? 0 : medianOf(profile[node.table], node.below ?? node.rows, lens.blocks);
	return node.far;
}

function keyOf(profile, lens, node, column) {
	if (column === "distance") return distanceOf(profile, lens, node);
	return column === "ratio" ? ratioOf(node) : node[column];
}

// The rows that the page lacks, as one.
export function restNode(profile, lens, table) {
	const { rest } = profile[table];

	if (!rest?.n) return null;
	const node = new Owner("rest", table, -1, `${rest.n} more`, [], 0);

	node.refs = rest.refs;
	node.touches = rest.touches;
	node.misses = lens.rest(table);
	node.hist = rest.histogram;
	node.far = 0;
	return node;
}

// What somebody may ask for, made while nobody waits: step by step, as each is as long as a click may be.
export function* preparations(profile) {
	for (const by of TREES) {
		const { nodes } = treeFor(profile, by);

		yield;
		if (nodes.length < FEW) continue;
		for (const node of nodes) void node.lower;
		namesOf(nodes);
		yield;
	}
}

// Misses of all touches made here, or of references where touches are not known.
export function ratioOf(node) {
	return node.touches > 0 ? node.misses / node.touches : node.refs > 0 ? node.misses / node.refs : 0;
}

const orders = new WeakMap(); // nodes -> their orders

function ordersOf(nodes) {
	if (!orders.has(nodes)) orders.set(nodes, new Orders(Float64Array.from(nodes, (node) => node.refs)));
	return orders.get(nodes);
}

function namesOf(nodes) {
	const known = ordersOf(nodes);

	known.names ??= nameKeys(nodes.map((node) => node.name));
	return known.names;
}

function sortFew(profile, lens, nodes, column, ascending) {
	const sign = ascending ? 1 : -1;
	const keys = new Map(nodes.map((node) => [node, keyOf(profile, lens, node, column)]));

	return [...nodes].sort((a, b) => {
		const [x, y] = [keys.get(a), keys.get(b)];

		return x < y ? -sign : x > y ? sign : b.refs - a.refs;
	});
}

// Nodes by a column, and where it does not tell by references.
export function sortedNodes(profile, lens, nodes, column, ascending) {
	if (nodes.length < 2) return nodes;
	if (nodes.length < FEW) return sortFew(profile, lens, nodes, column, ascending);
	const order = ordersOf(nodes).by(column, ascending, column === "name" ? null : lens, () =>
		column === "name"
			? namesOf(nodes)
			: Float64Array.from(nodes, (node) => keyOf(profile, lens, node, column)),
	);

	return Array.from(order, (at) => nodes[at]);
}
