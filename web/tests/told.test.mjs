// What the page says of failures, undos, limits, amounts and steps.

import test from 'node:test';
import assert from 'node:assert/strict';
import { emptyView, foldAll } from '../js/fold.js';
import { joinViews } from '../js/join_views.js';
import { rowsOf } from '../js/rows.js';
import { lineOf } from '../js/line_words.js';
import { reasonOf } from '../js/end_view.js';
import { amount, clockSeconds, duration, money } from '../js/format.js';
import { newestSpans, spansOf } from '../js/timeline.js';
import { sessionOfStep } from '../js/plan_steps.js';
import { journal, recorder } from './journals.mjs';

const turn = { run: 1, turn: 1 };
const started = (make, tries) => [
	make('RunStarted', { run: 1, policy: { retry: { tries } }, chain: ['m'] }, { run: 1 }),
	make('TurnStarted', { turn: 1, mode: 'tools' }, turn),
];
const failed = (make, next, more = {}) =>
	make('AttemptFailed', { attempt: 1, model: 'm', failure: { message: 'HTTP 503.' }, next, ...more }, turn);
const lines = (view) =>
	rowsOf(view)
		.filter((row) => row.type === 'line')
		.map((row) => lineOf(row.item).words);

// proves W4, M3
test('the tries of one model call are one line that keeps its place and says how far it is', () => {
	const make = recorder();
	const retry = (second) => ({ do: 'retry', at: `2026-01-01T10:05:${second}.000Z` });
	const at = (second) => clockSeconds(retry(second).at);
	let view = foldAll(emptyView(), started(make, 6));
	const after = (record) => {
		view = foldAll(view, [record]);
		return lines(view);
	};
	assert.deepEqual(after(failed(make, retry('31'))), [`tries again at ${at('31')} (2 of 6): HTTP 503`]);
	const { key } = rowsOf(view)[0];
	assert.deepEqual(after(failed(make, retry('59'))), [`tries again at ${at('59')} (3 of 6): HTTP 503`]);
	assert.equal(rowsOf(view)[0].key, key);
	assert.equal(rowsOf(view)[0], rowsOf(view)[0], 'it is not drawn again for nothing');
	const replied = { attempt: 3, model: 'm', parts: [{ type: 'text', text: 'Yes.' }] };
	assert.deepEqual(after(make('ModelReplied', replied, turn)), ['2 tries failed: HTTP 503']);
	// The next call is counted for itself; where all tries fail, the end of the run says why.
	assert.deepEqual(after(failed(make, retry('31'))).slice(1), [`tries again at ${at('31')} (2 of 6): HTTP 503`]);
	assert.deepEqual(after(failed(make, { do: 'end' })).slice(1), ['gave up after 2 tries']);
});

test('a failure that is tried in another way, with another model or not at all has its own line', () => {
	const make = recorder();
	const view = foldAll(emptyView(), [
		...started(make, 3),
		failed(make, { do: 'whole' }),
		failed(make, { do: 'retry', at: '2026-01-01T10:05:00.000Z' }),
		failed(make, { do: 'model', model: 'n' }),
		failed(make, { do: 'end' }, { model: 'n' }),
	]);
	assert.deepEqual(lines(view), [
		'the reply broke off, asking for it in one piece: HTTP 503',
		'm failed, went on with n: HTTP 503',
	]);
});

// proves W4, T9
test('an undo names the files it put back, whichever pages its records are in', () => {
	const make = recorder();
	const file = { is: 'file', blob: '07', mode: 420 };
	const changes = Object.fromEntries(
		['b.md', ...Array.from({ length: 9 }, (_, n) => `c${n}`)].map((path) => [path, { was: file, now: { is: 'absent' } }]),
	);
	const records = [
		make('UndoStarted', { undo: 1, of: { call: '1.1.0' }, changes: { 'a.md': { was: file, now: file } } }),
		make('Undone', { undo: 1, left_alone: { 'z.md': 'changed since' }, told: '' }),
		make('UndoStarted', { undo: 2, of: { undo: 1 }, changes }),
		make('Undone', { undo: 2, told: '' }),
	];
	const whole = foldAll(emptyView(), records);
	assert.deepEqual(lines(whole), [
		'put back: a.md; left as they are: z.md (changed since)',
		'changed again: b.md, c0, c1, c2, c3, c4, c5, c6 and 2 more',
	]);
	const [older, newer] = [records.slice(0, 3), records.slice(3)].map((page) => foldAll(emptyView(), page));
	assert.deepEqual(lines(newer), ['files were put back']);
	assert.deepEqual(joinViews(older, newer), whole);
});

