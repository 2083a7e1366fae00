// SPDX-License-Identifier: GPL-2.0-or-later
// Three panes: the source with its heat, a tree of owners, and what is known of the one chosen. A click
// in one moves the others.

import { choice, el, empty, facts, replace } from "./dom.js";
import { Grid } from "./grid.js";
import { smallHistogram, sizeText } from "./chart.js";
import {
	TREES,
	accessesOf,
	causeOf,
	childrenOf,
	distanceOf,
	histOf,
	restNode,
	sitesOfFile,
	treeOf,
	walkOf,
} from "./blame.js";
import { causeText, strideText } from "./overview.js";
import { cacheLabel, count, percent } from "./units.js";
import { fileName } from "./document.js";

// What a tree is sorted by, as a number; names are compared.
const SORTS = {
	misses: (node) => node.misses,
	refs: (node) => node.refs,
	ratio: (node) => ratioOf(node),
	distance: (node, profile, lens) => distanceOf(profile, lens, node),
};

function ratioOf(node) {
	return node.touches > 0 ? node.misses / node.touches : node.refs > 0 ? node.misses / node.refs : 0;
}

// A bar behind a figure: its share of the most there is.
export function heatCell(cell, share, text) {
	cell.classList.add("heat");
	cell.style.setProperty("--share", `${Math.min(100, 100 * share).toFixed(1)}%`);
	cell.textContent = text;
}

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

