// Which rows the conversation has, from the view. Pure.

import { isPassed, titleOfStep } from './plan_steps.js';
import { afterItem, isFailedTry, tryRow } from './tries.js';

// The name of the model that follows a script.
export const DEMO = 'demo';

const SAID = new Set(['turn', 'synthesis', 'step']);
const UNSAID_MODES = new Set(['plan', 'route', 'summary', 'title']);
const cache = new WeakMap();

// Whether an item is a reply whose text is part of the conversation.
export const isSaid = (item) => item.type === 'reply' && Boolean(item.text) && SAID.has(item.role);

// The text of the reply that is being written, where it is to be part of the conversation.
export const saidLive = (view) => (UNSAID_MODES.has(view.turn?.mode) ? '' : (view.live?.text ?? ''));

// Rows: {key, type, item, …}. A row stays the same object as long as its item does.
export function rowsOf(view, pending = []) {
	const rows = [];
	const last = view.openRun === null ? (view.runs.at(-1)?.run ?? null) : null;
	const runs = new Map(view.runs.map((run) => [run.run, run]));
	const newest = view.openRun === null ? null : view.items.at(-1);
	let before = { model: null, reply: null, tries: null, newest, last, runs };
	for (const item of view.items) {
		if (isPassed(view, item)) continue;
		before = { ...before, view, tries: afterItem(before.tries, item) };
		if (before.tries?.joins) rows.pop();
		const row = rowOf(item, before);
		if (row) rows.push(row);
		if (item.type === 'run') before = { ...before, model: item.models[0] ?? before.model, reply: null };
		if (isSaid(item)) before = { ...before, reply: item };
	}
	for (const message of pending) rows.push({ key: `pending-${message.id}`, type: 'pending', item: message });
	if (view.openRun !== null) rows.push({ key: 'live', type: 'live', item: null });
	else if (isDemo(view)) rows.push(CONNECT);
	return rows;
}

// How to connect a model, below a demo that has ended.
const CONNECT = { key: 'connect', type: 'connect', item: null };

// Whether the script answers in this session.
export const isDemo = (view) => view.runs.at(-1)?.models[0] === DEMO;

function rowOf(item, before) {
	const known = cache.get(item);
	const needs = needsOf(item, before);
	if (known && known.needs === needs) return known.row;
	const row = makeRow(item, before);
	cache.set(item, { row, needs });
	return row;
}

// What a row shows beside its item.
function needsOf(item, before) {
	if (item.type === 'run') return before.model;
	if (isFailedTry(item)) {
		const { first, count } = before.tries;
		return `${first} ${count} ${before.newest === item} ${before.runs.get(item.run)?.tries}`;
	}
	if (item.what === 'step_started') return titleOfStep(before.view, item);
	if (item.type !== 'end') return '';
	const { startedAt, calls } = before.runs.get(item.run);
	return `${before.reply?.seq} ${before.last === item.run} ${startedAt} ${calls}`;
}

function makeRow(item, before) {
	const key = `${item.type}-${item.seq}`;
	if (item.type === 'run') return runRow(key, item, before);
	if (isFailedTry(item))
		return tryRow(item, before.tries, {
			most: before.runs.get(item.run)?.tries ?? null,
			open: before.newest === item,
		});
	if (item.what === 'step_started')
		return { key, type: 'line', item: { ...item, title: titleOfStep(before.view, item) } };
	if (item.type === 'reply')
		return SAID.has(item.role) && (item.text || item.thinking) ? { key, type: 'reply', item } : null;
	if (item.type === 'end')
		return {
			key,
			type: 'end',
			item,
			last: before.last === item.run,
			run: before.runs.get(item.run),
			repeated: before.reply?.run === item.run && before.reply.text.trim() === item.answer.trim(),
		};
	return { key, type: item.type, item };
}

function runRow(key, item, before) {
	if (item.retryOf !== null) return { key, type: 'line', item: { ...item, what: 'retried' } };
	const changed = before.model && item.models[0] && item.models[0] !== before.model;
	return changed ? { key, type: 'line', item: { ...item, what: 'model_change', from: before.model } } : null;
}

// A first guess of a row's height, until it is drawn and measured.
export function guessHeight(row) {
	const { item } = row;
	const lines = (text) => Math.max(1, Math.ceil((text?.length ?? 0) / 78) + (text?.split('\n').length ?? 1) - 1);
	switch (row.type) {
		case 'message':
			return 48 + 24 * lines(item.text);
		case 'reply':
			return 16 + (item.thinking ? 28 : 0) + 24 * lines(item.text);
		case 'calls':
			return 8 + 30 * item.calls.length + (item.calls.length > 1 ? 20 : 0);
		case 'line':
			return 28;
		case 'end':
			return 100;
		case 'connect':
			return 260;
		default:
			return 60;
	}
}
