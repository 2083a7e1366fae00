// SPDX-License-Identifier: GPL-2.0-or-later
// Orders of rows by keys in typed arrays: sorted as plain numbers, without a function for each comparison.

// The first place in sorted numbers whose value is not less.
function lowerBound(sorted, value) {
	let low = 0;
	let high = sorted.length;

	while (low < high) {
		const middle = (low + high) >>> 1;

		if (sorted[middle] < value) low = middle + 1;
		else high = middle;
	}
	return low;
}

// Rows by their keys, the smallest first; of the same key in the order that `before` has them in.
export function orderBy(keys, before = null) {
	const n = keys.length;
	const sorted = Float64Array.from(keys).sort();
	const taken = new Uint32Array(n);
	const order = new Uint32Array(n);

	for (let k = 0; k < n; k++) {
		const row = before ? before[k] : k;
		const at = lowerBound(sorted, keys[row]);

		order[at + taken[at]++] = row;
	}
	return order;
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
