// SPDX-License-Identifier: GPL-2.0-or-later
// The page's data: unpacked, its tables in typed arrays, names for what they hold. doc/viewer.md
// describes the document.

import { parseVisible } from "./visible.js";
import { decodeHist, newHist } from "./hist.js";
import { cacheSets, parseHierarchy, size } from "./units.js";
import { predictCache, predictHits } from "./predict.js";

const TABLES = [
	"modules",
	"sources",
	"functions",
	"loops",
	"excerpts",
	"sites",
	"contexts",
	"objects",
	"fields",
	"accesses",
	"pieces",
	"pairs",
	"sharings",
];

export async function unpack(base64) {
	const letters = atob(base64);
	const packed = new Uint8Array(letters.length);

	for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Response(stream).text();
}

export function readDocument(text) {
	const raw = parseVisible(text);

	if (raw.format !== "loci-view") throw new Error("this page's data is not loci's");
	return { ...raw, profiles: raw.profiles.map((profile) => new Profile(profile)) };
}

function typed(column) {
	return typeof column[0] === "number" ? Float64Array.from(column) : column;
}

// Columns, and how many rows they have. Histograms: the bins of row i are start[i] to start[i + 1].
function readTable(raw) {
	const table = { n: 0 };

	for (const [key, value] of Object.entries(raw ?? {})) {
		if (key === "misses" || key === "writebacks") table[key] = value.map((level) => Float64Array.from(level));
		else if (key === "histogram") table.histogram = readHists(value);
		else if (Array.isArray(value)) {
			table[key] = typed(value);
			table.n = value.length;
		} else if (key === "rest") table.rest = { ...value, histogram: decodeHist(value.histogram) };
	}
	return table;
}

function readHists(raw) {
	const start = new Uint32Array(raw.n.length + 1);

	raw.n.forEach((n, i) => (start[i + 1] = start[i] + n));
	return {
		start,
		cold: Float64Array.from(raw.cold),
		coherence: Float64Array.from(raw.coherence),
		bins: Uint16Array.from(raw.bins),
		weights: Float64Array.from(raw.weights),
	};
}

export function fileName(path) {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}

export class Profile {
	constructor(raw) {
		this.path = raw.path;
		this.run = raw.run;
		this.grains = raw.grains;
		this.report = raw.report;
		this.operations = raw.operations;
		this.isObject = raw.run.unit === "object";
		this.noun = this.isObject ? "requests" : "references";
		this.ownerBlock = raw.owner_block_bytes ?? 64;
		this.levels = raw.levels ?? [];
		this.whole = raw.whole ?? null;
		this.threads = (raw.threads ?? []).map(readStage);
		this.regions = (raw.regions ?? []).map(readStage);
		this.phases = (raw.phases ?? []).map(readStage);
		this.sharedBlocks = raw.shared_blocks ?? [];
		this.shares = (raw.shares ?? []).map(readStage); // how caches may be shared, where threads are known apart
		this.stretches = raw.stretches ?? { refs: [], phase: [] };
		for (const table of TABLES) this[table] = readTable(raw[table]);
		this.hists = new Map();
		for (const hist of raw.histograms ?? [])
			this.hists.set(`${hist.distance} ${hist.block_bytes} ${hist.set_bits}`, decodeHist(hist));
		this.text = new Map(); // source -> Map(line -> text)
		for (let i = 0; i < this.excerpts.n; i++) {
			const source = this.excerpts.source[i];

			if (!this.text.has(source)) this.text.set(source, new Map());
			this.text.get(source).set(this.excerpts.line[i], this.excerpts.text[i]);
		}
	}

	get name() {
		return fileName(this.path);
	}

	get hasSites() {
		return this.sites.n > 0;
	}

	// Whether any owner has stack distances of its own: samples that were watched have none.
	get knowsOwners() {
		return ["sites", "objects", "contexts"].some((table) => this[table].histogram?.start.at(-1) > 0);
	}

	get isSampled() {
		return this.grain(this.block).error_points > 0;
	}

