// SPDX-License-Identifier: GPL-2.0-or-later
// A table of any length: only the rows in sight exist. Rows are chosen by click and arrow keys, opened
// and closed where they have children, and sorted by the heads of the columns.

import { el } from "./dom.js";

const ROW = 24; // pixels; page.css knows it too
const DEEPEST = 12; // as far as a name moves in: beyond, it would leave its column
const LEAST = { wide: 170, middle: 120, "line-number": 62, "source-text": 420 }; // below, it scrolls
let grids = 0;

// What is there already is not put there again: it would be laid out again.
function put(cell, text) {
	if (cell.shown === text) return;
	cell.shown = text;
	cell.textContent = text;
}

// A bar behind a figure: its share of the most there is.
export function heatCell(cell, share, text) {
	const width = `${Math.min(100, 100 * share).toFixed(1)}%`;

	if (cell.width !== width) {
		cell.width = width;
		cell.classList.add("heat");
		cell.style.setProperty("--share", width);
	}
	put(cell, text);
}

export class Grid {
	// columns: { key, title, number, text(row) or fill(cell, row), sort }
	constructor({ label, columns, tree = false, onselect, ontoggle, onsort, onopen }) {
		this.id = `grid-${++grids}`;
		this.columns = columns;
		this.tree = tree;
		this.rows = [];
		this.selected = -1;
		this.pool = [];
		Object.assign(this, { onselect, ontoggle, onsort, onopen });
		this.heads = columns.map((column) => this.head(column));
		this.header = el("div", { role: "row", class: "grid-head" }, this.heads);
		this.body = el("div", { role: "rowgroup", class: "grid-body" });
		this.element = el(
			"div",
			{
				class: "grid",
				role: tree ? "treegrid" : "grid",
				"aria-label": label,
				tabindex: "0",
				id: this.id,
				onkeydown: (event) => this.key(event),
				onscroll: () => this.scrolled(),
			},
			el("div", { role: "rowgroup", class: "grid-top" }, this.header),
			this.body,
		);
		this.element.style.setProperty(
			"--least",
			`${columns.reduce((sum, column) => sum + (LEAST[column.class] ?? 84), 0)}px`,
		);
		this.body.addEventListener("click", (event) => this.click(event));
		this.body.addEventListener("dblclick", () => this.onopen?.(this.rowAt(this.selected)));
		// told, not asked for: to ask in the midst of changes lays the page out again and again
		this.height = 0;
		this.top = 0;
		new ResizeObserver(([entry]) => this.resize(entry.contentRect.height)).observe(this.element);
	}

	head(column) {
		const attributes = {
			role: "columnheader",
			class: `cell ${column.class ?? ""}${column.number ? " number" : ""}`,
		};

		if (!column.sort) return el("div", attributes, column.title);
		return el(
			"div",
			attributes,
			el(
				"button",
				{ type: "button", title: column.hint, onclick: () => this.onsort?.(column.key) },
				column.title,
			),
		);
	}

	setSort(key, ascending) {
		this.columns.forEach((column, i) => {
			if (column.sort)
				this.heads[i].setAttribute(
					"aria-sort",
					column.key === key ? (ascending ? "ascending" : "descending") : "none",
				);
		});
	}

	resize(height) {
		const isBack = !this.height; // an element that was away has lost its place

		this.height = height;
		if (!height) return;
		if (isBack && this.selected >= 0) this.reveal(this.selected);
		if (isBack) this.place();
		this.draw();
	}

	scrolled() {
		if (this.element.scrollTop === this.top) return;
		this.top = this.element.scrollTop;
		this.draw();
	}

	// rows: what has a length and at(); selected: its place or -1.
	setRows(rows, selected = -1) {
		const isOther = rows.length !== this.rows.length;

		this.rows = rows;
		this.selected = selected;
		if (isOther) {
			this.element.setAttribute("aria-rowcount", String(rows.length + 1));
			this.body.style.height = `${rows.length * ROW}px`;
		}
		this.scrollTo(this.top);
		if (selected >= 0) this.reveal(selected);
		this.draw();
	}

	rowAt(index) {
		return index >= 0 ? this.rows.at(index) : undefined;
	}

	scrollTo(wanted) {
		const most = Math.max(0, (this.rows.length + 1) * ROW - this.height);
		const top = Math.max(0, Math.min(most, Math.round(wanted)));

		if (top === this.top || !this.height) return;
		this.top = top;
		this.place();
	}

