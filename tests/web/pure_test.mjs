// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's pure modules by themselves: closed forms and naive models.

import assert from "node:assert/strict";
import test from "node:test";

import { Lens, causeOf, sumHists, worstRows } from "../../web/blame.js";
import { binomialAtLeast, binomialPoint, erfc } from "../../web/binomial.js";
import {
	atLeast,
	binHigh,
	binLow,
	binOf,
	curve,
	decodeHist,
	log2Rows,
	medianBeyond,
	missRatio,
	newHist,
	total,
} from "../../web/hist.js";
import { Profile } from "../../web/document.js";
import { Names } from "../../web/names.js";
import { Orders, finish, groupBy, nameKeys, numbersBy, orderBy, placesBy } from "../../web/order.js";
import { learnBins, predictCache, predictHits } from "../../web/predict.js";
import { Store, chosenId, readFragment, writeFragment } from "../../web/state.js";
import {
	bytes,
	cacheFault,
	count,
	formatHierarchy,
	parseHierarchy,
	parseSize,
	percent,
	size,
} from "../../web/units.js";
import { makeVisible, parseVisible, visible } from "../../web/visible.js";
import { near, randomNumbers } from "./page_data.mjs";

test("names show what cannot be seen", () => {
	assert.equal(visible("plain \t name é ж 漢"), "plain \t name é ж 漢");
	assert.equal(visible("a\u0000\u001b[31m\u007f"), "a\u2400\u241b[31m\u2421");
	assert.equal(visible("\u202eevil\u2066\u200b\ufeff"), "⟨U+202E⟩evil⟨U+2066⟩⟨U+200B⟩⟨U+FEFF⟩");
	assert.equal(visible("\u2028\u{e0041}\ud800"), "⟨U+2028⟩⟨U+E0041⟩⟨U+D800⟩");
	assert.deepEqual(makeVisible({ a: ["\u202e", 1, null], b: { c: "\n" } }), {
		a: ["⟨U+202E⟩", 1, null],
		b: { c: "\u240a" },
	});
});

test("no document hides what cannot be seen, however it is written", () => {
	const random = randomNumbers(3);
	const pieces = ["a", " ", "\\", '"', "/", "u001b", "u0009", "\t", "\u001b", "\u202e", "\n", "\u00e9", "\u007f", "\ud800"];
	const escaped = (text) =>
		text.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

	for (let i = 0; i < 3000; i++) {
		const text = Array.from({ length: random(5) }, () => pieces[random(i < 1500 ? 8 : pieces.length)]).join("");
		const json = JSON.stringify({ [i]: [text, 1] }, null, random(2));

		for (const one of [json, escaped(json.replaceAll("\n", " ")), json.replaceAll("/", "\\/")])
			assert.deepEqual(parseVisible(one), { [i]: [visible(text), 1] }, one);
	}
});

test("units read as people write them", () => {
	assert.equal(bytes(64), "64\u00a0B");
	assert.equal(bytes(48 * 1024), "48\u00a0KiB");
	assert.equal(bytes(1.25 * 2 ** 20), "1.25\u00a0MiB");
	assert.equal(bytes(1023.9 * 1024), "1\u00a0MiB");
	assert.equal(count(712), "712");
	assert.equal(count(1.03e9), "1.03\u00a0G");
	assert.equal(count(999999), "1\u00a0M");
	assert.equal(percent(0), "0\u00a0%");
	assert.equal(percent(1), "100\u00a0%");
	assert.equal(percent(0.99996), ">99.99\u00a0%");
	assert.equal(percent(0.9997), "99.97\u00a0%");
	assert.equal(percent(0.876), "88\u00a0%");
	assert.equal(percent(0.0123), "1.2\u00a0%");
	assert.equal(percent(0.00001), "<0.01\u00a0%");
	assert.equal(percent(NaN), "\u2013");
	assert.equal(percent(-0.026), "\u22122.6\u00a0%");
	assert.equal(percent(1.291), "129\u00a0%");
	for (const text of ["64", "48K", "1.25M", "2G"]) assert.equal(size(parseSize(text)), text);
	for (const text of ["", "x", "-1", "1.0001", "1e9", "1K2"]) assert.ok(Number.isNaN(parseSize(text)), text);
});

