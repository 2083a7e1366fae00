// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of the page are those of loci cache --json, loci report --json and loci report --by:
//
//	PROFILES=A.loci:B.loci.. node --test figures_test.mjs		the first has code and data

import assert from "node:assert/strict";
import test from "node:test";

import { Lens, accessesOf, causeOf, walkOf } from "../../web/blame.js";
import { findNodes } from "../../web/search.js";
import { ratioOf } from "../../web/nodes.js";
import { TREES, childrenOf, histOf, treeOf } from "../../web/tree.js";
import { Unfolded } from "../../web/unfolded.js";
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

// Every node of a tree of contexts, all of them open.
function allContexts(tree) {
	tree.open.fill(1);
	const rows = new Unfolded(coded, tree, { marks: null, column: "misses", ascending: false, rest: null });

	tree.open.fill(0);
	return Array.from(rows.place.subarray(0, rows.length), (i) => tree.at(i));
}

// A tree as the table shows it when all is closed.
function shown(tree, column, ascending, marks = null) {
	const rows = new Unfolded(coded, tree, { marks, column, ascending, rest: null });

	return Array.from({ length: rows.length }, (_, i) => rows.at(i));
}

function below(lens, node) {
	if (!node.expands) return [];
	return node.kind === "context"
		? Array.from(node.nodes.calls("misses", false).subarray(...node.nodes.first.subarray(node.i, node.i + 2)), (i) => node.nodes.at(i))
		: [...childrenOf(coded, lens, node)];
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
			const nodes = by === "context" ? allContexts(tree) : [...tree];
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
				const node = nodes.find(
					(candidate) => candidate.name === row.name && near(candidate.misses, row.misses),
				);
				const { cause, distance } = causeOf(histOf(coded, node), node.misses, lens);
				const walk = walkOf(coded, accessesOf(coded, by === "object" ? "object" : "site", node.rows), lens);

				assert.equal(node.distance, distance, `${by} ${row.name}: the short way to its distance`);
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
		const spots = [...treeOf(coded, lens, "object")].flatMap((node) => below(lens, node));

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
						below(lens, node).reduce((sum, child) => sum + child.misses, 0),
						node.misses,
					),
				);
	});

// Lines by file, number and function, not letter by letter.
function lineOrder({ name }) {
	const [, file, line, rest] = /^(.*):(\d+)(.*)$/.exec(name) ?? [null, "\uffff", "0", name];

	return `${file}:${line.padStart(9, "0")}${rest}`;
}

test("a site's misses are shared out among its accesses as those of the first level were", () => {
	const [many] = documentOf(first).profiles;
	const { accesses, sites } = many;

	for (let i = 0; i < accesses.n; i++) accesses.site[i] = accesses.site[i - (i % 3)];
	const lens = new Lens(many, parseHierarchy("X=1536")[0]);
	const ofOne = lens.missesOfAccesses();
	const sums = new Float64Array(sites.n);
	let several = 0;

	for (let i = 0; i < accesses.n; i++) sums[accesses.site[i]] += accesses.misses[0][i];
	for (let i = 0; i < accesses.n; i++) {
		const [part, all] = [accesses.misses[0][i], sums[accesses.site[i]]];
		const wanted = all > 0 ? (lens.misses("sites")[accesses.site[i]] * part) / all : 0;

		if (part < all) several++;
		assert.ok(near(ofOne(i), wanted) && near(lens.misses("accesses")[i], wanted), `access ${i}`);
	}
	assert.ok(several > 0);
});

test("a tree that has met other lenses is sorted and searched as a new one", () => {
	const lenses = blamed.map(({ level }) => new Lens(coded, level));
	const naive = (lens, node, query) =>
		node.name.toLowerCase().includes(query) ||
		(node.kind !== "object" && below(lens, node).some((child) => naive(lens, child, query)));

	for (const lens of [...lenses, lenses[0]])
		for (const by of TREES) {
			const tree = treeOf(coded, lens, by);
			const nodes = [...tree];
			const values = {
				misses: (node) => node.misses,
				refs: (node) => node.refs,
				ratio: ratioOf,
				distance: (node) => causeOf(histOf(coded, node), node.misses, lens).distance,
				name: (node) => (by === "line" ? lineOrder(node) : node.name),
			};

			for (const [column, value] of Object.entries(values))
				for (const ascending of [true, false]) {
					const sorted = shown(tree, column, ascending).map(value);

					assert.equal(sorted.length, nodes.length);
					for (let i = 1; i < sorted.length; i++)
						assert.ok(ascending ? sorted[i - 1] <= sorted[i] : sorted[i - 1] >= sorted[i], `${by} by ${column}`);
				}
			for (const query of ["m", "ma", "mat", "c:2", "b", "nothing has this name"])
				assert.deepEqual(
					shown(tree, "refs", false, findNodes(coded, by, query, () => {})).map((node) => node.name),
					shown(tree, "refs", false).filter((node) => naive(lens, node, query)).map((node) => node.name),
					`${by}: ${query}`,
				);
		}
});

test("an open tree is the rows of a table, each below what it is part of", () => {
	const lens = new Lens(coded, blamed[0].level);
	const rest = { kind: "rest", depth: 0 };

	for (const by of TREES) {
		const tree = treeOf(coded, lens, by);
		const unfold = () => new Unfolded(coded, tree, { marks: null, column: "misses", ascending: false, rest });
		const list = (nodes) =>
			[...nodes]
				.sort((a, b) => b.misses - a.misses || b.refs - a.refs || a.i - b.i)
				.flatMap((node) => [node, ...(node.open ? list(below(lens, node)) : [])]);

		for (let depth = 0; depth < 9; depth++)
			for (const node of list(tree)) if (node.expands) node.nodes.open[node.i] = 1;
		const rows = unfold();

		assert.deepEqual(
			Array.from({ length: rows.length }, (_, i) => rows.at(i).name),
			[...list(tree).map((node) => node.name), undefined],
			by,
		);
		assert.ok(rows.length > tree.n || by === "line" || by === "context");
		for (let i = 0; i < rows.length; i++) {
			const node = rows.at(i);

			assert.equal(rows.indexOf(node), i);
			if (node === rest) continue;
			assert.equal(rows.find(node.kind, node.id) === node, rows.findRow((at) => rows.at(at).kind === node.kind && rows.at(at).id === node.id) === i);
			assert.equal(rows.above(i) < 0, node.depth === 0);
			if (node.depth) assert.ok(below(lens, rows.at(rows.above(i))).includes(node));
			if (node.kind === "context")
				assert.deepEqual(
					[...node.below].sort(),
					[node.id, ...below(lens, node).flatMap((child) => [...child.below])].sort(),
				);
		}
		// what is open below one that is shown is shown
		const marks = tree.ids.map((_, i) => (tree.depthOf(i) ? 0 : 1));
		const marked = new Unfolded(coded, tree, { marks, column: "misses", ascending: false, rest });

		assert.deepEqual([...marked.place], [...rows.place]);
		for (const nodes of [tree, ...tree.children.values()]) nodes.open.fill(0);
		assert.deepEqual([unfold().at(-1), unfold().at(rows.length)], [undefined, undefined]);
		assert.equal(unfold().indexOf({ nodes: null, i: 0 }), -1);
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
