// SPDX-License-Identifier: GPL-2.0-or-later
// Objects: who misses by data, how code walks over it, which fields and which parts of arrays.

import { el, empty, facts, replace, table } from "./dom.js";
import { Grid, heatCell } from "./grid.js";
import { rangeChart, smallHistogram, sizeText } from "./chart.js";
import { accessesOf, causeOf, sumHists, walkOf } from "./blame.js";
import { causeText, strideText } from "./phrases.js";
import { chosenId } from "./state.js";
import { bytes, cacheLabel, count, percent, stride } from "./units.js";

const ACCESSES_SHOWN = 40;

export class DataView {
	constructor(app) {
		const { profile } = app;
		const { objects } = profile;

		this.app = app;
		this.grid = new Grid({
			label: "objects",
			columns: [
				{ key: "name", title: "object", class: "wide", sort: true, text: (row) => objects.name[row.id] },
				{ key: "origin", title: "from", class: "middle", text: (row) => objects.origin[row.id] },
				{
					key: "size",
					title: "size",
					number: true,
					sort: true,
					text: (row) => (objects.size_bytes[row.id] ? bytes(objects.size_bytes[row.id]) : "\u2013"),
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
				{
					key: "spatial",
					title: "used",
					number: true,
					sort: true,
					hint: "of the bytes fetched, how many were touched before they left",
					text: (row) => (this.walk(row).spatial === null ? "\u2013" : percent(this.walk(row).spatial)),
				},
				{ key: "refs", title: profile.noun, number: true, sort: true, text: (row) => count(row.refs) },
			],
			onselect: (row) => app.show({ sel: `object:${row.id}` }),
			onsort: (key) => app.show({ sort: app.store.get("sort") === key ? `-${key}` : key }),
		});
		this.note = el("p", { class: "note" });
		this.detail = el("section", { class: "pane detail", "aria-label": "the object", tabindex: "0" });
		this.panes = el(
			"div",
			{ class: "stack" },
			el(
				"section",
				{ class: "pane", "aria-label": "objects" },
				el("div", { class: "pane-bar" }, this.note),
				this.grid.element,
			),
			this.detail,
		);
		this.element = el("div", { class: "data" });
	}

	walk(row) {
		row.walk ??= walkOf(this.app.profile, accessesOf(this.app.profile, "object", [row.id]), this.app.lens);
		return row.walk;
	}

	update(changed) {
		const { profile } = this.app;

		if (!profile.objects.n) {
			replace(
				this.element,
				empty(
					"No objects",
					"This profile does not say which data a reference touches.",
					"loci record ./prog makes one that does; build with -g for names.",
				),
			);
			return;
		}
		replace(this.element, this.panes);
		if (!this.rows || changed.some((key) => ["view", "p", "cache", "level", "q", "sort"].includes(key)))
			this.build();
		const wanted = chosenId(this.app.store.get("sel"), "object");
		const at = Math.max(
			0,
			this.rows.findIndex((row) => row.id === wanted),
		);

		this.grid.setRows(this.rows, this.rows.length ? at : -1);
		this.show(this.rows[at]);
	}

	build() {
		const { profile, lens, store } = this.app;
		const { objects } = profile;
		const misses = lens.misses("objects");
		const query = (store.get("q") ?? "").toLowerCase();
		const given = store.get("sort") ?? "misses";
		const key = given.replace(/^-/, "");
		const sign = given.startsWith("-") ? 1 : -1;
		const values = {
			misses: (row) => row.misses,
			refs: (row) => row.refs,
			size: (row) => objects.size_bytes[row.id],
			spatial: (row) => this.walk(row).spatial ?? -1,
		};
		const value = values[key] ?? values.misses;

		this.all = lens.whole("objects");
		this.rows = Array.from({ length: objects.n }, (_, id) => ({
			id,
			misses: misses[id],
			refs: objects.refs[id],
		})).filter(
			(row) => !query || `${objects.name[row.id]} ${objects.origin[row.id]}`.toLowerCase().includes(query),
		);
		if (key === "name")
			this.rows.sort(
				(a, b) =>
					-sign *
					(objects.name[a.id] < objects.name[b.id] ? -1 : objects.name[a.id] > objects.name[b.id] ? 1 : 0),
			);
		else this.rows.sort((a, b) => sign * (value(a) - value(b)) || b.refs - a.refs);
		this.grid.setSort(values[key] || key === "name" ? key : "misses", sign > 0);
		this.note.textContent = `${count(objects.n)} objects${objects.rest?.n ? `, and ${count(objects.rest.n)} more that matter little` : ""}; misses of ${lens.cache ? cacheLabel(lens.cache, profile.isObject) : "?"}${lens.isEstimate ? ", estimated" : ""}`;
	}

	show(row) {
		const { profile, lens, hierarchy } = this.app;
		const { objects } = profile;

		if (!row) {
			replace(this.detail, el("p", { class: "note" }, "nothing has that name"));
			return;
		}
		const hist = sumHists(objects, [row.id]);
		const { cause, distance } = causeOf(hist, row.misses, lens);
		const walk = this.walk(row);

		replace(
			this.detail,
			el("h2", { class: "pane-title" }, objects.name[row.id]),
			el(
				"p",
				{ class: "note" },
				`${objects.origin[row.id]}${objects.type[row.id] ? `, ${objects.type[row.id]}` : ""}${objects.allocations[row.id] > 1 ? `, allocated ${count(objects.allocations[row.id])} times` : ""}`,
			),
			el(
				"div",
				{ class: "columns" },
				el(
					"div",
					null,
					facts([
						[
							`misses of ${lens.cache?.name ?? "?"}`,
							`${lens.isEstimate ? "~" : ""}${count(row.misses)}${this.all > 0 ? `, ${percent(row.misses / this.all)} of all` : ""}`,
						],
						cause ? ["why", causeText(profile, lens, cause, distance)] : null,
						...profile.levels.map((level, k) => [
							cacheLabel(level, profile.isObject),
							`${count(objects.misses[k][row.id])} misses`,
						]),
						["size", objects.size_bytes[row.id] ? bytes(objects.size_bytes[row.id]) : "unknown"],
						[profile.noun, `${count(row.refs)}, ${percent(row.refs / profile.run.references)} of all`],
						strideText(walk) ? ["walked with", strideText(walk)] : null,
						objects.true_sharing?.[row.id] || objects.false_sharing?.[row.id]
							? [
									"lost to others",
									`${count(objects.true_sharing[row.id])} misses of what another thread wrote, ${count(objects.false_sharing[row.id])} of other bytes in the same block`,
								]
							: null,
						walk.spatial === null
							? null
							: [
									"spatial use",
									`${percent(walk.spatial)} of the bytes fetched were touched before they left`,
								],
					]),
				),
				smallHistogram({
					profile,
					hist,
					blockBytes: profile.ownerBlock,
					caches: hierarchy,
					width: 440,
					label: `distances of the reuses of ${objects.name[row.id]}`,
				}),
			),
			this.accesses(row),
			this.fields(row),
			this.pieces(row),
		);
	}

	accesses(row) {
		const { profile, lens, show } = this.app;
		const { accesses, sites } = profile;
		const misses = lens.misses("accesses");
		const rows = accessesOf(profile, "object", [row.id]).sort(
			(a, b) => misses[b] - misses[a] || accesses.refs[b] - accesses.refs[a],
		);

		if (!rows.length) return null;
		return el(
			"div",
			{ class: "scroll", tabindex: "0", role: "region", "aria-label": "walks" },
			table(
				`Who walks over it${rows.length > ACCESSES_SHOWN ? `: the first ${ACCESSES_SHOWN} of ${count(rows.length)}` : ""}`,
				[
					{ title: "line" },
					{ title: "does" },
					{ title: "misses", number: true },
					{ title: profile.noun, number: true },
					{ title: "stride", number: true },
					{ title: "regular", number: true },
					{ title: "of a block used", number: true },
				],
				rows.slice(0, ACCESSES_SHOWN).map((i) => {
					const site = accesses.site[i];
					const walk = walkOf(profile, [i], lens);

					return [
						site >= 0
							? el(
									"button",
									{
										type: "button",
										class: "link",
										onclick: () => show({ view: "code", by: "function", sel: `line:${site}` }),
									},
									profile.siteName(site),
								)
							: "(unknown)",
						site >= 0 ? `${sites.op[site]}s ${sites.size_bytes[site] || "some"} bytes` : "",
						count(misses[i]),
						count(accesses.refs[i]),
						accesses.regular_refs[i] ? stride(accesses.stride_bytes[i]) : "none",
						percent(walk.regular),
						walk.spatial === null ? "\u2013" : percent(walk.spatial),
					];
				}),
			),
		);
	}

	fields(row) {
		const { profile, lens } = this.app;
		const { fields, accesses } = profile;
		const misses = lens.misses("fields");
		const own = [];
		const refs = new Map();

		for (let i = 0; i < fields.n; i++) if (fields.object[i] === row.id) own.push(i);
		if (!own.length) return null;
		for (const i of accessesOf(profile, "object", [row.id]))
			if (accesses.field[i] >= 0)
				refs.set(accesses.field[i], (refs.get(accesses.field[i]) ?? 0) + accesses.refs[i]);
		own.sort((a, b) => misses[b] - misses[a] || fields.offset_bytes[a] - fields.offset_bytes[b]);
		return el(
			"div",
			{ class: "scroll", tabindex: "0", role: "region", "aria-label": "fields" },
			table(
				"Its fields",
				[
					{ title: "field" },
					{ title: "type" },
					{ title: "offset", number: true },
					{ title: "misses", number: true },
					{ title: "of the object's", number: true },
					{ title: profile.noun, number: true },
					{ title: "distance", number: true },
				],
				own.slice(0, 64).map((i) => {
					const { distance } = causeOf(sumHists(fields, [i]), misses[i], lens);

					return [
						fields.name[i],
						fields.type[i] ?? "",
						bytes(fields.offset_bytes[i]),
						count(misses[i]),
						row.misses > 0 ? percent(misses[i] / row.misses) : "\u2013",
						count(refs.get(i) ?? 0),
						distance ? sizeText(profile, distance, profile.ownerBlock) : "\u2013",
					];
				}),
			),
		);
	}

	pieces(row) {
		const { profile } = this.app;
		const { pieces } = profile;
		const axes = new Map();

		for (let i = 0; i < pieces.n; i++) {
			if (pieces.object[i] !== row.id) continue;
			const axis = axes.get(pieces.axis[i]) ?? [];

			axis.push({
				low: pieces.low[i],
				high: pieces.high[i],
				misses: pieces.misses[i],
				distance: pieces.reuses[i]
					? (pieces.distance_blocks[i] / pieces.reuses[i]) * pieces.block_bytes[i]
					: 0,
			});
			axes.set(pieces.axis[i], axis);
		}
		if (!axes.size)
			return profile.pieces.n
				? null
				: el(
						"p",
						{ class: "note" },
						"Which parts of the array are far apart is not recorded: loci record --index does.",
					);
		return [...axes].map(([axis, ranges]) => {
			ranges.sort((a, b) => a.low - b.low);
			return el(
				"div",
				null,
				el(
					"h3",
					null,
					axis === "byte" ? "by byte offset" : axis === "index" ? "by index" : `by ${axis} index`,
				),
				el("p", { class: "note" }, "mean distance of the reuses that end there"),
				rangeChart({
					ranges,
					value: (range) => range.distance,
					text: bytes,
					label: `${profile.objects.name[row.id]}: mean distance by ${axis}`,
				}),
				el("p", { class: "note" }, "misses of the first level"),
				rangeChart({
					ranges,
					value: (range) => range.misses,
					text: count,
					label: `${profile.objects.name[row.id]}: misses by ${axis}`,
				}),
			);
		});
	}
}
