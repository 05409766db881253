import test from 'node:test';
import assert from 'node:assert/strict';
import { emptyView, foldAll, foldEvent, statusOf } from '../js/fold.js';
import { joinViews } from '../js/join_views.js';
import { findCall } from '../js/fold_calls.js';
import { NAMES, delta, journal, recorder } from './journals.mjs';

const folded = (name) => foldAll(emptyView(), journal(name));
const opening = (make) => [
	make('SessionOpened', { owner: 'ada', key: 'k' }),
	make('MessageAccepted', { message_id: 'm', text: 'Go.' }),
	make('RunStarted', { run: 1, policy: { preset: 'default', run_cost_limit: '0.5' }, chain: ['small'] }, { run: 1 }),
	make(
		'TurnStarted',
		{ turn: 1, mode: 'tools', budget: { window: 100, prefix: 1, tools: 2, history: 3 } },
		{ run: 1, turn: 1 },
	),
];
const started = () => {
	const make = recorder();
	return { make, view: foldAll(emptyView(), opening(make)) };
};

// proves E1
test('every fixture folds one event at a time to the same view as all at once', () => {
	for (const name of NAMES) {
		const one = journal(name).reduce(foldEvent, emptyView());
		assert.deepEqual(one, folded(name), name);
	}
});

// proves E1
test('a repeated record changes nothing', () => {
	for (const name of NAMES) {
		const twice = journal(name).flatMap((record) => [record, record]);
		assert.deepEqual(foldAll(emptyView(), twice), folded(name), name);
		assert.equal(foldAll(folded(name), journal(name)).lastSeq, folded(name).lastSeq);
	}
});

test('the given view is not changed', () => {
	for (const name of NAMES) {
		let view = emptyView();
		for (const record of journal(name)) {
			const before = JSON.stringify(view);
			const after = foldEvent(view, record);
			assert.equal(JSON.stringify(view), before);
			view = after;
		}
	}
});

test('an older page put in front of a newer one gives the view of both', () => {
	for (const name of NAMES) {
		const records = journal(name);
		for (let cut = 1; cut < records.length; cut++) {
			if (records[cut].batch[0] !== 0) continue;
			const older = foldAll(emptyView(), records.slice(0, cut));
			const newer = foldAll(emptyView(), records.slice(cut));
			assert.deepEqual(joinViews(older, newer), folded(name), `${name} cut before ${records[cut].seq}`);
		}
	}
});

// proves L4
test('the fixture with every kind becomes messages, calls, lines and an end', () => {
	const view = folded('every-kind');
	const lines = view.items.filter((item) => item.type === 'line').map((item) => item.what);
	assert.deepEqual(lines, [
		'retry',
		'resume',
		'answer',
		'settled',
		'nudge',
		'withheld',
		'compaction',
		'cancel',
		'unknown',
	]);
	const { call } = findCall(view, '1.1.0');
	assert.equal(call.state, 'finished');
	assert.equal(call.outcome, 'ok');
	assert.equal(call.tookMs, 12);
	assert.deepEqual(
		view.plan.map((item) => item.status),
		['done', 'doing'],
	);
	assert.equal(view.session.title, 'Tidying');
	assert.equal(view.runs[0].cost, 1250000);
	assert.equal(statusOf(view), 'idle');
});

test('the status follows the run: processing, waiting, tool_loop, idle', () => {
	const seen = [];
	journal('every-kind').reduce((view, record) => {
		const next = foldEvent(view, record);
		if (seen.at(-1) !== statusOf(next)) seen.push(statusOf(next));
		return next;
	}, emptyView());
	assert.deepEqual(seen, ['idle', 'processing', 'tool_loop', 'waiting', 'tool_loop', 'idle']);
});

test('files but no folders, and what was undone', () => {
	const view = folded('undone');
	assert.deepEqual(view.files, [{ path: 'old.md', change: 'deleted', call: '1.1.0' }]);
	assert.deepEqual(
		view.loose['1.1.0'].changes.map((change) => change.path),
		['new', 'old.md'],
	);
	assert.equal(view.loose['1.1.0'].undone, true);
});

