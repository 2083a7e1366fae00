// SPDX-License-Identifier: GPL-2.0-or-later
// Use and reuse side by side: where a block was touched, where it was touched again, how far that is,
// and what lies around both: the place where code could be moved to bring them together.

import { el, empty, facts, replace } from "./dom.js";
import { Grid, heatCell } from "./grid.js";
import { smallHistogram, sizeText } from "./chart.js";
import { causeOf, sumHists } from "./blame.js";
import { chosenId } from "./state.js";
import { cacheLabel, count, percent } from "./units.js";

const KINDS = {
	RAR: "read, then read again",
	RAW: "written, then read",
	WAR: "read, then written",
	WAW: "written, then written again",
};

export class PairsView {
	constructor(app) {
		const { profile } = app;

		this.app = app;
		this.grid = new Grid({
			label: "pairs of use and reuse",
			columns: [
				{
					key: "use",
					title: "use",
					class: "wide",
					text: (row) => profile.siteName(profile.pairs.use[row.id]),
				},
				{
					key: "reuse",
					title: "reuse",
					class: "wide",
					text: (row) => profile.siteName(profile.pairs.reuse[row.id]),
				},
				{
					key: "object",
					title: "object",
					class: "middle",
					text: (row) => profile.objectName(profile.pairs.object[row.id]),
				},
				{ key: "kind", title: "kind", text: (row) => profile.pairs.kind[row.id] },
				{
					key: "distance",
					title: "distance",
					number: true,
					sort: true,
					text: (row) => this.distanceText(row),
				},
				{ key: "misses", title: "misses", number: true, sort: true, text: (row) => count(row.misses) },
				{
					key: "share",
					title: "%",
					number: true,
					fill: (cell, row) =>
						heatCell(
							cell,
							this.all > 0 ? row.misses / this.all : 0,
							this.all > 0 ? percent(row.misses / this.all) : "\u2013",
						),
				},
				{ key: "refs", title: "reuses", number: true, sort: true, text: (row) => count(row.refs) },
			],
			onselect: (row) => app.show({ sel: `pair:${row.id}` }),
			onsort: (key) => app.show({ sort: app.store.get("sort") === key ? `-${key}` : key }),
		});
		this.note = el("p", { class: "note" });
		this.detail = el("section", { class: "pane detail", "aria-label": "the pair", tabindex: "0" });
		this.panes = el(
			"div",
			{ class: "stack" },
			el(
				"section",
				{ class: "pane", "aria-label": "pairs" },
				el("div", { class: "pane-bar" }, this.note),
				this.grid.element,
			),
			this.detail,
		);
		this.element = el("div", { class: "pairs" });
	}

	distance(row) {
		row.far ??=
			causeOf(sumHists(this.app.profile.pairs, [row.id]), row.misses, this.app.lens).distance ||
			this.near(row);
		return row.far;
	}

	// Where no reuse is too far for the cache: the median of all.
	near(row) {
		return causeOf(sumHists(this.app.profile.pairs, [row.id]), row.misses, {
			...this.app.lens,
			blocks: 0,
			fault: "",
		}).distance;
	}

	distanceText(row) {
		const blocks = this.distance(row);

		return blocks ? sizeText(this.app.profile, blocks, this.app.profile.ownerBlock) : "\u2013";
	}

	update(changed) {
		const { profile } = this.app;

		if (!profile.pairs.n) {
			replace(
				this.element,
				empty(
					"No pairs",
					profile.hasSites
						? "This profile was recorded with --pairs none, or nothing in it was reused from afar."
						: "This profile does not know which code makes a reference.",
					"loci record ./prog records those reuses that leave the first cache.",
				),
			);
			return;
		}
		replace(this.element, this.panes);
		if (!this.rows || changed.some((key) => ["view", "p", "cache", "level", "q", "sort"].includes(key)))
			this.build();
		const wanted = chosenId(this.app.store.get("sel"), "pair");
		const at = Math.max(
			0,
			this.rows.findIndex((row) => row.id === wanted),
		);

		this.grid.setRows(this.rows, this.rows.length ? at : -1);
		this.show(this.rows[at]);
	}

