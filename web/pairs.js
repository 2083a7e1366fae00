// SPDX-License-Identifier: GPL-2.0-or-later
// Use and reuse side by side: where a block was touched, where it was touched again, how far that is,
// and what lies around both: the place where code could be moved to bring them together.

import { el, empty, facts, replace } from "./dom.js";
import { smallHistogram, sizeText } from "./chart.js";
import { medianOf, sumHists } from "./blame.js";
import { Listing, SHARE } from "./listing.js";
import { carrierText } from "./phrases.js";
import { count } from "./units.js";

const KINDS = {
	RAR: "read, then read again",
	RAW: "written, then read",
	WAR: "read, then written",
	WAW: "written, then written again",
};

export class PairsView extends Listing {
	constructor(app) {
		const { profile } = app;
		const { pairs } = profile;

		super(app, {
			table: "pairs",
			kind: "pair",
			sorts: ["distance", "misses", "refs"],
			columns: [
				{ key: "use", title: "use", class: "wide", text: (row) => profile.siteName(pairs.use[row.id]) },
				{ key: "reuse", title: "reuse", class: "wide", text: (row) => profile.siteName(pairs.reuse[row.id]) },
				{
					key: "object",
					title: "object",
					class: "middle",
					text: (row) => profile.objectName(pairs.object[row.id]),
				},
				{ key: "kind", title: "kind", text: (row) => pairs.kind[row.id] },
				{
					key: "loop",
					title: "carried by",
					class: "middle",
					hint: "the loop from whose one round to a later one the data is kept",
					text: (row) => carrierText(profile, row.id),
				},
				{
					key: "distance",
					title: "distance",
					number: true,
					sort: true,
					text: (row) => this.distanceText(row),
				},
				{ key: "misses", title: "misses", number: true, sort: true, text: (row) => app.lens.text(row.misses) },
				SHARE,
				{ key: "refs", title: "reuses", number: true, sort: true, text: (row) => count(row.refs) },
			],
		});
		this.noteMore = ", as a share of all";
	}

	get whole() {
		return this.app.lens.whole("sites");
	}

	// The median of the reuses that are too far for the cache; 0: none is.
	far(id) {
		const { profile, lens } = this.app;

		return lens.fault ? 0 : medianOf(profile.pairs, [id], lens.blocks);
	}

	// And where none is, of all.
	distance(id) {
		return this.far(id) || medianOf(this.app.profile.pairs, [id], 0);
	}

	distanceText(row) {
		const blocks = this.distance(row.id);

		return blocks ? sizeText(this.app.profile, blocks, this.app.profile.ownerBlock) : "\u2013";
	}

	keys(column) {
		const { pairs } = this.app.profile;

		return column === "refs" ? pairs.refs : Float64Array.from(pairs.refs, (_, id) => this.distance(id));
	}

	text(id) {
		const { profile } = this.app;
		const { pairs } = profile;

		return `${profile.siteName(pairs.use[id])} ${profile.siteName(pairs.reuse[id])} ${profile.objectName(pairs.object[id])}`;
	}

	missing() {
		return empty(
			"No pairs",
			this.app.profile.hasSites
				? "This profile was recorded with --pairs none, or nothing in it was reused from afar."
				: "This profile does not know which code makes a reference.",
			"loci record ./prog records those reuses that leave the first cache.",
		);
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
							: `${this.common >= 0 ? "no loop; both lie " : ""}${carrierText(profile, row.id)}`,
					],
					[
						"distance",
						`${this.distanceText(row)}${this.far(row.id) ? ` or further, the median of those that ${lens.cache.name} is too small for` : this.distance(row.id) ? ", the median of all" : ""}`,
					],
					[
						"weight",
						`${count(row.refs)} reuses, ${lens.text(row.misses)} misses${this.all > 0 ? `, ${lens.share(row.misses, this.all)} of all misses of ${lens.cache.name}` : ""}`,
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
