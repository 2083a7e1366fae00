// SPDX-License-Identifier: GPL-2.0-or-later
// The run by threads, and by what the program marked: phases over time, and regions.

import { el, empty, replace, table } from "./dom.js";
import { SERIES, rangeChart, smallHistogram } from "./chart.js";
import { bytes, cacheLabel, count, percent } from "./units.js";

const STRETCHES_SHOWN = 2000;

function stageRatio(stage, lens) {
	const misses = lens.ofStage(stage);

	return stage.touches > 0 ? misses / stage.touches : stage.refs > 0 ? misses / stage.refs : NaN;
}

const SHARING = [
	{
		title: "lost: true sharing",
		number: true,
		text: (stage) => (stage.coherence ? count(stage.coherence.true_sharing) : "\u2013"),
	},
	{
		title: "false sharing",
		number: true,
		text: (stage) => (stage.coherence ? count(stage.coherence.false_sharing) : "\u2013"),
	},
	{
		title: "remote",
		number: true,
		text: (stage) =>
			stage.coherence?.touches ? percent(stage.coherence.remote / stage.coherence.touches) : "\u2013",
	},
];

function picture(app, stage) {
	return smallHistogram({
		profile: app.profile,
		hist: stage.histogram,
		blockBytes: app.profile.ownerBlock,
		caches: app.hierarchy,
		width: 360,
		height: 96,
		label: `distances of ${stage.label}`,
	});
}

