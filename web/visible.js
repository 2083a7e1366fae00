// SPDX-License-Identifier: GPL-2.0-or-later
// Names come from programs that others wrote. What a reader cannot see, or what turns the direction
// of writing, is made visible before anything else looks at the document.

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

// In JSON: what is neither a plain character nor the escape of one or of a tab. White space that is not
// escaped is none of a string's.
const SUSPECT = /[^ -~\t\r\n]|\\(?!["\\/t]|u0009)/;

function spelled(character) {
	const code = character.codePointAt(0);

	if (code === 9) return character; // a tab is what it looks like
	if (code < 0x20) return String.fromCodePoint(0x2400 + code);
	if (code === 0x7f) return "\u2421";
	return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}

export function visible(text) {
	return text.replace(UNSEEN, spelled);
}

// The document that JSON holds, with every string made visible: nothing downstream can forget to. Most
// have plain characters alone, and are not looked through string by string.
export function parseVisible(json) {
	const value = JSON.parse(json);

	return SUSPECT.test(json) ? makeVisible(value) : value;
}

// Every string of a document, in place.
export function makeVisible(value) {
	if (typeof value === "string") return visible(value);
	if (Array.isArray(value)) {
		for (let i = 0; i < value.length; i++) {
			const type = typeof value[i];

			if (type === "string" || type === "object") value[i] = makeVisible(value[i]);
		}
	} else if (value !== null && typeof value === "object") {
		for (const key of Object.keys(value)) value[key] = makeVisible(value[key]);
	}
	return value;
}
