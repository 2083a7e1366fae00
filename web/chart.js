// SPDX-License-Identifier: GPL-2.0-or-later
// Charts over a logarithmic axis of cache sizes: how far back reuses reach, and what caches of each
// size miss, with the caches as edges that can be dragged. Plain SVG: a few hundred shapes that
// print, scale and can be reached by keyboard.

import { el, svg } from "./dom.js";
import { curve, log2Rows, total } from "./hist.js";
import { bytes, count, percent } from "./units.js";

const MARGIN = { left: 56, right: 14, top: 30, bottom: 34 };
const COLD_WIDTH = 46;
export const SERIES = 6; // colours; page.css has as many

export function sizeText(profile, blocks, blockBytes) {
	return profile.isObject ? count(blocks) : bytes(blocks * blockBytes);
}

// From one block to what holds all reuses and all caches.
function axisOf(hists, blockBytes, caches, left, right) {
	let most = 16;

	for (const hist of hists) most = Math.max(most, log2Rows(hist).at(-1)?.high ?? 1);
	for (const cache of caches) if (!cache.is_tlb) most = Math.max(most, (cache.size_bytes / blockBytes) * 1.5);
	const last = Math.ceil(Math.log2(most));
	const step = (right - left) / (last + 1);

	return {
		left,
		right,
		last,
		// 0 blocks stand at the left edge, 1 block a step further
		x: (blocks) =>
			blocks < 1 ? left + blocks * step : Math.min(right, left + (Math.log2(blocks) + 1) * step),
		blocks: (x) => 2 ** Math.max(0, Math.min(last, (x - left) / step - 1)),
	};
}

function niceTop(share) {
	return [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1].find((top) => share <= top) ?? 1;
}

function yAxis(group, left, right, top, bottom, most, title) {
	for (const part of [0, 0.5, 1]) {
		const y = bottom - part * (bottom - top);

		group.append(
			svg("line", { x1: left, x2: right, y1: y, y2: y, class: "rule" }),
			svg("text", { x: left - 6, y: y + 4, class: "tick", "text-anchor": "end" }, percent(part * most)),
		);
	}
	group.append(svg("text", { x: left, y: top - 8, class: "title" }, title));
}

function xAxis(group, axis, y, profile, blockBytes, title) {
	const every = Math.ceil((axis.last + 1) / Math.max(3, Math.floor((axis.right - axis.left) / 62)));

	for (let log2 = 0; log2 <= axis.last; log2 += every) {
		const x = axis.x(2 ** log2);

		if (x > axis.right - 20) break;
		group.append(
			svg("line", { x1: x, x2: x, y1: y, y2: y + 4, class: "rule" }),
			svg(
				"text",
				{ x, y: y + 16, class: "tick", "text-anchor": "middle" },
				sizeText(profile, 2 ** log2, blockBytes),
			),
		);
	}
	if (title)
		group.append(svg("text", { x: axis.right, y: y + 31, class: "tick", "text-anchor": "end" }, title));
}

// Bars for one histogram, or side by side for several; first touches stand apart at the right.
function bars(group, { axis, hists, top, bottom, profile, blockBytes, title, cold = true }) {
	const rows = hists.map(log2Rows);
	const colds = hists.map((hist) => (total(hist) > 0 ? (hist.cold + hist.coherence) / total(hist) : 0));
	const most = niceTop(Math.max(...rows.flat().map((row) => row.share), ...(cold ? colds : []), 1e-9));
	const height = (share) => (share / most) * (bottom - top);

	yAxis(group, axis.left, axis.right + (cold ? COLD_WIDTH : 0), top, bottom, most, title);
	rows.forEach((list, which) => {
		for (const row of list) {
			if (!(row.share > 0)) continue;
			const from = axis.x(row.low);
			const width = (axis.x(row.high) - from - 2) / hists.length;

			group.append(
				svg(
					"rect",
					{
						x: from + 1 + which * width,
						y: bottom - Math.max(1, height(row.share)),
						width: Math.max(1, width),
						height: Math.max(1, height(row.share)),
						class: `bar series-${which % SERIES}`,
					},
					svg(
						"title",
						null,
						`${sizeText(profile, row.low, blockBytes)} to ${sizeText(profile, row.high, blockBytes)}: ${percent(row.share)}`,
					),
				),
			);
		}
		if (cold && colds[which] > 0) {
			const width = (COLD_WIDTH - 14) / hists.length;

			group.append(
				svg(
					"rect",
					{
						x: axis.right + 8 + which * width,
						y: bottom - Math.max(1, height(colds[which])),
						width,
						height: Math.max(1, height(colds[which])),
						class: `bar cold series-${which % SERIES}`,
					},
					svg("title", null, `never touched before: ${percent(colds[which])}`),
				),
			);
		}
	});
	if (cold)
		group.append(
			svg(
				"text",
				{ x: axis.right + COLD_WIDTH / 2, y: bottom + 16, class: "tick", "text-anchor": "middle" },
				"first",
			),
		);
}

