// SPDX-License-Identifier: GPL-2.0-or-later
// What matters, for somebody who knows nothing yet: the line, the data and the cache size.

import { el } from "./dom.js";
import { sizeText } from "./chart.js";
import { accessesOf, causeOf, walkOf } from "./blame.js";
import { nextSize } from "./headline.js";
import { atLeast } from "./hist.js";
import { histOf, treeOf } from "./tree.js";
import { causeText, strideText } from "./phrases.js";
import { bytes, percent } from "./units.js";

const WORTH_A_CARD = 1e-9; // of all misses

export class Cards {
	constructor(app) {
		this.app = app;
	}

	// The line, the data and the cache size that matter.
	list() {
		const { app } = this;
		const { profile, lens } = app;
		const cards = [];

		if (profile.hasSites && !lens.fault) {
			const all = lens.whole();
			const lines = treeOf(profile, lens, "line");
			const worst = lines.at(lines.misses.reduce((most, misses, i) => (misses > lines.misses[most] ? i : most), 0));

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
				`${lens.share(node.misses, all)} of ${lens.name} misses are made at this line; ${causeText(profile, lens, cause, distance)}`,
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
					`${lens.share(lens.misses("objects")[worst.object], lens.whole("objects"))} of ${lens.name} misses are of it, at all lines`,
					strideText(own) && `${strideText(own)} at that line`,
					own.spatial === null ? "" : `${percent(own.spatial)} of the bytes fetched are used`,
				]
					.filter(Boolean)
					.join("; "),
			),
		);
	}

	// The next size at which misses fall, from the cache that is looked at.
	sizeCard() {
		const { profile, lens, hierarchy } = this.app;
		const next = nextSize(profile, lens.cache);
		const text = (blocks) =>
			`${sizeText(profile, blocks, profile.block)}${profile.isObject ? " objects" : ""}`;
		const { result } = lens;
		const ratio = result.fault
			? "how much it misses is not known"
			: `${result.basis === "exact" ? "" : "~"}${percent(result.miss_ratio)}`;
		const mark = profile.stack.model || profile.isSampled ? "~" : "";
		const card = (name, words) =>
			el(
				"div",
				{ class: "card" },
				el("span", { class: "card-title" }, "The cache size"),
				el("span", { class: "card-name" }, name),
				el("span", { class: "card-text" }, words),
			);

		if (!(atLeast(profile.stack, 0).sum > 0))
			return card("none", "nothing is used twice: no cache of any size helps");
		if (!next)
			return card(
				profile.isObject ? text(lens.cache.size_bytes) : bytes(lens.cache.size_bytes),
				`${ratio} of ${profile.noun} miss ${lens.cache.name}; a larger cache gains little`,
			);
		const holder = hierarchy.find(
			(cache) => !cache.is_tlb && cache.size_bytes >= next.blocks * profile.block,
		);

		return card(
			text(next.blocks),
			`${ratio} \u2192 ${mark}${percent(next.ratio)} of ${profile.noun} miss, from ${lens.name} to a cache of this size that is fully associative (has enough ways); ${holder ? `${holder.name} is that large` : "no cache of this machine is that large"}`,
		);
	}
}
