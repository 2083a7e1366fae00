// SPDX-License-Identifier: GPL-2.0-or-later
// The page: the bar, the views, and what they share: which profile, which caches, whose misses.

import { choice, el, replace, whenIdle } from "./dom.js";
import { readDocument, unpack } from "./document.js";
import { Store, VIEWS, readFragment, writeFragment } from "./state.js";
import { Lens } from "./blame.js";
import { preparations } from "./tree.js";
import { parseHierarchy } from "./units.js";
import { OverviewView, levelChooser } from "./overview.js";
import { firstFigures } from "./metrics.js";
import { prepareSources } from "./source.js";
import { CodeView } from "./code.js";
import { PairsView } from "./pairs.js";
import { DataView } from "./data.js";
import { PhasesView, ThreadsView } from "./stages.js";
import { OpsView } from "./operations.js";
import { DiffView } from "./diff.js";

const CLASSES = {
	overview: OverviewView,
	code: CodeView,
	pairs: PairsView,
	data: DataView,
	threads: ThreadsView,
	ops: OpsView,
	phases: PhasesView,
	diff: DiffView,
};
const SHARED = ["p", "cache", "level"]; // what a change of view keeps
const KEYS = [
	["1 \u2026 8", "the views"],
	["/", "search; Esc leaves it"],
	["[ ]", "misses of the cache before, after"],
	["\u2191 \u2193", "in a table: another row"],
	["\u2190 \u2192", "in a tree: close, open; on a cache's edge: smaller, larger"],
	["t", "light, dark, as the system"],
	["?", "this"],
];

const WORDS = [
	[
		"stack distance",
		"how many other blocks were touched since this one was, as a size: what a fully associative cache must exceed to still hold it",
	],
	["first, cold", "the first touch of a block: no cache can have it"],
	["pair", "a use, and the next touch of the same data: the reuse, which may miss"],
	["RAR, RAW", "of a pair: read after read, read after write"],
	["WAR, WAW", "write after read, write after write"],
	["carried by", "the loop that goes round between use and reuse: where another order would help"],
	["capacity", "misses that a fully associative cache of the size has, too"],
	["conflict", "misses that come of the sets alone"],
	["moved", "bytes fetched and written back"],
	["used", "of the bytes fetched, those touched before they left"],
	["~", "estimated, not counted"],
];

class App {
	constructor(doc) {
		this.doc = doc;
		this.store = new Store(readFragment(location.hash));
		this.views = new Map();
		this.show = (changes) => this.change(changes);
		this.links = VIEWS.map((view, i) =>
			el("a", { "aria-keyshortcuts": String(i + 1) }, view[0].toUpperCase() + view.slice(1)),
		);
		this.nav = el("nav", { "aria-label": "views" }, this.links);
		this.tools = el("div", { class: "tools" });
		this.main = el("main", { id: "main", tabindex: "-1" });
		this.search = el("input", {
			type: "search",
			placeholder: "search ( / )",
			"aria-label": "search names",
			spellcheck: "false",
			autocomplete: "off",
		});
		this.search.addEventListener("input", () => this.searched());
		this.search.addEventListener("keydown", (event) => event.key === "Escape" && this.leaveSearch());
		this.theme = el(
			"button",
			{
				type: "button",
				class: "quiet",
				title: "light, dark, as the system (t)",
				onclick: () => this.turnTheme(),
			},
			"\u25d0",
		);
		this.theme.setAttribute("aria-label", "light, dark, as the system");
		this.help = this.newHelp();
		replace(
			document.body,
			el(
				"header",
				null,
				el(
					"a",
					{ class: "skip", href: "#", onclick: (event) => (event.preventDefault(), this.main.focus()) },
					"skip to the view",
				),
				el("h1", { class: "brand" }, "loci"),
				this.nav,
				this.tools,
			),
			this.main,
			this.help,
		);
		this.store.listen((state, changed) => this.render(changed));
		window.addEventListener("hashchange", () => this.followAddress());
		document.addEventListener("keydown", (event) => this.key(event));
	}

