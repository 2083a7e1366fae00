// SPDX-License-Identifier: GPL-2.0-or-later
// Three panes: the source with its heat, a tree of owners, and what is known of the one chosen. A click
// in one moves the others.

import { choice, el, empty, replace } from "./dom.js";
import { Grid, heatCell } from "./grid.js";
import { sizeText } from "./chart.js";
import { accessesOf } from "./blame.js";
import { ratioOf } from "./nodes.js";
import { TREES, childrenOf, restNode, treeOf } from "./tree.js";
import { Unfolded } from "./unfolded.js";
import { findNodes } from "./search.js";
import { missesText } from "./phrases.js";
import { MetricsPane } from "./metrics.js";
import { SourcePane } from "./source.js";
import { cacheLabel, count } from "./units.js";

const SORTS = ["name", "misses", "refs", "ratio", "distance"];

export class CodeView {
	constructor(app) {
		this.app = app;
		this.all = 0;
		this.opened = new Set();
		this.tree = new Grid({
			label: "who misses",
			tree: true,
			columns: [
				{ key: "name", title: "name", class: "wide", sort: true, text: (node) => node.name },
				{ key: "misses", title: "misses", number: true, sort: true, text: (node) => app.lens.text(node.misses) },
				{
					key: "share",
					title: "%",
					number: true,
					hint: "of all misses of the cache",
					fill: (cell, node) =>
						heatCell(
							cell,
							this.all > 0 ? node.misses / this.all : 0,
							app.lens.share(node.misses, this.all),
						),
				},
				{
					key: "ratio",
					title: "miss ratio",
					number: true,
					sort: true,
					hint: "misses, as a share of the references made here",
					text: (node) => app.lens.share(ratioOf(node), 1),
				},
				{
					key: "distance",
					title: "distance",
					number: true,
					sort: true,
					hint: "median of the reuses that the cache is too small for: the least it can be, as it is kept to a quarter of a power of two",
					text: (node) => this.distance(node),
				},
				{ key: "refs", title: app.profile.noun, number: true, sort: true, text: (node) => count(node.refs) },
			],
			onselect: (node) => this.choose(node),
			ontoggle: (node) => this.toggle(node),
			onsort: (key) => app.show({ sort: app.store.get("sort") === key ? `-${key}` : key }),
		});
		this.source = new SourcePane(app);
		this.metrics = new MetricsPane(app);
		this.bar = el("div", { class: "pane-bar" });
		this.panes = el(
			"div",
			{ class: "panes" },
			this.source.element,
			el("section", { class: "pane tree", "aria-label": "owners" }, this.bar, this.tree.element),
			this.metrics.element,
		);
		this.element = el("div", { class: "code" });
	}

