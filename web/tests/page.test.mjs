import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isFinal, nextConnection, parseStream, waitBefore } from '../js/event_stream.js';
import { RowHeights, isAtEnd } from '../js/virtual_rows.js';
import { commandOf } from '../js/commands.js';
import { KEYS, actionFor } from '../js/keys.js';
import { blocksOf, inlineOf } from '../js/live_blocks.js';
import { visibleLine, visibleText } from '../js/visible_text.js';
import { compareTexts, diffCounts, diffLines, diffOfCall, looksLikeDiff } from '../js/diff.js';
import { parseRoute, sessionRoute } from '../js/router.js';
import { emptyView, foldAll } from '../js/fold.js';
import { joinViews } from '../js/join_views.js';
import { rowsOf } from '../js/rows.js';
import { callAsked } from '../js/question_card.js';
import { spentOf } from '../js/limit_meters.js';
import { lineOf } from '../js/line_words.js';
import { workingOf } from '../js/working.js';
import { placeOf, stopAt } from '../js/scrubber.js';
import { delta, journal, recorder } from './journals.mjs';

// proves E1
test('a stream cut anywhere gives the same events', () => {
	const text = ': beat\n\nid: 1\ndata: {"seq":1}\n\ndata: {"a":\ndata: 2}\r\n\r\nevent: error\ndata: {"kind":"store"}\n\n';
	const events = [
		{ name: 'message', data: '{"seq":1}' },
		{ name: 'message', data: '{"a":\n2}' },
		{ name: 'error', data: '{"kind":"store"}' },
	];
	for (let cut = 0; cut <= text.length; cut++) {
		const first = parseStream('', text.slice(0, cut));
		const second = parseStream(first.rest, text.slice(cut));
		assert.deepEqual([...first.events, ...second.events], events, `cut at ${cut}`);
	}
});

test('waits grow to ten seconds and are spread', () => {
	assert.ok(waitBefore(0, 0) < waitBefore(3, 0));
	assert.equal(waitBefore(50, 1), 10000);
	assert.ok(waitBefore(4, 0) < waitBefore(4, 1));
});

test('a lost connection is said, and that it is back', () => {
	const said = ['opened', 'lost', 'lost', 'opened', 'settled'].reduce(
		(states, what) => [...states, nextConnection(states.at(-1), what)],
		['live'],
	);
	assert.deepEqual(said, ['live', 'live', 'lost', 'lost', 'back', 'live']);
	assert.deepEqual([401, 404, 429, 503].map(isFinal), [true, true, false, false]);
});

test('heights give offsets, rows and ranges', () => {
	const rows = new RowHeights([10, 20, 30, 40]);
	assert.deepEqual(
		[0, 1, 4].map((index) => rows.offset(index)),
		[0, 10, 100],
	);
	assert.deepEqual(
		[-5, 0, 9, 10, 59, 60, 1000].map((pixel) => rows.at(pixel)),
		[0, 0, 0, 1, 2, 3, 3],
	);
	assert.deepEqual(rows.range(12, 20, 0), { start: 1, end: 3 });
	assert.equal(rows.set(0, 15), true);
	assert.equal(rows.set(0, 15), false);
	assert.equal(rows.total, 105);
	assert.deepEqual(new RowHeights().range(0, 100, 50), { start: 0, end: 0 });
	assert.ok(isAtEnd(60, 40, 105) && !isAtEnd(0, 40, 105));
});

test('keys mean nothing while a person types, except escape and the palette', () => {
	const press = (key, more = {}) => actionFor({ key, ...more }, { asking: true, running: true });
	assert.deepEqual(press('3'), { name: 'answer', number: 3 });
	assert.equal(press('3', { typing: true }), null);
	assert.equal(press('n', { ctrl: true }), null);
	assert.deepEqual(press('k', { ctrl: true, typing: true }), { name: 'palette' });
	assert.deepEqual(press('Escape', { typing: true }), { name: 'leave' });
	assert.equal(press('Escape', { composing: true }), null);
	assert.equal(actionFor({ key: '1' }, {}), null);
	assert.equal(actionFor({ key: 'j' }, { overlay: true }), null);
	for (const key of ['?', '/', 'n', 'j', 'k', '[', ']', 'e']) assert.ok(actionFor({ key }, {}), key);
	assert.equal(KEYS.length, new Set(KEYS.map(([key]) => key)).size);
});