	// To scroll lays the page out; after all changes that is done but once.
	place() {
		queueMicrotask(() => (this.element.scrollTop = this.top));
	}

	reveal(index) {
		const view = this.height - ROW;

		if (index * ROW < this.top) this.scrollTo(index * ROW);
		else if (view > 0 && (index + 1) * ROW > this.top + view)
			this.scrollTo((index + 1) * ROW - view + (index > 0 ? view / 3 : 0));
	}

	select(index) {
		if (index < 0 || index >= this.rows.length) return;
		this.selected = index;
		this.reveal(index);
		this.draw();
		this.onselect?.(this.rowAt(index));
	}

	draw() {
		const first = Math.max(0, Math.floor(this.top / ROW) - 2);
		const n = this.height ? Math.min(this.rows.length - first, Math.ceil(this.height / ROW) + 4) : 0;

		while (this.pool.length < n) this.pool.push(this.newRow());
		this.pool.forEach((line, i) => {
			line.hidden = i >= n;
			if (i < n) this.fillRow(line, first + i);
		});
		const chosen = this.selected >= first && this.selected < first + n;

		if (chosen) this.element.setAttribute("aria-activedescendant", `${this.id}-${this.selected - first}`);
		else this.element.removeAttribute("aria-activedescendant");
	}

	newRow() {
		const line = el("div", { role: "row", class: "grid-row", id: `${this.id}-${this.pool.length}` });

		line.cells = this.columns.map((column) =>
			el("div", { role: "gridcell", class: `cell ${column.class ?? ""}${column.number ? " number" : ""}` }),
		);
		line.append(...line.cells);
		if (this.tree) {
			line.handle = el("span", { class: "handle", "aria-hidden": "true" });
			line.label = el("span", { class: "label" });
			line.cells[0].append(line.handle, line.label);
		}
		this.body.append(line);
		return line;
	}

	fillRow(line, index) {
		const row = this.rowAt(index);

		if (line.index !== index) {
			line.index = index;
			line.style.transform = `translateY(${index * ROW}px)`;
			line.setAttribute("aria-rowindex", String(index + 2));
		}
		line.setAttribute("aria-selected", String(index === this.selected));
		if (this.tree) {
			line.setAttribute("aria-level", String(row.depth + 1));
			if (row.expands) line.setAttribute("aria-expanded", String(Boolean(row.open)));
			else line.removeAttribute("aria-expanded");
			line.cells[0].style.paddingLeft = `${6 + 16 * Math.min(row.depth, DEEPEST)}px`;
			put(line.handle, row.expands ? (row.open ? "\u25be" : "\u25b8") : "");
		}
		this.columns.forEach((column, i) => {
			const cell = i === 0 && this.tree ? line.label : line.cells[i];

			if (column.fill) {
				column.fill(cell, row, line.cells[i]);
			} else {
				const text = column.text(row);

				put(cell, text);
				if (i === 0) cell.title = text;
			}
		});
	}

	click(event) {
		const line = event.target.closest(".grid-row");

		if (!line) return;
		const row = this.rowAt(line.index);

		if (event.target.closest(".handle") && row.expands) this.ontoggle?.(row);
		else this.select(line.index);
	}

	key(event) {
		const page = Math.max(1, Math.floor(this.height / ROW) - 2);
		const moves = {
			ArrowDown: 1,
			ArrowUp: -1,
			PageDown: page,
			PageUp: -page,
			Home: -Infinity,
			End: Infinity,
		};
		const row = this.rowAt(this.selected);

		if (event.target.closest("input, button") || event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key in moves) {
			const last = this.rows.length - 1;
			const next = Math.max(0, Math.min(last, this.selected + moves[event.key]));

			this.select(next);
		} else if (this.tree && row && event.key === "ArrowRight" && row.expands) {
			if (!row.open) this.ontoggle?.(row);
			else this.select(this.selected + 1);
		} else if (this.tree && row && event.key === "ArrowLeft") {
			if (row.open) this.ontoggle?.(row);
			else this.select(this.rows.above(this.selected));
		} else if (event.key === "Enter" && row) {
			if (this.tree && row.expands) this.ontoggle?.(row);
			else this.onopen?.(row);
		} else return;
		event.preventDefault();
	}
}
