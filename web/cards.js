// SPDX-License-Identifier: GPL-2.0-or-later
// What matters, for somebody who knows nothing yet: the line, the data and the cache size.

import { el } from "./dom.js";
import { sizeText } from "./chart.js";
import { accessesOf, causeOf, walkOf } from "./blame.js";
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
}
