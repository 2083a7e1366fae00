// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of the page are those of loci cache --json, loci report --json and loci report --by:
//
//	PROFILES=A.loci:B.loci.. node --test figures_test.mjs		the first has code and data

import assert from "node:assert/strict";
import test from "node:test";

import { Lens, accessesOf, causeOf, walkOf } from "../../web/blame.js";
import { finder } from "../../web/search.js";
import { TREES, childrenOf, distanceOf, histOf, ratioOf, sortedNodes, treeOf } from "../../web/tree.js";
import { headline, nextSize } from "../../web/headline.js";
import { log2Rows, missRatio } from "../../web/hist.js";
import { formatHierarchy, parseHierarchy } from "../../web/units.js";
import { documentOf, json, near, randomNumbers } from "./page_data.mjs";

const CACHES = 50;
const paths = process.env.PROFILES.split(":");
const profiles = new Map(paths.map((path) => [path, documentOf(path).profiles[0]]));

function pick(random, list) {
	return list[random(list.length)];
}

// One to three levels of any shape that makes sense, with lines that the profile has.
function randomHierarchy(random, profile) {
	const lines = profile.grains.map((grain) => grain.block_bytes);
	const levels = [];
	let least = 1;

	if (profile.levels.length && random(6) === 0)
		return profile.levels.slice(0, 1 + random(profile.levels.length));
	for (let n = 1 + random(3); n > 0; n--) {
		const line_bytes = pick(random, lines);
		const ways = pick(random, [0, 1, 2, 3, 4, 8, 12, 16, 64, 80]);
		const sets = pick(random, [1, 2, 3, 4, 7, 8, 16, 24, 32, 64, 128, 1000]);
		let blocks = ways ? ways * sets : 1 + random(3000);

		while (blocks * line_bytes < least) blocks *= 2;
		least = blocks * line_bytes;
		// a machine's last level is mostly shared; groups are those recorded
		const share = pick(random, [
			"private",
			"private",
			"shared",
			...profile.shares.filter((entry) => entry.share === "some").map((entry) => `share${entry.n}`),
		]);

		levels.push({ name: `C${levels.length + 1}`, size_bytes: least, ways, line_bytes, share });
	}
	return levels;
}

for (const [path, profile] of profiles) {
	if (!profile.report) continue;
	test(`${CACHES} caches of ${path}`, () => {
		const random = randomNumbers(path.length * 7919);
		const seen = new Set();

		for (let i = 0; i < CACHES; i++) {
			const text = formatHierarchy(randomHierarchy(random, profile), profile.isObject);
			const levels = parseHierarchy(text, profile.isObject);
			const expected = json("cache", path, "--cache", text).levels;

			profile.predict(levels).forEach((level, k) => {
				const other = expected[k];

				seen.add(level.basis);
				assert.equal(level.basis, other.basis, text);
				assert.equal(level.why, other.why, text);
				assert.equal(level.threaded, other.threaded, text);
				assert.equal(level.hits_estimated, other.hits_estimated, text);
				for (const key of [
					"accesses",
					"hits",
					"misses",
					"miss_ratio",
					"cold",
					"capacity",
					"conflict",
					"coherence",
					"writebacks",
					"moved_bytes",
					"error_points",
					"split_error_points",
					"true_sharing",
					"false_sharing",
					"remote",
				]) {
					if (
						level.basis === "exact" &&
						["misses", "hits", "writebacks"].includes(key) &&
						profile.grain(level.cache.line_bytes).sampling_rate === 1 &&
						Number.isInteger(other[key])
					)
						assert.equal(level[key], other[key], `${text}: ${key}`);
					assert.ok(
						other[key] === null
							? level[key] === null
							: near(
									level[key],
									other[key],
									key === "conflict"
										? 1e-8 * Math.max(1, level.accesses / Math.max(1, Math.abs(other[key])))
										: 1e-9,
								),
						`${text}: ${level.cache.name} ${key} is ${level[key]}, want ${other[key]}`,
					);
				}
			});
		}
		console.log(`  ${path}: ${[...seen].join(", ")}`);
	});

	test(`the machine of ${path}, and its histogram`, () => {
		const [report] = json("report", path).profiles;

		assert.equal(profile.report.verdict.text, report.verdict.text);
		if (report.hierarchy) {
			const results = profile.predict(profile.hierarchy).filter((result) => !result.fault);

			assert.equal(results.length, report.levels.length);
			results.forEach((result, i) => {
				for (const key of ["misses", "cold", "capacity", "writebacks", "moved_bytes"])
					if (report.levels[i][key] !== null)
						assert.ok(near(result[key], report.levels[i][key]), `${result.cache.name} ${key}`);
			});
		}
		const rows = log2Rows(profile.stack);

		assert.equal(rows.length, report.histogram.length);
		rows.forEach((row, i) => {
			assert.deepEqual(
				[row.low, row.high],
				[report.histogram[i].low_blocks, report.histogram[i].high_blocks],
			);
			assert.ok(near(row.share, report.histogram[i].share));
			assert.ok(near(missRatio(profile.stack, row.high), report.histogram[i].miss_ratio));
		});
	});
}

