// SPDX-License-Identifier: GPL-2.0-or-later
// A tree as the rows of a table: its nodes in order, below each open one those that it falls into.
// Rows are numbers in typed arrays; the one that is asked for becomes an object.

import { childrenOf } from "./tree.js";

export class Unfolded {
	// marks: which nodes at the top are shown, or null for all; rest: a last row, or null.
	constructor(profile, top, { marks, column, ascending, rest }) {
		Object.assign(this, { profile, column, ascending, rest });
		this.length = 0;
		this.groups = [];
		this.group = new Uint32Array(top.n + 1); // of a row: which nodes
		this.place = new Uint32Array(top.n + 1); // and which of them
		if (top.kind === "context") this.addCalls(top, marks);
		else this.add(top, marks);
		if (rest) this.push(-1, 0);
	}

	push(group, place) {
		if (this.length === this.place.length)
			for (const column of ["group", "place"]) {
				const longer = new Uint32Array(2 * this.length + 64);

				longer.set(this[column]);
				this[column] = longer;
			}
		this.group[this.length] = group;
		this.place[this.length++] = place;
	}

	add(nodes, marks) {
		const order = nodes.order(this.column, this.ascending);
		const group = this.groups.push(nodes) - 1;

		for (let k = 0; k < order.length; k++) {
			const i = order[k];

			if (marks && !marks[i]) continue;
			this.push(group, i);
			if (nodes.open[i]) this.add(childrenOf(this.profile, nodes.lens, nodes.at(i)), null);
		}
	}

	// Contexts, without recursion: calls may be deep.
	addCalls(contexts, marks) {
		const { first, open } = contexts;
		const calls = contexts.calls(this.column, this.ascending);
		const lists = [{ next: first[contexts.n], end: first[contexts.n + 1] }];

		this.groups.push(contexts);
		while (lists.length) {
			const list = lists.at(-1);
			const id = calls[list.next];

			if (list.next++ >= list.end) lists.pop();
			else if (lists.length > 1 || !marks || marks[id]) {
				this.push(0, id);
				if (open[id]) lists.push({ next: first[id], end: first[id + 1] });
			}
		}
	}

	at(row) {
		if (row < 0 || row >= this.length) return undefined;
		if (this.rest && row === this.length - 1) return this.rest;
		return this.groups[this.group[row]].at(this.place[row]);
	}

	depthAt(row) {
		return this.rest && row === this.length - 1 ? 0 : this.groups[this.group[row]].depthOf(this.place[row]);
	}

	// The row below which another is, -1: none.
	above(row) {
		const depth = this.depthAt(row);

		while (row >= 0 && this.depthAt(row) >= depth) row--;
		return row;
	}

	indexOf(node) {
		if (!node) return -1;
		if (node === this.rest) return this.length - 1;
		const group = this.groups.indexOf(node.nodes);

		return this.findRow((row) => this.group[row] === group && this.place[row] === node.i);
	}

	// The node of a kind with a number, null: it is not among the rows.
	find(kind, id) {
		const groups = this.groups.map((nodes) => (nodes.kind === kind ? nodes.ids : null));
		const row = this.findRow((at) => groups[this.group[at]]?.[this.place[at]] === id);

		return row < 0 ? null : this.at(row);
	}

	findRow(isIt) {
		const end = this.length - (this.rest ? 1 : 0);

		for (let row = 0; row < end; row++) if (isIt(row)) return row;
		return -1;
	}
}