test("the grammar of caches", () => {
	const text = "L1=32K/8,DTLB=64e/4@4K,L2=1M/16@128,L3=32M:shared";
	const levels = parseHierarchy(text);

	assert.equal(formatHierarchy(levels), text);
	assert.deepEqual(
		[levels[1].is_tlb, levels[1].size_bytes, levels[3].ways, levels[3].share],
		[true, 64 * 4096, 0, "shared"],
	);
	assert.equal(parseHierarchy("L1=1000", true)[0].line_bytes, 1);
	for (const bad of [
		"",
		"L1",
		"L1=0",
		"L1=100",
		"L1=32K/7",
		"L1=32K@48",
		"L1=1M,L2=32K",
		"L1=1K,l1=2K",
		"1=2K",
		"L1=32K/8:some",
	])
		assert.throws(() => parseHierarchy(bad), Error, bad);
	assert.match(cacheFault({ size_bytes: 32768, ways: 7, line_bytes: 64 }, false), /7 ways/);
});

test("bins meet without gaps, and values lie in theirs", () => {
	for (const scheme of ["fine", "coarse"]) {
		for (let bin = 0; bin < 900 && binHigh(scheme, bin) < 2 ** 50; bin++) {
			assert.equal(binHigh(scheme, bin), binLow(scheme, bin + 1));
			assert.equal(binOf(scheme, binLow(scheme, bin)), bin);
			assert.equal(binOf(scheme, binHigh(scheme, bin) - 1), bin);
		}
	}
	assert.equal(binLow("coarse", 16), 16);
	assert.equal(binLow("coarse", 17), 20);
	assert.equal(binOf("linear", 99), 63);
});

test("a histogram counts like a list", () => {
	const random = randomNumbers(7);
	const hist = newHist("coarse", 120);
	const values = Array.from({ length: 4000 }, () => random(2 ** (1 + random(14))));

	for (const value of values) hist.weight[binOf("coarse", value)]++;
	hist.cold = 100;
	assert.equal(total(hist), 4100);
	for (let k = 0; k < 16; k++) {
		const beyond = values.filter((value) => value >= 2 ** k).length;

		assert.deepEqual(atLeast(hist, 2 ** k), { sum: beyond, uncertain: 0 });
		assert.equal(missRatio(hist, 2 ** k), (beyond + 100) / 4100);
	}
	const inside = atLeast(hist, 22); // within the bin of 20 to 23

	assert.ok(
		inside.uncertain === hist.weight[17] &&
			inside.sum > atLeast(hist, 24).sum &&
			inside.sum < atLeast(hist, 20).sum,
	);
	const rows = log2Rows(hist);

	assert.ok(near(rows.reduce((sum, row) => sum + row.share, 0) + 100 / 4100, 1));
	assert.equal(rows[3].low, 4);
	assert.ok(near(rows[3].share, values.filter((value) => value >= 4 && value < 8).length / 4100));
	const points = curve(hist);

	assert.equal(points[0].ratio, 1);
	assert.ok(
		points.every(
			(point, i) => !i || (point.ratio <= points[i - 1].ratio && point.blocks >= points[i - 1].blocks),
		),
	);
	assert.ok(near(points.at(-1).ratio, 100 / 4100));
	const sorted = values.filter((value) => value >= 64).sort((a, b) => a - b);
	const median = medianBeyond(hist, 64);

	const middle = sorted[Math.ceil(sorted.length / 2) - 1];

	assert.equal(binOf("coarse", median), binOf("coarse", middle));
	assert.ok(median <= middle, "the least that it can be");
	assert.equal(medianBeyond(hist, 2 ** 20), 0);
	const packed = decodeHist({ scheme: "fine", cold: 3, coherence: 1, bins: [2, 5, 300], weights: [1, 2, 4] });

	assert.deepEqual([packed.weight[2], packed.weight[7], packed.weight[307], total(packed)], [1, 2, 4, 11]);
});

