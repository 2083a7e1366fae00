// SPDX-License-Identifier: GPL-2.0-or-later
// Search in trees: which nodes have the words in their names, or in those of what they fall into.

import { allContexts, treeOf } from "./tree.js";

// Sites whose line has the words. A longer query looks only at what the shorter one found.
function sitesFound(profile, lens, query) {
	const old = profile.searched;

	if (old?.query === query) return old.marks;
	const lines = old && query.includes(old.query) ? old.lines : treeOf(profile, lens, "line");
	const found = lines.filter((line) => line.lower.includes(query));
	const marks = new Uint8Array(profile.sites.n);

	for (const line of found) for (const row of line.rows) marks[row] = 1;
	profile.searched = { query, lines: found, marks };
	return marks;
}

// Contexts with the words, and their callers, which are opened.
function contextsFound(profile, query, open) {
	const found = new Set();

	for (const node of allContexts(profile)) {
		const inside = node.children.some((child) => found.has(child));

		if (inside) open(node);
		if (inside || node.lower.includes(query)) found.add(node);
	}
	return found;
}

// Tells nodes at the top of a tree that are to be shown from others.
export function finder(profile, lens, by, query, open) {
	if (by === "object") return (node) => node.lower.includes(query);
	if (by === "context") {
		const found = contextsFound(profile, query, open);

		return (node) => found.has(node);
	}
	const marks = sitesFound(profile, lens, query);

	return by === "line"
		? (node) => marks[node.rows[0]] === 1
		: (node) => node.lower.includes(query) || node.rows.some((row) => marks[row]);
}