	build() {
		const { profile, lens, store } = this.app;
		const { pairs } = profile;
		const misses = lens.misses("pairs");
		const query = (store.get("q") ?? "").toLowerCase();
		const given = store.get("sort") ?? "misses";
		const key = given.replace(/^-/, "");
		const sign = given.startsWith("-") ? 1 : -1;
		const value =
			key === "refs"
				? (row) => row.refs
				: key === "distance"
					? (row) => this.distance(row)
					: (row) => row.misses;
		const text = (i) =>
			`${profile.siteName(pairs.use[i])} ${profile.siteName(pairs.reuse[i])} ${profile.objectName(pairs.object[i])}`.toLowerCase();

		this.all = lens.whole("sites");
		this.rows = Array.from({ length: pairs.n }, (_, id) => ({
			id,
			misses: misses[id],
			refs: pairs.refs[id],
		})).filter((row) => !query || text(row.id).includes(query));
		this.rows.sort((a, b) => sign * (value(a) - value(b)) || b.refs - a.refs);
		this.grid.setSort(["refs", "distance"].includes(key) ? key : "misses", sign > 0);
		this.note.textContent = `${count(pairs.n)} pairs${pairs.rest?.n ? `, and ${count(pairs.rest.n)} more that matter little` : ""}; misses of ${lens.cache ? cacheLabel(lens.cache, profile.isObject) : "?"}${lens.isEstimate ? ", estimated" : ""}, as a share of all`;
	}

	side(title, site, context) {
		const { profile, show } = this.app;
		const { sites } = profile;
		const text = site >= 0 ? profile.sourceLine(sites.source[site], sites.line[site]) : null;
		const path = profile.callPath(context);

		return el(
			"div",
			{ class: "side" },
			el("h2", null, title),
			el(
				"p",
				null,
				el(
					"button",
					{
						type: "button",
						class: "link strong",
						disabled: site < 0,
						onclick: () => show({ view: "code", by: "function", sel: `line:${site}` }),
					},
					profile.siteName(site),
				),
				site >= 0 ? ` (${sites.op[site]} of ${sites.size_bytes[site] || "some"} bytes)` : "",
			),
			text === null ? null : el("pre", { class: "snippet" }, text.trim()),
			path.length
				? el(
						"ol",
						{ class: "path" },
						path.map((id) =>
							el(
								"li",
								{ class: id === this.common ? "common" : null },
								el(
									"button",
									{
										type: "button",
										class: "link",
										onclick: () => show({ view: "code", by: "context", sel: `context:${id}` }),
									},
									profile.contextName(id),
								),
								profile.contexts.line[id]
									? el(
											"span",
											{ class: "note" },
											` called at ${profile.place(profile.contexts.source[id], profile.contexts.line[id])}`,
										)
									: null,
								id === this.common ? el("span", { class: "note" }, " \u2190 common to both") : null,
							),
						),
					)
				: el("p", { class: "note" }, "its call path was not recorded"),
		);
	}

	show(row) {
		const { profile, lens, hierarchy, show } = this.app;
		const { pairs } = profile;

		if (!row) {
			replace(this.detail, el("p", { class: "note" }, "nothing has that name"));
			return;
		}
		const hist = sumHists(pairs, [row.id]);
		const loop = pairs.loop[row.id];
		const object = pairs.object[row.id];

		this.common = pairs.common_context[row.id];
		replace(
			this.detail,
			el(
				"div",
				{ class: "sides" },
				this.side("Use", pairs.use[row.id], pairs.use_context[row.id]),
				this.side("Reuse", pairs.reuse[row.id], pairs.reuse_context[row.id]),
			),
			el(
				"div",
				{ class: "columns" },
				facts([
					[
						"kind",
						`${pairs.kind[row.id]}: ${KINDS[pairs.kind[row.id]] ?? ""}${pairs.recycled[row.id] ? "; the memory was freed in between" : ""}`,
					],
					[
						"object",
						object >= 0
							? el(
									"button",
									{
										type: "button",
										class: "link",
										onclick: () => show({ view: "data", sel: `object:${object}` }),
									},
									profile.objectName(object),
								)
							: "unknown",
					],
					[
						"carried by",
						loop >= 0
							? `the loop at ${profile.loopName(loop)}`
							: this.common >= 0
								? `no loop; both lie within ${profile.contextName(this.common)}`
								: "unknown",
					],
					[
						"distance",
						`${this.distanceText(row)} (median of what ${lens.cache?.name ?? "the cache"} is too small for, or of all)`,
					],
					[
						"weight",
						`${count(row.refs)} reuses, ${lens.isEstimate ? "~" : ""}${count(row.misses)} misses${this.all > 0 ? `, ${percent(row.misses / this.all)} of all` : ""}`,
					],
				]),
				smallHistogram({
					profile,
					hist,
					blockBytes: profile.ownerBlock,
					caches: hierarchy,
					width: 440,
					label: "distances of the pair",
				}),
			),
		);
	}
}
