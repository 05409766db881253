// What a session is called: by its title, which the first message gives it until a person renames it. Pure.

import { t } from './words.js';
import { visibleLine } from './visible_text.js';

const LONGEST = 80; // characters of a title that is made from a message
const MADE_UP = /^page-[0-9a-f]{12}$/; // a key that the server made up says nothing to a person

const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

// The title that a message gives to its session: its beginning, cut between words. Null where it has none.
export function titleFrom(text, files = []) {
	const line = oneLine(text) || oneLine(files[0]?.name ?? '');
	const letters = [...line];
	if (letters.length <= LONGEST) return line || null;
	const cut = letters.slice(0, LONGEST - 1).join('');
	const space = cut.lastIndexOf(' ');
	return `${space > LONGEST / 2 ? cut.slice(0, space) : cut}…`;
}

// The name as it is, to be edited.
export function plainName(row) {
	if (row.title) return row.title;
	const said = titleFrom(row.last_prompt ?? '');
	return said ?? (MADE_UP.test(row.key ?? '') ? '' : (row.key ?? ''));
}

// The name as it is shown.
export const nameOf = (row) => visibleLine(plainName(row) || t('session.untitled'));

// The newest message, below the name; null where it says what the name says.
export function secondLine(row) {
	const said = oneLine(row.last_prompt ?? '');
	if (!row.title || !said || said === row.title || titleFrom(said) === row.title) return null;
	return visibleLine(said);
}