function curvePath(axis, hist, y) {
	let path = "";

	for (const { blocks, ratio } of curve(hist)) {
		const at = `${axis.x(Math.min(blocks, 2 ** axis.last)).toFixed(1)} ${y(ratio).toFixed(1)}`;

		path += path ? `L${at}` : `M${at}`;
	}
	return path ? `${path}H${axis.right.toFixed(1)}` : "";
}

function curves(group, { axis, hists, top, bottom, errors, title }) {
	const y = (ratio) => bottom - ratio * (bottom - top);

	yAxis(group, axis.left, axis.right, top, bottom, 1, title);
	hists.forEach((hist, which) => {
		if (errors?.[which] > 0) {
			const up = curvePath(axis, hist, (ratio) => y(Math.min(1, ratio + errors[which] / 100)));
			const down = curvePath(axis, hist, (ratio) => y(Math.max(0, ratio - errors[which] / 100)));

			group.append(svg("path", { d: up, class: "interval" }), svg("path", { d: down, class: "interval" }));
		}
		group.append(svg("path", { d: curvePath(axis, hist, y), class: `curve series-${which % SERIES}` }));
	});
	return y;
}

// An edge for each cache; those that can be moved are sliders. Their lines lie under everything, so that
// what is written stays legible.
function edges(group, { axis, caches, results, blockBytes, y, top, bottom, labels, onmove, profile }) {
	let lastLabel = -Infinity;

	caches.forEach((cache, i) => {
		if (cache.is_tlb || cache.line_bytes !== blockBytes) return;
		const blocks = cache.size_bytes / cache.line_bytes;
		const x = axis.x(blocks);
		const result = results?.[i];
		const row = x - lastLabel < (labels === "short" ? 26 : 70) ? 1 : 0;
		const label = labels === "short" ? cache.name : `${cache.name} ${sizeText(profile, blocks, blockBytes)}`;
		const place = { x1: x, x2: x, y1: top, y2: bottom };
		const edge = svg("g", { class: "edge" });

		lastLabel = row ? -Infinity : x;
		group.prepend(svg("line", { ...place, class: "edge-line" }));
		if (labels)
			edge.append(
				svg(
					"text",
					{
						x: Math.min(Math.max(x, axis.left + 24), axis.right - 20),
						y: 12 + row * 12,
						class: "edge-label",
						"text-anchor": "middle",
					},
					label,
				),
			);
		if (result && !result.fault && y)
			edge.append(
				svg(
					"circle",
					{ cx: x, cy: y(result.miss_ratio), r: 5, class: "edge-point" },
					svg("title", null, `${label}: ${percent(result.miss_ratio)} miss`),
				),
			);
		if (onmove) {
			edge.append(svg("line", { ...place, class: "edge-held" }));
			edge.append(svg("rect", { x: x - 9, y: top, width: 18, height: bottom - top, class: "edge-grip" }));
			edge.setAttribute("role", "slider");
			edge.setAttribute("tabindex", "0");
			edge.setAttribute("aria-label", `size of ${cache.name}`);
			edge.setAttribute("aria-valuemin", "0");
			edge.setAttribute("aria-valuemax", String(axis.last));
			edge.setAttribute("aria-valuenow", Math.log2(blocks).toFixed(2));
			edge.setAttribute(
				"aria-valuetext",
				result && !result.fault ? `${label}, ${percent(result.miss_ratio)} miss` : label,
			);
			edge.dataset.level = String(i);
			edge.addEventListener("keydown", (event) => {
				const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4 }[
					event.key
				];

				if (!steps) return;
				event.preventDefault();
				onmove(i, blocks * 2 ** (steps / 4), steps);
			});
			edge.addEventListener("pointerdown", (event) => {
				event.preventDefault();
				onmove(i, null, 0, event);
			});
		}
		group.append(edge);
	});
}

