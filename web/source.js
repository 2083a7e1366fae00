// SPDX-License-Identifier: GPL-2.0-or-later
// The pane of source: the lines that the profile holds, each with its heat.

import { el } from "./dom.js";
import { Grid, heatCell } from "./grid.js";
import { sitesOfFile } from "./tree.js";
import { fileName } from "./document.js";
import { orderBy, valuesAt } from "./order.js";

// The lines of a source that the profile knows, by column: numbers, 0 for a gap; the sites of line i from
// start[i] to start[i + 1]. The one that is asked for becomes an object.
class Lines {
	constructor(profile, source) {
		const { line, refs } = profile.sites;
		const own = sitesOfFile(profile, source).filter((site) => line[site] > 0);
		const order = orderBy(valuesAt(line, own));

		this.text = profile.text.get(source) ?? new Map();
		this.sites = order.map((at) => own[at]);
		this.numbers = withGaps(numbersOf(this.sites, line, this.text));
		this.length = this.numbers.length;
		this.start = new Uint32Array(this.length + 1);
		this.refs = new Float64Array(this.length);
		this.misses = new Float64Array(this.length);
		for (let i = 0, k = 0; i < this.length; i++) {
			for (; k < this.sites.length && line[this.sites[k]] === this.numbers[i]; k++)
				this.refs[i] += refs[this.sites[k]];
			this.start[i + 1] = k;
		}
		this.lens = null;
		this.hottest = 0;
	}

	// Which cache is looked at changes their misses alone.
	judge(lens) {
		const misses = lens.misses("sites");

		if (this.lens === lens) return;
		this.lens = lens;
		this.misses.fill(0);
		this.hottest = 1e-9;
		for (let i = 0; i < this.length; i++) {
			for (let k = this.start[i]; k < this.start[i + 1]; k++) this.misses[i] += misses[this.sites[k]];
			this.hottest = Math.max(this.hottest, this.misses[i]);
		}
	}

	at(i) {
		const number = this.numbers[i];

		return {
			number,
			text: number ? (this.text.get(number) ?? "").replaceAll("\t", "    ") : "\u22ee",
			refs: this.refs[i],
			misses: this.misses[i],
			site: this.start[i] < this.start[i + 1] ? this.sites[this.start[i]] : -1,
		};
	}

	// Where a line stands, -1: it is not known.
	indexOf(number) {
		return number ? this.numbers.indexOf(number) : -1;
	}
}

// The numbers of all lines with text or sites, which are sorted by line: sorted, some twice.
function numbersOf(sites, line, text) {
	const numbers = [...text.keys()];

	for (let k = 0; k < sites.length; k++)
		if (!k || line[sites[k]] !== line[sites[k - 1]]) numbers.push(line[sites[k]]);
	return Float64Array.from(numbers).sort();
}

// Sorted numbers, each once, and a 0 where some are left out.
function withGaps(sorted) {
	const numbers = [];

	for (let i = 0; i < sorted.length; i++) {
		if (i && sorted[i] > sorted[i - 1] + 1) numbers.push(0);
		if (!i || sorted[i] !== sorted[i - 1]) numbers.push(sorted[i]);
	}
	return Float64Array.from(numbers);
}

function linesOf(profile, source) {
	profile.files ??= new Map();
	if (!profile.files.has(source)) profile.files.set(source, new Lines(profile, source));
	return profile.files.get(source);
}

// All of them, made while nobody waits, one at a time.
export function* prepareSources(profile) {
	for (let source = 0; source < profile.sources.n; source++) yield linesOf(profile, source);
}

export class SourcePane {
	constructor(app) {
		this.app = app;
		this.grid = new Grid({
			label: "source",
			columns: [
				{
					key: "misses",
					title: "misses",
					number: true,
					fill: (cell, line) =>
						heatCell(cell, line.misses / (this.hottest || 1), line.refs ? this.app.lens.text(line.misses) : ""),
				},
				{
					key: "share",
					title: "%",
					number: true,
					hint: "of all misses of the cache",
					text: (line) => (line.refs ? this.app.lens.share(line.misses, this.all) : ""),
				},
				{
					key: "line",
					title: "line",
					number: true,
					class: "line-number",
					text: (line) => (line.number ? String(line.number) : ""),
				},
				{ key: "text", title: "source", class: "source-text", text: (line) => line.text },
			],
			onselect: (row) => row.site >= 0 && app.show({ sel: `line:${row.site}` }),
		});
		this.title = el("h2", { class: "pane-title" });
		this.note = el("p", { class: "note" });
		this.element = el(
			"section",
			{ class: "pane source", "aria-label": "source" },
			el("div", { class: "pane-bar" }, this.title, this.note),
			this.grid.element,
		);
	}

	// all: the misses of everybody; name: of what is looked for.
	show({ source, line }, all, name) {
		const { profile, lens } = this.app;

		this.all = all;
		if (source < 0) {
			this.title.textContent = "no source known";
			this.note.textContent = name ? `${name}: built without -g, or its place is not known` : "";
			this.grid.setRows([]);
			return;
		}
		const lines = linesOf(profile, source);

		lines.judge(lens);
		this.hottest = lines.hottest;
		this.title.textContent = fileName(profile.sources.path[source]);
		this.title.title = profile.sources.path[source];
		this.note.textContent = profile.text.has(source)
			? ""
			: "the profile holds no text of this file: figures by line";
		this.grid.setRows(lines, lines.indexOf(line));
	}
}
