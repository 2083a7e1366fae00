// SPDX-License-Identifier: GPL-2.0-or-later
// Two or more profiles over each other, and what moved from the first to each of the others.

import { choice, el, empty, replace, table } from "./dom.js";
import { SERIES, distanceChart, sizeText } from "./chart.js";
import { bytes, cacheLabel, count, percent } from "./units.js";

// "-87.5 %", "+3.2 %", "same", "new", "gone", "x 12".
function changeText(before, after) {
	if (before === null || after === null) return "\u2013";
	if (before === after) return "same";
	if (!before) return "new";
	if (!after) return "gone";
	const relative = after / before - 1;

	if (relative > 9) return `\u00d7\u00a0${count(after / before)}`;
	if (Math.abs(relative) < 0.0005) return "same";
	return `${relative > 0 ? "+" : "\u2212"}${percent(Math.abs(relative))}`;
}

function trend(before, after) {
	if (!before && !after) return "";
	const relative = before ? after / before - 1 : 1;

	return Math.abs(relative) < 0.001 ? "" : relative < 0 ? "better" : "worse";
}

// As loci diff has it: what lies within the error of models and samples is no change.
function levelTrend(level) {
	if (level.trend !== "same") return level.trend;
	const moved = level.misses.before !== level.misses.after;

	return moved && level.error_points > 0 ? `within \u00b1${level.error_points.toPrecision(2)} points` : "";
}

// of: what a level's change comes to, where its error says so.
function changeCell(change, text, of = trend(change.before, change.after)) {
	const mark = { better: "\u25bc better", worse: "\u25b2 worse" }[of] ?? of;

	return [text(change.before), text(change.after), changeText(change.before, change.after), mark];
}

export class DiffView {
	constructor(app) {
		this.app = app;
		this.chart = el("div", { class: "chart-box" });
		this.element = el("div", { class: "plain" });
		new ResizeObserver(() => this.drawChart()).observe(this.chart);
	}

	get other() {
		const given = Number(this.app.store.get("with") ?? 1);

		return given >= 1 && given < this.app.doc.profiles.length ? given : 1;
	}

	update() {
		const { doc, show } = this.app;

		if (doc.profiles.length < 2) {
			replace(
				this.element,
				empty(
					"One profile",
					"There is nothing to compare it with.",
					"loci html before.loci after.loci makes a page of both.",
				),
			);
			return;
		}
		const [before] = doc.profiles;
		const after = doc.profiles[this.other];
		const { diff, why_not: whyNot, verdict } = doc.diffs[this.other - 1];

		if (!diff) {
			replace(this.element, empty("These do not compare", whyNot ?? "they have nothing in common"));
			return;
		}
		this.diff = diff;
		replace(
			this.element,
			doc.profiles.length > 2
				? el(
						"div",
						{ class: "pane-bar" },
						choice(
							"compared with the first",
							doc.profiles.slice(1).map((profile, i) => ({ value: String(i + 1), name: profile.name })),
							String(this.other),
							(value) => show({ with: value }),
						),
					)
				: null,
			el(
				"section",
				{ class: "verdict" },
				el("p", { class: "subject" }, this.key(doc.profiles)),
				el("h2", { class: "headline" }, verdict ?? ""),
			),
			el("section", { class: "panel", "aria-label": "distances of both" }, this.chart),
			el("section", { class: "panel" }, this.totals(diff, before, after)),
			this.moved("Lines whose misses moved most", diff.lines),
			this.moved("Objects whose misses moved most", diff.objects),
			this.moved("Regions whose misses moved most", diff.regions),
		);
		this.drawChart();
	}

	key(profiles) {
		return profiles.map((profile, i) => [
			el("span", { class: `swatch series-${i % SERIES}`, "aria-hidden": "true" }),
			el("code", { class: "key" }, profile.name),
		]);
	}

	drawChart() {
		const { doc } = this.app;
		const shown = doc.profiles.filter((profile) => profile.report);
		const block = this.diff?.block_bytes;
		const hists = shown.map((profile) => profile.hist("stack", block)).filter(Boolean);

		if (!this.diff || hists.length < 2 || !this.chart.clientWidth) return;
		replace(
			this.chart,
			distanceChart({
				profile: shown[0],
				hists,
				blockBytes: block,
				caches: this.app.hierarchy,
				width: Math.max(320, Math.floor(this.chart.clientWidth)),
				titles: [
					[`${shown[0].noun} by how far back they reach (stack distance)`, `${shown[0].noun} by distance`],
					["miss ratio of a fully associative cache of that size", "miss ratio by cache size"],
				],
				label: `distances and miss ratio of ${shown.map((profile) => profile.name).join(", ")}`,
			}),
		);
	}

	totals(diff, before, after) {
		const isObject = diff.unit === "object";
		const amount = (value) => (value === null ? "\u221e" : count(value));
		const room = (value) => (value === null ? "\u221e" : sizeText(before, value, diff.block_bytes));
		const rows = [
			["references", ...changeCell(diff.references, amount).slice(0, 3), ""], // fewer may be better, or less work
			["distinct memory", ...changeCell(diff.blocks, room).slice(0, 3), ""],
			...diff.levels.flatMap((level) => {
				const of = levelTrend(level);

				return [
					[`${cacheLabel(level, isObject)} misses`, ...changeCell(level.misses, amount, of)],
					level.moved_bytes ? [`${level.name} moved`, ...changeCell(level.moved_bytes, bytes, of)] : null,
				];
			}),
			...diff.percentiles.map((entry) => [
				`cache that holds ${entry.percent} %`,
				...changeCell(entry.blocks, room, diff.error_points > 0 ? "" : undefined),
			]),
		].filter(Boolean);

		return el(
			"div",
			{ class: "scroll", tabindex: "0", role: "region", "aria-label": "totals" },
			table(
				"In figures",
				[
					{ title: "" },
					{ title: before.name, number: true },
					{ title: after.name, number: true },
					{ title: "change", number: true },
					{ title: "" },
				],
				rows,
				{ class: "diff totals" },
			),
		);
	}

	moved(caption, rows) {
		if (!rows?.length) return null;
		return el(
			"section",
			{ class: "panel" },
			el(
				"div",
				{ class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
				table(
					caption,
					[
						{ title: "" },
						{ title: "before", number: true },
						{ title: "after", number: true },
						{ title: "change", number: true },
						{ title: "" },
					],
					rows.map((row) => [row.name, ...changeCell(row.misses, (value) => count(value ?? 0))]),
					{ class: "diff" },
				),
			),
		);
	}
}