test('an undo of an undo puts changes back, whichever pages the records are in', () => {
	const make = recorder();
	const place = { run: 1, turn: 1 };
	const records = [
		make('CallRequested', { call: '1.1.0', name: 'todo', arguments: {}, effect: 'once', verdict: {} }, place),
		make('UndoStarted', { undo: 1, of: { call: '1.1.0' }, changes: {} }),
		make('UndoStarted', { undo: 2, of: { undo: 1 }, changes: {} }),
		make('UndoStarted', { undo: 3, of: { undo: 2 }, changes: {} }),
		make('UndoStarted', { undo: 4, of: { undo: 3 }, changes: {} }),
	];
	const undone = records.map((_, n) => findCall(foldAll(emptyView(), records.slice(0, n + 1)), '1.1.0').call.undone);
	assert.deepEqual(undone, [undefined, true, false, true, false]);
	const whole = foldAll(emptyView(), records);
	for (let cut = 1; cut < records.length; cut++) {
		const newer = foldAll(emptyView(), records.slice(cut));
		assert.deepEqual(joinViews(foldAll(emptyView(), records.slice(0, cut)), newer), whole, `cut ${cut}`);
	}
	const loose = foldAll(emptyView(), records.slice(1, 3));
	assert.equal(loose.loose['1.1.0'].undone, false);
});

test('nothing is waited for once the call that waited has ended', () => {
	const { make, view } = started();
	const call = { call: '1.1.0', name: 'git.log', arguments: {}, effect: 'once', verdict: {} };
	const waiting = delta('Waiting', { call: '1.1.0', for: { answer: 'git.log' }, limit_ms: 9 }, { attempt: 0 });
	const waits = foldAll(view, [make('CallRequested', call, { run: 1, turn: 1 }), waiting]);
	assert.equal(waits.live.waiting.call, '1.1.0');
	const other = foldEvent(waits, make('CallFinished', { call: '1.1.1', outcome: 'ok', text: '' }, { run: 1 }));
	assert.equal(other.live.waiting.call, '1.1.0');
	const ended = foldEvent(other, make('CallFinished', { call: '1.1.0', outcome: 'ok', text: '' }, { run: 1 }));
	assert.equal(ended.live.waiting, null);
	assert.equal(foldEvent(ended, waiting).live.waiting, null, 'it is told of late');
});

test('a source that is left out is told of for the turn, whatever attempt follows', () => {
	const { view } = started();
	const leftOut = { source: 'wiki', why: 'too slow' };
	const after = foldAll(view, [
		delta('SourceLeftOut', leftOut, { attempt: 0 }),
		delta('TextDelta', { text: 'a' }),
		delta('Cleared', {}),
		delta('TextDelta', { text: 'b' }, { attempt: 2 }),
	]);
	assert.deepEqual([after.live.leftOut, after.live.text], [[leftOut], 'b']);
});

test('a paused call asks, and ends after the answer', () => {
	const records = journal('pauses');
	const asked = foldAll(emptyView(), records.slice(0, 8));
	assert.equal(asked.questions[0].elicitation.message, 'Which name?');
	assert.equal(findCall(asked, '1.1.0').call.state, 'asking');
	assert.equal(findCall(folded('pauses'), '1.1.0').call.state, 'finished');
});

// proves E1, E2
test('deltas are joined by offset, and what came twice is taken once', () => {
	let { view } = started();
	view = foldAll(view, [
		delta('TextDelta', { text: 'Größe ' }),
		delta('TextDelta', { text: 'Größe ' }),
		delta('TextDelta', { text: 'ße ist' }, { offset: 4 }),
		delta('TextDelta', { text: ' 3' }, { offset: 12 }),
	]);
	assert.equal(view.live.text, 'Größe ist 3');
});

// proves E1
test('another attempt takes over, and late fragments of the old one are dropped', () => {
	let { view } = started();
	view = foldEvent(view, delta('TextDelta', { text: 'old' }));
	view = foldEvent(view, delta('Cleared', {}));
	assert.equal(view.live.text, '');
	view = foldEvent(view, delta('TextDelta', { text: 'new' }, { attempt: 2 }));
	view = foldEvent(view, delta('TextDelta', { text: 'old again' }));
	assert.equal(view.live.text, 'new');
});

test('the record replaces the streamed text, and nothing is streamed after it', () => {
	const { make, view } = started();
	const streamed = foldEvent(view, delta('TextDelta', { text: 'Hel' }));
	const record = make(
		'ModelReplied',
		{ attempt: 1, model: 'small', parts: [{ type: 'text', text: 'Hello.' }], cost: 7 },
		{ run: 1, turn: 1, html: '<p>Hello.</p>' },
	);
	const done = foldEvent(streamed, record);
	assert.equal(done.live, null);
	assert.deepEqual([done.items.at(-1).text, done.items.at(-1).html], ['Hello.', '<p>Hello.</p>']);
	assert.equal(foldEvent(done, delta('TextDelta', { text: 'lo.' }, { offset: 3 })).live, null);
	assert.equal(done.runs[0].cost, 7);
});

