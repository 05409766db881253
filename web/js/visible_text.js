// Makes characters visible that could hide or reorder what a person reads: control codes, bidi marks, blanks of no width.

const MARKS = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
const CODES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function shownCode(character) {
	const code = character.codePointAt(0);
	if (code < 0x20) return String.fromCodePoint(0x2400 + code);
	return code === 0x7f ? '\u2421' : named(code);
}

const named = (code) => `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;

// For texts of several lines: line breaks and tabs stay.
export function visibleText(text) {
	return String(text ?? '')
		.replace(/\r\n/g, '\n')
		.replace(CODES, shownCode)
		.replace(MARKS, (mark) => named(mark.codePointAt(0)));
}

// For names, paths and commands on one line.
export function visibleLine(text) {
	return visibleText(text).replace(/\n/g, '\u240a').replace(/\t/g, '\u2409');
}