function stageTable(app, caption, name, stages, more = []) {
	const { profile, lens } = app;
	const known = stages.some((stage) => stage.histogram);

	return el(
		"div",
		{ class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
		table(
			caption,
			[
				{ title: name },
				{ title: profile.noun, number: true },
				{ title: "of all", number: true },
				{ title: `misses of ${lens.cache?.name ?? "?"}`, number: true },
				{ title: "miss ratio", number: true },
				...more,
				...(known ? [{ title: "distances" }] : []),
			],
			stages.map((stage) => [
				stage.series === undefined
					? stage.label
					: [el("span", { class: `swatch series-${stage.series}`, "aria-hidden": "true" }), stage.label],
				count(stage.refs),
				percent(stage.refs / profile.run.references),
				lens.text(lens.ofStage(stage)),
				lens.share(stageRatio(stage, lens), 1),
				...more.map((column) => column.text(stage)),
				...(known ? [stage.histogram ? picture(app, stage) : "\u2013"] : []),
			]),
			{ class: "stages" },
		),
	);
}

const TAKES_SHOWN = 100;

export class ThreadsView {
	constructor(app) {
		this.app = app;
		this.element = el("div", { class: "plain" });
	}

	update() {
		const { app } = this;
		const { profile } = app;

		if (profile.threads.length < 2) {
			replace(
				this.element,
				profile.threads.length
					? empty(
							"One thread",
							"This program ran in one thread: there is nothing to share.",
							"Profiles of programs with several show each of them here.",
						)
					: empty(
							"No threads",
							"This profile does not tell threads apart.",
							"Those that loci record makes show each of them here, exact and sampled ones.",
						),
			);
			return;
		}
		const processes = new Set(profile.threads.map((thread) => thread.pid)).size;
		const label = (thread) =>
			`thread ${thread.id}${processes > 1 && thread.pid ? ` of process ${thread.pid}${thread.command ? ` (${thread.command})` : ""}` : ""}`;
		const threads = profile.threads.map((thread) => ({
			...thread,
			histogram: thread.private ?? thread.histogram,
			label: label(thread),
		}));

		threads.sort((a, b) => b.refs - a.refs);
		replace(
			this.element,
			this.summary(threads),
			el(
				"section",
				{ class: "panel" },
				stageTable(app, `${count(threads.length)} threads, the busiest first`, "thread", threads, SHARING),
			),
			this.takes(),
		);
	}

	// What they have in common, and what that costs.
	summary(threads) {
		const { profile } = this.app;
		const whole = profile.shares.find(
			(entry) => entry.share === "private" && entry.block_bytes === profile.ownerBlock,
		);
		const blocks = profile.sharedBlocks.find((entry) => entry.block_bytes === profile.ownerBlock);

		if (!whole?.has_sharing)
			return el(
				"section",
				{ class: "verdict" },
				el("h2", { class: "headline" }, `${count(threads.length)} threads`),
				el("p", { class: "subject" }, "What they take from each other is not recorded."),
			);
		const lost = whole.true_sharing + whole.false_sharing;
		const all = blocks ? blocks.alone + blocks.read_only + blocks.written : 0;

		return el(
			"section",
			{ class: "verdict" },
			el(
				"h2",
				{ class: "headline" },
				lost
					? `${count(lost)} misses are of blocks that another thread's write took away: ${percent(whole.false_sharing / lost)} by false sharing, of other bytes in the same block.`
					: `${count(threads.length)} threads, none of which takes anything from another.`,
			),
			el(
				"p",
				{ class: "subject" },
				`${percent(whole.remote / whole.touches)} of all touches are of a block that another thread touched last.`,
			),
			all
				? el(
						"p",
						{ class: "subject" },
						`Of ${count(all)} blocks of ${bytes(blocks.block_bytes)}, ${percent(blocks.alone / all)} belong to one thread, ${percent(blocks.read_only / all)} are read by several, ${percent(blocks.written / all)} are written by one and touched by others.`,
					)
				: null,
		);
	}

	place(site) {
		const { profile, show } = this.app;

		return site >= 0
			? el(
					"button",
					{
						type: "button",
						class: "link",
						onclick: () => show({ view: "code", by: "function", sel: `line:${site}` }),
					},
					profile.siteName(site),
				)
			: "(unknown)";
	}

	what(object, field) {
		const { profile, show } = this.app;
		const name =
			object >= 0
				? `${profile.objectName(object)}${field >= 0 ? `.${profile.fields.name[field]}` : ""}`
				: "(unknown)";

		return object >= 0
			? el(
					"button",
					{ type: "button", class: "link", onclick: () => show({ view: "data", sel: `object:${object}` }) },
					name,
				)
			: name;
	}

	takes() {
		const { sharings } = this.app.profile;
		const order = Array.from({ length: sharings.n }, (_, i) => i).sort(
			(a, b) => sharings.count[b] - sharings.count[a],
		);

		if (!order.length) return null;
		return el(
			"section",
			{ class: "panel" },
			el(
				"div",
				{ class: "scroll", tabindex: "0", role: "region", "aria-label": "who takes what from whom" },
				table(
					`Who takes what from whom${order.length > TAKES_SHOWN ? `: the first ${TAKES_SHOWN} of ${count(order.length)}` : ""}`,
					[
						{ title: "written at" },
						{ title: "there" },
						{ title: "missed at" },
						{ title: "there" },
						{ title: "sharing" },
						{ title: "misses", number: true },
						{ title: "pairs of threads", number: true },
					],
					order
						.slice(0, TAKES_SHOWN)
						.map((i) => [
							this.place(sharings.write[i]),
							this.what(sharings.write_object[i], sharings.write_field[i]),
							this.place(sharings.miss[i]),
							this.what(sharings.object[i], sharings.field[i]),
							sharings.kind[i] === "false" ? "false: other bytes" : "true: the same bytes",
							count(sharings.count[i]),
							`${sharings.threads[i]} or more`,
						]),
				),
			),
		);
	}
}

export class PhasesView {
	constructor(app) {
		this.app = app;
		this.element = el("div", { class: "plain" });
	}

	update() {
		const { app } = this;
		const { profile, lens } = app;
		const named = (stage) => ({ ...stage, label: stage.name ?? "(before the first phase)" });

		if (!profile.phases.length && !profile.regions.length) {
			replace(
				this.element,
				empty(
					"No phases or regions",
					"None were recorded: the program has no marks, or was recorded in a way that does not see them.",
					'LOCI_PHASE("solve") and LOCI_BEGIN("assemble") of loci/mark.h name them; man loci-mark.',
				),
			);
			return;
		}
		replace(
			this.element,
			profile.phases.length
				? el(
						"section",
						{ class: "panel" },
						this.timeline(),
						stageTable(
							app,
							`Phases; misses of ${lens.cache ? cacheLabel(lens.cache, profile.isObject) : "?"}`,
							"phase",
							profile.phases.map((stage, i) => ({ ...named(stage), series: i % SERIES })),
						),
					)
				: null,
			profile.regions.length
				? el(
						"section",
						{ class: "panel" },
						stageTable(
							app,
							"Regions, each without those inside it",
							"region",
							profile.regions.map(named).sort((a, b) => b.refs - a.refs),
						),
					)
				: null,
		);
	}

	// Miss ratio over time: stretches of the run, each as high as its phase misses.
	timeline() {
		const { profile, lens } = this.app;
		const { refs, phase } = profile.stretches;
		const ranges = [];
		let at = 0;

		if (!refs.length)
			return el(
				"p",
				{ class: "note" },
				"When each phase ran is not known: several processes, or runs added up.",
			);
		for (let i = 0; i < refs.length && i < STRETCHES_SHOWN; i++) {
			const stage = profile.phases[phase[i]];

			ranges.push({
				low: at,
				high: at + refs[i],
				ratio: stage ? stageRatio(stage, lens) || 0 : 0,
				series: phase[i] >= 0 ? phase[i] % SERIES : 0,
				name: stage ? (stage.name ?? "before the first phase") : "several",
			});
			at += refs[i];
		}
		return el(
			"div",
			null,
			el("h2", null, "Miss ratio over time"),
			rangeChart({
				ranges,
				value: (range) => range.ratio,
				text: percent,
				width: 900,
				height: 150,
				label: "miss ratio of each phase over the run",
			}),
			el(
				"p",
				{ class: "note" },
				`from the first reference to the last${refs.length > STRETCHES_SHOWN ? `; the first ${STRETCHES_SHOWN} of ${count(refs.length)} stretches` : ""}; a phase's ratio is that of all its stretches`,
			),
		);
	}
}