// proves X4
test('control and bidi characters are made visible', () => {
	assert.equal(visibleLine('a\u202eb\u0007\nc\u0000'), 'a⟨U+202E⟩b␇␊c␀');
	assert.equal(visibleText('one\ttwo\r\nthree\u200b'), 'one\ttwo\nthree⟨U+200B⟩');
	assert.equal(visibleText('tag\u{e0041} \u00ad\u3164'), 'tag⟨U+E0041⟩ ⟨U+00AD⟩⟨U+3164⟩');
	for (const text of ['👨\u200d👩', 'می\u200cخواهم', 'e\u0301', '❤\ufe0f']) assert.equal(visibleText(text), text);
	assert.equal(visibleText('a\u200db'), 'a⟨U+200D⟩b');
});

// proves X4: one table for the terminal, the server's HTML and the page
test('the page shows the same characters as the terminal', () => {
	const source = readFileSync(new URL('../../crates/narrate/src/harmless.rs', import.meta.url), 'utf8');
	const table = source.slice(source.indexOf('const fn harmless('), source.indexOf('_ => c'));
	const harmful = new Set();
	for (const [, from, to] of table.matchAll(/'\\u\{(\w+)\}'(?:\.\.='\\u\{(\w+)\}')?/g)) {
		if (from === 'fffd') continue;
		for (let code = parseInt(from, 16); code <= parseInt(to ?? from, 16); code++) harmful.add(code);
	}
	assert.ok(harmful.size > 4000);
	for (let code = 0; code <= 0x10ffff; code++) {
		const text = `a${String.fromCodePoint(code)}`;
		const shown = visibleText(text) !== text;
		if (shown !== (harmful.has(code) && code !== 9 && code !== 10)) assert.fail(code.toString(16));
	}
});

test('a diff is read, or made of two texts', () => {
	const lines = diffLines('--- a\n+++ a\n@@ -1 +1 @@\n same\n-old\n+new');
	assert.deepEqual(
		lines.map((line) => line.kind),
		['head', 'head', 'head', 'same', 'remove', 'add'],
	);
	// As many lines as the hunk's head says are lines of the file, whatever they look like.
	const tricky = diffLines(
		'--- a\n+++ a\n@@ -1,3 +1,3 @@\n-- only admins\n--- only admins\n+++i;\n++\n@@ same\n\\ No newline\n[2 more lines]',
	);
	assert.deepEqual(
		tricky.map(({ kind, text }) => `${kind}:${text}`).slice(3),
		['remove:- only admins', 'remove:-- only admins', 'add:++i;', 'add:+', 'head:@@ same', 'head:\\ No newline'].concat(
			'head:[2 more lines]',
		),
	);
	const two = '@@ -1 +1 @@\n--- x\n+++ y\n@@ -9 +9 @@\n--- z\n+++ z';
	assert.deepEqual(
		diffLines(two).map((line) => line.kind),
		['head', 'remove', 'add', 'head', 'remove', 'add'],
	);
	assert.ok(looksLikeDiff('--- a\n+++ b\n') && !looksLikeDiff('in the sandbox'));
	assert.deepEqual(diffCounts(compareTexts('a\nb\nc', 'a\nx\nc\nd')), { added: 2, removed: 1 });
});

test('what a call adds is its diff: a new file, or text at the end of one', () => {
	const write = { tool: 'local.write_file', arguments: { path: 'a/b', content: 'one\ntwo\n' } };
	const changes = (...kinds) => ({ ...write, changes: kinds.map((change) => ({ path: 'x', change })) });
	assert.equal(diffOfCall(write), null);
	assert.equal(diffOfCall(changes('changed')), null);
	assert.deepEqual(diffCounts(diffOfCall(changes('created', 'created'))), { added: 2, removed: 0 });
	const append = { tool: 'local.append_file', arguments: { path: 'a', text: 'more' } };
	assert.deepEqual(diffOfCall(append), [{ kind: 'add', text: 'more' }]);
});

// proves W6
test('a command is run, an unknown one refused with the nearest, and two slashes send it', () => {
	assert.deepEqual(commandOf('/stop'), { run: 'stop' });
	assert.deepEqual(commandOf('/Stpo'), { unknown: 'stpo', nearest: 'stop' });
	assert.deepEqual(commandOf('//stop'), { send: '/stop' });
	assert.deepEqual(commandOf('/etc/passwd is a file'), { send: '/etc/passwd is a file' });
});

