// SPDX-License-Identifier: GPL-2.0-or-later
// The page's data: unpacked, its tables in typed arrays, names for what they hold. doc/viewer.md
// describes the document.

import { makeVisible } from "./visible.js";
import { decodeHist, newHist } from "./hist.js";
import { cacheSets, parseHierarchy, size } from "./units.js";
import { predictCache, predictHits } from "./predict.js";

const TABLES = [
	"modules", "sources", "functions", "loops", "excerpts", "sites", "contexts", "objects", "fields",
	"accesses", "pieces", "pairs",
];

export async function unpack(base64) {
	const letters = atob(base64);
	const packed = new Uint8Array(letters.length);

	for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Response(stream).text();
}

export function readDocument(text) {
	const raw = makeVisible(JSON.parse(text));

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
	get hierarchy() {
		const text = this.report?.hierarchy?.specification;

		if (text) return parseHierarchy(text, this.isObject);
		return this.isObject ? parseHierarchy("L1=1000", true) : parseHierarchy("L1=32K/8,L2=1M/16,L3=32M/16");
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

		return {
			touches: grain.touches,
			sampled: grain.sampling_rate < 1,
			sampling_points: grain.error_points,
			stores_known: (this.run.capabilities ?? "").split(" ").includes("stores"),
			stack,
			dirty: this.hist("dirty", cache.line_bytes) ?? (grain.writes ? null : nothing),
			set,
			set_dirty: bySet("set_dirty") ?? (grain.writes ? null : nothing),
			counted: set ? null : this.counted(cache),
		};
	}

	recordedAs(cache) {
		return this.levels.findIndex(
			(level) => level.size_bytes === cache.size_bytes && level.line_bytes === cache.line_bytes && level.ways === cache.ways,
		);
	}

	// Misses of a cache that was simulated while recording.
	counted(cache) {
		const level = this.recordedAs(cache);

		return level >= 0 && this.whole.touches > 0
			? { misses: this.whole.misses[level], writebacks: this.whole.writebacks[level] }
			: null;
	}

	// One result for each level; { cache, fault } where the profile cannot judge it.
	predict(hierarchy) {
		const results = hierarchy.map((cache) => {
			const input = this.input(cache);

			return input.fault ? { cache, fault: input.fault } : predictCache(input, cache);
		});

		predictHits(results.filter((result) => !result.fault));
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

		return [line, this.functionName(this.loops.function[id])].filter(Boolean).join(" ") || "loop";
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

function readStage(stage) {
	return { ...stage, histogram: stage.histogram ? decodeHist(stage.histogram) : null };
}
