// SPDX-License-Identifier: GPL-2.0-or-later
// The run by threads, and by what the program marked: phases over time, and regions.

import { el, empty, replace, table } from "./dom.js";
import { rangeChart, smallHistogram } from "./chart.js";
import { cacheLabel, count, percent } from "./units.js";

const STRETCHES_SHOWN = 2000;

function stageRatio(stage, lens) {
	const misses = lens.ofStage(stage);

	return stage.touches > 0 ? misses / stage.touches : stage.refs > 0 ? misses / stage.refs : NaN;
}

function stageTable(app, caption, name, stages) {
	const { profile, lens } = app;

	return el(
		"div",
		{ class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
		table(
			caption,
			[{ title: name }, { title: profile.noun, number: true }, { title: "of all", number: true }, { title: `misses of ${lens.cache?.name ?? "?"}`, number: true }, { title: "miss ratio", number: true }, { title: "distances" }],
			stages.map((stage) => [
				stage.label,
				count(stage.refs),
				percent(stage.refs / profile.run.references),
				`${lens.isEstimate ? "~" : ""}${count(lens.ofStage(stage))}`,
				percent(stageRatio(stage, lens)),
				stage.histogram ? smallHistogram({ profile, hist: stage.histogram, blockBytes: profile.ownerBlock, caches: app.hierarchy, width: 360, height: 96, label: `distances of ${stage.label}` }) : "\u2013",
			]),
			{ class: "stages" },
		),
	);
}

export class ThreadsView {
	constructor(app) {
		this.app = app;
		this.element = el("div", { class: "plain" });
	}

	update() {
		const { app } = this;
		const { profile } = app;

		if (profile.threads.length < 2) {
			replace(this.element, empty("One thread", "This program ran in one thread: there is nothing to share.", "Profiles of programs with several show each of them here."));
			return;
		}
		const threads = profile.threads.map((thread) => ({ ...thread, label: `thread ${thread.id}${thread.pid ? ` of process ${thread.pid}` : ""}${thread.command ? ` (${thread.command})` : ""}` }));

		threads.sort((a, b) => b.refs - a.refs);
		replace(this.element, el("section", { class: "panel" }, stageTable(app, `${count(threads.length)} threads, the busiest first`, "thread", threads)));
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
			replace(this.element, empty("No phases", "The program marks neither phases nor regions.", "LOCI_PHASE(\"solve\") and LOCI_BEGIN(\"assemble\") of loci/mark.h name them; man loci-mark."));
			return;
		}
		replace(
			this.element,
			profile.phases.length
				? el("section", { class: "panel" }, this.timeline(), stageTable(app, `Phases; misses of ${lens.cache ? cacheLabel(lens.cache, profile.isObject) : "?"}`, "phase", profile.phases.map(named)))
				: null,
			profile.regions.length ? el("section", { class: "panel" }, stageTable(app, "Regions, each without those inside it", "region", profile.regions.map(named).sort((a, b) => b.refs - a.refs))) : null,
		);
	}

	// Miss ratio over time: stretches of the run, each as high as its phase misses.
	timeline() {
		const { profile, lens } = this.app;
		const { refs, phase } = profile.stretches;
		const ranges = [];
		let at = 0;

		if (!refs.length) return el("p", { class: "note" }, "When each phase ran is not known: several processes, or runs added up.");
		for (let i = 0; i < refs.length && i < STRETCHES_SHOWN; i++) {
			const stage = profile.phases[phase[i]];

			ranges.push({ low: at, high: at + refs[i], ratio: stage ? stageRatio(stage, lens) || 0 : 0, series: phase[i] >= 0 ? phase[i] % 6 : 0, name: stage ? (stage.name ?? "before the first phase") : "several" });
			at += refs[i];
		}
		return el(
			"div",
			null,
			el("h2", null, "Miss ratio over time"),
			rangeChart({ ranges, value: (range) => range.ratio, text: percent, width: 900, height: 150, label: "miss ratio of each phase over the run" }),
			el("p", { class: "note" }, `from the first reference to the last${refs.length > STRETCHES_SHOWN ? `; the first ${STRETCHES_SHOWN} of ${count(refs.length)} stretches` : ""}; a phase's ratio is that of all its stretches`),
		);
	}
}
