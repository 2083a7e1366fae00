// SPDX-License-Identifier: GPL-2.0-or-later
// The first view: what is the matter, in words; the line, the data and the cache size that matter; the
// distances with the caches, which can be dragged; what each level then does; and how sure that is.

import { choice, el, facts, replace } from "./dom.js";
import { distanceChart, sizeText } from "./chart.js";
import { accessesOf, causeOf, histOf, treeOf, walkOf } from "./blame.js";
import { BASES } from "./predict.js";
import {
	bytes,
	cacheBlocks,
	cacheFault,
	cacheLabel,
	cacheSets,
	count,
	formatHierarchy,
	parseSize,
	percent,
	size,
	stride,
} from "./units.js";

const WORTH_A_CARD = 1e-9;
const COLLECTORS = {
	any: "by loci's Valgrind tool",
	cc: "by code that loci cc compiled",
	gcc: "by code that loci gcc compiled",
	import: "from a trace",
};
const HINTS = {
	"hits here": "what the levels inside miss and this one has",
	first: "of all: blocks that were never touched before",
	capacity: "of all: what a fully associative cache of this size misses, too",
	conflict: "of all: what its sets cost; less than nothing where sets do better than full associativity",
	moved: "blocks fetched and written back, in bytes",
};

export function causeText(profile, lens, cause, distance) {
	const { name } = lens.cache ?? { name: "the cache" };

	switch (cause) {
		case "far":
			return `reused from ${sizeText(profile, distance, profile.ownerBlock)} away, more than ${name} holds`;
		case "cold":
			return "first touches: no cache would hold them";
		case "shared":
			return "blocks lost to other threads' writes";
		case "conflict":
			return `would fit in ${name}, but too many blocks share a set`;
		default:
			return "";
	}
}

export function strideText(walk) {
	if (walk.stride === null) return "";
	if (walk.regular < 0.5) return "no regular stride";
	return `${walk.stride === 0 ? "the same place again" : `stride ${stride(walk.stride)}`}${walk.regular < 15 / 16 ? ", mostly" : ""}`;
}

