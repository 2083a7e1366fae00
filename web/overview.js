// SPDX-License-Identifier: GPL-2.0-or-later
// The first view: what is the matter, in words; the line, the data and the cache size that matter; the
// distances with the caches, which can be dragged; what each level then does; and how sure that is.

import { choice, el, facts, focusLater, replace } from "./dom.js";
import { distanceChart, sizeText } from "./chart.js";
import { Cards } from "./cards.js";
import { headline } from "./headline.js";
import { LevelTable } from "./levels.js";
import { BASES } from "./predict.js";
import { bytes, cacheBlocks, cacheLabel, cacheSets, count, formatHierarchy, percent } from "./units.js";

const SIZE_MIN = 1024; // no cache is smaller

const COLLECTORS = {
	any: "by loci's Valgrind tool",
	cc: "by code that loci cc compiled",
	gcc: "by code that loci gcc compiled",
	import: "from a trace",
	watch: "by the processor's debug registers, at full speed",
};

export class OverviewView {
	constructor(app) {
		this.app = app;
		this.chart = el("div", { class: "chart-box" });
		this.levels = new LevelTable(app);
		this.head = el("section", { class: "verdict" });
		this.cards = el("section", { class: "cards", "aria-label": "what matters" });
		this.foot = el("div", { class: "columns" });
		this.parts = [
			this.head,
			this.cards,
			el(
				"section",
				{ class: "panel", "aria-label": "distances and misses" },
				this.chart,
				this.levels.element,
			),
			this.foot,
		];
		this.element = el("div", { class: "overview" });
		this.width = 0; // of the chart: told, not asked for; to ask in the midst of changes lays the page out again
		new ResizeObserver(([entry]) => this.widen(entry.contentRect.width)).observe(this.chart);
	}

	widen(width) {
		const isOther = width > 0 && width !== this.width;

		this.width = width || this.width;
		if (isOther) this.drawChart();
	}

	update() {
		const { app } = this;
		const { profile } = app;

		if (!profile.report) {
			replace(
				this.element,
				el(
					"div",
					{ class: "empty" },
					el("h2", null, "No distances"),
					el("p", null, "This profile was recorded by -m count: it holds operations. See Ops."),
				),
			);
			return;
		}
		this.results = profile.predict(app.hierarchy);
		if (!this.chart.isConnected) replace(this.element, this.parts); // else what has the focus keeps it
		replace(this.head, this.verdict());
		replace(this.cards, new Cards(app).list());
		this.drawChart();
		this.levels.update(this.results);
		replace(this.foot, this.effective(), this.trust());
	}

	verdict() {
		const { profile } = this.app;
		const { run, report } = profile;
		const touched = profile.isObject
			? `${count(report.touched.blocks)} objects`
			: `${bytes(report.touched.bytes)} touched`;

		return [
			el(
				"p",
				{ class: "subject" },
				el("code", null, run.command ?? profile.name),
				` \u2014 ${count(run.references)} ${profile.noun}, ${touched}`,
			),
			el("h2", { class: "headline" }, headline(profile, this.app.lens)),
			run.note || !run.complete
				? el(
						"p",
						{ class: run.complete && !run.lost ? "subject" : "warning" },
						run.note?.replaceAll("+-", "\u00b1") ?? "The run is not complete.",
					)
				: null,
		];
	}

	drawChart() {
		const { app } = this;
		const { profile } = app;
		const focused = this.chart.contains(document.activeElement) ? document.activeElement.dataset.level : null;

		if (!profile.report || !this.results || !this.chart.isConnected) return;
		this.width ||= this.chart.clientWidth;
		if (!this.width) return;
		const chart = distanceChart({
			profile,
			hists: [profile.stack],
			blockBytes: profile.block,
			caches: app.hierarchy,
			results: this.results,
			width: Math.max(320, Math.floor(this.width)),
			errors: [profile.report.error_points],
			titles: [
				[
					`${profile.noun} by how far back they reach (stack distance${profile.stack.model ? `, by ${profile.stack.model}` : ""})`,
					`${profile.noun} by distance`,
				],
				[
					"miss ratio of a fully associative cache of that size; \u25cf the caches as they are",
					"miss ratio by cache size; \u25cf the caches as they are",
					"miss ratio by cache size",
				],
			],
			label: `distances of reuses and miss ratio by cache size: ${headline(profile, app.lens)}`,
			onmove: (level, blocks, steps, event) =>
				event ? this.drag(level, event) : this.move(level, blocks, steps),
		});

		this.axis = chart.axis;
		replace(this.chart, chart);
		if (focused !== null) focusLater(this.chart, `[data-level="${focused}"]`);
	}

	drag(level, event) {
		const box = this.chart.getBoundingClientRect();
		const grip = event.target.closest(".edge");
		const { axis } = this;
		let wanted = null;
		const move = (next) => {
			if (wanted === null)
				requestAnimationFrame(() => {
					this.resize(level, axis.blocks(wanted - box.left));
					wanted = null;
				});
			wanted = next.clientX;
		};
		const end = () => {
			window.removeEventListener("pointermove", move);
			window.removeEventListener("pointerup", end);
			window.removeEventListener("pointercancel", end);
		};

		grip.focus();
		window.addEventListener("pointermove", move);
		window.addEventListener("pointerup", end);
		window.addEventListener("pointercancel", end);
	}

