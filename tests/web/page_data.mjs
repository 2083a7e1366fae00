// SPDX-License-Identifier: GPL-2.0-or-later
// What tests of the viewer share: loci itself, profiles made for them, and the document of a page.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";

import { readDocument } from "../../web/document.js";

const LIMITS = { maxBuffer: 1 << 28 };

export function loci(...args) {
	return execFileSync(process.env.LOCI ?? "loci", args, { ...LIMITS, encoding: "utf8" });
}

export function json(...args) {
	return JSON.parse(loci(...args, "--json"));
}

export function textOf(html) {
	const packed = /<script type="text\/plain" id="data">([A-Za-z0-9+/=]*)<\/script>/.exec(html)[1];

	return inflateSync(Buffer.from(packed, "base64")).toString("utf8");
}

export function documentOf(...profiles) {
	return readDocument(
		textOf(
			execFileSync(process.env.LOCI ?? "loci", ["html", "-o", "-", ...profiles], {
				...LIMITS,
				encoding: "latin1",
			}),
		),
	);
}

export function documentOfFile(path) {
	return readDocument(textOf(readFileSync(path, "latin1")));
}

// A generator whose numbers are the same in every run.
export function randomNumbers(seed) {
	let state = seed >>> 0;

	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

export function near(actual, expected, tolerance = 1e-9) {
	return actual === expected || Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));
}