test('an address names what is shown', () => {
	assert.deepEqual(parseRoute(sessionRoute('a/b')), { name: 'session', id: 'a/b' });
	assert.deepEqual(
		['', '#/usage', '#/nonsense'].map((hash) => parseRoute(hash).name),
		['new', 'usage', 'new'],
	);
	assert.equal(parseRoute('#conversation'), null, 'a place on the page is no route');
	assert.deepEqual(parseRoute('#/s/%'), { name: 'session', id: '%' });
});

test('rows leave out what is not said, and stay the same while their item does', () => {
	const view = foldAll(emptyView(), journal('plan'));
	const rows = rowsOf(view);
	assert.ok(!rows.some((row) => row.type === 'reply' && row.item.role === 'planner'));
	assert.equal(rows.at(-1).repeated, true);
	assert.deepEqual(
		rowsOf(view).map((row) => row === rows[rowsOf(view).indexOf(row)]),
		rows.map(() => true),
	);
});

test('the scrubber comes to rest at the end of a batch, and a step back leaves the batch', () => {
	const batch = (first, length) => Array.from({ length }, (_, n) => ({ seq: first + n, batch: [n, length] }));
	const records = [...batch(1, 1), ...batch(2, 3), ...batch(5, 2)];
	assert.deepEqual(
		[5, 4, 3, 1, 0].map((to) => stopAt(records, 5, to)),
		[5, 3, 3, 3, 0],
	);
	assert.equal(stopAt(records, 3, 2), 0);
	assert.equal(stopAt(records, 0, 1), 3);
	assert.equal(stopAt(batch(7, 2), 1, 0), 1);
});

test('the scrubber stays at its record when others are added before and after it', () => {
	const records = (from, to) => Array.from({ length: to - from + 1 }, (_, n) => ({ seq: from + n }));
	assert.deepEqual([placeOf(records(5, 9), 7), placeOf(records(1, 12), 7)], [2, 6]);
	assert.deepEqual([placeOf(records(5, 9), null), placeOf(records(5, 9), 3)], [4, 0]);
});

test('a text that breaks off anywhere has the blocks of the whole text up to there', () => {
	const text = '# Head\n\nOne\ntwo.\n- a\n- b\n\n```rust\nfn x() {\n\n}\n```\n1. first\n\n| a |\n|-|\nend';
	assert.deepEqual(
		blocksOf(text).map(({ kind, text: words }) => [kind, words]),
		[
			['head', 'Head'],
			['text', 'One\ntwo.'],
			['point', 'a'],
			['point', 'b'],
			['code', 'fn x() {\n\n}'],
			['point', 'first'],
			['table', '| a |\n|-|\nend'],
		],
	);
	for (let cut = 1; cut < text.length; cut++) {
		// Going on from where the last block begins gives the same as reading everything again.
		const before = blocksOf(text.slice(0, cut));
		const from = before.at(-1).at;
		const after = blocksOf(text.slice(from)).map((block) => ({ ...block, at: block.at + from }));
		assert.deepEqual([...before.slice(0, -1), ...after], blocksOf(text), `cut at ${cut}`);
	}
});

test('marks in a line are taken in pairs only', () => {
	assert.deepEqual(
		inlineOf('a `b` **c** **`d`** `e').map(({ kind, text }) => `${kind}:${text}`),
		['text:a ', 'code:b', 'text: ', 'strong:c', 'text: ', 'strong:d', 'text: `e'],
	);
	assert.deepEqual(inlineOf('<b>x</b>'), [{ kind: 'text', text: '<b>x</b>' }]);
});

// proves T8: a step's question names a call of the step's session, whatever call of this session has the same id
test('the question of a step is about no call of this session', () => {
	const make = recorder();
	const call = { call: '1.1.0', name: 'write_file', arguments: { path: 'mine' }, effect: 'once', verdict: {} };
	const view = foldAll(emptyView(), [make('CallRequested', call, { run: 1, turn: 1 })]);
	const approval = { about: 'approval', call: '1.1.0' };
	assert.equal(callAsked({ kind: approval }, view).name, 'write_file');
	const step = { about: 'step', child: '1.0.0', step: 0, question: 1, subject: approval };
	assert.equal(callAsked({ kind: step }, view), null);
});