	// Watches see single references: not how code walks, nor what it uses of a block.
	get knowsWalks() {
		return this.run.mode !== "watch";
	}

	get knowsStores() {
		return (this.run.capabilities ?? "").split(" ").includes("stores");
	}

	grain(blockBytes) {
		return this.grains.find((grain) => grain.block_bytes === blockBytes) ?? null;
	}

	hist(distance, blockBytes, setBits = 0) {
		return this.hists.get(`${distance} ${blockBytes} ${setBits}`) ?? null;
	}

	// The block size that the report is about, and its stack distances.
	get block() {
		return this.report?.block_bytes ?? this.grains[0].block_bytes;
	}

	get stack() {
		return this.hist("stack", this.block);
	}

	// The machine that the report judges against: levels of the cache grammar.
	get machine() {
		const text = this.report?.hierarchy?.specification;

		if (text) return parseHierarchy(text, this.isObject);
		return this.isObject ? parseHierarchy("L1=1000", true) : parseHierarchy("L1=32K/8,L2=1M/16,L3=32M/16");
	}

	// Whether it has lines of a size that was recorded. Debug registers watch 8 bytes, not lines.
	get knowsLines() {
		return this.machine.some((cache) => this.grain(cache.line_bytes));
	}

	// That machine; or caches as large, with the blocks that there are for lines.
	get hierarchy() {
		if (this.knowsLines) return this.machine;
		return this.machine
			.filter((cache) => !cache.is_tlb)
			.map((cache) => ({ ...cache, line_bytes: this.block, ways: 0 }));
	}

	// What predictCache wants of a cache's line size, or why there is nothing.
	input(cache) {
		const grain = this.grain(cache.line_bytes);
		const sets = cacheSets(cache);
		const bits = Math.log2(sets);
		const bySet = (distance) => (Number.isInteger(bits) ? this.hist(distance, cache.line_bytes, bits) : null);
		const nothing = newHist("linear");
		const stack = grain ? this.hist("stack", cache.line_bytes) : null;

		if (!stack)
			return {
				fault: `recorded with blocks of ${this.grains.map((g) => size(g.block_bytes)).join(", ")} bytes, not ${size(cache.line_bytes)}`,
			};
		const set = bySet("set");

		return this.shared(cache, {
			touches: grain.touches,
			sampled: grain.sampling_rate < 1 || grain.error_points > 0,
			sampling_points: grain.error_points,
			stores_known: this.knowsStores,
			stack,
			dirty: this.hist("dirty", cache.line_bytes) ?? (grain.writes ? null : nothing),
			set,
			set_dirty: bySet("set_dirty") ?? (grain.writes ? null : nothing),
			counted: set ? null : this.counted(cache, false),
		});
	}

	// As src/model/topology.c: where threads are known apart, what this level's members met in place of
	// what all touches in one cache did.
	shared(cache, input) {
		const [, n] = /^share(\d+)$/.exec(cache.share) ?? [null, 0];
		const known = this.shares.filter((entry) => entry.block_bytes === cache.line_bytes);
		const entry = known.find((one) => one.share === (n ? "some" : cache.share) && one.n === Number(n));

		if (!known.length) return input;
		if (!entry)
			return {
				fault: `shared by ${n} threads each, and the profile has no such groups: loci record --share ${n}`,
			};
		const own = entry.histogram
			? { stack: entry.histogram, dirty: null, set: null, set_dirty: null, is_private: true }
			: {};

		return {
			...input,
			...own,
			is_threaded: true,
			sharing: entry.has_sharing ? entry : null,
			touches: entry.touches,
			counted: this.counted(cache, true),
		};
	}

	// Misses of a cache that was simulated while recording, shared in that way where it matters.
	counted(cache, isThreaded) {
		const level = this.levels.findIndex(
			(one) =>
				one.size_bytes === cache.size_bytes &&
				one.line_bytes === cache.line_bytes &&
				one.ways === cache.ways &&
				(!isThreaded || one.share === (cache.share ?? "private")),
		);

		if (level < 0 || !(this.whole.touches > 0)) return null;
		const { misses, writebacks, transfers, first_hits: hits } = this.whole;

		return {
			misses: misses[level],
			// a line that another took dirty is not written back
			writebacks: writebacks[level] - (isThreaded ? transfers[level] : 0),
			hits: hits[level],
			at: level,
		};
	}

