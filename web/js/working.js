// What the run waits for, in words.

import { duration } from './format.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

// {words, until}: `until` is when a failed model call is tried again. Null where what is done is plain to see. Pure.
export function workingOf(view, now) {
	const live = view.live;
	if (view.questions.length > 0) return { words: t('working.asking') };
	if (live?.waiting) {
		const wait = live.waiting.for ?? {};
		return { words: t('working.server', { name: visibleLine(wait.servers?.join(', ') ?? wait.answer ?? '') }) };
	}
	if (!view.turn) return null;
	if (live?.text || live?.thinkingNow || live?.calls.length > 0) return null;
	const until = retryAt(view);
	if (until) return { words: retryWords(until, now), until };
	const mode = view.turn.mode;
	return {
		words: ['plan', 'synthesis', 'summary', 'wrap_up', 'route'].includes(mode)
			? t(`working.${mode}`)
			: t('working.model'),
	};
}

// When the last attempt is made again, which has failed since the last reply.
function retryAt(view) {
	const last = view.items.findLast((item) => item.what === 'retry' || item.type === 'reply' || item.type === 'run');
	return last?.next?.at ?? null;
}

export function retryWords(until, now) {
	const left = new Date(until) - now;
	if (left <= 0) return t('working.model');
	return t('working.retry', { left: duration(Math.ceil(left / 1000) * 1000) });
}
