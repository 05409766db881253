// The sentence of a thin line. The words themselves are in words.js.

import { count } from './format.js';
import { t } from './words.js';

const list = (values) => values.join(', ');

function nudgeWords(item) {
	const fault = item.faults[0];
	const cause = typeof item.why === 'object' ? item.why.reply : item.why;
	const why = fault ? t(`fault.${fault.is}`, { names: list(fault.files ?? fault.steps ?? []) }) : t(`nudge.${cause}`);
	return t('line.nudge', { why });
}

function retryWords(item) {
	const values = { n: item.attempt, model: item.model, why: item.failure?.message ?? '' };
	return item.next.do === 'end' ? t('line.retry.end', values) : t(`line.retry.${item.next.do}`, values);
}

function answerWords({ by, option, rule, reason }) {
	const answer = t(`answered.${option}`);
	if (by === 'expiry') return t('line.expired', { answer });
	if (reason) return t('line.answer.reason', { answer, reason });
	return t('line.answer', { answer }) + (rule ? ` (${rule})` : '');
}

function undoWords(leftAlone) {
	if (leftAlone.length === 0) return t('line.undo');
	return t('line.undo.left_alone', { names: list(leftAlone.map(([path, why]) => `${path} (${why})`)) });
}

const sentences = {
	nudge: (item) => ({ words: nudgeWords(item) }),
	retry: (item) => ({ words: retryWords(item), tone: 'warn' }),
	model_switch: (item) => ({
		words: t('line.model_switch', { model: item.next.model, why: item.failure?.message ?? '' }),
		tone: 'warn',
	}),
	model_change: (item) => ({ words: t('line.model_change', { model: item.models[0] }) }),
	retried: (item) => ({ words: t('line.retried', { n: item.retryOf }) }),
	resume: (item) => ({ words: t('line.resume', { seq: count(item.seq) }) }),
	compaction: (item) => ({ words: t(`line.compaction.${item.method}`), summary: item.summary }),
	withheld: (item) => ({
		words: t(`line.withheld.${item.cause}`, { tool: item.tool.replace(/^local\./, '') }),
		tone: 'warn',
	}),
	cancel: (item) => ({ words: t(`line.cancel.${item.by}`) }),
	settled: (item) => ({ words: t(`line.settled.${item.settlement}`, { call: item.call }), tone: 'warn' }),
	answer: (item) => ({ words: answerWords(item) }),
	step_started: (item) => ({ words: t('line.step_started', { n: item.step + 1 }) }),
	step_ended: (item) => ({
		words: t('line.step_ended', { reason: t(`end.${item.reason}`), answer: item.answer.slice(0, 160) }),
		session: item.session,
	}),
	without_servers: (item) => ({ words: t('line.without_servers', { names: list(item.servers) }), tone: 'warn' }),
	input_cut: (item) => ({
		words: t('line.input_cut', { read: count(item.read), counted: count(item.counted) }),
		tone: 'danger',
	}),
	joined_servers: (item) => ({ words: t('line.joined_servers', { names: list(item.servers) }) }),
	undo: (item) => ({ words: undoWords(Object.entries(item.leftAlone)) }),
	imported: () => ({ words: t('line.imported') }),
	forked: (item) => ({ words: t('line.forked', { seq: count(item.from.seq) }), session: item.from.session }),
	unknown: (item) => ({ words: t('line.unknown', { kind: item.kind }), tone: 'warn' }),
};

export function lineOf(item) {
	return (sentences[item.what] ?? sentences.unknown)(item);
}