test("binomial tails against plain sums", () => {
	let sum = 0;

	for (let k = 60; k >= 0; k--) {
		// n choose k by logarithms
		let log = 0;

		for (let i = 1; i <= k; i++) log += Math.log((60 - k + i) / i);
		const point = Math.exp(log + k * Math.log(0.2) + (60 - k) * Math.log(0.8));

		sum += point;
		assert.ok(Math.abs(binomialPoint(60, 0.2, k) / point - 1) < 1e-11, `point ${k}`);
		assert.ok(Math.abs(binomialAtLeast(60, 0.2, k) - sum) < 1e-12, `tail ${k}`);
	}
	assert.equal(binomialAtLeast(10, 0.5, 11), 0);
	assert.equal(binomialAtLeast(10, 0.5, 0), 1);
	assert.ok(Math.abs(erfc(1) - 0.15729920705028513) < 1e-15);
	assert.ok(Math.abs(erfc(3) / 2.209049699858544e-5 - 1) < 1e-12);
	assert.ok(Math.abs(erfc(-2) - 1.9953222650189528) < 1e-14);
	// the two ways meet where one takes over
	assert.ok(Math.abs(binomialAtLeast(16384, 0.5, 8200) - binomialAtLeast(16390, 0.5, 8203)) < 2e-4);
});

test("a cache from a histogram, by hand", () => {
	const stack = decodeHist({
		scheme: "fine",
		cold: 10,
		coherence: 0,
		bins: [0, 8, 8],
		weights: [50, 30, 10],
	});
	const input = {
		touches: 100,
		stack,
		stores_known: true,
		dirty: newHist("linear"),
		set: null,
		counted: null,
	};
	const cache = (size_bytes, ways = 0) => ({ name: "L1", size_bytes, ways, line_bytes: 64 });
	const small = predictCache(input, cache(8 * 64));

	assert.deepEqual(
		[small.misses, small.hits, small.basis, small.cold, small.capacity, small.conflict],
		[50, 50, "exact", 10, 40, 0],
	);
	assert.equal(predictCache(input, cache(16 * 64)).misses, 20);
	assert.equal(predictCache(input, cache(32 * 64)).misses, 10);
	const sets = predictCache(input, cache(16 * 64, 4));

	assert.equal(sets.basis, "binomial model");
	assert.match(sets.why, /no per-set/);
	assert.ok(near(sets.misses, 10 + 30 * binomialAtLeast(8, 1 / 4, 4) + 10 * binomialAtLeast(16, 1 / 4, 4)));
	const bySet = predictCache(
		{
			...input,
			set: decodeHist({ scheme: "linear", cold: 12, coherence: 0, bins: [0, 2, 3], weights: [60, 20, 8] }),
			set_dirty: null,
			stores_known: false,
		},
		cache(16 * 64, 4),
	);

	assert.deepEqual([bySet.misses, bySet.basis, bySet.writebacks, bySet.conflict], [20, "exact", null, 0]);
	const levels = [small, predictCache(input, cache(32 * 64))];

	predictHits(levels);
	assert.deepEqual(
		levels.map((level) => level.hits),
		[50, 40],
	);
	const share = learnBins(cache(18 * 64), "coarse", 32);

	assert.deepEqual([share[15], share[16], share[17]], [0, 0.5, 1]);
});

