// SPDX-License-Identifier: GPL-2.0-or-later
// A table of all rows of one kind above, what is known of the one chosen below: pairs and objects.

import { el, replace, whenIdle } from "./dom.js";
import { Grid, heatCell } from "./grid.js";
import { Names } from "./names.js";
import { Orders } from "./order.js";
import { chosenId } from "./state.js";
import { cacheLabel, count } from "./units.js";

export const SHARE = Symbol("the column of shares");

// Rows of a table in some order; the one that is asked for becomes an object.
class Rows {
	constructor(ids, misses, refs) {
		Object.assign(this, { ids, misses, refs });
		this.length = ids.length;
	}

	at(row) {
		const id = this.ids[row];

		return { id, misses: this.misses[id], refs: this.refs[id] };
	}
}

// Who extends it has: missing(), what to show where there are no rows; keys(column), what to sort by;
// text(id), what is searched; show(row), which fills this.detail; and may have noteMore.
export class Listing {
	// table: of the profile; kind: as the address names one; columns: of the grid, with SHARE for the
	// column of shares.
	constructor(app, { table, kind, sorts, columns }) {
		this.app = app;
		this.table = app.profile[table];
		this.kind = kind;
		this.name = table;
		this.sorts = sorts;
		this.grid = new Grid({
			label: table,
			columns: columns.map((column) => (column === SHARE ? this.shareColumn() : column)),
			onselect: (row) => app.show({ sel: `${kind}:${row.id}` }),
			onsort: (key) => app.show({ sort: app.store.get("sort") === key ? `-${key}` : key }),
		});
		this.note = el("p", { class: "note" });
		this.detail = el("section", { class: "pane detail", "aria-label": `the ${kind}`, tabindex: "0" });
		this.panes = el(
			"div",
			{ class: "stack" },
			el(
				"section",
				{ class: "pane", "aria-label": table },
				el("div", { class: "pane-bar" }, this.note),
				this.grid.element,
			),
			this.detail,
		);
		this.element = el("div", { class: table === "pairs" ? "pairs" : "data" });
		this.orders = new Orders(this.table.refs ?? new Float64Array(0));
		this.names = new Names(this.table.n, (id) => this.text(id));
		whenIdle(this.names.prepare());
	}

	shareColumn() {
		return {
			key: "share",
			title: "%",
			number: true,
			hint: "of all misses of the cache",
			fill: (cell, row) =>
				heatCell(
					cell,
					this.all > 0 ? row.misses / this.all : 0,
					this.app.lens.share(row.misses, this.all),
				),
		};
	}

	// What all misses are to which those of a row are a share.
	get whole() {
		return this.app.lens.whole(this.name);
	}

	update(changed) {
		if (!this.table.n) {
			replace(this.element, this.missing());
			return;
		}
		if (!this.panes.isConnected) replace(this.element, this.panes);
		if (!this.rows || changed.some((key) => ["view", "p", "cache", "level", "q", "sort"].includes(key)))
			this.build();
		const wanted = chosenId(this.app.store.get("sel"), this.kind);
		const at = Math.max(0, this.rows.ids.indexOf(wanted));

		this.grid.setRows(this.rows, this.rows.length ? at : -1);
		if (this.rows.length) this.show(this.rows.at(at));
		else replace(this.detail, el("p", { class: "note" }, "nothing has that name"));
	}

	build() {
		const { profile, lens, store } = this.app;
		const misses = lens.misses(this.name);
		const query = (store.get("q") ?? "").toLowerCase();
		const given = store.get("sort") ?? "misses";
		const wanted = given.replace(/^-/, "");
		const column = this.sorts.includes(wanted) ? wanted : "misses";
		const ascending = given.startsWith("-") !== (column === "name");
		const { rest, refs } = this.table;
		const order = this.orders.by(column, ascending, lens, () =>
			column === "misses" ? misses : this.keys(column),
		);

		this.all = this.whole;
		this.rows = new Rows(query ? this.found(order, query) : order, misses, refs);
		this.grid.setSort(column, ascending);
		this.note.textContent = `${count(this.table.n)} ${this.name}${rest?.n ? `, and ${count(rest.n)} more that matter little` : ""}; ${lens.fault || `misses of ${cacheLabel(lens.cache, profile.isObject)}${lens.isEstimate ? `, estimated${profile.isSampled ? " from a sample" : ""}` : ""}${this.noteMore ?? ""}`}`;
	}

	found(order, query) {
		const marks = this.names.find(query);

		return order.filter((id) => marks[id]);
	}
}
