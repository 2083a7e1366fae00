// SPDX-License-Identifier: GPL-2.0-or-later
// Many names, and which of them hold some words.

import { finish } from "./order.js";

const NAMES_AT_ONCE = 2000;

// Names in small letters, all in one text with a line for each: to look through them is to look through one
// string. No name has an end of line: visible.js leaves none.
export class Names {
	constructor(n, nameOf) {
		this.n = n;
		this.nameOf = nameOf;
		this.parts = [];
		this.made = 0;
		this.text = null;
		this.start = new Uint32Array(n + 1);
	}

	// In steps, for when nobody waits.
	*prepare() {
		while (this.made < this.n) {
			const names = [];

			for (const end = Math.min(this.n, this.made + NAMES_AT_ONCE); this.made < end; this.made++)
				names.push(this.nameOf(this.made));
			this.parts.push(`${names.join("\n").toLowerCase()}\n`);
			yield;
		}
		if (this.text !== null) return;
		this.text = this.parts.join("");
		this.parts = [];
		for (let i = 0; i < this.n; i++) this.start[i + 1] = this.text.indexOf("\n", this.start[i]) + 1;
	}

	// A mark for each name that holds the words.
	find(words) {
		const marks = new Uint8Array(this.n);
		let name = 0;

		finish(this.prepare());
		if (words.includes("\n")) return marks;
		for (let at = this.text.indexOf(words); at >= 0 && name < this.n; at = this.text.indexOf(words, this.start[name])) {
			while (this.start[name + 1] <= at) name++;
			marks[name++] = 1;
		}
		return marks;
	}
}