function byName(rows) {
	return rows
		.map(({ name, misses, refs }) => [name, misses, refs])
		.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1] || a[2] - b[2]));
}

function ownContexts(nodes) {
	return nodes.flatMap((node) => [
		{ name: node.name, misses: node.misses, refs: node.refs },
		...ownContexts(node.children),
	]);
}

const [first] = paths;
const coded = profiles.get(first);
const blamed = [
	...coded.levels.map((level) => ({ level, options: ["--level", level.name] })),
	{ level: parseHierarchy("X=2K/4")[0], options: ["--cache", "X=2K/4"] },
	{ level: parseHierarchy("X=1536")[0], options: ["--cache", "X=1536"] },
	// few sets of many ways: the binomial's series for large variances
	{ level: parseHierarchy("X=1835008/7168")[0], options: ["--cache", "X=1835008/7168"] },
];

for (const { level, options } of blamed)
	test(`who misses ${level.name} of ${level.size_bytes} bytes in ${first}`, () => {
		const lens = new Lens(coded, level);

		for (const by of ["line", "function", "loop", "file", "module", "object", "context"]) {
			const table = json("report", first, "--by", by, "--all", ...options).profiles[0];
			const tree = treeOf(coded, lens, by);
			const nodes = by === "context" ? ownContexts(tree) : tree;
			const expected = byName(
				table.rows.map((row) => ({
					name: row.name,
					misses: row.inclusive_misses ?? row.misses,
					refs: row.inclusive_references ?? row.references,
				})),
			);
			const actual = byName(nodes);

			assert.equal(actual.length, expected.length, by);
			actual.forEach((row, i) => {
				assert.equal(row[0], expected[i][0], by);
				assert.ok(near(row[1], expected[i][1]), `${by} ${row[0]}: ${row[1]} misses, want ${expected[i][1]}`);
				assert.equal(row[2], expected[i][2], `${by} ${row[0]}: references`);
			});
			assert.ok(
				near(lens.whole(by === "object" ? "objects" : by === "context" ? "contexts" : "sites"), table.misses),
				`${by}: all misses`,
			);
			if (by === "context") continue;
			// a closer look
			for (const row of table.rows.slice(0, 5)) {
				const node = tree.find(
					(candidate) => candidate.name === row.name && near(candidate.misses, row.misses),
				);
				const { cause, distance } = causeOf(histOf(coded, node), node.misses, lens);
				const walk = walkOf(coded, accessesOf(coded, by === "object" ? "object" : "site", node.rows), lens);

				assert.equal(
					distanceOf(coded, lens, node),
					distance,
					`${by} ${row.name}: the short way to its distance`,
				);
				if (node.rows.length === 1) {
					assert.equal(cause, row.cause, `${by} ${row.name}: cause`);
					assert.equal(
						distance ? distance * coded.ownerBlock : null,
						row.distance_bytes,
						`${by} ${row.name}: distance`,
					);
				}
				assert.equal(walk.stride, row.stride_bytes, `${by} ${row.name}: stride`);
				assert.ok(
					row.spatial_use === null ? walk.spatial === null : near(walk.spatial, row.spatial_use),
					`${by} ${row.name}: spatial use`,
				);
			}
		}
		// lines of an object are spots: the first of them stand in the report
		const spots = treeOf(coded, lens, "object").flatMap((node) => childrenOf(coded, lens, node));

		if (options[0] === "--cache")
			for (const spot of json("report", first, ...options).profiles[0].blame.lines)
				assert.ok(
					spots.some(
						(node) =>
							node.name === spot.name &&
							coded.objectName(node.object) === spot.object.name &&
							near(node.misses, spot.misses) &&
							node.refs === spot.references,
					),
					`${spot.name} at ${spot.object.name}: ${spot.misses} misses`,
				);
		// what is below adds up to what is above
		for (const by of ["function", "file", "module"])
			for (const node of treeOf(coded, lens, by))
				assert.ok(
					near(
						childrenOf(coded, lens, node).reduce((sum, child) => sum + child.misses, 0),
						node.misses,
					),
				);
	});