// The histogram above, the curve below, caches as edges through both.
export function distanceChart({
	profile,
	hists,
	blockBytes,
	caches,
	results,
	width,
	errors,
	onmove,
	titles,
	label,
}) {
	const height = 396;
	const split = 196;
	const room = Math.floor((width - MARGIN.left - 10) / 6.2); // letters of a title
	const axis = axisOf(hists, blockBytes, caches, MARGIN.left, width - MARGIN.right - COLD_WIDTH);
	const root = svg("svg", {
		class: "chart",
		width,
		height,
		viewBox: `0 0 ${width} ${height}`,
		role: "group",
		"aria-label": label,
	});
	const picture = svg("g", { role: "img", "aria-label": label });

	bars(picture, {
		axis,
		hists,
		top: MARGIN.top + 20,
		bottom: split - 26,
		profile,
		blockBytes,
		title: titles[0].find((title) => title.length <= room) ?? titles[0].at(-1),
	});
	xAxis(picture, axis, split - 26, profile, blockBytes, "");
	const y = curves(picture, {
		axis,
		hists,
		top: split + 24,
		bottom: height - MARGIN.bottom,
		errors,
		title: titles[1].find((title) => title.length <= room) ?? titles[1].at(-1),
	});

	xAxis(picture, axis, height - MARGIN.bottom, profile, blockBytes, profile.isObject ? "objects" : "");
	root.append(picture);
	edges(root, {
		axis,
		caches,
		results,
		blockBytes,
		y,
		top: 28,
		bottom: height - MARGIN.bottom,
		labels: true,
		onmove,
		profile,
	});
	root.axis = axis;
	return root;
}

// A small histogram with the caches as edges, or that there is none.
export function smallHistogram({ profile, hist, blockBytes, caches, width = 320, height = 132, label }) {
	if (!(total(hist) > 0)) return el("p", { class: "note" }, "distances: not recorded");
	const axis = axisOf([hist], blockBytes, caches, MARGIN.left, width - 8 - COLD_WIDTH);
	const root = svg("svg", {
		class: "chart small",
		width,
		height,
		viewBox: `0 0 ${width} ${height}`,
		role: "img",
		"aria-label": label,
	});

	bars(root, { axis, hists: [hist], top: 30, bottom: height - 22, profile, blockBytes, title: "" });
	xAxis(root, axis, height - 22, profile, blockBytes, "");
	edges(root, { axis, caches, blockBytes, top: 18, bottom: height - 22, labels: "short", profile });
	return root;
}

// Values over ranges of an index: bars whose width is the range.
export function rangeChart({ ranges, value, text, width = 640, height = 120, label, indexText = count }) {
	const left = MARGIN.left;
	const right = width - 8;
	const bottom = height - 20;
	const low = ranges[0].low;
	const high = ranges.at(-1).high;
	const most = Math.max(...ranges.map(value), 1e-9);
	const x = (index) => left + ((index - low) / (high - low)) * (right - left);
	const root = svg("svg", {
		class: "chart small",
		width,
		height,
		viewBox: `0 0 ${width} ${height}`,
		role: "img",
		"aria-label": label,
	});

	root.append(svg("text", { x: left - 6, y: 14, class: "tick", "text-anchor": "end" }, text(most)));
	for (const range of ranges) {
		const tall = Math.max(1, (value(range) / most) * (bottom - 8));

		root.append(
			svg(
				"rect",
				{
					x: x(range.low),
					y: bottom - tall,
					width: Math.max(1, x(range.high) - x(range.low) - 0.5),
					height: tall,
					class: `bar series-${range.series ?? 0}`,
				},
				svg(
					"title",
					null,
					`${range.name ?? `${indexText(range.low)} to ${indexText(range.high)}`}: ${text(value(range))}`,
				),
			),
		);
	}
	root.append(
		svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "rule" }),
		svg("text", { x: left, y: height - 6, class: "tick" }, indexText(low)),
		svg("text", { x: right, y: height - 6, class: "tick", "text-anchor": "end" }, indexText(high)),
	);
	return root;
}