	get profile() {
		return this.doc.profiles[Number(this.store.get("p"))] ?? this.doc.profiles[0];
	}

	// The caches asked for, or the machine that the profile was recorded on.
	get hierarchy() {
		const text = this.store.get("cache");
		const key = `${this.doc.profiles.indexOf(this.profile)} ${text}`;

		if (this.hierarchyKey !== key) {
			this.hierarchyKey = key;
			this.hierarchyValue = this.profile.hierarchy;
			try {
				if (text) this.hierarchyValue = parseHierarchy(text, this.profile.isObject);
			} catch {
				// an address that somebody wrote by hand
			}
		}
		return this.hierarchyValue;
	}

	// The cache whose misses are looked at.
	get lens() {
		const cache =
			this.hierarchy.find((level) => level.name === this.store.get("level")) ??
			this.hierarchy.find((level) => !level.is_tlb) ??
			this.hierarchy[0] ??
			null;

		if (this.lensValue?.profile !== this.profile || this.lensValue?.cache !== cache)
			this.lensValue = new Lens(this.profile, cache);
		return this.lensValue;
	}

	change(changes) {
		const { state } = this.store;

		if (changes.view && changes.view !== state.view) {
			const cleared = Object.fromEntries(
				Object.keys(state)
					.filter((key) => !SHARED.includes(key))
					.map((key) => [key, undefined]),
			);

			changes = { ...cleared, ...changes };
		}
		if (changes.p !== undefined && changes.p !== state.p)
			changes = { sel: undefined, cache: undefined, level: undefined, ...changes };
		this.store.set(changes);
	}

	followAddress() {
		const next = readFragment(location.hash);
		const gone = Object.fromEntries(Object.keys(this.store.state).map((key) => [key, undefined]));

		this.store.set({ ...gone, ...next });
	}

	render(changed) {
		const { state } = this.store;
		const address = writeFragment(state);

		if (address !== location.hash && !(address === "#overview" && !location.hash)) {
			if (changed.includes("view")) history.pushState(null, "", address);
			else history.replaceState(null, "", address);
		}
		if (changed.some((key) => ["view", "p", "cache", "level"].includes(key))) this.renderBar();
		if (document.activeElement !== this.search) this.search.value = state.q ?? "";
		const key = `${state.view} ${this.doc.profiles.indexOf(this.profile)}`;

		if (!this.views.has(key)) this.views.set(key, new CLASSES[state.view](this));
		const view = this.views.get(key);

		if (this.main.firstChild !== view.element) {
			replace(this.main, view.element);
			changed = ["view", ...changed];
		}
		this.main.dataset.view = state.view;
		view.update(changed);
		// what was pressed is gone with the view before: keys go on here, once all is laid out
		if (changed.includes("view") && document.activeElement === document.body)
			queueMicrotask(() => document.activeElement === document.body && this.main.focus());
	}

	renderBar() {
		const { state } = this.store;
		const { profiles } = this.doc;
		const keep = Object.fromEntries(SHARED.map((key) => [key, state[key]]));

		VIEWS.forEach((view, i) => {
			const link = this.links[i];

			link.href = writeFragment({ view, ...keep });
			link.classList.toggle("nothing", Boolean(this.isEmpty(view)));
			if (view === state.view) link.setAttribute("aria-current", "page");
			else link.removeAttribute("aria-current");
		});
		replace(
			this.tools,
			profiles.length > 1 && state.view !== "diff"
				? choice(
						"profile",
						profiles.map((profile, i) => ({ value: String(i), name: profile.name })),
						String(profiles.indexOf(this.profile)),
						(p) => this.show({ p }),
					)
				: null,
			this.profile.report && !["ops", "diff"].includes(state.view)
				? el("span", { class: "label" }, "misses of", levelChooser(this))
				: null,
			this.search,
			el(
				"button",
				{
					type: "button",
					class: "quiet",
					"aria-label": "keys and words",
					title: "keys and words (?)",
					onclick: () => this.help.showModal(),
				},
				"?",
			),
			this.theme,
		);
		document.title = `${this.profile.name} \u2013 loci`;
	}

