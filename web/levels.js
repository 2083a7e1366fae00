// SPDX-License-Identifier: GPL-2.0-or-later
// The table of caches, each a row to change, and what it would do.

import { el, focusLater, replace } from "./dom.js";
import { BASES } from "./predict.js";
import { bytes, cacheFault, count, formatHierarchy, parseSize, percent, size } from "./units.js";

const HINTS = {
	"hits here": "what the levels inside miss and this one has",
	"miss ratio": "misses, as a share of all references",
	first: "of all references: blocks that were never touched before",
	capacity: "of all references: what a fully associative cache of this size misses, too",
	conflict: "of all references: what its sets cost; below 0 where they do better than full associativity",
	shared: "of all references: blocks that another thread's write took away",
	moved: "blocks fetched and written back, in bytes",
};

const NEGATIVE = "conflict below 0: the sets keep part of a loop that LRU over the whole cache loses";
const UNKNOWN = "\u2013";

// How far the miss ratio may be off, where it may.
function rangeText(result) {
	return result.basis === "exact" ? "" : `${percent(result.range[0])} to ${percent(result.range[1])}`;
}

// What a level hits is what those inside it miss, less what it misses.
function restsOnEstimate(results, i) {
	return results
		.slice(0, i + 1)
		.some((result) => result.fault || result.hits_estimated || result.basis !== "exact");
}

export class LevelTable {
	constructor(app) {
		this.app = app;
		this.element = el("div", { class: "levels" });
	}

	update(results) {
		const { app } = this;
		const focused = this.element.contains(document.activeElement)
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
			"miss ratio",
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
			this.element,
			el(
				"div",
				{ class: "scroll", tabindex: "0", role: "region", "aria-label": "caches" },
				el(
					"table",
					{ class: "level-table" },
					el(
						"caption",
						null,
						"What each cache would do.",
						el("span", { class: "hint" }, " Change any size, ways or line, or drag an edge above."),
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
						results.map((result, i) => this.levelRow(result, i, shared, restsOnEstimate(results, i))),
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
			results.some((result) => result.conflict < 0) ? el("p", { class: "note" }, `${NEGATIVE}.`) : null,
			app.profile.grains.length > 1
				? el(
						"p",
						{ class: "note" },
						`Line sizes recorded: ${app.profile.grains.map((grain) => bytes(grain.block_bytes)).join(", ")}.`,
					)
				: null,
		);
		if (focused) focusLater(this.element, `[data-field="${focused}"]`);
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

	levelRow(result, i, shared, hitsEstimated) {
		const { app } = this;
		const { cache } = result;
		const n = 8 + (shared ? 1 : 0) + 2;
		const cells = result.fault
			? [el("td", { colspan: String(n - 1), class: "fault" }, result.fault)]
			: [
					[count(Math.round(result.hits)), hitsEstimated],
					[count(Math.round(result.misses))],
					[percent(result.miss_ratio), false, rangeText(result)],
					[percent(result.cold / result.accesses)],
					[percent(result.capacity / result.accesses)],
					[percent(result.conflict / result.accesses), false, "", result.conflict < 0 ? NEGATIVE : null],
					shared ? [percent(result.coherence / result.accesses)] : null,
					[app.profile.isObject || result.moved_bytes === null ? UNKNOWN : bytes(result.moved_bytes)],
					[result.writebacks === null ? UNKNOWN : count(Math.round(result.writebacks))],
				]
					.filter(Boolean)
					.map(([text, estimated, range, title]) =>
						el(
							"td",
							{ class: "number", title },
							text !== UNKNOWN && (estimated || result.basis !== "exact") ? `~${text}` : text,
							range ? el("span", { class: "range" }, range) : null,
						),
					)
					.concat(
						el(
							"td",
							{ title: BASES[result.basis].note },
							result.basis,
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
}
