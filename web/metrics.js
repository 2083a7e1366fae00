// SPDX-License-Identifier: GPL-2.0-or-later
// The pane of figures: what is known of one owner.

import { el, facts, replace } from "./dom.js";
import { smallHistogram } from "./chart.js";
import { accessesOf, causeOf, pairsOf, walkOf, worstRows } from "./blame.js";
import { ratioOf } from "./nodes.js";
import { TREES, histOf, treeOf } from "./tree.js";
import { carrierText, causeText, strideText } from "./phrases.js";
import { cacheLabel, count, percent } from "./units.js";

const PAIRS_SHOWN = 5;
const DISTANCES_AT_ONCE = 1000;

function sumOf(column, rows) {
	let sum = 0;

	for (let i = 0; i < rows.length; i++) sum += column[rows[i]];
	return sum;
}

function walkOfNode(profile, lens, node) {
	const rows =
		node.accesses ??
		(node.kind === "object"
			? accessesOf(profile, "object", node.rows)
			: node.table === "sites"
				? accessesOf(profile, "site", node.rows)
				: []);

	return walkOf(profile, rows, lens);
}

// Misses at each level recorded, where the rows are the owner's own.
function levelsOf(profile, node) {
	const table = profile[node.table];

	if (node.kind === "rest") return table.rest.misses;
	if (node.kind === "spot" || node.kind === "context") return [];
	return (table.misses ?? []).map((column) => sumOf(column, node.rows));
}

// Lines made dirty here that leave the cache; known of caches that were counted.
function writebacksOf(profile, lens, node) {
	const column = profile[node.table].writebacks?.[lens.level];
	const isKnown = !lens.fault && !lens.isEstimate && column && profile.knowsStores;

	return isKnown && !["spot", "context", "rest"].includes(node.kind) ? sumOf(column, node.rows) : null;
}

// The worst reuses that end here.
function worstPairs(profile, lens, node) {
	const key = { object: "object", context: "reuse_context" }[node.kind] ?? "reuse";

	return worstRows(pairsOf(profile, key, node.rows), lens.misses("pairs"), profile.pairs.refs ?? [], PAIRS_SHOWN);
}

const known = new WeakMap(); // owner -> its figures

// What takes all rows of an owner to find; kept for when it is shown again.
function figuresOf(profile, lens, node) {
	if (known.get(node)?.lens !== lens)
		known.set(node, {
			lens,
			walk: walkOfNode(profile, lens, node),
			pairs: worstPairs(profile, lens, node),
			levels: levelsOf(profile, node),
			writebacks: writebacksOf(profile, lens, node),
		});
	return known.get(node);
}

// What each tree shows first, found while nobody waits: in steps, each of what is looked at by then.
export function* firstFigures(app) {
	for (const by of TREES) {
		const tree = () => treeOf(app.profile, app.lens, by);

		if (!app.profile.hasSites) return;
		for (let i = 0; i < tree().n; i++) {
			tree().distanceOf(i);
			if (i % DISTANCES_AT_ONCE === DISTANCES_AT_ONCE - 1) yield;
		}
		for (const column of ["distance", "ratio", "refs", "misses"]) {
			tree().order(column, false);
			yield;
		}
		if (!tree().n) continue;
		const worst = tree().at(tree().order("misses", false)[0]);

		histOf(app.profile, worst);
		yield;
		if (worst.nodes.profile === app.profile) figuresOf(app.profile, app.lens, worst);
		yield;
	}
}

export class MetricsPane {
	constructor(app) {
		this.app = app;
		this.element = el("section", { class: "pane metrics", "aria-label": "figures", tabindex: "0" });
		this.width = 0; // told, not asked for: to ask in the midst of changes lays the page out again
		new ResizeObserver(([entry]) => this.resize(entry.contentRect.width)).observe(this.element);
	}

	resize(width) {
		const isOther = width > 0 && width !== this.width;

		this.width = width || this.width;
		if (isOther && this.shown) this.show(...this.shown);
	}

	// all: the misses of everybody.
	show(node, all) {
		const { app } = this;
		const { profile, lens } = app;

		this.shown = [node, all];
		if (!this.width) return; // resize() will
		if (!node) {
			replace(this.element, el("p", { class: "note" }, "nothing has that name"));
			return;
		}
		const hist = histOf(profile, node);
		const { cause, distance } = causeOf(hist, node.misses, lens);
		const { walk, pairs, levels, writebacks } = figuresOf(profile, lens, node);

		replace(
			this.element,
			el("h2", { class: "pane-title" }, node.kind === "rest" ? "the rest" : node.name),
			el("p", { class: "note" }, this.kindText(node)),
			facts([
				[
					`misses of ${lens.cache?.name ?? "?"}`,
					`${lens.text(node.misses)}${all > 0 ? `, ${lens.share(node.misses, all)} of its misses` : ""}`,
				],
				cause ? ["why", causeText(profile, lens, cause, distance)] : null,
				...levels.map((misses, k) => [
					cacheLabel(profile.levels[k], profile.isObject),
					`${count(misses)} misses`,
				]),
				lens.fault ? null : ["miss ratio", `${lens.share(ratioOf(node), 1)} of the ${profile.noun} made here`],
				writebacks === null ? null : ["write-backs", count(writebacks)],
				[profile.noun, `${count(node.refs)}, ${percent(node.refs / profile.run.references)} of all ${profile.noun}`],
				strideText(walk) ? ["walks with", strideText(walk)] : null,
				walk.spatial === null ? null : ["spatial use", `${percent(walk.spatial)} of the bytes fetched`],
			]),
			smallHistogram({
				profile,
				hist,
				blockBytes: profile.ownerBlock,
				caches: app.hierarchy,
				width: Math.max(260, Math.min(420, this.width)),
				label: `distances of the reuses of ${node.name}`,
			}),
			this.objectList(walk),
			this.pairList(pairs),
		);
	}

	kindText(node) {
		const { profile, lens } = this.app;
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
		if (node.kind === "context")
			return `with all that it calls${lens.fault ? "" : `; ${lens.text(node.own)} misses are its own`}`;
		if (node.kind === "spot") return `at ${profile.objectName(node.object)}`;
		return node.kind;
	}

	objectList(walk) {
		const { profile, lens, show } = this.app;
		const objects = walk.objects.filter((entry) => entry.object >= 0).slice(0, 6);

		if (!objects.length) return null;
		return el(
			"div",
			null,
			el("h3", null, "touches"),
			el(
				"ul",
				{ class: "links" },
				objects.map((entry) =>
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
						` ${lens.fault ? "" : `${lens.text(entry.misses)} misses, `}${count(entry.refs)} ${profile.noun}`,
					),
				),
			),
		);
	}

	pairList(found) {
		const { profile, lens, show } = this.app;
		const { pairs } = profile;
		const misses = lens.misses("pairs");

		if (!found.length) return null;
		return el(
			"div",
			null,
			el("h3", null, "reuses that end here"),
			el(
				"ul",
				{ class: "links" },
				found.map((i) =>
					el(
						"li",
						null,
						el(
							"button",
							{ type: "button", class: "link", onclick: () => show({ view: "pairs", sel: `pair:${i}` }) },
							`${profile.siteName(pairs.use[i])} \u2192 ${profile.siteName(pairs.reuse[i])}`,
						),
						` ${profile.objectName(pairs.object[i])}, ${pairs.kind[i]}, ${carrierText(profile, i)}: ${lens.fault ? `${count(pairs.refs[i])} reuses` : `${lens.text(misses[i])} misses`}`,
					),
				),
			),
		);
	}
}