	isEmpty(view) {
		const { profile, doc } = this;

		return {
			code: !profile.hasSites,
			pairs: !profile.pairs.n,
			data: !profile.objects.n,
			threads: profile.threads.length < 2,
			ops: !profile.operations,
			phases: !profile.phases.length && !profile.regions.length,
			diff: doc.profiles.length < 2,
			overview: !profile.report,
		}[view];
	}

	searched() {
		const q = this.search.value.trim();

		if (!["code", "pairs", "data"].includes(this.store.get("view"))) {
			if (q) this.show({ view: "code", q });
			this.search.focus();
		} else this.show({ q, sel: undefined });
	}

	leaveSearch() {
		this.search.value = "";
		this.searched();
		this.main.querySelector(".grid")?.focus();
	}

	turnTheme() {
		const next = { "": "light", light: "dark", dark: "" }[document.documentElement.dataset.theme ?? ""];

		if (next) document.documentElement.dataset.theme = next;
		else delete document.documentElement.dataset.theme;
		try {
			localStorage.setItem("loci-theme", next);
		} catch {
			// pages from disk may have no storage
		}
	}

	turnLevel(step) {
		const names = this.hierarchy.map((cache) => cache.name);
		const at = names.indexOf(this.lens.cache?.name);

		this.show({ level: names[Math.max(0, Math.min(names.length - 1, at + step))] });
	}

	key(event) {
		if (
			event.ctrlKey ||
			event.metaKey ||
			event.altKey ||
			event.target.closest("input, select, textarea, dialog")
		)
			return;
		if (/^[1-8]$/.test(event.key)) this.show({ view: VIEWS[Number(event.key) - 1] });
		else if (event.key === "/") this.search.focus();
		else if (event.key === "?") this.help.showModal();
		else if (event.key === "t") this.turnTheme();
		else if (event.key === "[") this.turnLevel(-1);
		else if (event.key === "]") this.turnLevel(1);
		else return;
		event.preventDefault();
	}

	newHelp() {
		const dialog = el(
			"dialog",
			{ "aria-labelledby": "help-title" },
			el("h2", { id: "help-title" }, "Keys and words"),
			el(
				"dl",
				{ class: "facts" },
				KEYS.map(([key, what]) =>
					el("div", null, el("dt", null, el("kbd", null, key)), el("dd", null, what)),
				),
			),
			el(
				"dl",
				{ class: "facts words" },
				WORDS.map(([word, what]) => el("div", null, el("dt", null, word), el("dd", null, what))),
			),
			el(
				"p",
				{ class: "note" },
				`loci ${this.doc.loci}. The address always shows what you see: copy it to show others.`,
			),
			el("form", { method: "dialog" }, el("button", null, "close")),
		);

		return dialog;
	}
}

function* allPreparations(app) {
	for (const profile of app.doc.profiles) {
		yield* preparations(profile);
		yield* prepareSources(profile);
	}
	yield* firstFigures(app);
}

async function start() {
	try {
		const saved = localStorage.getItem("loci-theme");

		if (saved) document.documentElement.dataset.theme = saved;
	} catch {
		// no storage: as the system has it
	}
	try {
		const doc = readDocument(await unpack(document.getElementById("data").textContent.trim()));
		const app = new App(doc);

		app.render(["view"]);
		document.documentElement.dataset.ready = "yes";
		whenIdle(allPreparations(app));
	} catch (error) {
		replace(
			document.body,
			el(
				"main",
				null,
				el("h1", null, "This page cannot be shown"),
				el("p", null, String(error.message ?? error)),
				el("p", null, "It wants a browser of 2023 or later."),
			),
		);
		throw error;
	}
}

start();
