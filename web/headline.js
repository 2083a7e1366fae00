// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict of a cache that was chosen or typed in, as src/report/report_verdict.c says it of the
// machine recorded: who makes its misses, and the size from which there are fewer.

import { accessesOf, causeOf, sumHists, walkOf } from "./blame.js";
import { missRatio } from "./hist.js";
import { bytes, cacheBlocks, percent } from "./units.js";

const SCATTERED = 0.1; // of the misses: a line that makes less is not to blame

// The first effective size above a cache that misses less; null: none does.
export function nextSize(profile, cache) {
	const { stack, block } = profile;
	const blocks = cache.size_bytes / block;
	const ratioAt = (size) => missRatio(stack, size);
	const knee = profile.report.effective_sizes.find(
		(entry) => entry.blocks > blocks && ratioAt(entry.blocks) < ratioAt(Math.floor(blocks)),
	);

	return knee ? { blocks: knee.blocks, ratio: ratioAt(knee.blocks) } : null;
}

// Is it the cache that the profile's own verdict is about?
export function isJudged(profile, cache) {
	const first = profile.hierarchy.find((level) => !level.is_tlb) ?? profile.hierarchy[0];

	return ["size_bytes", "ways", "line_bytes", "name"].every((key) => first?.[key] === cache?.[key]);
}

function walkText(profile, lens, site) {
	const rows = accessesOf(profile, "site", [site]);
	const walk = walkOf(profile, rows, lens);
	const { object = -1 } = walk.objects[0] ?? {};
	const { cause } = causeOf(sumHists(profile.sites, [site]), lens.misses("sites")[site], lens);
	const cold = cause === "cold" ? ", first touches" : "";

	if (object < 0) return cold;
	const name = `${cold ? `${cold} of` : ","} ${profile.objectName(object)}`;

	if (walk.stride === null) return name;
	if (walk.regular < 0.5) return `${name} walked irregularly`;
	return walk.stride
		? `${name} walked ${walk.regular < 15 / 16 ? "mostly " : ""}with stride\u00a0${walk.stride}\u00a0B`
		: name;
}

function culpritText(profile, lens) {
	const misses = lens.misses("sites");
	const all = lens.whole("sites");
	let worst = 0;

	if (!profile.hasSites) return "";
	if (lens.fault) return `; where is not known: ${lens.fault}`;
	for (let i = 1; i < misses.length; i++) if (misses[i] > misses[worst]) worst = i;
	if (!(all > 0)) return "";
	if (misses[worst] / all < SCATTERED)
		return `, scattered: no line makes more than ${lens.share(misses[worst], all)} of those`;
	const { source, line } = profile.sites;
	const place = profile.place(source[worst], line[worst]) || profile.siteName(worst);

	return `; ${lens.share(misses[worst], all)} of those at ${place}${walkText(profile, lens, worst)}`;
}

// "~7 % of references miss a 128 KiB L1; ~90 % of those at mm.c:14, b walked with stride 6400 B."
export function headline(profile, lens) {
	lens.sentence ??= sentenceOf(profile, lens);
	return lens.sentence;
}

function sentenceOf(profile, lens) {
	const { cache, result } = lens;

	if (!cache || profile.report.verdict.kind === "unknown" || isJudged(profile, cache)) return profile.report.verdict.text;
	const room = profile.isObject ? `${cacheBlocks(cache)}-object` : bytes(cache.size_bytes);

	if (result.fault) return `What misses a ${room} ${cache.name} is not known: ${result.fault}.`;
	return `${result.basis === "exact" ? "" : "~"}${percent(result.miss_ratio)} of ${profile.noun} miss a ${room} ${cache.name}${culpritText(profile, lens)}.`;
}
