// SPDX-License-Identifier: GPL-2.0-or-later
// Owners beside each other, by column: their rows, references and misses in typed arrays. An object
// exists only of those that somebody looks at.

import { medianOf } from "./blame.js";
import { fileName } from "./document.js";
import { Names } from "./names.js";
import { Orders, finish, nameKeys, placesBy } from "./order.js";

const NAMES = {
	function: (profile, id) => profile.functionName(id) || "(no function known)",
	loop: (profile, id) => profile.loopName(id),
	file: (profile, id) => (id >= 0 ? profile.sources.path[id] : "(no file known)"),
	module: (profile, id) => (id >= 0 ? profile.modules.path[id] : "(no module known)"),
	object: (profile, id) => profile.objectName(id),
	context: (profile, id) => profile.contextName(id),
	line: (profile, id) => profile.siteName(id),
	spot: (profile, id) => profile.siteName(profile.accesses.site[id]),
};

// Misses of all touches made somewhere, or of references where touches are not known.
export function ratioOf({ misses, touches, refs }) {
	return ratio(misses, touches, refs);
}

function ratio(misses, touches, refs) {
	return touches > 0 ? misses / touches : refs > 0 ? misses / refs : 0;
}

// Keys of lines, each named by a site: by file, number and function; after them those of which no line
// is known, by function and place in the module. In steps.
function* lineKeys({ sites, sources, functions, modules }, ids) {
	const isKnown = (site) => sites.source[site] >= 0 && sites.line[site] > 0;
	const ranks = (texts) => nameKeys(Array.from(texts ?? []));
	const files = ranks(sources.path?.map(fileName));
	const names = ranks(functions.name);
	const libraries = ranks(modules.path?.map(fileName));

	const columns = [];

	for (const keyOf of [
		(site) => (isKnown(site) ? files[sites.source[site]] * 2 ** 32 + sites.line[site] : Infinity),
		(site) => names[sites.function[site]] ?? -1,
		(site) => (isKnown(site) ? 0 : (libraries[sites.module[site]] ?? -1)),
		(site) => (isKnown(site) ? 0 : sites.code_offset[site]),
	]) {
		columns.push(ids.map(keyOf));
		yield;
	}
	return yield* placesBy(columns);
}

// One of them, as panes and tables see it.
class Owner {
	constructor(nodes, i) {
		this.nodes = nodes;
		this.i = i;
		this.id = nodes.ids[i];
		this.kind = nodes.kind;
		this.table = nodes.table;
		this.name = nodes.nameOf(i);
		this.object = nodes.object; // of a spot: where
		this.hist = null;
	}

	get rows() {
		return this.nodes.ownRows(this.i);
	}

	// Of a context: it and all that it calls.
	get below() {
		return this.nodes.rowsOf(this.i);
	}

	// Of a spot: which.
	get accesses() {
		const { counted, counts, start, end } = this.nodes;

		return counted === "accesses" ? counts.subarray(start[this.i], end[this.i]) : null;
	}

	get depth() {
		return this.nodes.depthOf(this.i);
	}

	get expands() {
		return this.nodes.expands(this.i);
	}

	get open() {
		return this.nodes.open[this.i] === 1;
	}

	get refs() {
		return this.nodes.refs[this.i];
	}

	get touches() {
		return this.nodes.touches[this.i];
	}

	get misses() {
		return this.nodes.misses[this.i];
	}

	// Of a context: without what it calls.
	get own() {
		return this.nodes.column[this.id];
	}

	// The site that stands for it, -1: none.
	get worst() {
		return this.nodes.worstOf(this.i);
	}

	get distance() {
		return this.nodes.distanceOf(this.i);
	}
}