	distance(node) {
		const { profile } = this.app;

		return node.distance ? sizeText(profile, node.distance, profile.ownerBlock) : "\u2013";
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
					profile.run.mode === "watch"
						? "This profile was made of samples that were watched: it has the distances of the whole run, not of lines."
						: "This profile has no sites: it was made of a trace that does not say which code makes a reference.",
					"loci record ./prog makes one that does.",
				),
			);
			return;
		}
		if (!this.panes.isConnected) replace(this.element, this.panes);
		if (changed.some((key) => ["view", "p", "by", "q"].includes(key))) this.closeAll();
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
		this.first = null;
		this.marks = query ? findNodes(profile, by, query, (id) => this.setOpen(this.top.at(id), true)) : null;
		if (!query && by === "context") this.openWorst();
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
					`${lens.text(this.all)} misses of ${cacheLabel(lens.cache, profile.isObject)}${lens.isEstimate ? `, the sum of what is estimated from ${profile.isSampled ? "a sample" : "each owner's distances"}${this.wholeText()}` : ""}${query ? `; names with \u201c${query}\u201d` : ""}`,
			),
		);
		this.sortAll();
	}

	// What the overview says of the same cache: it knows finer distances, or sets, where owners do not.
	wholeText() {
		const { lens } = this.app;
		const text = lens.result.fault ? lens.text(this.all) : missesText(lens.result);

		return text === lens.text(this.all) ? "" : `; of the whole run ${text}, as in the overview`;
	}

	// Down the calls as long as one of them has most of the misses.
	openWorst() {
		const { n, first, misses } = this.top;
		const calls = this.top.calls("misses", false); // the worst are the first

		for (let id = n; first[id] < first[id + 1]; ) {
			const worst = calls[first[id]];

			if (id < n && misses[worst] < misses[id] / 2) return;
			id = worst;
			this.first = this.top.at(id); // to look at, where nothing else is asked for
			if (this.first.expands) this.setOpen(this.first, true);
		}
	}

	setOpen(node, open) {
		node.nodes.open[node.i] = open ? 1 : 0;
		if (open) this.opened.add(node.nodes);
	}

	closeAll() {
		for (const nodes of this.opened) nodes.open.fill(0);
		this.opened.clear();
	}

	sortAll() {
		const given = this.app.store.get("sort") ?? "misses";
		const key = given.replace(/^-/, "");

		this.sortKey = SORTS.includes(key) ? key : "misses";
		this.ascending = given.startsWith("-") !== (key === "name");
		this.tree.setSort(this.sortKey, this.ascending);
		this.unfold();
	}

	unfold() {
		this.rows = new Unfolded(this.app.profile, this.top, {
			marks: this.marks,
			column: this.sortKey,
			ascending: this.ascending,
			rest: this.rest,
		});
	}

	toggle(node) {
		this.setOpen(node, !node.open);
		this.unfold();
		this.tree.setRows(this.rows, this.rows.indexOf(node));
	}

	choose(node) {
		if (node.kind !== "rest")
			this.app.show({ sel: `${node.kind}:${node.kind === "spot" ? `${node.object}.` : ""}${node.id}` });
	}

	// Finds what the address says is chosen, opens the tree down to it, and shows it everywhere.
	follow() {
		const [kind, text] = (this.app.store.get("sel") ?? "").split(":");
		const node = this.find(kind, text) ?? this.first ?? (this.top.n ? this.rows.at(0) : null);

		this.node = node;
		this.tree.setRows(this.rows, this.rows.indexOf(node));
		this.metrics.show(node, this.all);
		this.source.show(this.placeOf(node), this.all, node?.name);
	}

	find(kind, text) {
		const id = Number(text?.split(".").at(-1));

		if (!kind || !Number.isFinite(id)) return null;
		const found = this.rows.find(kind, id);

		if (found) return found;
		if (kind === "context") return this.by === "context" ? this.openContext(id) : null;
		if (kind === "object") return this.by === "object" ? null : this.openSite(this.siteOfObject(id));
		if (kind === "spot")
			return this.by === "object"
				? this.openSpot(Number(text.split(".")[0]), id)
				: this.openSite(this.app.profile.accesses.site[id]);
		if (kind === "line" || kind === "site") return this.openSite(id);
		const site =
			this.by !== "object" && this.by !== "context" ? this.siteOf(kind, id) : -1;

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
		const misses = lens.missesOfAccesses();
		const rows = accessesOf(profile, "object", [id]);

		return rows.length ? profile.accesses.site[rows.reduce((a, b) => (misses(b) > misses(a) ? b : a))] : -1;
	}

	openSite(site, kind = "line") {
		const { profile, lens } = this.app;

		if (!(site >= 0)) return null;
		if (this.by === "object") {
			const [access] = accessesOf(profile, "site", [site]);

			return access === undefined ? null : this.rows.find("object", profile.accesses.object[access]);
		}
		if (this.by === "context") {
			const row = this.rows.findRow(
				(at) => profile.contexts.function[this.rows.place[at]] === profile.sites.function[site],
			);

			return row < 0 ? null : this.rows.at(row);
		}
		const path = [];

		for (let nodes = this.top; ; nodes = childrenOf(profile, lens, path.at(-1))) {
			const i = nodes.holding(site);

			if (i < 0 || (!path.length && this.marks && !this.marks[i])) return null;
			path.push(nodes.at(i));
			if (nodes.kind === kind || !nodes.expands(i)) break;
		}
		return this.openPath(path);
	}

	openSpot(object, id) {
		const i = this.top.ids.indexOf(object);

		if (i < 0 || (this.marks && !this.marks[i])) return null;
		const spots = childrenOf(this.app.profile, this.app.lens, this.top.at(i));
		const at = spots.ids.indexOf(id);

		return at < 0 ? null : this.openPath([this.top.at(i), spots.at(at)]);
	}

	openContext(id) {
		const { profile } = this.app;

		if (!(id < profile.contexts.n)) return null;
		const path = profile.callPath(id);

		return this.marks && !this.marks[path[0]] ? null : this.openPath(path.map((at) => this.top.at(at)));
	}

	// Opens what leads to the last of some nodes.
	openPath(path) {
		for (const node of path.slice(0, -1)) this.setOpen(node, true);
		this.unfold();
		return path.at(-1);
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
}
