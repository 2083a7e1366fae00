// SPDX-License-Identifier: GPL-2.0-or-later
// Contexts as a tree: what each calls is below it, and part of its figures.

import { Nodes } from "./nodes.js";
import { everyRow } from "./order.js";

// Rows: what one calls, and what that calls, lies right before
// it; so those that are called come before their callers.
function callTree({ n, parent = [] }) {
	const first = new Uint32Array(n + 2); // where the lists of those called begin; in the last, by nobody
	const size = new Uint32Array(n).fill(1);
	const depths = new Uint32Array(n);
	const rows = new Uint32Array(n);
	const caller = (i) => (parent[i] >= 0 ? parent[i] : n);

	for (let i = 0; i < n; i++) first[caller(i) + 1]++;
	for (let i = 0; i <= n; i++) first[i + 1] += first[i];
	const tree = { first, parent, depths, rows };
	const calls = listCalls(tree, everyRow(n));
	const stack = Array.from(calls.subarray(first[n]));

	for (let at = n; at-- > 0; ) {
		const id = stack.pop();

		rows[at] = id;
		for (let k = first[id]; k < first[id + 1]; k++) {
			depths[calls[k]] = depths[id] + 1;
			stack.push(calls[k]);
		}
	}
	for (const id of rows) if (parent[id] >= 0) size[parent[id]] += size[id];
	const start = new Uint32Array(n);
	const end = new Uint32Array(n);

	rows.forEach((id, at) => {
		start[id] = at + 1 - size[id];
		end[id] = at + 1;
	});
	return { ...tree, start, end };
}

// What each context calls, in the order that all have.
function listCalls({ first, parent }, order) {
	const next = first.slice();
	const calls = new Uint32Array(order.length);

	for (let k = 0; k < order.length; k++) {
		const by = parent[order[k]];

		calls[next[by >= 0 ? by : next.length - 2]++] = order[k];
	}
	return calls;
}

export class Contexts extends Nodes {
	constructor(profile) {
		const ids = everyRow(profile.contexts.n);

		super(profile, "context", { table: "contexts", ids, ...callTree(profile.contexts) });
	}

	sum(column, sums) {
		for (let i = 0; i < this.n; i++) sums[i] = column[i];
		for (const id of this.rows) if (this.parent[id] >= 0) sums[this.parent[id]] += sums[id];
		return sums;
	}

	// Those that nobody calls.
	*[Symbol.iterator]() {
		for (let i = 0; i < this.n; i++) if (!(this.parent[i] >= 0)) yield this.at(i);
	}

	ownRows(i) {
		return [i];
	}

	depthOf(i) {
		return this.depths[i];
	}

	expands(i) {
		return this.first[i + 1] > this.first[i];
	}

	holding(row) {
		return row;
	}

	// What each calls, by a column: those of i are from first[i] on.
	calls(column, ascending) {
		const order = this.order(column, ascending);

		if (this.listed?.order !== order) this.listed = { order, calls: listCalls(this, order) };
		return this.listed.calls;
	}
}
