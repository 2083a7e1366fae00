// SPDX-License-Identifier: GPL-2.0-or-later
// What the program computes and moves, where it was compiled to have that counted.

import { el, empty, replace, table } from "./dom.js";
import { bytes, count, percent } from "./units.js";

const ROWS_SHOWN = 200;

function figure(name, value) {
	if (value === null || value === undefined) return "\u2013";
	if (typeof value !== "number") return String(value);
	if (/bytes$/.test(name)) return bytes(value);
	if (/^share/.test(name)) return percent(value);
	return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(3)));
}

function words(name) {
	return name.replaceAll("_", " ");
}

export class OpsView {
	constructor(app) {
		this.app = app;
		this.element = el("div", { class: "plain" });
	}

	update() {
		const { operations } = this.app.profile;

		if (!operations) {
			replace(
				this.element,
				empty(
					"No operations",
					"This program was not compiled to have its operations counted.",
					"loci cc --loci-ops -o prog prog.c; loci record ./prog does that.",
				),
			);
			return;
		}
		const { whole, rows } = operations.profile;
		const figures = Object.entries(whole).filter(([, value]) => typeof value === "number" || value === null);

		replace(
			this.element,
			el("section", { class: "verdict" }, el("h2", { class: "headline" }, operations.verdict)),
			el(
				"section",
				{ class: "panel" },
				el("h2", null, "The whole program"),
				el(
					"dl",
					{ class: "facts many" },
					figures
						.filter(([, value]) => value)
						.map(([name, value]) =>
							el("div", null, el("dt", null, words(name)), el("dd", null, figure(name, value))),
						),
				),
			),
			rows?.length ? el("section", { class: "panel" }, this.byFunction(rows)) : null,
		);
	}

	byFunction(rows) {
		const wanted = [
			"instructions",
			"flops",
			"int_ops",
			"loads",
			"stores",
			"loaded_bytes",
			"stored_bytes",
			"branches",
			"calls",
		].filter((name) => rows.some((row) => typeof valueOf(row, name) === "number"));
		const sorted = [...rows].sort(
			(a, b) => (valueOf(b, "instructions") ?? 0) - (valueOf(a, "instructions") ?? 0),
		);

		return el(
			"div",
			{ class: "scroll", tabindex: "0", role: "region", "aria-label": "operations by function" },
			table(
				`By function${rows.length > ROWS_SHOWN ? `: the first ${ROWS_SHOWN} of ${count(rows.length)}` : ""}`,
				[{ title: "function" }, ...wanted.map((name) => ({ title: words(name), number: true }))],
				sorted
					.slice(0, ROWS_SHOWN)
					.map((row) => [row.name ?? "(unknown)", ...wanted.map((name) => figure(name, valueOf(row, name)))]),
			),
		);
	}
}

function valueOf(row, name) {
	return row[name] ?? row.sum?.[name] ?? null;
}