	// One result for each level; { cache, fault } where the profile cannot judge it.
	predict(hierarchy) {
		const inputs = hierarchy.map((cache) => this.input(cache));
		const results = hierarchy.map((cache, i) =>
			inputs[i].fault ? { cache, fault: inputs[i].fault } : predictCache(inputs[i], cache),
		);

		predictHits(results.filter((result) => !result.fault));
		takeCountedHits(inputs, results);
		return results;
	}

	place(source, line) {
		return source >= 0 && line ? `${fileName(this.sources.path[source])}:${line}` : "";
	}

	functionName(id) {
		return id >= 0 ? this.functions.name[id] : "";
	}

	// "mm.c:14 mul"; without a line "memcpy (libc.so.6+0x9a1b)".
	siteName(id) {
		if (id < 0) return "(unknown)";
		const { sites } = this;
		const line = this.place(sites.source[id], sites.line[id]);
		const name = this.functionName(sites.function[id]);

		if (line) return name ? `${line} ${name}` : line;
		const module = sites.module[id] >= 0 ? fileName(this.modules.path[sites.module[id]]) : "code";
		const offset = `${module}+0x${sites.code_offset[id].toString(16)}`;

		return name ? `${name} (${offset})` : offset;
	}

	loopName(id) {
		if (id < 0) return "(in no loop)";
		const line = this.place(this.loops.source[id], this.loops.line[id]);

		return [line, this.functionName(this.loopFunctions[id])].filter(Boolean).join(" ") || "loop";
	}

	// The functions whose source the loops stand in; the profile has those whose machine code they are
	// part of, which may be that into which they were inlined. Of those that references within a
	// loop's lines belong to, the last that begins above it.
	get loopFunctions() {
		const { sites, loops, functions } = this;

		if (this.ownFunctions) return this.ownFunctions;
		this.ownFunctions = Float64Array.from(loops.function ?? []);
		const own = this.ownFunctions;
		const begin = (id, loop) =>
			id >= 0 && functions.source[id] === loops.source[loop] && functions.line[id] <= loops.line[loop]
				? functions.line[id]
				: 0;

		for (let i = 0; i < sites.n; i++)
			for (let loop = sites.loop[i]; loop >= 0; loop = loops.parent[loop])
				if (
					sites.source[i] === loops.source[loop] &&
					sites.line[i] >= loops.line[loop] &&
					sites.line[i] <= loops.last_line[loop] &&
					begin(sites.function[i], loop) > begin(own[loop], loop)
				)
					own[loop] = sites.function[i];
		return own;
	}

	objectName(id) {
		return id >= 0 ? this.objects.name[id] : "(unknown)";
	}

	contextName(id) {
		return (id >= 0 && this.functionName(this.contexts.function[id])) || "(unknown)";
	}

	// From the outermost caller to the context itself.
	callPath(id) {
		const path = [];

		for (; id >= 0; id = this.contexts.parent[id]) path.unshift(id);
		return path;
	}

	sourceLine(source, line) {
		return this.text.get(source)?.get(line) ?? null;
	}
}

// Where the levels are those recorded, one for one, it was counted which one a touch hit first.
function takeCountedHits(inputs, results) {
	let caches = 0;

	for (const [i, input] of inputs.entries()) {
		if (results[i].cache.is_tlb) continue;
		if (!input.is_threaded || !input.counted || input.counted.at !== caches++) return;
		results[i].hits = input.counted.hits;
		results[i].hits_estimated = false;
	}
}

function readStage(stage) {
	return {
		...stage,
		histogram: stage.histogram ? decodeHist(stage.histogram) : null,
		private: stage.private ? decodeHist(stage.private) : null,
	};
}
