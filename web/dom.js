// SPDX-License-Identifier: GPL-2.0-or-later
// Elements by description. Text is always text: nothing here, and nothing in the page, parses markup.

const SVG = "http://www.w3.org/2000/svg";
const IDLE_MS = 4; // a small part of what a click may take

function fill(element, attributes, children) {
	for (const [key, value] of Object.entries(attributes ?? {})) {
		if (value === null || value === undefined || value === false) continue;
		if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
		else if (key === "style") Object.assign(element.style, value);
		else element.setAttribute(key, value === true ? "" : value);
	}
	for (const child of children.flat(3)) {
		if (child === null || child === undefined || child === false) continue;
		element.append(child instanceof Node ? child : document.createTextNode(String(child)));
	}
	return element;
}

export function el(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(parent, ...children) {
	parent.replaceChildren();
	return fill(parent, null, children);
}

export function empty(title, ...lines) {
	return el(
		"div",
		{ class: "empty" },
		el("h2", null, title),
		lines.map((line) => el("p", null, line)),
	);
}

// A table of what is small enough to stand in the page whole.
export function table(caption, heads, rows, attributes) {
	return el(
		"table",
		attributes,
		el("caption", null, caption),
		el(
			"thead",
			null,
			el(
				"tr",
				null,
				heads.map((head) =>
					el(
						head.title ? "th" : "td",
						{ scope: head.title ? "col" : null, class: head.number ? "number" : null },
						head.title,
					),
				),
			),
		),
		el(
			"tbody",
			null,
			rows.map((cells) =>
				el(
					"tr",
					null,
					cells.map((cell, i) =>
						el(i ? "td" : "th", { scope: i ? null : "row", class: heads[i].number ? "number" : null }, cell),
					),
				),
			),
		),
	);
}

// Buttons of which one is chosen.
export function choice(label, options, chosen, onchoose) {
	return el(
		"div",
		{ class: "choice", role: "group", "aria-label": label },
		options.map((option) =>
			el(
				"button",
				{
					type: "button",
					"aria-pressed": String(option.value === chosen),
					title: option.title,
					onclick: () => onchoose(option.value),
				},
				option.name,
			),
		),
	);
}

export function facts(entries) {
	return el(
		"dl",
		{ class: "facts" },
		entries
			.filter(Boolean)
			.map(([name, ...value]) => el("div", null, el("dt", null, name), el("dd", null, ...value))),
	);
}

// Focus lays the page out; after all changes that is done but once.
export function focusLater(parent, selector) {
	queueMicrotask(() => parent.querySelector(selector)?.focus());
}

// Some steps at a time, so that they do not hold up what somebody does.
export function whenIdle(steps) {
	window.requestIdleCallback?.(() => {
		const end = performance.now() + IDLE_MS;

		do if (steps.next().done) return;
		while (performance.now() < end);
		whenIdle(steps);
	});
}