test("a tree that has met other lenses is sorted and searched as a new one", () => {
	const lenses = blamed.map(({ level }) => new Lens(coded, level));
	const naive = (lens, node, query) =>
		node.name.toLowerCase().includes(query) ||
		(node.kind !== "object" && childrenOf(coded, lens, node).some((child) => naive(lens, child, query)));

	for (const lens of [...lenses, lenses[0]])
		for (const by of TREES) {
			const nodes = treeOf(coded, lens, by);
			const values = {
				misses: (node) => node.misses,
				refs: (node) => node.refs,
				ratio: ratioOf,
				distance: (node) => causeOf(histOf(coded, node), node.misses, lens).distance,
				name: (node) => node.name,
			};

			for (const [column, value] of Object.entries(values))
				for (const ascending of [true, false]) {
					const sorted = sortedNodes(coded, lens, nodes, column, ascending).map(value);

					for (let i = 1; i < sorted.length; i++)
						assert.ok(ascending ? sorted[i - 1] <= sorted[i] : sorted[i - 1] >= sorted[i], `${by} by ${column}`);
				}
			for (const query of ["m", "ma", "mat", "c:2", "b", "nothing has this name"])
				assert.deepEqual(
					nodes.filter(finder(coded, lens, by, query, () => {})).map((node) => node.name),
					nodes.filter((node) => naive(lens, node, query)).map((node) => node.name),
					`${by}: ${query}`,
				);
		}
});

// Of a profile whose sites make up the whole run.
test("the first sentence and the next size are those of a report on that cache", () => {
	const path = paths.find((name) => name.endsWith("rich.loci")) ?? first;
	const profile = profiles.get(path);
	const rounded = (text) =>
		text
			.replace(/~/g, "")
			.replace(/\s/g, " ")
			.replace(/\d+(\.\d+)?/g, (value) => Number(value).toPrecision(2));

	for (const spec of ["L1=1K/2", "L1=4K/4", "L1=1536", "L1=2K", "L1=16K/4", "L1=2304/3"]) {
		const { verdict } = json("report", path, "--cache", spec).profiles[0];
		const lens = new Lens(profile, parseHierarchy(spec)[0]);
		const text = rounded(headline(profile, lens).replace(/\.$/, ""));
		// what all misses are is known better than the sum of what owners are estimated to miss
		const from = lens.isEstimate ? text.indexOf(" of references") : 0;

		assert.ok(rounded(verdict.text).includes(text.slice(from)), `${spec}: ${text}, want ${verdict.text}`);
		assert.equal(nextSize(profile, lens.cache)?.blocks, verdict.next?.blocks, spec);
	}
});
