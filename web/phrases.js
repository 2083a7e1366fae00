// SPDX-License-Identifier: GPL-2.0-or-later
// Findings in words, as several views say them.

import { sizeText } from "./chart.js";
import { stride } from "./units.js";

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

export function strideText(walk) {
	if (walk.stride === null) return "";
	if (walk.regular < 0.5) return "no regular stride";
	return `${walk.stride === 0 ? "the same place again" : `stride ${stride(walk.stride)}`}${walk.regular < 15 / 16 ? ", mostly" : ""}`;
}
