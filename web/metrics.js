// SPDX-License-Identifier: GPL-2.0-or-later
// The pane of figures: what is known of one owner.

import { el, facts, replace } from "./dom.js";
import { smallHistogram } from "./chart.js";
import { accessesOf, causeOf, walkOf } from "./blame.js";
import { histOf, ratioOf } from "./tree.js";
import { causeText, strideText } from "./phrases.js";
import { cacheLabel, count, percent } from "./units.js";

export class MetricsPane {
	constructor(app) {
		this.app = app;
		this.element = el("section", { class: "pane metrics", "aria-label": "figures", tabindex: "0" });
	}

	// all: the misses of everybody.
	show(node, all) {
		const { app } = this;
		const { profile, lens } = app;

		if (!node) {
			replace(this.element, el("p", { class: "note" }, "nothing has that name"));
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
			node.kind === "spot" || node.kind === "context"
				? null
				: node.kind === "rest"
					? table.rest.misses[k]
					: sum(table.misses[k]),
		]);

		replace(
			this.element,
			el("h2", { class: "pane-title" }, node.kind === "rest" ? "the rest" : node.name),
			el("p", { class: "note" }, this.kindText(node)),
			facts([
				[
					`misses of ${lens.cache?.name ?? "?"}`,
					`${lens.isEstimate ? "~" : ""}${count(node.misses)}${all > 0 ? `, ${percent(node.misses / all)} of all` : ""}`,
				],
				cause ? ["why", causeText(profile, lens, cause, distance)] : null,
				...levels
					.filter(([, misses]) => misses !== null)
					.map(([name, misses]) => [name, `${count(misses)} misses`]),
				["miss ratio", percent(ratioOf(node))],
				...this.writebacks(node),
				[profile.noun, `${count(node.refs)}, ${percent(node.refs / profile.run.references)} of all`],
				strideText(walk) ? ["walks with", strideText(walk)] : null,
				walk.spatial === null ? null : ["spatial use", `${percent(walk.spatial)} of the bytes fetched`],
			]),
			smallHistogram({
				profile,
				hist,
				blockBytes: profile.ownerBlock,
				caches: app.hierarchy,
				width: Math.max(260, Math.min(420, (this.element.clientWidth || 320) - 28)),
				label: `distances of the reuses of ${node.name}`,
			}),
			this.objectList(walk),
			this.pairList(node),
		);
	}

	// Lines made dirty here that leave the cache; known of caches that were counted.
	writebacks(node) {
		const { profile, lens } = this.app;
		const column = profile[node.table].writebacks?.[lens.level];

		if (
			lens.fault ||
			lens.isEstimate ||
			!column ||
			!profile.knowsStores ||
			["spot", "context", "rest"].includes(node.kind)
		)
			return [];
		return [["write-backs", count(node.rows.reduce((sum, row) => sum + column[row], 0))]];
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