export class OverviewView {
	constructor(app) {
		this.app = app;
		this.chart = el("div", { class: "chart-box" });
		this.levels = el("div", { class: "levels" });
		this.head = el("section", { class: "verdict" });
		this.cards = el("section", { class: "cards", "aria-label": "what matters" });
		this.foot = el("div", { class: "columns" });
		this.parts = [
			this.head,
			this.cards,
			el("section", { class: "panel", "aria-label": "distances and misses" }, this.chart, this.levels),
			this.foot,
		];
		this.element = el("div", { class: "overview" });
		new ResizeObserver(() => this.drawChart()).observe(this.chart);
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
		replace(this.cards, this.cardList());
		this.drawChart();
		this.drawLevels();
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
			el("h2", { class: "headline" }, report.verdict.text),
			run.note || !run.complete
				? el("p", { class: "warning" }, run.note ?? "The run is not complete.")
				: null,
		];
	}

	// The line, the data and the cache size that matter.
	cardList() {
		const { app } = this;
		const { profile, lens } = app;
		const cards = [];

		if (profile.hasSites && !lens.fault) {
			const all = lens.whole();
			const worst = treeOf(profile, lens, "line").reduce((a, b) => (b.misses > a.misses ? b : a));

			if (all > 0 && worst.misses / all > WORTH_A_CARD)
				cards.push(this.lineCard(worst, all), this.objectCard(worst));
		}
		cards.push(this.sizeCard());
		return cards;
	}

	lineCard(node, all) {
		const { profile, lens, show } = this.app;
		const { sites } = profile;
		const text = profile.sourceLine(sites.source[node.worst], sites.line[node.worst]);
		const { cause, distance } = causeOf(histOf(profile, node), node.misses, lens);

		return el(
			"button",
			{
				type: "button",
				class: "card",
				onclick: () => show({ view: "code", by: "function", sel: `line:${node.id}` }),
			},
			el("span", { class: "card-title" }, "The line"),
			el("span", { class: "card-name" }, node.name),
			text === null ? null : el("code", { class: "card-code" }, text.trim()),
			el(
				"span",
				{ class: "card-text" },
				`${percent(node.misses / all)} of ${lens.cache.name} misses; ${causeText(profile, lens, cause, distance)}`,
			),
		);
	}

	objectCard(node) {
		const { profile, lens, show } = this.app;
		const walk = walkOf(profile, accessesOf(profile, "site", node.rows), lens);
		const worst = walk.objects.find((object) => object.object >= 0);

		if (!worst) return null;
		const { objects } = profile;
		const own = walkOf(
			profile,
			accessesOf(profile, "site", node.rows).filter((row) => profile.accesses.object[row] === worst.object),
			lens,
		);
		const share = lens.misses("objects")[worst.object] / lens.whole("objects");

		return el(
			"button",
			{ type: "button", class: "card", onclick: () => show({ view: "data", sel: `object:${worst.object}` }) },
			el("span", { class: "card-title" }, "The data"),
			el("span", { class: "card-name" }, objects.name[worst.object]),
			el(
				"code",
				{ class: "card-code" },
				`${objects.origin[worst.object]}${objects.size_bytes[worst.object] ? `, ${bytes(objects.size_bytes[worst.object])}` : ""}`,
			),
			el(
				"span",
				{ class: "card-text" },
				[
					`${percent(share)} of ${lens.cache.name} misses`,
					strideText(own),
					own.spatial === null ? "" : `${percent(own.spatial)} of each fetched block is used`,
				]
					.filter(Boolean)
					.join("; "),
			),
		);
	}

	sizeCard() {
		const { profile } = this.app;
		const text = (blocks) =>
			`${sizeText(profile, blocks, profile.block)}${profile.isObject ? " objects" : ""}`;
		const { verdict } = profile.report;
		const { next, near } = verdict;
		const what = profile.noun;

		if (!next)
			return el(
				"div",
				{ class: "card" },
				el("span", { class: "card-title" }, "The cache size"),
				el("span", { class: "card-name" }, near ? text(near.blocks) : "none"),
				el(
					"span",
					{ class: "card-text" },
					near
						? `holds ${percent(near.share)} of the ${what}; a larger one gains little`
						: "nothing is used twice: no cache of any size helps",
				),
			);
		const holder = next.fits ? `; ${next.fits} is that large` : "; no cache of this machine is that large";

		return el(
			"div",
			{ class: "card" },
			el("span", { class: "card-title" }, "The cache size"),
			el("span", { class: "card-name" }, text(next.blocks)),
			el(
				"span",
				{ class: "card-text" },
				`holds ${percent(next.share)} more of the ${what} than ${near.level ?? text(near.blocks)} does${holder}`,
			),
		);
	}

	drawChart() {
		const { app } = this;
		const { profile } = app;
		const width = Math.max(320, Math.floor(this.chart.clientWidth));
		const focused = this.chart.contains(document.activeElement) ? document.activeElement.dataset.level : null;

		if (!profile.report || !this.results || !this.chart.isConnected || this.chart.clientWidth === 0) return;
		const chart = distanceChart({
			profile,
			hists: [profile.stack],
			blockBytes: profile.block,
			caches: app.hierarchy,
			results: this.results,
			width,
			errors: [profile.report.error_points],
			titles: [
				[`${profile.noun} by how far back they reach (stack distance)`, `${profile.noun} by distance`],
				[
					"miss ratio of a fully associative cache of that size; \u25cf the caches as they are",
					"miss ratio by cache size; \u25cf the caches as they are",
					"miss ratio by cache size",
				],
			],
			label: `distances of reuses and miss ratio by cache size: ${profile.report.verdict.text}`,
			onmove: (level, blocks, steps, event) =>
				event ? this.drag(level, event) : this.move(level, blocks, steps),
		});

		this.axis = chart.axis;
		replace(this.chart, chart);
		if (focused !== null) this.chart.querySelector(`[data-level="${focused}"]`)?.focus();
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

	drawLevels() {
		const { app, results } = this;
		const focused = this.levels.contains(document.activeElement)
			? document.activeElement.dataset.field
			: null;
		const shared = results.some((result) => result.coherence > 0);
		const heads = [
			"level",
			"size",
			"ways",
			"line",
			app.profile.shares.length ? "each for" : null,
			"hits here",
			"misses",
			"ratio",
			"first",
			"capacity",
			"conflict",
			shared ? "shared" : null,
			"moved",
			"write-backs",
			"rests on",
			"",
		].filter((head) => head !== null);

		replace(
			this.levels,
			el(
				"div",
				{ class: "scroll", tabindex: "0", role: "region", "aria-label": "caches" },
				el(
					"table",
					{ class: "level-table" },
					el(
						"caption",
						null,
						"What each cache would do. Change any size, ways or line, or drag an edge above.",
					),
					el(
						"thead",
						null,
						el(
							"tr",
							null,
							heads.map((head) =>
								head
									? el(
											"th",
											{
												scope: "col",
												title: HINTS[head],
												class: ["level", "size", "ways", "line", "each for", "rests on"].includes(head)
													? null
													: "number",
											},
											head,
										)
									: el("td", null),
							),
						),
					),
					el(
						"tbody",
						null,
						results.map((result, i) => this.levelRow(result, i, shared)),
					),
				),
			),
			el(
				"p",
				{ class: "actions" },
				el("button", { type: "button", onclick: () => this.addLevel() }, "add a level"),
				el(
					"button",
					{ type: "button", disabled: !app.store.get("cache"), onclick: () => app.show({ cache: "" }) },
					"back to the recorded machine",
				),
				this.machines(),
				el(
					"code",
					{ class: "spec" },
					`loci cache --cache ${formatHierarchy(app.hierarchy, app.profile.isObject)}`,
				),
			),
			app.profile.grains.length > 1
				? el(
						"p",
						{ class: "note" },
						`Line sizes recorded: ${app.profile.grains.map((grain) => bytes(grain.block_bytes)).join(", ")}.`,
					)
				: null,
		);
		if (focused) this.levels.querySelector(`[data-field="${focused}"]`)?.focus();
	}

	machines() {
		const { app } = this;

		if (app.profile.isObject || !app.doc.machines?.length) return null;
		return el(
			"label",
			{ class: "machines" },
			"another machine ",
			el(
				"select",
				{ onchange: (event) => event.target.value && app.show({ cache: event.target.value }) },
				el("option", { value: "" }, "choose"),
				app.doc.machines.map((machine) =>
					el("option", { value: machine.specification }, `${machine.name}: ${machine.description}`),
				),
			),
		);
	}

	levelRow(result, i, shared) {
		const { app } = this;
		const { cache } = result;
		const n = 8 + (shared ? 1 : 0) + 2;
		const cells = result.fault
			? [el("td", { colspan: String(n - 1), class: "fault" }, result.fault)]
			: [
					[count(result.hits), result.hits_estimated],
					[count(result.misses)],
					[percent(result.miss_ratio)],
					[percent(result.cold / result.accesses)],
					[percent(result.capacity / result.accesses)],
					[percent(result.conflict / result.accesses)],
					shared ? [percent(result.coherence / result.accesses)] : null,
					[app.profile.isObject || result.moved_bytes === null ? "\u2013" : bytes(result.moved_bytes)],
					[result.writebacks === null ? "\u2013" : count(result.writebacks)],
				]
					.filter(Boolean)
					.map(([text, estimated]) =>
						el("td", { class: "number" }, estimated || result.basis !== "exact" ? `~${text}` : text),
					)
					.concat(
						el(
							"td",
							{ title: BASES[result.basis].note },
							result.basis === "exact"
								? "exact"
								: `${result.basis} \u00b1${result.error_points.toPrecision(2)} points`,
						),
					);

		return el(
			"tr",
			null,
			el("th", { scope: "row" }, cache.name),
			el(
				"td",
				null,
				this.field(i, "size", size(cache.size_bytes), (text) => ({ size_bytes: parseSize(text) })),
			),
			el(
				"td",
				null,
				this.field(i, "ways", cache.ways ? String(cache.ways) : "full", (text) => ({
					ways: /^(full|0|)$/i.test(text.trim()) ? 0 : Number(text),
				})),
			),
			el(
				"td",
				null,
				this.field(i, "line", size(cache.line_bytes), (text) => ({ line_bytes: parseSize(text) })),
			),
			app.profile.shares.length ? el("td", null, this.shareField(i)) : null,
			cells,
			el(
				"td",
				null,
				app.hierarchy.length > 1
					? el(
							"button",
							{
								type: "button",
								class: "quiet",
								"aria-label": `remove ${cache.name}`,
								onclick: () => this.removeLevel(i),
							},
							"\u00d7",
						)
					: null,
			),
		);
	}

	field(i, what, value, read) {
		const { app } = this;
		const cache = app.hierarchy[i];
		const change = (event) => {
			const wanted = { ...cache, ...read(event.target.value) };
			const levels = app.hierarchy.map((level, k) => (k === i ? wanted : level));
			let fault = Object.values(wanted).some(Number.isNaN)
				? "this is no number"
				: cacheFault(wanted, app.profile.isObject);
			let inside = 0;

			for (const level of levels.filter((other) => !other.is_tlb)) {
				if (!fault && level.size_bytes < inside) fault = "levels grow outwards";
				inside = level.size_bytes;
			}
			event.target.setCustomValidity(fault);
			event.target.setAttribute("aria-invalid", String(Boolean(fault)));
			event.target.title = fault;
			if (fault) event.target.reportValidity();
			else app.show({ cache: formatHierarchy(levels, app.profile.isObject) });
		};

		return el("input", {
			type: "text",
			value,
			size: "6",
			"aria-label": `${what} of ${cache.name}`,
			"data-field": `${what}-${i}`,
			autocomplete: "off",
			spellcheck: "false",
			disabled: app.profile.isObject && what === "line",
			onchange: change,
		});
	}

	// Which threads have one of these caches.
	shareField(i) {
		const { app } = this;
		const cache = app.hierarchy[i];
		const groups = app.profile.shares.filter((entry) => entry.share === "some").map((entry) => entry.n);
		const options = [
			["private", "one thread"],
			...[...new Set(groups)].map((n) => [`share${n}`, `${n} threads`]),
			["shared", "all threads"],
		];
		const change = (event) =>
			app.show({
				cache: formatHierarchy(
					app.hierarchy.map((level, k) => (k === i ? { ...level, share: event.target.value } : level)),
					app.profile.isObject,
				),
			});

		return el(
			"select",
			{ "aria-label": `threads that share ${cache.name}`, "data-field": `share-${i}`, onchange: change },
			options.map(([value, name]) => el("option", { value, selected: value === cache.share }, name)),
		);
	}

	addLevel() {
		const { app } = this;
		const last = app.hierarchy.findLast((cache) => !cache.is_tlb) ?? app.hierarchy[0];
		const names = app.hierarchy.map((cache) => cache.name);
		let number = app.hierarchy.length + 1;

		while (names.includes(`L${number}`)) number++;
		const next = { ...last, name: `L${number}`, size_bytes: last.size_bytes * 4, ways: last.ways };

		app.show({ cache: formatHierarchy([...app.hierarchy, next], app.profile.isObject) });
	}

	removeLevel(i) {
		const { app } = this;

		app.show({
			cache: formatHierarchy(
				app.hierarchy.filter((_, k) => k !== i),
				app.profile.isObject,
			),
		});
	}

	effective() {
		const { profile } = this.app;
		const sizes = profile.report.effective_sizes;
		const most = Math.max(...sizes.map((entry) => entry.share), 1e-9);

		return el(
			"section",
			{ class: "panel" },
			el("h2", null, "Effective cache sizes"),
			el(
				"p",
				null,
				"Sizes at which the miss ratio takes a step: between them, a larger cache gains nothing.",
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
		);
	}

	trust() {
		const { profile } = this.app;
		const { run, report } = profile;
		const grain = profile.grain(profile.block);
		const bases = new Map();

		for (const result of this.results)
			if (!result.fault && result.basis !== "exact") bases.set(result.basis, result);
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
					grain.sampling_rate < 1
						? `of a sample of the blocks (${percent(grain.sampling_rate)}): miss ratios \u00b1${report.error_points.toPrecision(2)} points (95 %)`
						: "of every reference that was recorded: exact",
				],
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
						: `exact: ${this.results.some((result) => !result.fault && cacheSets(result.cache) > 1) ? "sets and ways are those of the cache" : "the size is an edge of the histogram"}`,
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