test('thinking has a length only where both its ends were seen', () => {
	let { view } = started();
	view = foldAll(view, [
		{ ...delta('ThinkingStarted', {}), received: 1000 },
		delta('ThinkingDelta', { text: 'Hm.' }),
		{ ...delta('ThinkingEnded', {}, { offset: 3 }), received: 7000 },
	]);
	assert.deepEqual([view.live.thinking, view.live.thinkingMs, view.live.thinkingNow], ['Hm.', 6000, false]);
});

test('arguments are shown as they are written, and progress while the call runs', () => {
	const { make, view } = started();
	const writing = foldAll(view, [
		delta('CallDelta', { call: '1.1.0', name: 'run_command', text: '{"com' }),
		delta('CallDelta', { call: '1.1.0', text: 'mand"' }, { offset: 5 }),
	]);
	assert.deepEqual(writing.live.calls, [{ id: '1.1.0', name: 'run_command', text: '{"command"', bytes: 10 }]);
	const call = {
		call: '1.1.0',
		name: 'run_command',
		arguments: { command: 'ls' },
		effect: 'once',
		verdict: { verdict: 'allow' },
	};
	const running = foldAll(writing, [
		make('ModelReplied', { attempt: 1, model: 'small', parts: [{ type: 'call', index: 0 }] }, { run: 1, turn: 1 }),
		make('CallRequested', call, { run: 1, turn: 1 }),
		make('CallStarted', { call: '1.1.0' }, { run: 1, turn: 1 }),
		delta('CallDelta', { call: '1.1.0', text: 'a\n' }, { attempt: 0 }),
		delta('CallDelta', { call: '1.1.0', text: 'b\n' }, { attempt: 0 }),
	]);
	assert.equal(running.progress['1.1.0'], 'a\nb\n');
	const ended = foldEvent(
		running,
		make(
			'CallFinished',
			{ call: '1.1.0', outcome: 'ok', text: 'a\nb\n', took_ms: 5, exit: { code: 0 } },
			{ run: 1, turn: 1 },
		),
	);
	assert.deepEqual(ended.progress, {});
	assert.deepEqual(findCall(ended, '1.1.0').call.exit, { code: 0 });
});

// proves M7
test('a limit is read from the policy and raised by a yes', () => {
	const { make, view } = started();
	assert.deepEqual(view.runs[0].limits, { run_cost: 500000000 });
	const raised = foldAll(view, [
		make(
			'QuestionAsked',
			{
				question: 1,
				kind: { about: 'purse', limit: 'run_cost', raised_to: 900 },
				options: ['no', 'once'],
				default: 'no',
			},
			{ run: 1 },
		),
		make('QuestionAnswered', { question: 1, answer: { option: 'once' }, by: 'person' }, { run: 1 }),
	]);
	assert.deepEqual(raised.runs[0].limits, { run_cost: 900 });
	assert.deepEqual(raised.questions, []);
});

test('a failed run leaves the session failed until another begins', () => {
	const { make, view } = started();
	const failed = foldEvent(
		view,
		make('RunEnded', { reason: 'failed', answer: '', failure: { class: 'auth', message: 'No.' } }, { run: 1 }),
	);
	assert.equal(statusOf(failed), 'failed');
	assert.equal(
		statusOf(foldEvent(failed, make('RunStarted', { run: 2, policy: {}, chain: [] }, { run: 2 }))),
		'processing',
	);
});

test('a record in a form that is not known becomes a line, and the rest is shown', () => {
	const { make, view } = started();
	const after = foldAll(view, [
		make('PlanChanged', { steps: 3 }, { run: 1 }),
		make('MessageAccepted', { message_id: 'n', text: 'On.' }),
	]);
	assert.deepEqual(
		after.items.slice(-2).map((item) => item.what ?? item.type),
		['unknown', 'message'],
	);
});

test('10,000 messages fold in less than a second', () => {
	const make = recorder();
	const records = opening(make);
	for (let n = 0; n < 10000; n++) records.push(make('MessageAccepted', { message_id: `m${n}`, text: 'again' }));
	const before = performance.now();
	assert.equal(foldAll(emptyView(), records).items.length, 10002);
	assert.ok(performance.now() - before < 1000);
});