test("the address holds the state", () => {
	const state = { view: "code", by: "loop", sel: "line:12", cache: "L1=32K/8,L2=1M/16", q: "a/b=c %&#é@:" };

	assert.deepEqual(readFragment(writeFragment(state)), state);
	assert.equal(readFragment("#nonsense&x").view, "overview");
	assert.equal(readFragment("#code&sel=%zz").view, "code");
	assert.equal(writeFragment({ view: "data", sel: undefined, q: "" }), "#data");
	assert.equal(chosenId("pair:12", "pair"), 12);
	assert.equal(chosenId("line:12", "pair"), -1);
	assert.equal(chosenId(undefined, "pair"), -1);
	const store = new Store({ a: 1, b: 2 });
	const heard = [];

	store.listen((next, changed) => heard.push(changed));
	store.set({ a: 1 });
	store.set({ a: 3, b: 2 });
	assert.deepEqual(heard, [["a"]]);
});

test("misses of what another thread wrote are neither far nor a set's", () => {
	const table = {
		histogram: { start: [0, 1], bins: [0], weights: [90], cold: [0], coherence: [0] },
		true_sharing: [60],
		false_sharing: [5],
	};
	const hist = sumHists(table, [0]);

	assert.equal(causeOf(hist, 70, { blocks: 512, cache: { share: "private" } }).cause, "shared");
	assert.equal(causeOf(hist, 70, { blocks: 512, cache: { share: "shared" } }).cause, "conflict");
});

test("orders are those of a plain sort", () => {
	const random = randomNumbers(11);

	for (const n of [0, 1, 2, 7, 500]) {
		const keys = Float64Array.from({ length: n }, () => (random(9) - 4) / (random(3) + 1));
		const refs = Float64Array.from({ length: n }, () => random(5));
		const rows = Array.from(keys, (_, i) => i);
		const orders = new Orders(refs);
		const plain = (sign) => [...rows].sort((a, b) => sign * (keys[a] - keys[b]) || refs[b] - refs[a] || a - b);

		assert.deepEqual(
			[...orderBy(keys)],
			[...rows].sort((a, b) => keys[a] - keys[b] || a - b),
		);
		assert.deepEqual([...orders.by("x", true, 1, () => keys)], plain(1));
		assert.deepEqual([...orders.by("x", false, 1, () => keys)], plain(-1));
		assert.deepEqual([...orders.by("x", true, 1, () => assert.fail("made again"))], plain(1));
		assert.deepEqual([...orders.by("x", true, 2, () => refs)], [...orders.by("refs", true, 1, () => refs)]);
		for (const few of [1, 5])
			assert.deepEqual(
				worstRows(rows, keys, refs, few).map((row) => [keys[row], refs[row]]),
				plain(-1)
					.slice(0, few)
					.map((row) => [keys[row], refs[row]]),
			);
		const names = rows.map(() => `n${random(30)}`);
		const byName = nameKeys(names);

		for (let i = 1; i < n; i++)
			assert.equal(Math.sign(byName[i] - byName[i - 1]), names[i] < names[i - 1] ? -1 : names[i] > names[i - 1] ? 1 : 0);
	}
});

test("any number has its place in an order", () => {
	const random = randomNumbers(5);
	const some = [0, -0, 1, -1, 2 ** 40, 2 ** 40 + 1, -(2 ** 33), 1e-310, -1e-310, 1e300, Infinity, -Infinity, 0.1, 1 / 3];

	for (const n of [1, 14, 300]) {
		const keys = Float64Array.from({ length: n }, () => some[random(some.length)]);
		const before = Array.from(keys, (_, i) => n - 1 - i);
		const isLess = (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : b - a);

		assert.deepEqual([...orderBy(keys, before)], [...before].sort(isLess));
	}
});

test("rows that are the same in all columns are a group", () => {
	const random = randomNumbers(6);

	for (const n of [0, 1, 400]) {
		const columns = [5, 3, 4].map((most) => Float64Array.from({ length: n }, () => random(most) - 1));
		const rows = Array.from({ length: n }, (_, i) => i);
		const text = (row) => columns.map((column) => column[row] + 1).join(" ");
		const all = [...new Set(rows.map(text))];
		const places = finish(placesBy(columns));
		const sorted = [...all].sort();
		const { n: groups, start, rows: grouped } = groupBy(places);

		assert.deepEqual(
			[...numbersBy(columns)],
			rows.map((row) => all.indexOf(text(row))),
		);

		assert.deepEqual(
			[...places],
			rows.map((row) => sorted.indexOf(text(row))),
		);
		assert.deepEqual(
			Array.from({ length: groups }, (_, g) => [...grouped.subarray(start[g], start[g + 1])]),
			all.map((one) => rows.filter((row) => text(row) === one)),
		);
	}
});

