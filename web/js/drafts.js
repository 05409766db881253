// What is typed and not yet sent, by its place: a session, the edit of one of its messages, or null for a new session. Kept
// between visits where storage is allowed.

import { remember, remembered } from './memory.js';

const keyOf = (place) => `draft-${place ?? 'new'}`;
const typed = new Map();

export const keptDraft = (place) => typed.get(place) ?? remembered(keyOf(place), '');

export function keepDraft(place, text) {
	typed.set(place, text);
	remember(keyOf(place), text);
}

// The message of a session that is being edited: {at, isFirst, was}. `at` is the record before it, where sending forks.
const keyOfEdit = (session) => `edit-${session}`;
const editing = new Map();

export const keptEdit = (session) =>
	editing.has(session) ? editing.get(session) : session && remembered(keyOfEdit(session));

export function keepEdit(session, edit) {
	editing.set(session, edit);
	remember(keyOfEdit(session), edit);
	if (!edit) keepDraft(editPlace(session), '');
}

export const editPlace = (session) => `${session} edit`;
