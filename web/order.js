// SPDX-License-Identifier: GPL-2.0-or-later
// Orders and groups of rows by keys in typed arrays: sorted by the digits of the keys, without a
// function for each comparison and without an object for each row.

const BITS = 11;
const DIGITS = 1 << BITS;

// What is done in steps, done at once.
export function finish(steps) {
	for (;;) {
		const { done, value } = steps.next();

		if (done) return value;
	}
}

// A column's values at some rows.
export function valuesAt(column, rows) {
	const values = new Float64Array(rows.length);

	for (let i = 0; i < rows.length; i++) values[i] = column[rows[i]];
	return values;
}

// All rows, as they come.
export function everyRow(n) {
	const rows = new Uint32Array(n);

	for (let i = 0; i < n; i++) rows[i] = i;
	return rows;
}

// The bits of numbers, in halves, so that the smaller number has the smaller bits.
function sortable(keys) {
	const halves = new Uint32Array(new Float64Array(keys).buffer);

	for (let i = 0; i < halves.length; i += 2) {
		if (halves[i + 1] === 0x80000000 && !halves[i]) halves[i + 1] = 0; // no zero is less than another
		const flip = halves[i + 1] >>> 31 ? 0xffffffff : 0;

		halves[i] ^= flip;
		halves[i + 1] ^= flip | 0x80000000;
	}
	return halves;
}

// The bits in which numbers differ from the first of them, of one half.
function differing(halves, half) {
	let bits = 0;

	for (let i = half; i < halves.length; i += 2) bits |= halves[i] ^ halves[half];
	return bits;
}

// Rows by one digit of their keys, into `to`.
function scatter(halves, half, shift, from, to) {
	const next = new Uint32Array(DIGITS);
	const n = from.length;
	let sum = 0;

	for (let i = half; i < 2 * n; i += 2) next[(halves[i] >>> shift) % DIGITS]++;
	for (let digit = 0; digit < DIGITS; digit++) {
		sum += next[digit];
		next[digit] = sum - next[digit];
	}
	for (let k = 0; k < n; k++) to[next[(halves[2 * from[k] + half] >>> shift) % DIGITS]++] = from[k];
}

// Rows by their keys, the smallest first; of the same key in the order that `before` has them in.
export function orderBy(keys, before = null) {
	const n = keys.length;
	const halves = sortable(keys);
	let order = before ? new Uint32Array(before) : everyRow(n);
	let other = new Uint32Array(n);

	for (let half = 0; half < 2; half++) {
		const bits = differing(halves, half);

		for (let shift = 0; shift < 32; shift += BITS) {
			if ((bits >>> shift) % DIGITS === 0) continue; // all have the same digit
			scatter(halves, half, shift, order, other);
			[order, other] = [other, order];
		}
	}
	return order;
}

function differ(columns, a, b) {
	for (let i = 0; i < columns.length; i++) if (columns[i][a] !== columns[i][b]) return true;
	return false;
}

// The place of each row among all that differ, by the first column and where it does not tell by the next.
// In steps, for when nobody waits.
export function* placesBy(columns) {
	let order = null;
	let place = 0;

	for (let i = columns.length; i-- > 0; ) {
		order = orderBy(columns[i], order);
		yield;
	}
	const places = new Float64Array(order.length);

	for (let k = 1; k < order.length; k++) {
		if (differ(columns, order[k], order[k - 1])) place++;
		places[order[k]] = place;
	}
	return places;
}

// A number for each row, the same for those that are the same in all columns: from 0, in the order of the
// first ones. A hash table with the first row of each number.
export function numbersBy(columns) {
	const n = columns[0].length;
	const numbers = new Uint32Array(n);
	const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * n + 2))); // row + 1
	let next = 0;

	for (let i = 0; i < n; i++) {
		let hash = 0;

		for (let c = 0; c < columns.length; c++) hash = Math.imul(hash ^ (columns[c][i] | 0), 0x9e3779b1) ^ (hash >>> 15);
		let slot = (hash ^ (hash >>> 16)) & (slots.length - 1);

		while (slots[slot] && differ(columns, slots[slot] - 1, i)) slot = (slot + 1) & (slots.length - 1);
		if (slots[slot]) numbers[i] = numbers[slots[slot] - 1];
		else {
			slots[slot] = i + 1;
			numbers[i] = next++;
		}
	}
	return numbers;
}

// Rows with the same place (whole numbers from 0) together, groups in the order of their first rows:
// group g has rows[start[g]] to rows[start[g + 1] - 1].
export function groupBy(places) {
	const total = places.length;
	const of = new Uint32Array(total);
	let most = 0;
	let n = 0;

	for (let i = 0; i < total; i++) if (places[i] > most) most = places[i];
	const groups = new Uint32Array(most + 1); // of a place, from 1

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
