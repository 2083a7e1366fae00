// SPDX-License-Identifier: GPL-2.0-or-later
// Findings in words, as several views say them.

import { sizeText } from "./chart.js";
import { count, stride } from "./units.js";

export function causeText(profile, lens, cause, distance) {
	const { name } = lens.cache ?? { name: "the cache" };

	switch (cause) {
		case "far":
			return `reused from ${sizeText(profile, distance, profile.ownerBlock)} away or further: too far for ${name}`;
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

// The misses of a whole cache.
export function missesText(result) {
	return `${result.basis === "exact" ? "" : "~"}${count(Math.round(result.misses))}`;
}

// What lies around both ends of a pair.
export function carrierText(profile, pair) {
	const { loop, common_context: common } = profile.pairs;

	if (loop[pair] >= 0) return `loop ${profile.loopName(loop[pair])}`;
	return common[pair] >= 0 ? `within ${profile.contextName(common[pair])}` : "unknown";
}

export function strideText(walk) {
	if (walk.stride === null) return "";
	if (walk.regular < 0.5) return "no regular stride";
	return `${walk.stride === 0 ? "the same place again" : `stride ${stride(walk.stride)}`}${walk.regular < 15 / 16 ? ", mostly" : ""}`;
}