// proves M7
test('a meter counts what its limit is about: the run, the session, the day', () => {
	const make = recorder();
	const started = (run, more) => make('RunStarted', { run, policy: {}, chain: [], ...more }, { run });
	const replied = (run, input, cost) =>
		make('ModelReplied', { attempt: 1, model: 'm', parts: [], usage: { input, output: 1 }, cost }, { run, turn: 1 });
	const view = foldAll(emptyView(), [
		started(1),
		replied(1, 10, 5),
		make('RunEnded', { reason: 'completed', answer: '' }, { run: 1 }),
		started(2, { spent_today: { cost: 1000, tokens: 500 }, spent_by_agent: { cost: 100, tokens: 50 } }),
		replied(2, 20, 7),
	]);
	const spent = (name) => spentOf(view, name, Date.parse(view.runs[1].startedAt) + 1500);
	assert.deepEqual(['run_tokens', 'session_tokens', 'day_tokens', 'agent_tokens'].map(spent), [21, 32, 521, 71]);
	assert.deepEqual(['run_cost', 'session_cost', 'day_cost', 'agent_cost'].map(spent), [7, 12, 1007, 107]);
	assert.equal(spent('run_time'), 1500);
});

test('while a failed call waits to be tried again, it is said when', () => {
	const make = recorder();
	const next = { do: 'retry', at: '2026-01-01T10:05:00.000Z' };
	const view = foldAll(emptyView(), [
		make('RunStarted', { run: 1, policy: {}, chain: [] }, { run: 1 }),
		make('TurnStarted', { turn: 1, mode: 'tools' }, { run: 1, turn: 1 }),
		make('AttemptFailed', { attempt: 1, model: 'm', failure: { message: '429' }, next }, { run: 1, turn: 1 }),
	]);
	const { words, until } = workingOf(view, Date.parse('2026-01-01T10:03:20.500Z'));
	assert.equal(until, next.at);
	assert.equal(words, 'Tries again in 1\u00a0min\u00a040\u00a0s');
	assert.equal(workingOf(view, Date.parse(next.at)).words, 'Waiting for the model…');
	assert.equal(workingOf(foldAll(view, [delta('TextDelta', { text: 'a' }, { attempt: 2 })]), 0), null);
});

test('lines say what the records hold: a reason, what was left alone, a summary, another session', () => {
	const make = recorder();
	const view = foldAll(emptyView(), [
		make('SessionOpened', { owner: 'a', key: 'k', forked_from: [{ session: 'origin', seq: 4 }] }),
		make('QuestionAnswered', { question: 1, answer: { option: 'no', reason: 'precious' }, by: 'person' }),
		make('Undone', { undo: 1, left_alone: { 'a.md': 'changed since' }, told: '' }),
		make('Undone', { undo: 2, told: '' }),
		make('Compacted', { epoch: 1, method: 'summarised', through: 3, summary: 'They sailed.' }),
		make('ContextPinned', { joined: ['git'] }),
		make('ChildReported', { child: '1.0.0', session: 'child', reason: 'completed', answer: 'Sailed.' }),
	]);
	const said = view.items.map(lineOf);
	assert.deepEqual(said.map(({ words }) => words).slice(1, 4), [
		'you answered: no (“precious”)',
		'left as they are: a.md (changed since)',
		'files were put back',
	]);
	assert.match(said[5].words, /tools of git/);
	assert.deepEqual([said[0].session, said[4].summary, said[6].session], ['origin', 'They sailed.', 'child']);
});

test('the end of a run has its calls and its beginning once the page that begins it is loaded', () => {
	const make = recorder();
	const call = (id) => ({ call: id, name: 'todo', arguments: {}, effect: 'once', verdict: {} });
	const older = [
		make('RunStarted', { run: 1, policy: {}, chain: [] }, { run: 1 }),
		make('CallRequested', call('1.1.0'), { run: 1, turn: 1 }),
	];
	const newer = foldAll(emptyView(), [
		make('CallRequested', call('1.2.0'), { run: 1, turn: 2 }),
		make('RunEnded', { reason: 'completed', answer: '' }, { run: 1 }),
	]);
	const endOf = (view) => rowsOf(view).find((row) => row.type === 'end');
	const before = endOf(newer);
	assert.equal(before.run.startedAt, null);
	const after = endOf(joinViews(foldAll(emptyView(), older), newer));
	assert.notEqual(after, before, 'it is drawn again');
	assert.deepEqual([after.run.startedAt, after.run.calls], [older[0].at, 2]);
});

test('a change of the model between runs is a line', () => {
	const make = recorder();
	const start = (run, model) => make('RunStarted', { run, policy: {}, chain: [model] }, { run });
	const view = foldAll(emptyView(), [
		start(1, 'small'),
		make('RunEnded', { reason: 'completed', answer: '' }, { run: 1 }),
		start(2, 'large'),
	]);
	assert.deepEqual(
		rowsOf(view).map((row) => row.item?.what ?? row.type),
		['end', 'model_change', 'live'],
	);
});
