// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes and counts as people write and read them: bytes in powers of 1024 ("48 KiB"), counts in
// powers of 1000 ("1.03 G"). And the grammar of caches: NAME=SIZE[/WAYS][@LINE][:SHARE], ...

const LINE_DEFAULT = 64;
const LINE_MAX = 2 ** 21;
const PAGE_MIN = 4096;
const LEVELS_MAX = 8;

function threeDigits(value) {
	const text = value.toPrecision(3);

	return text.includes("e")
		? String(Math.round(value))
		: text.includes(".")
			? text.replace(/\.?0+$/, "")
			: text;
}

function scaled(value, step, names) {
	let at = 0;

	if (!Number.isFinite(value)) return value === Infinity ? "\u221e" : "\u2013";
	while (at + 1 < names.length && Math.abs(value) >= step * 0.9995) {
		value /= step;
		at++;
	}
	return `${at ? threeDigits(value) : threeDigits(Math.round(value * 100) / 100)}${names[at] ? "\u00a0" : ""}${names[at]}`;
}

export function bytes(value) {
	return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
}

// A step through memory, which people compare with the size of an element or a row: in full.
export function stride(value) {
	const text =
		Math.abs(value) < 1e4 ? String(value) : value.toLocaleString("en-US").replaceAll(",", "\u202f");

	return `${text}\u00a0B`;
}

export function count(value) {
	return scaled(value, 1000, ["", "k", "M", "G", "T", "P"]);
}

// "87 %", "1.2 %", "99.97 %"; "0 %" and "100 %" only where nothing or all is meant.
export function percent(fraction) {
	const value = 100 * fraction;

	if (!Number.isFinite(value)) return "\u2013";
	if (value < 0) return `\u2212${percent(-fraction)}`;
	if (value === 0 || value === 100) return `${value}\u00a0%`;
	if (value > 0 && value < 0.01) return "<0.01\u00a0%";
	if (value > 99.99 && value < 100) return ">99.99\u00a0%";
	for (const digits of [0, 1, 2]) {
		const text = value.toFixed(digits);
		const close = value < 10 || (value > 99 && value < 100) ? digits >= 1 : digits >= 0;

		if (close && Number(text) !== 100 && Number(text) !== 0) return `${text}\u00a0%`;
	}
	return `${value.toFixed(2)}\u00a0%`;
}

// The compact form of the grammar: "64", "48K", "1.25M"; exact, or plain bytes.
export function size(value) {
	for (const [unit, name] of [
		[2 ** 40, "T"],
		[2 ** 30, "G"],
		[2 ** 20, "M"],
		[1024, "K"],
	]) {
		const parts = (value / unit) * 100;

		if (value >= unit && Number.isInteger(parts)) return `${parts / 100}${name}`;
	}
	return String(value);
}

export function parseSize(text) {
	const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim());
	const unit = match
		? { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }[match[2].toUpperCase()]
		: NaN;
	const value = match ? Number(match[1]) * unit : NaN;

	return Number.isSafeInteger(value) && value > 0 ? value : NaN;
}

export function cacheBlocks(cache) {
	return Math.floor(cache.size_bytes / cache.line_bytes);
}

export function cacheSets(cache) {
	return cache.ways ? Math.floor(cacheBlocks(cache) / cache.ways) : 1;
}

function isPowerOfTwo(value) {
	return value >= 1 && Number.isInteger(Math.log2(value));
}

// What is wrong with a cache, or "".
export function cacheFault(cache, isObject) {
	if (!isObject && (!isPowerOfTwo(cache.line_bytes) || cache.line_bytes > LINE_MAX))
		return "lines are powers of two, up to 2M";
	if (!(cache.size_bytes > 0)) return "the size is missing";
	if (cache.size_bytes % cache.line_bytes) return `not a whole number of ${cache.line_bytes}-byte lines`;
	if (!Number.isInteger(cache.ways) || cache.ways < 0) return "ways are a whole number";
	if (cache.ways && cacheBlocks(cache) % cache.ways)
		return `not a whole number of sets of ${cache.ways} ways`;
	return "";
}

function parseLevel(text, isObject) {
	const match =
		/^([A-Za-z][\w.-]{0,14})=([^/@:]+)(?:\/(\d+))?(?:@([^:]+))?(?::(private|shared|share\d+))?$/.exec(text);

	if (!match) throw new Error(`"${text}" is no cache: write NAME=SIZE[/WAYS][@LINE]`);
	const [, name, sizeText, ways, line, share] = match;
	const entries = /^(\d+)e$/.exec(sizeText);
	const cache = { name, ways: ways ? Number(ways) : 0, share: share ?? "private" };

	cache.line_bytes = isObject ? 1 : line ? parseSize(line) : LINE_DEFAULT;
	cache.size_bytes = entries ? Number(entries[1]) * cache.line_bytes : parseSize(sizeText);
	cache.is_tlb = Boolean(entries) && !isObject && cache.line_bytes >= PAGE_MIN;
	if (cacheFault(cache, isObject)) throw new Error(`${name}: ${cacheFault(cache, isObject)}`);
	return cache;
}

export function parseHierarchy(text, isObject = false) {
	const levels = text.split(",").map((part) => parseLevel(part.trim(), isObject));
	let inside = 0;

	if (levels.length > LEVELS_MAX) throw new Error(`more than ${LEVELS_MAX} levels`);
	for (const level of levels) {
		if (levels.some((other) => other !== level && other.name.toLowerCase() === level.name.toLowerCase()))
			throw new Error(`two levels are named ${level.name}`);
		if (level.is_tlb) continue;
		if (level.size_bytes < inside) throw new Error(`${level.name} is smaller than the level inside it`);
		inside = level.size_bytes;
	}
	return levels;
}

function shape(cache, isObject) {
	const line = isObject || cache.line_bytes === LINE_DEFAULT ? "" : `@${size(cache.line_bytes)}`;
	const room = cache.is_tlb ? `${cacheBlocks(cache)}e` : size(cache.size_bytes);

	return `${room}${cache.ways ? `/${cache.ways}` : ""}${line}`;
}

export function formatHierarchy(levels, isObject = false) {
	return levels
		.map(
			(cache) =>
				`${cache.name}=${shape(cache, isObject)}${cache.share && cache.share !== "private" ? `:${cache.share}` : ""}`,
		)
		.join(",");
}

// One level as a person reads it: "L1 48K/12".
export function cacheLabel(cache, isObject = false) {
	return `${cache.name} ${shape(cache, isObject)}`;
}
