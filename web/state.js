// SPDX-License-Identifier: GPL-2.0-or-later
// What the page shows, kept in the address: #VIEW&key=value&.., so that a link shows the same again.

export const VIEWS = ["overview", "code", "pairs", "data", "threads", "ops", "phases", "diff"];

export function readFragment(text) {
	const [view, ...rest] = text.replace(/^#/, "").split("&");
	const state = { view: VIEWS.includes(view) ? view : "overview" };

	for (const part of rest) {
		const at = part.indexOf("=");

		if (at > 0) {
			try {
				state[decodeURIComponent(part.slice(0, at))] = decodeURIComponent(part.slice(at + 1));
			} catch {
				// not one of ours
			}
		}
	}
	return state;
}

export function writeFragment(state) {
	const rest = Object.entries(state)
		.filter(([key, value]) => key !== "view" && value !== undefined && value !== null && value !== "")
		.map(
			([key, value]) =>
				`&${encodeURIComponent(key)}=${encodeURIComponent(value).replace(/%(3D|2C|3A|2F|40)/g, decodeURIComponent)}`,
		);

	return `#${state.view}${rest.join("")}`;
}

// The number in "pair:12", or -1.
export function chosenId(text, kind) {
	const match = /^(\w+):(\d+)$/.exec(text ?? "");

	return match && match[1] === kind ? Number(match[2]) : -1;
}

// Changes are told to whoever listens, with the keys that changed.
export class Store {
	constructor(initial) {
		this.state = initial;
		this.listeners = [];
	}

	get(key) {
		return this.state[key];
	}

	set(changes) {
		const changed = Object.keys(changes).filter((key) => this.state[key] !== changes[key]);

		if (!changed.length) return;
		this.state = { ...this.state, ...changes };
		for (const listener of this.listeners) listener(this.state, changed);
	}

	listen(listener) {
		this.listeners.push(listener);
	}
}