export class Nodes {
	// given: ids, each one's number among its kind; rows, of a table, those of node i from start[i] to
	// end[i]; counts, rows of the table `counted`, one for each of `rows`, whose references and misses
	// are theirs.
	constructor(profile, kind, given) {
		Object.assign(this, { profile, kind, table: "sites", depth: 0, object: -1 }, given);
		this.counted ??= this.table;
		this.counts ??= this.rows;
		this.n = this.ids.length;
		this.refs = this.sum(profile[this.counted].refs, new Float64Array(this.n));
		this.touches = this.sum(profile[this.counted].touches, new Float64Array(this.n));
		this.misses = new Float64Array(this.n);
		this.far = new Float64Array(this.n); // distances; -1: not known yet
		this.open = new Uint8Array(this.n);
		this.lens = null; // whose misses they are
		this.column = null; // of all rows of `counted`
		this.owners = new Map();
		this.children = new Map();
		this.orders = new Orders(this.refs);
		this.names = new Names(this.n, (i) => this.nameOf(i));
	}

	sum(column, sums) {
		const { start, end, counts } = this;

		for (let i = 0; i < sums.length; i++) {
			let sum = 0;

			for (let k = start[i]; k < end[i]; k++) sum += column[counts[k]];
			sums[i] = sum;
		}
		return sums;
	}

	// Gives them the misses of a lens.
	judge(lens) {
		if (this.lens === lens) return;
		this.lens = lens;
		this.column = lens.misses(this.counted);
		this.sum(this.column, this.misses);
		this.far.fill(-1);
	}

	at(i) {
		if (!this.owners.has(i)) this.owners.set(i, new Owner(this, i));
		return this.owners.get(i);
	}

	*[Symbol.iterator]() {
		for (let i = 0; i < this.n; i++) yield this.at(i);
	}

	rowsOf(i) {
		return this.rows.subarray(this.start[i], this.end[i]);
	}

	ownRows(i) {
		return this.rowsOf(i);
	}

	nameOf(i) {
		return NAMES[this.kind](this.profile, this.ids[i]);
	}

	depthOf() {
		return this.depth;
	}

	expands() {
		return this.kind !== "line" && this.kind !== "spot";
	}

	// The node that has a row, -1: none.
	holding(row) {
		const at = this.rows.indexOf(row);

		return at < 0 ? -1 : this.end.findIndex((end) => end > at);
	}

	worstOf(i) {
		const { counts, column, start, end } = this;
		const { refs } = this.profile[this.counted];
		let most = start[i];

		for (let k = most + 1; k < end[i]; k++) {
			const a = counts[k];
			const b = counts[most];

			if (column[a] > column[b] || (column[a] === column[b] && refs[a] > refs[b])) most = k;
		}
		return this.table === "sites" ? this.rows[most] : -1;
	}

	// The median of the reuses that the cache is too small for.
	distanceOf(i) {
		if (this.far[i] < 0)
			this.far[i] = this.lens.fault
				? 0
				: medianOf(this.profile[this.table], this.rows, this.lens.blocks, this.start[i], this.end[i]);
		return this.far[i];
	}

	keys(column) {
		if (column === "name") return this.nameKeys();
		if (column === "ratio")
			return this.misses.map((misses, i) => ratio(misses, this.touches[i], this.refs[i]));
		if (column === "refs") return this.refs;
		if (column === "misses") return this.misses;
		for (let i = 0; i < this.n; i++) this.distanceOf(i);
		return this.far;
	}

	nameKeys() {
		this.places ??= finish(this.newNameKeys());
		return this.places;
	}

	*newNameKeys() {
		if (this.kind === "line") return yield* lineKeys(this.profile, this.ids);
		return nameKeys(Array.from(this.ids, (_, i) => this.nameOf(i)));
	}

	// What names are searched and sorted by, in steps, for when nobody waits.
	*prepare() {
		yield* this.names.prepare();
		this.places ??= yield* this.newNameKeys();
	}

	// All of them by a column, and where it does not tell by references.
	order(column, ascending) {
		const stamp = column === "name" || column === "refs" ? null : this.lens;

		return this.orders.by(column, ascending, stamp, () => this.keys(column));
	}
}
