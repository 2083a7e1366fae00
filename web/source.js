// SPDX-License-Identifier: GPL-2.0-or-later
// The pane of source: the lines that the profile holds, each with its heat.

import { el } from "./dom.js";
import { Grid, heatCell } from "./grid.js";
import { sitesOfFile } from "./tree.js";
import { fileName } from "./document.js";

function newLines(profile, source) {
	const text = profile.text.get(source);
	const { sites } = profile;
	const lines = new Map();
	const rows = [];

	for (const site of sitesOfFile(profile, source)) {
		const line = sites.line[site];

		if (!line) continue;
		if (!lines.has(line)) lines.set(line, { number: line, text: "", misses: 0, refs: 0, sites: [] });
		lines.get(line).refs += sites.refs[site];
		lines.get(line).sites.push(site);
	}
	for (const [number, words] of text ?? []) {
		if (!lines.has(number)) lines.set(number, { number, text: "", misses: 0, refs: 0, sites: [] });
		lines.get(number).text = words.replaceAll("\t", "    ");
	}
	for (const row of [...lines.values()].sort((a, b) => a.number - b.number)) {
		if (rows.length && row.number > rows.at(-1).number + 1)
			rows.push({ number: 0, text: "\u22ee", misses: 0, refs: 0, sites: [] });
		rows.push(row);
	}
	return rows;
}

// The lines of a source that the profile knows, each with its sites: made once.
function linesOf(profile, source) {
	profile.files ??= new Map();
	if (!profile.files.has(source)) profile.files.set(source, { rows: newLines(profile, source), lens: null });
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
			onselect: (row) => row.sites.length && app.show({ sel: `line:${row.sites[0]}` }),
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

	// Which cache is looked at changes the lines' misses alone.
	judge(source) {
		const { profile, lens } = this.app;
		const misses = lens.misses("sites");
		const file = linesOf(profile, source);

		if (file.lens !== lens) {
			file.lens = lens;
			file.hottest = 1e-9;
			for (const row of file.rows) {
				row.misses = 0;
				for (const site of row.sites) row.misses += misses[site];
				if (row.misses > file.hottest) file.hottest = row.misses;
			}
		}
		return file;
	}

	// all: the misses of everybody; name: of what is looked for.
	show({ source, line }, all, name) {
		const { profile } = this.app;

		this.all = all;
		if (source < 0) {
			this.title.textContent = "no source known";
			this.note.textContent = name ? `${name}: built without -g, or its place is not known` : "";
			this.grid.setRows([]);
			return;
		}
		const { rows, hottest } = this.judge(source);

		this.hottest = hottest;
		this.title.textContent = fileName(profile.sources.path[source]);
		this.title.title = profile.sources.path[source];
		this.note.textContent = profile.text.has(source)
			? ""
			: "the profile holds no text of this file: figures by line";
		this.grid.setRows(
			rows,
			rows.findIndex((row) => row.number === line),
		);
	}
}