test("names that hold some words", () => {
	const random = randomNumbers(8);
	const word = () => Array.from({ length: random(5) }, () => "aBc\u0130\u03a3\u00df"[random(6)]).join("");

	for (const n of [0, 1, 5000]) {
		const texts = Array.from({ length: n }, word);
		const names = new Names(n, (i) => texts[i]);

		names.prepare().next(); // as far as there was time
		for (const query of ["a", "b", "ab", "bca", "\u00df", "\u03c2", "\n", "a\nb", "z"])
			assert.deepEqual(
				[...names.find(query)],
				texts.map((text) => (text.toLowerCase().includes(query) ? 1 : 0)),
				query,
			);
	}
});

test("an error goes no further than is possible", () => {
	const stack = newHist("coarse", 64);

	stack.weight[2] = 600; // fits into any set of four ways
	stack.weight[binOf("coarse", 60)] = 300;
	stack.cold = 100;
	const input = { touches: 0, stack };
	const [cache] = parseHierarchy("X=3072/4"); // 12 sets
	const result = predictCache(input, cache);

	assert.equal(result.basis, "binomial model");
	assert.deepEqual(result.range, [Math.max(0.1, result.miss_ratio - 0.4), 0.4]);
	const sampled = predictCache({ ...input, sampled: true, sampling_points: 3 }, cache);

	assert.deepEqual(sampled.range, [0, sampled.miss_ratio + 0.43]);
	assert.deepEqual(predictCache(input, parseHierarchy("X=1K")[0]).range, [0.4, 0.4]);
});

const inlined = new Profile({
	path: "x.loci",
	run: { unit: "byte", references: 40 },
	grains: [{ block_bytes: 64, touches: 40, sampling_rate: 1, error_points: 0 }],
	sources: { path: ["/src/mm.c"] },
	functions: { name: ["main", "mul", "late"], source: [0, 0, 0], line: [30, 10, 35] },
	// of main's code; the first is within what was inlined, the last has one of a lambda above it
	loops: {
		parent: [-1, 0, -1],
		function: [0, 0, 0],
		source: [0, 0, 0],
		line: [12, 13, 40],
		last_line: [14, 14, 42],
	},
	sites: {
		function: [1, 0, 2],
		outer: [0, 0, 0],
		loop: [1, 2, 2],
		source: [0, 0, 0],
		line: [14, 41, 36],
		refs: [20, 10, 10],
		misses: [],
		histogram: { n: [1, 0, 0], cold: [1, 0, 0], coherence: [0, 0, 0], bins: [16], weights: [19] },
	},
});

test("a loop is named for the function whose source it stands in", () => {
	assert.deepEqual(
		[0, 1, 2].map((id) => inlined.loopName(id)),
		["mm.c:12 mul", "mm.c:13 mul", "mm.c:40 main"],
	);
});

test("estimates are whole and marked", () => {
	const lens = new Lens(inlined, parseHierarchy("X=1152")[0]);

	assert.ok(lens.isEstimate && lens.misses("sites")[0] === 1 + 19 / 2); // 18 of the distances 16 to 19
	assert.equal(lens.text(lens.misses("sites")[0]), "~11");
	assert.equal(lens.text(NaN), "\u2013");
	assert.equal(lens.share(1, 3), "~33\u00a0%");
	assert.equal(lens.share(1, 0), "\u2013");
	assert.equal(lens.name, "X (1.13\u00a0KiB)");
});