	// By key: at least one step that changes something.
	move(level, blocks, steps) {
		const cache = this.app.hierarchy[level];

		if (cache.ways) blocks = cacheBlocks(cache) * 2 ** Math.sign(steps);
		this.resize(level, blocks);
	}

	// The nearest size that makes sense: a power of two of sets, which the profile knows exactly, or
	// whole lines; and in order with its neighbours.
	resize(level, blocks) {
		const levels = this.app.hierarchy.map((cache) => ({ ...cache }));
		const cache = levels[level];
		const unit = cache.ways
			? cache.ways * 2 ** Math.max(0, Math.round(Math.log2(blocks / cache.ways)))
			: Math.max(
					1,
					Math.round(blocks / 2 ** Math.max(0, Math.floor(Math.log2(blocks)) - 5)) *
						2 ** Math.max(0, Math.floor(Math.log2(blocks)) - 5),
				);
		const others = levels.filter((other, i) => !other.is_tlb && i !== level);

		cache.size_bytes = unit * cache.line_bytes;
		for (const other of others) {
			const before = levels.indexOf(other) < level;

			if (before ? other.size_bytes > cache.size_bytes : other.size_bytes < cache.size_bytes) return;
		}
		this.app.show({ cache: formatHierarchy(levels, this.app.profile.isObject) });
	}

	effective() {
		const { profile } = this.app;
		const { effective_sizes: all } = profile.report;
		const isTiny = (entry) => !profile.isObject && entry.bytes < SIZE_MIN;
		const sizes = all.filter((entry) => !isTiny(entry));
		const tiny = all.filter(isTiny).reduce((sum, entry) => sum + entry.share, 0);
		const most = Math.max(...sizes.map((entry) => entry.share), 1e-9);

		return el(
			"section",
			{ class: "panel" },
			el("h2", null, "Effective cache sizes"),
			el(
				"p",
				null,
				`Sizes at which the miss ratio of a fully associative cache takes a step, and by how much of all ${profile.noun}: between them, a larger cache gains nothing.`,
			),
			sizes.length
				? el(
						"ul",
						{ class: "steps" },
						sizes.map((entry) =>
							el(
								"li",
								null,
								el("span", { class: "step-size" }, sizeText(profile, entry.blocks, profile.block)),
								el(
									"span",
									{ class: "step-bar" },
									el("span", { style: { width: `${(100 * entry.share) / most}%` } }),
								),
								el("span", { class: "step-share" }, percent(entry.share)),
							),
						),
					)
				: el("p", null, "There is no such step: the curve falls slowly, or nothing is reused."),
			tiny > 0
				? el("p", { class: "note" }, `${percent(tiny)} fit in less than ${bytes(SIZE_MIN)}, as any cache has.`)
				: null,
		);
	}

	trust() {
		const { profile } = this.app;
		const { run, report } = profile;
		const grain = profile.grain(profile.block);
		const bases = new Map();

		for (const result of this.results)
			if (!result.fault && result.basis !== "exact" && result.basis !== profile.stack.model)
				bases.set(result.basis, result);
		return el(
			"section",
			{ class: "panel" },
			el("h2", null, "How sure is this?"),
			facts([
				[
					"recorded",
					`${run.mode ?? "unknown"}${run.collector ? `, ${COLLECTORS[run.collector] ?? run.collector}` : ""}${run.merged > 1 ? `, ${run.merged} runs added up` : ""}`,
				],
				[
					"distances",
					grain.sampling_rate < 1 || report.error_points > 0
						? `from a sample: miss ratios \u00b1${report.error_points.toPrecision(2)} points (95 %)`
						: "of every reference that was recorded: exact",
				],
				profile.stack.model
					? [
							"model",
							`${profile.stack.model} makes stack distances of time distances, the only ones there are; ${BASES[profile.stack.model].note}`,
						]
					: null,
				report.approximate ? ["code", "approximate: the compiler told what it happened to know"] : null,
				run.lost ? ["lost", `${count(run.lost)} references are missing`] : null,
				[
					"caches",
					bases.size
						? [...bases]
								.map(
									([basis, result]) =>
										`${cacheLabel(result.cache)}: ${basis}${result.why ? `, because ${result.why}` : ""}; ${BASES[basis].note}`,
								)
								.join(". ")
						: profile.stack.model
							? "estimated, within the errors above"
							: `exact: ${this.results.some((result) => !result.fault && cacheSets(result.cache) > 1) ? "sets and ways are those of the cache" : "the size is an edge of the histogram"}`,
				],
				profile.knowsLines
					? null
					: [
							"lines",
							`recorded with blocks of ${bytes(profile.block)}: caches are as large as the machine's, but have lines of ${bytes(profile.block)}`,
						],
				["machine", [run.machine, run.caches].filter(Boolean).join(", ") || "unknown"],
				run.started ? ["when", run.started] : null,
			]),
		);
	}
}

export function levelChooser(app) {
	const levels = app.hierarchy;

	return choice(
		"misses of",
		levels.map((cache) => ({
			value: cache.name,
			name: cache.name,
			title: cacheLabel(cache, app.profile.isObject),
		})),
		app.lens.cache?.name,
		(level) => app.show({ level }),
	);
}
