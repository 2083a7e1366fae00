// SPDX-License-Identifier: GPL-2.0-or-later
// Owners as trees: functions with their lines, objects with who touches them, contexts with what they
// call; each node with its figures.

import { accessesOf, partsOfSites, sumHists } from "./blame.js";
import { Contexts } from "./contexts.js";
import { Nodes } from "./nodes.js";
import { everyRow, groupBy, numbersBy } from "./order.js";

export const TREES = ["function", "line", "loop", "file", "module", "object", "context"];
const COLUMNS = { function: "function", loop: "loop", file: "source", module: "module" };
const BELOW = { function: "line", loop: "line", file: "function", module: "function" };

// Nodes of those of some rows that have the same place: whole numbers from 0, one for each row.
function nodesBy(profile, kind, rows, places, idOf, more) {
	const groups = groupBy(places);
	const ids = new Float64Array(groups.n);

	for (let g = 0; g < groups.n; g++) ids[g] = idOf(groups.rows[groups.start[g]]);
	return new Nodes(profile, kind, {
		ids,
		start: groups.start.subarray(0, groups.n),
		end: groups.start.subarray(1),
		rows: groups.rows.map((at) => rows[at]),
		...more,
	});
}

// Sites by what they belong to.
function ownerNodes(profile, by, rows, depth) {
	const column = profile.sites[COLUMNS[by]];
	const places = rows.map((site) => column[site] + 1);

	return nodesBy(profile, by, rows, places, (at) => column[rows[at]], { depth });
}

// Sites by line: those of one line of one function are one; where no line is known each is by itself.
function lineNodes(profile, rows, depth) {
	const places = linesOfSites(profile);

	return nodesBy(profile, "line", rows, rows.map((site) => places[site]), (at) => rows[at], { depth });
}

// The same number for each site of the same line.
function linesOfSites(profile) {
	const { function: functions, source, line } = profile.sites;

	profile.lines ??= numbersBy([functions, source, line.map((number, site) => number || -1 - site)]);
	return profile.lines;
}

function objectNodes(profile) {
	const rows = everyRow(profile.objects.n);

	return nodesBy(profile, "object", rows, rows, (at) => at, { table: "objects" });
}

// The lines that touch an object, with their references and misses there.
function spotNodes(profile, object, depth) {
	const { site } = profile.accesses;
	const lines = linesOfSites(profile);
	const accesses = accessesOf(profile, "object", [object]);
	const spots = nodesBy(
		profile,
		"spot",
		accesses,
		accesses.map((row) => lines[site[row]] ?? profile.sites.n),
		(at) => accesses[at],
		{ depth, object, counted: "accesses" },
	);

	spots.rows = Int32Array.from(spots.counts, (row) => site[row]); // -1: one that the page lacks
	return spots;
}

// A whole tree, made once: no choice of a cache changes what belongs to what.
export function treeFor(profile, by) {
	profile.trees ??= {};
	profile.trees[by] ??= newTree(profile, by);
	return profile.trees[by];
}

function newTree(profile, by) {
	if (by === "context") return new Contexts(profile);
	if (by === "object") return objectNodes(profile);
	const rows = everyRow(profile.sites.n);

	return by === "line" ? lineNodes(profile, rows, 0) : ownerNodes(profile, by, rows, 0);
}

// A tree with the misses of a lens.
export function treeOf(profile, lens, by) {
	const nodes = treeFor(profile, by);

	nodes.judge(lens);
	return nodes;
}

// What a node falls into; of a context, what it calls is its own tree's.
export function childrenOf(profile, lens, node) {
	const { children } = node.nodes;

	if (!children.has(node.i)) children.set(node.i, newChildren(profile, node));
	children.get(node.i).judge(lens);
	return children.get(node.i);
}

function newChildren(profile, node) {
	if (node.kind === "object") return spotNodes(profile, node.id, node.depth + 1);
	const below = BELOW[node.kind];

	return below === "line"
		? lineNodes(profile, node.rows, node.depth + 1)
		: ownerNodes(profile, below, node.rows, node.depth + 1);
}

export function sitesOfFile(profile, source) {
	const files = treeFor(profile, "file");
	const i = files.ids.indexOf(source);

	return i < 0 ? new Uint32Array(0) : files.rowsOf(i);
}

export function histOf(profile, node) {
	node.hist ??= sumHists(profile[node.table], node.below);
	return node.hist;
}

// The rows that the page lacks, as one.
export function restNode(profile, lens, table) {
	const { rest } = profile[table];

	if (!rest?.n) return null;
	return {
		kind: "rest",
		table,
		id: -1,
		name: `${rest.n} more`,
		rows: [],
		depth: 0,
		refs: rest.refs,
		touches: rest.touches,
		misses: lens.rest(table),
		hist: rest.histogram,
		distance: 0,
		expands: false,
	};
}

// What somebody may ask for, made while nobody waits: in steps, each a small part of what a click may take.
export function* preparations(profile) {
	if (!profile.hasSites) return;
	partsOfSites(profile);
	yield;
	for (const by of TREES) {
		const nodes = treeFor(profile, by);

		yield;
		yield* nodes.prepare();
		yield;
	}
}
