// SPDX-License-Identifier: GPL-2.0-or-later
// Objects: who misses by data, how code walks over it, which fields and which parts of arrays.

import { el, empty, facts, replace, table } from "./dom.js";
import { rangeChart, smallHistogram, sizeText } from "./chart.js";
import { accessesOf, causeOf, sumHists, walkOf, worstRows } from "./blame.js";
import { Listing, SHARE } from "./listing.js";
import { treeFor } from "./tree.js";
import { causeText, strideText } from "./phrases.js";
import { bytes, cacheLabel, count, percent, stride } from "./units.js";

const ACCESSES_SHOWN = 40;

// Of the bytes fetched for each object, the share that was touched before they left; -1: not known.
function usedOf(profile) {
	const { accesses, objects } = profile;
	const line = profile.levels[0]?.line_bytes ?? profile.ownerBlock;
	const fetched = new Float64Array(objects.n);
	const used = new Float64Array(objects.n);

	for (let i = 0; i < accesses.n; i++)
		if (accesses.object[i] >= 0) {
			fetched[accesses.object[i]] += accesses.fills[i] * line;
			used[accesses.object[i]] += accesses.used_bytes[i];
		}
	return used.map((bytesUsed, id) => (fetched[id] > 0 ? bytesUsed / fetched[id] : -1));
}

export class DataView extends Listing {
	constructor(app) {
		const { profile } = app;
		const { objects } = profile;

		super(app, {
			table: "objects",
			kind: "object",
			sorts: ["name", "size", "misses", "spatial", "refs"],
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
				{ key: "misses", title: "misses", number: true, sort: true, text: (row) => app.lens.text(row.misses) },
				SHARE,
				{
					key: "spatial",
					title: "used",
					number: true,
					sort: true,
					hint: "of the bytes fetched, how many were touched before they left",
					text: (row) => (this.used[row.id] < 0 ? "\u2013" : percent(this.used[row.id])),
				},
				{ key: "refs", title: profile.noun, number: true, sort: true, text: (row) => count(row.refs) },
			],
		});
		this.used = objects.n ? usedOf(profile) : null;
	}

	keys(column) {
		const { objects } = this.app.profile;

		return {
			name: () => treeFor(this.app.profile, "object").nameKeys(),
			size: () => Float64Array.from(objects.size_bytes, (size) => size || 0),
			spatial: () => this.used,
			refs: () => objects.refs,
		}[column]();
	}

	text(id) {
		const { objects } = this.app.profile;

		return `${objects.name[id]} ${objects.origin[id]}`;
	}

	missing() {
		return empty(
			"No objects",
			"This profile does not say which data a reference touches.",
			"loci record ./prog makes one that does; build with -g for names.",
		);
	}

	show(row) {
		const { profile, lens, hierarchy } = this.app;
		const { objects } = profile;
		const hist = sumHists(objects, [row.id]);
		const { cause, distance } = causeOf(hist, row.misses, lens);
		const walk = walkOf(profile, accessesOf(profile, "object", [row.id]), lens);

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
							`${lens.text(row.misses)}${this.all > 0 ? `, ${lens.share(row.misses, this.all)} of its misses` : ""}`,
						],
						cause ? ["why", causeText(profile, lens, cause, distance)] : null,
						...profile.levels.map((level, k) => [
							cacheLabel(level, profile.isObject),
							`${count(objects.misses[k][row.id])} misses`,
						]),
						["size", objects.size_bytes[row.id] ? bytes(objects.size_bytes[row.id]) : "unknown"],
						[profile.noun, `${count(row.refs)}, ${percent(row.refs / profile.run.references)} of all ${profile.noun}`],
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
		const rows = accessesOf(profile, "object", [row.id]);

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
				worstRows(rows, misses, accesses.refs, ACCESSES_SHOWN).map((i) => {
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
						lens.text(misses[i]),
						count(accesses.refs[i]),
						!profile.knowsWalks
							? "\u2013"
							: accesses.regular_refs[i]
								? stride(accesses.stride_bytes[i])
								: "none",
						profile.knowsWalks ? percent(walk.regular) : "\u2013",
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
						lens.text(misses[i]),
						lens.share(misses[i], row.misses),
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
