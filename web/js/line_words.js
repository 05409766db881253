// The sentence of a thin line. The words themselves are in words.js.

import { clockSeconds, count } from './format.js';
import { t } from './words.js';

const NAMED = 8; // of more names, the others are counted
const list = (values) => values.join(', ');
const listed = (names) =>
	list(names.slice(0, NAMED)) + (names.length > NAMED ? ` ${t('end.more', { n: names.length - NAMED })}` : '');

function nudgeWords(item) {
	const fault = item.faults[0];
	const cause = typeof item.why === 'object' ? item.why.reply : item.why;
	const why = fault ? t(`fault.${fault.is}`, { names: list(fault.files ?? fault.steps ?? []) }) : t(`nudge.${cause}`);
	return t('line.nudge', { why });
}

const causeOf = (item) => (item.failure?.message ?? '').replace(/\.$/, '');

// `tries` have failed of `most`, where that is known; the next one is still to come while the line is `open`.
function retryWords(item) {
	const { tries = 1, most, next, model } = item;
	const values = { n: tries, next: tries + 1, most, model, why: causeOf(item) };
	if (next.do === 'retry' && item.open)
		return t(most ? 'line.retry.soon.of' : 'line.retry.soon', { ...values, time: clockSeconds(next.at) });
	if (next.do === 'end' && tries > 1) return t('line.retry.gave_up', values);
	return t(`line.retry.${next.do}`, values);
}

function answerWords({ by, option, rule, reason }) {
	const answer = t(`answered.${option}`);
	if (by === 'expiry') return t('line.expired', { answer });
	if (reason) return t('line.answer.reason', { answer, reason });
	return t('line.answer', { answer }) + (rule ? ` (${rule})` : '');
}

// What was put back, by name where the record that began the undo is loaded, and what was left alone.
function undoWords({ leftAlone, paths, redo }) {
	const done = (paths ?? []).filter((path) => leftAlone[path] === undefined);
	const left = Object.entries(leftAlone).map(([path, why]) => `${path} (${why})`);
	const words = redo ? 'line.redo' : 'line.undo';
	return [
		done.length > 0 ? t(words, { names: listed(done) }) : left.length === 0 && t('line.undo.files'),
		left.length > 0 && t('line.undo.left_alone', { names: listed(left) }),
	]
		.filter(Boolean)
		.join('; ');
}

const sentences = {
	nudge: (item) => ({ words: nudgeWords(item) }),
	retry: (item) => ({ words: retryWords(item), tone: 'warn' }),
	model_switch: (item) => ({
		words: t('line.model_switch', { failed: item.model, model: item.next.model, why: causeOf(item) }),
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
	settled: (item) => ({ words: t(`line.settled.${item.settlement}`), tone: 'warn' }),
	answer: (item) => ({ words: answerWords(item) }),
	step_started: (item) => ({
		words: t(item.title ? 'line.step_started.title' : 'line.step_started', { n: item.step + 1, title: item.title }),
	}),
	step_ended: (item) => ({
		words: t(item.step === null ? 'line.step_ended.some' : 'line.step_ended', {
			n: item.step + 1,
			reason: t(`end.${item.reason}`),
			answer: item.answer.slice(0, 160),
		}),
		session: item.session,
	}),
	without_servers: (item) => ({ words: t('line.without_servers', { names: list(item.servers) }), tone: 'warn' }),
	input_cut: (item) => ({
		words: t('line.input_cut', { read: count(item.read), counted: count(item.counted) }),
		tone: 'danger',
	}),
	joined_servers: (item) => ({ words: t('line.joined_servers', { names: list(item.servers) }) }),
	undo: (item) => ({ words: undoWords(item) }),
	imported: () => ({ words: t('line.imported') }),
	forked: (item) => ({ words: t('line.forked', { seq: count(item.from.seq) }), session: item.from.session }),
	unknown: (item) => ({ words: t('line.unknown', { kind: item.kind }), tone: 'warn' }),
};

export function lineOf(item) {
	return (sentences[item.what] ?? sentences.unknown)(item);
}