// proves W4, M7
test('a run that its budget stopped says what was spent, of what, and how to go on', () => {
	const answer = 'The limit run_cost_limit is $0.5: $0.48 spent, and the next model call would need about $0.05 more.';
	const end = { reason: 'budget_spent', answer: `${answer} What was done so far is kept.` };
	const { words, what } = reasonOf(end);
	assert.equal(words, 'Cost of the run: $0.48 of $0.50 spent. The next model call would need about $0.05 more.');
	assert.match(what, /Try again.*run_cost_limit in windlass\.toml/);
	const time = reasonOf({ ...end, answer: 'The limit run_time_limit_ms is 1 min: 1 min 2 s spent. What was …' });
	assert.equal(time.words, 'Time of the run: 1 min 2 s of 1 min spent.');
	const tokens = 'The limit run_token_limit is 50000 tokens: 90500 tokens spent, and the next model call would need about 1000 tokens more.';
	assert.equal(
		reasonOf({ ...end, answer: tokens }).words,
		'Tokens of the run: 90,500 of 50,000 spent. The next model call would need about 1,000 tokens more.',
	);
	assert.equal(reasonOf({ ...end, answer: 'In other words.' }).words, 'In other words.');
});

test('amounts read as people say them, and nothing is said of no cost', () => {
	assert.deepEqual([null, undefined, 0, 1, 9_999_999, 10_000_000, 1_250_000_000].map(money), [
		...['', '', '', 'under $0.01', 'under $0.01', '$0.01', '$1.25'],
	]);
	assert.deepEqual([0, 20_000, 3_200_000, 5_000_000, 500_000_000].map((nanos) => amount('cost', nanos)), [
		...['$0.00', 'under $0.0001', '$0.0032', '$0.005', '$0.50'],
	]);
	assert.deepEqual(
		[0, 350, 3400, 25_000, 65_000, 7_380_000].map((ms) => duration(ms).replaceAll('\u00a0', ' ')),
		['1 ms', '350 ms', '3.4 s', '25 s', '1 min 5 s', '2 h 3 min'],
	);
});

// proves W4
test('of a long timeline the newest rows are shown, and calls side by side are marked', () => {
	const make = recorder();
	const requested = (call) => make('CallRequested', { call, name: 'a', arguments: {}, effect: 'once', verdict: {} }, turn);
	const view = foldAll(emptyView(), [
		...started(make, 1),
		...['1.1.0', '1.1.1'].flatMap((call) => [requested(call), make('CallStarted', { call }, turn)]),
	]);
	const spans = spansOf(view, 1, Date.parse('2026-01-01T10:01:00.000Z'));
	assert.deepEqual(
		spans.filter(({ kind }) => kind === 'call').map(({ call, together }) => [call, together]),
		[
			['1.1.0', true],
			['1.1.1', true],
		],
	);
	const many = Array.from({ length: 40 }, (_, n) => n);
	assert.deepEqual([newestSpans(many).length, newestSpans(many)[0], newestSpans(many, { all: true }).length], [12, 28, 40]);
	assert.equal(newestSpans(many.slice(0, 14)).length, 14, 'no button for two rows');
});

// proves W4, S3
test('a step of a plan leads to the session that carried it out', () => {
	const records = journal('plan');
	const view = foldAll(emptyView(), records);
	assert.equal(sessionOfStep(view, 0), '01a1e9c1-cf32-704c-84cb-f262d816b408');
	assert.equal(sessionOfStep(view, 2), '01a1e9c2-248c-740b-a4ec-21be9b85403d');
	assert.equal(sessionOfStep(view, 3), null);
	const running = foldAll(emptyView(), records.slice(0, 14));
	assert.equal(sessionOfStep(running, 1), null, 'not known yet');
	assert.deepEqual(lines(view).slice(-2), ['step 2: Done. Changed b.txt', 'step 3: Done. Changed c.txt'], 'one line each');
	assert.equal(lines(running).at(-1), 'step 2 begins: b.txt: change the price to 12');
	const steps = spansOf(view, 1, 0).filter((span) => span.kind === 'step');
	assert.deepEqual(steps.map(({ step, bad }) => [step, bad]), [
		[0, false],
		[1, false],
		[2, false],
	]);
	assert.equal(steps[0].to - steps[0].from, 22_456);
	const other = { kind: 'PlanChanged', seq: 99, batch: [0, 1], run: 2, body: { items: [{ step: 'x', status: 'open' }] } };
	assert.equal(sessionOfStep(foldAll(view, [other]), 0), null, 'another plan');
});
