// SPDX-License-Identifier: GPL-2.0-or-later
// Search in trees: which nodes have the words in their names, or in those of what they fall into.

import { treeFor } from "./tree.js";

// A mark for each site whose line has the words.
function sitesFound(profile, query) {
	if (profile.searched?.query !== query) {
		const lines = treeFor(profile, "line");
		const found = lines.names.find(query);
		const marks = new Uint8Array(profile.sites.n);

		for (let i = 0; i < lines.n; i++)
			if (found[i]) for (let k = lines.start[i]; k < lines.end[i]; k++) marks[lines.rows[k]] = 1;
		profile.searched = { query, marks };
	}
	return profile.searched.marks;
}

// Contexts with the words, and their callers, which are opened.
function contextsFound(contexts, query, open) {
	const found = contexts.names.find(query);
	const inside = new Uint8Array(contexts.n);

	for (const id of contexts.rows) {
		if (inside[id]) open(id);
		if (inside[id]) found[id] = 1;
		if (found[id] && contexts.parent[id] >= 0) inside[contexts.parent[id]] = 1;
	}
	return found;
}

// Marks for the nodes of a tree that are to be shown; open: is told of those that are to be open.
export function findNodes(profile, by, query, open) {
	const nodes = treeFor(profile, by);

	if (by === "context") return contextsFound(nodes, query, open);
	const found = nodes.names.find(query);

	if (by === "object" || by === "line") return found;
	const marks = sitesFound(profile, query);

	for (let i = 0; i < nodes.n; i++)
		for (let k = nodes.start[i]; !found[i] && k < nodes.end[i]; k++) found[i] = marks[nodes.rows[k]];
	return found;
}
