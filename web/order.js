// SPDX-License-Identifier: GPL-2.0-or-later
// Orders and groups of rows by keys in typed arrays: sorted by the digits of the keys, without a
// function for each comparison and without an object for each row.

const BITS = 11;
const DIGITS = 1 << BITS;

// The bits of numbers, in halves, so that the smaller number has the smaller bits.
function sortable(keys) {
	const halves = new Uint32Array(Float64Array.from(keys).buffer);

	for (let i = 0; i < halves.length; i += 2) {
		if (halves[i + 1] === 0x80000000 && !halves[i]) halves[i + 1] = 0; // no zero is less than another
		const flip = halves[i + 1] >>> 31 ? 0xffffffff : 0;

		halves[i] ^= flip;
		halves[i + 1] ^= flip | 0x80000000;
	}
	return halves;
}

// Rows by one digit of their keys, into `to`; false where all have the same.
function scatter(halves, half, shift, from, to) {
	const next = new Uint32Array(DIGITS);
	const n = from.length;
	let sum = 0;

	for (let i = half; i < 2 * n; i += 2) next[(halves[i] >>> shift) % DIGITS]++;
	if (next[(halves[half] >>> shift) % DIGITS] === n) return false;
	for (let digit = 0; digit < DIGITS; digit++) {
		sum += next[digit];
		next[digit] = sum - next[digit];
	}
	for (let k = 0; k < n; k++) to[next[(halves[2 * from[k] + half] >>> shift) % DIGITS]++] = from[k];
	return true;
}

// Rows by their keys, the smallest first; of the same key in the order that `before` has them in.
export function orderBy(keys, before = null) {
	const n = keys.length;
	const halves = sortable(keys);
	let order = new Uint32Array(n);
	let other = new Uint32Array(n);

	for (let i = 0; i < n; i++) order[i] = before ? before[i] : i;
	for (let half = 0; n && half < 2; half++)
		for (let shift = 0; shift < 32; shift += BITS)
			if (scatter(halves, half, shift, order, other)) [order, other] = [other, order];
	return order;
}

function differ(columns, a, b) {
	for (let i = 0; i < columns.length; i++) if (columns[i][a] !== columns[i][b]) return true;
	return false;
}

// The place of each row among all that differ, by the first column and where it does not tell by the next.
export function placesBy(columns) {
	const order = columns.reduceRight((before, keys) => orderBy(keys, before), null);
	const places = new Float64Array(order.length);
	let place = 0;

	for (let k = 1; k < order.length; k++) {
		if (differ(columns, order[k], order[k - 1])) place++;
		places[order[k]] = place;
	}
	return places;
}

// Rows with the same place (whole numbers from 0) together, groups in the order of their first rows:
// group g has rows[start[g]] to rows[start[g + 1] - 1].
export function groupBy(places) {
	const total = places.length;
	const of = new Uint32Array(total);
	const groups = new Uint32Array(places.reduce((most, place) => Math.max(most, place), 0) + 1); // of a place, from 1
	let n = 0;

	for (let i = 0; i < total; i++) {
		groups[places[i]] ||= ++n;
		of[i] = groups[places[i]] - 1;
	}
	const start = new Uint32Array(n + 1);
	const rows = new Uint32Array(total);

	for (let i = 0; i < total; i++) start[of[i] + 1]++;
	for (let g = 0; g < n; g++) start[g + 1] += start[g];
	const next = start.slice();

	for (let i = 0; i < total; i++) rows[next[of[i]]++] = i;
	return { n, start, rows };
}

// Keys that put rows in the order of their names.
export function nameKeys(names) {
	const places = new Map();

	for (const name of [...names].sort()) if (!places.has(name)) places.set(name, places.size);
	return Float64Array.from(names, (name) => places.get(name));
}

// Of rows that stay the same: their order by any column of keys, each made once. stamp: what the keys
// depend on; refs: who comes first where keys are the same.
export class Orders {
	constructor(refs) {
		this.refs = refs;
		this.known = new Map();
	}

	by(name, ascending, stamp, keysOf) {
		const key = `${ascending ? "+" : "-"}${name}`;
		const old = this.known.get(key);

		if (old?.stamp === stamp) return old.order;
		this.busiest ??= orderBy(this.refs.map((refs) => -refs));
		const keys = keysOf();
		const order = orderBy(ascending ? keys : keys.map((value) => -value), this.busiest);

		this.known.set(key, { stamp, order });
		return order;
	}
}
