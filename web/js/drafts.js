// What is typed and not yet sent, for each session; null stands for a new one.

import { remember, remembered } from './memory.js';

const keyOf = (session) => `draft-${session ?? 'new'}`;

export const keptDraft = (session) => remembered(keyOf(session), '');
export const keepDraft = (session, text) => remember(keyOf(session), text);
