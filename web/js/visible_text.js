// Makes characters visible that could hide or reorder what a person reads: control codes, bidi marks, blanks of no width.
// The table is that of crates/narrate/src/harmless.rs; a test compares them.

const MARKS = /[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|(?<![^\0-\x7f])[\u200c\u200d]/gu; // joiners belong to scripts and emoji
const CODES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const PLAIN = /^[\n\x20-\x7e]*$/;

function shownCode(character) {
	const code = character.codePointAt(0);
	if (code < 0x20) return String.fromCodePoint(0x2400 + code);
	return code === 0x7f ? '\u2421' : named(code);
}

const named = (code) => `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;

// For texts of several lines: line breaks and tabs stay.
export function visibleText(text) {
	const words = String(text ?? '');
	if (PLAIN.test(words)) return words;
	return words
		.replace(/\r\n/g, '\n')
		.replace(MARKS, (mark) => named(mark.codePointAt(0)))
		.replace(CODES, shownCode);
}

// For names, paths and commands on one line.
export function visibleLine(text) {
	return visibleText(text).replace(/\n/g, '\u240a').replace(/\t/g, '\u2409');
}
