// What is typed and not yet sent, for each session; null stands for a new one. Kept between visits where storage is allowed.

import { remember, remembered } from './memory.js';

const keyOf = (session) => `draft-${session ?? 'new'}`;
const typed = new Map();

export const keptDraft = (session) => typed.get(session) ?? remembered(keyOf(session), '');

export function keepDraft(session, text) {
	typed.set(session, text);
	remember(keyOf(session), text);
}