export class CodeView {
	constructor(app) {
		this.app = app;
		this.all = 0;
		this.tree = new Grid({
			label: "who misses",
			tree: true,
			columns: [
				{ key: "name", title: "name", class: "wide", sort: true, text: (node) => node.name },
				{ key: "misses", title: "misses", number: true, sort: true, text: (node) => count(node.misses) },
				{
					key: "share",
					title: "%",
					number: true,
					fill: (cell, node) =>
						heatCell(
							cell,
							this.all > 0 ? node.misses / this.all : 0,
							this.all > 0 ? percent(node.misses / this.all) : "\u2013",
						),
				},
				{
					key: "ratio",
					title: "ratio",
					number: true,
					sort: true,
					hint: "misses of all touches made here",
					text: (node) => percent(ratioOf(node)),
				},
				{
					key: "distance",
					title: "distance",
					number: true,
					sort: true,
					hint: "median of the reuses that the cache is too small for",
					text: (node) => this.distance(node),
				},
				{ key: "refs", title: app.profile.noun, number: true, sort: true, text: (node) => count(node.refs) },
			],
			onselect: (node) => this.choose(node),
			ontoggle: (node) => this.toggle(node),
			onsort: (key) => app.show({ sort: app.store.get("sort") === key ? `-${key}` : key }),
		});
		this.source = new Grid({
			label: "source",
			columns: [
				{
					key: "misses",
					title: "misses",
					number: true,
					fill: (cell, line) =>
						heatCell(cell, line.misses / (this.hottest || 1), line.refs ? count(line.misses) : ""),
				},
				{
					key: "share",
					title: "%",
					number: true,
					text: (line) => (line.refs && this.all > 0 ? percent(line.misses / this.all) : ""),
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
			onselect: (line) => this.chooseLine(line),
		});
		this.title = el("h2", { class: "pane-title" });
		this.sourceNote = el("p", { class: "note" });
		this.metrics = el("section", { class: "pane metrics", "aria-label": "figures", tabindex: "0" });
		this.bar = el("div", { class: "pane-bar" });
		this.panes = el(
			"div",
			{ class: "panes" },
			el(
				"section",
				{ class: "pane source", "aria-label": "source" },
				el("div", { class: "pane-bar" }, this.title, this.sourceNote),
				this.source.element,
			),
			el("section", { class: "pane tree", "aria-label": "owners" }, this.bar, this.tree.element),
			this.metrics,
		);
		this.element = el("div", { class: "code" });
	}

	distance(node) {
		const blocks = node.kind === "rest" ? 0 : distanceOf(this.app.profile, this.app.lens, node);

		return blocks ? sizeText(this.app.profile, blocks, this.app.profile.ownerBlock) : "\u2013";
	}

	get by() {
		const by = this.app.store.get("by");

		return TREES.includes(by) ? by : "function";
	}

	update(changed) {
		const { app } = this;
		const { profile } = app;

		if (!profile.hasSites) {
			replace(
				this.element,
				empty(
					"No code",
					"This profile has no sites: it was made of a trace that does not say which code makes a reference.",
					"loci record ./prog makes one that does.",
				),
			);
			return;
		}
		replace(this.element, this.panes);
		if (changed.some((key) => ["view", "p", "cache", "level", "by", "q"].includes(key)) || !this.top)
			this.build();
		else if (changed.includes("sort")) this.sortAll();
		this.follow();
	}

	build() {
		const { app, by } = this;
		const { profile, lens } = app;
		const table = by === "object" ? "objects" : by === "context" ? "contexts" : "sites";
		const query = (app.store.get("q") ?? "").toLowerCase();

		this.all = lens.whole(table);
		this.top = treeOf(profile, lens, by);
		this.rest = restNode(profile, lens, table);
		if (query) this.top = this.filter(this.top, query);
		replace(
			this.bar,
			choice(
				"tree by",
				TREES.map((value) => ({ value, name: value })),
				by,
				(value) => app.show({ by: value }),
			),
			el(
				"span",
				{ class: "note" },
				lens.fault ||
					`${count(this.all)} misses of ${cacheLabel(lens.cache, profile.isObject)}${lens.isEstimate ? ", estimated from histograms" : ""}${query ? `; names with \u201c${query}\u201d` : ""}`,
			),
		);
		this.sortAll();
	}

	// Nodes whose names hold the words, or those of what they fall into.
	filter(nodes, query) {
		const { profile, lens } = this.app;

		return nodes.filter((node) => {
			if (node.name.toLowerCase().includes(query)) return true;
			if (!node.expands || node.kind === "object") return false;
			const inside = this.filter(childrenOf(profile, lens, node), query);

			if (inside.length && node.kind === "context") node.open = true;
			return inside.length > 0;
		});
	}

	sortAll() {
		const given = this.app.store.get("sort") ?? "misses";
		const key = given.replace(/^-/, "");

		this.sortKey = SORTS[key] || key === "name" ? key : "misses";
		this.ascending = given.startsWith("-") !== (key === "name");
		this.tree.setSort(this.sortKey, this.ascending);
		this.sortNodes(this.top);
		this.flatten();
	}

	sortNodes(nodes) {
		const { profile, lens } = this.app;
		const sign = this.ascending ? 1 : -1;

		if (this.sortKey === "name") {
			nodes.sort((a, b) => sign * (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
		} else {
			const value = SORTS[this.sortKey];

			for (const node of nodes) node.key = value(node, profile, lens);
			nodes.sort((a, b) => sign * (a.key - b.key) || b.refs - a.refs);
		}
		for (const node of nodes) if (node.open && node.children) this.sortNodes(node.children);
	}

	flatten() {
		const rows = [];
		const add = (nodes) => {
			for (const node of nodes) {
				rows.push(node);
				if (node.open) add(node.children ?? []);
			}
		};

		add(this.top);
		if (this.rest) rows.push(this.rest);
		this.rows = rows;
		this.tree.setRows(rows, rows.indexOf(this.node));
	}

	toggle(node) {
		node.open = !node.open;
		if (node.open) this.sortNodes(childrenOf(this.app.profile, this.app.lens, node));
		this.flatten();
		this.tree.select(this.rows.indexOf(node), false);
	}

	choose(node) {
		if (node.kind !== "rest")
			this.app.show({ sel: `${node.kind}:${node.kind === "spot" ? `${node.object}.` : ""}${node.id}` });
	}

	chooseLine(line) {
		if (line.sites.length) this.app.show({ sel: `line:${line.sites[0]}` });
	}

	// Finds what the address says is chosen, opens the tree down to it, and shows it everywhere.
	follow() {
		const [kind, text] = (this.app.store.get("sel") ?? "").split(":");
		const node = this.find(kind, text) ?? this.rows.find((row) => row.kind !== "rest");

		this.node = node;
		this.tree.setRows(this.rows, this.rows.indexOf(node));
		this.showMetrics(node);
		this.showSource(node);
	}

	find(kind, text) {
		const id = Number(text?.split(".").at(-1));

		if (!kind || !Number.isFinite(id)) return null;
		const found = this.rows.find((row) => row.kind === kind && row.id === id);

		if (found) return found;
		if (kind === "context")
			return this.open(
				(node) => node.kind === "context" && node.id === id,
				() => true,
			);
		if (kind === "object") return this.by === "object" ? null : this.openSite(this.siteOfObject(id));
		if (kind === "spot")
			return this.by === "object"
				? this.open(
						(node) => node.kind === "spot" && node.id === id,
						(node) => node.id === Number(text.split(".")[0]),
					)
				: this.openSite(this.app.profile.accesses.site[id]);
		if (kind === "line" || kind === "site") return this.openSite(id);
		const site =
			this.top.length && this.by !== "object" && this.by !== "context" ? this.siteOf(kind, id) : -1;

		return site >= 0 ? this.openSite(site, kind) : null;
	}

	// A site that stands for a function, loop, file or module.
	siteOf(kind, id) {
		const { sites } = this.app.profile;
		const column = { function: "function", loop: "loop", file: "source", module: "module" }[kind];

		return column ? sites[column].indexOf(id) : -1;
	}

	siteOfObject(id) {
		const { profile, lens } = this.app;
		const misses = lens.misses("accesses");
		const rows = accessesOf(profile, "object", [id]);

		return rows.length ? profile.accesses.site[rows.reduce((a, b) => (misses[b] > misses[a] ? b : a))] : -1;
	}

	openSite(site, kind = "line") {
		const { profile } = this.app;

		if (!(site >= 0)) return null;
		if (this.by === "object") {
			const access = accessesOf(profile, "site", [site])[0];

			return access === undefined
				? null
				: (this.rows.find((row) => row.kind === "object" && row.id === profile.accesses.object[access]) ??
						null);
		}
		if (this.by === "context")
			return (
				this.rows.find(
					(row) =>
						row.kind === "context" && profile.contexts.function[row.id] === profile.sites.function[site],
				) ?? null
			);
		return this.open(
			(node) => node.rows.includes(site) && (node.kind === kind || !node.expands),
			(node) => node.rows.includes(site),
		);
	}

	open(isIt, leads) {
		const { profile, lens } = this.app;
		const search = (nodes) => {
			for (const node of nodes) {
				if (isIt(node)) return node;
				if (!node.expands || !leads(node)) continue;
				const found = search(childrenOf(profile, lens, node));

				if (found) {
					if (!node.open) this.sortNodes(node.children);
					node.open = true;
					return found;
				}
			}
			return null;
		};
		const found = search(this.top);

		if (found) this.flatten();
		return found;
	}

	// Where to look for a node: the line that has the most of it.
	placeOf(node) {
		const { profile, lens } = this.app;
		const { sites, contexts, functions } = profile;
		let site = node?.worst ?? -1;

		if (node?.kind === "object") site = this.siteOfObject(node.id);
		if (node?.kind === "context") {
			const own = contexts.function[node.id];
			const misses = lens.misses("sites");

			for (let i = 0; i < sites.n; i++)
				if (sites.function[i] === own && sites.source[i] >= 0 && (site < 0 || misses[i] > misses[site]))
					site = i;
			if (site < 0 && own >= 0) return { source: functions.source[own], line: functions.line[own] };
		}
		return site >= 0 ? { source: sites.source[site], line: sites.line[site] } : { source: -1, line: 0 };
	}

	// The lines of a source that the profile knows, each with its sites; which cache is looked at
	// changes their misses alone.
	linesOf(source) {
		const { profile, lens } = this.app;
		const { sites } = profile;
		const misses = lens.misses("sites");

		this.files ??= new Map();
		if (!this.files.has(source)) this.files.set(source, { rows: newLines(profile, source), lens: null });
		const file = this.files.get(source);

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

	showSource(node) {
		const { profile } = this.app;
		const { source, line } = this.placeOf(node);

		if (source < 0) {
			this.title.textContent = "no source known";
			this.sourceNote.textContent = node ? `${node.name}: built without -g, or its place is not known` : "";
			this.source.setRows([]);
			return;
		}
		const { rows, hottest } = this.linesOf(source);

		this.hottest = hottest;
		this.title.textContent = fileName(profile.sources.path[source]);
		this.title.title = profile.sources.path[source];
		this.sourceNote.textContent = profile.text.has(source)
			? ""
			: "the profile holds no text of this file: figures by line";
		this.source.setRows(
			rows,
			rows.findIndex((row) => row.number === line),
		);
	}

	showMetrics(node) {
		const { app } = this;
		const { profile, lens } = app;

		if (!node) {
			replace(this.metrics, el("p", { class: "note" }, "nothing has that name"));
			return;
		}
		const hist = histOf(profile, node);
		const { cause, distance } = causeOf(hist, node.misses, lens);
		const accesses =
			node.kind === "object"
				? accessesOf(profile, "object", node.rows)
				: node.table === "sites"
					? accessesOf(profile, "site", node.rows)
					: [];
		const walk = walkOf(
			profile,
			node.kind === "spot"
				? accesses.filter((row) => profile.accesses.object[row] === node.object)
				: accesses,
			lens,
		);
		const table = profile[node.table];
		const sum = (column) => node.rows.reduce((all, row) => all + column[row], 0);
		const levels = profile.levels.map((level, k) => [
			cacheLabel(level, profile.isObject),
			node.kind === "spot" || node.kind === "context" ? null : sum(table.misses[k]),
		]);

		replace(
			this.metrics,
			el("h2", { class: "pane-title" }, node.kind === "rest" ? "the rest" : node.name),
			el("p", { class: "note" }, this.kindText(node)),
			facts([
				[
					`misses of ${lens.cache?.name ?? "?"}`,
					`${lens.isEstimate ? "~" : ""}${count(node.misses)}${this.all > 0 ? `, ${percent(node.misses / this.all)} of all` : ""}`,
				],
				cause ? ["why", causeText(profile, lens, cause, distance)] : null,
				...levels
					.filter(([, misses]) => misses !== null)
					.map(([name, misses]) => [name, `${count(misses)} misses`]),
				["miss ratio", percent(ratioOf(node))],
				[profile.noun, `${count(node.refs)}, ${percent(node.refs / profile.run.references)} of all`],
				strideText(walk) ? ["walks with", strideText(walk)] : null,
				walk.spatial === null ? null : ["spatial use", `${percent(walk.spatial)} of the bytes fetched`],
			]),
			smallHistogram({
				profile,
				hist,
				blockBytes: profile.ownerBlock,
				caches: app.hierarchy,
				width: Math.max(260, Math.min(420, (this.metrics.clientWidth || 320) - 28)),
				label: `distances of the reuses of ${node.name}`,
			}),
			this.objectList(walk),
			this.pairList(node),
		);
	}

	kindText(node) {
		const { profile } = this.app;
		const { sites } = profile;

		if (node.kind === "rest")
			return "rows that the page leaves out: together less than a thousandth of any level's misses";
		if (node.kind === "function")
			return (
				profile.functions.whole_name[node.id] ?? "function, with what was inlined into it left to its own"
			);
		if (node.kind === "line" && node.rows.length) {
			const site = node.worst;
			const inlined =
				sites.outer[site] >= 0 && sites.outer[site] !== sites.function[site]
					? `, inlined into ${profile.functionName(sites.outer[site])}`
					: "";

			return `${node.rows.length === 1 ? `${sites.op[site]} of ${sites.size_bytes[site] || "some"} bytes` : `${node.rows.length} loads and stores`}${inlined}`;
		}
		if (node.kind === "loop" && node.id >= 0)
			return `loop, went round ${count(profile.loops.iterations[node.id])} times; the innermost around its references`;
		if (node.kind === "object")
			return `${profile.objects.origin[node.id]}${profile.objects.type[node.id] ? `, ${profile.objects.type[node.id]}` : ""}`;
		if (node.kind === "context") return `with all that it calls; ${count(node.own)} misses are its own`;
		if (node.kind === "spot") return `at ${profile.objectName(node.object)}`;
		return node.kind;
	}

	objectList(walk) {
		const { profile, show } = this.app;
		const known = walk.objects.filter((entry) => entry.object >= 0).slice(0, 6);

		if (!known.length) return null;
		return el(
			"div",
			null,
			el("h3", null, "touches"),
			el(
				"ul",
				{ class: "links" },
				known.map((entry) =>
					el(
						"li",
						null,
						el(
							"button",
							{
								type: "button",
								class: "link",
								onclick: () => show({ view: "data", sel: `object:${entry.object}` }),
							},
							profile.objectName(entry.object),
						),
						` ${count(entry.misses)} misses, ${count(entry.refs)} ${profile.noun}`,
					),
				),
			),
		);
	}

	// The worst reuses that end here.
	pairList(node) {
		const { profile, lens, show } = this.app;
		const { pairs } = profile;
		const misses = lens.misses("pairs");
		const sites = node.table === "sites" ? new Set(node.rows) : null;
		const found = [];

		for (let i = 0; i < pairs.n; i++) {
			if (
				node.kind === "object"
					? pairs.object[i] === node.id
					: node.kind === "context"
						? pairs.reuse_context[i] === node.id
						: sites?.has(pairs.reuse[i])
			)
				found.push(i);
		}
		if (!found.length) return null;
		found.sort((a, b) => misses[b] - misses[a] || pairs.refs[b] - pairs.refs[a]);
		return el(
			"div",
			null,
			el("h3", null, "reuses that end here"),
			el(
				"ul",
				{ class: "links" },
				found
					.slice(0, 5)
					.map((i) =>
						el(
							"li",
							null,
							el(
								"button",
								{ type: "button", class: "link", onclick: () => show({ view: "pairs", sel: `pair:${i}` }) },
								`${profile.siteName(pairs.use[i])} \u2192 ${profile.siteName(pairs.reuse[i])}`,
							),
							` ${profile.objectName(pairs.object[i])}, ${count(misses[i])} misses`,
						),
					),
			),
		);
	}
}
