// How the page finds, opens and reads out sessions: the modules below the drawing.

import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ApiError, api } from '../js/api.js';
import { emptyView, foldAll } from '../js/fold.js';
import { EventStream } from '../js/event_stream.js';
import { Announcer } from '../js/notifications.js';
import { SessionFeed } from '../js/session_feed.js';
import { SessionLoader } from '../js/session_loader.js';
import { recorder } from './journals.mjs';

// A promise that is settled from outside.
function later() {
	const made = {};
	made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
	return made;
}

test('the rail keeps as many rows as it shows, and an older answer never takes the place of a newer one', async () => {
	const [asked, answers] = [[], [later(), later(), later()]];
	const loader = new SessionLoader((query) => {
		asked.push(query.limit);
		return answers[asked.length - 1].promise;
	});
	const slow = loader.load();
	loader.more(100);
	loader.more(100);
	const more = loader.load();
	const poll = loader.load();
	assert.deepEqual(asked, [100, 200, 200]);
	answers[1].resolve({ sessions: ['more'], next: null });
	answers[0].resolve({ sessions: ['slow'], next: 'x' });
	answers[2].resolve({ sessions: ['poll'], next: null });
	assert.deepEqual(await Promise.all([slow, more, poll]), [null, ['more'], ['poll']]);
	assert.equal(loader.next, null);
	loader.more(990);
	assert.equal(loader.limit, 1000);
	loader.look({ search: 'sails' });
	assert.equal(loader.limit, 100);
});

test('a hidden page looks for sessions only to tell of them, and less often', async () => {
	const loader = new SessionLoader(async () => ({ sessions: [], next: null }));
	const due = (now, hidden, notifying) => loader.due(now, { hidden, notifying });
	await loader.load(1000);
	assert.deepEqual([due(6000, false, false), due(6000, true, true), due(16000, true, true)], [true, false, true]);
	assert.equal(due(60000, true, false), false);
});

test('sentences are said once, and only those of the conversation', () => {
	const said = [];
	class Heard extends Announcer {
		say(words) {
			if (words) said.push(words);
		}
	}
	const heard = new Heard(null);
	const make = recorder();
	let view = emptyView();
	const happens = (...events) => {
		const before = view;
		view = foldAll(view, events);
		heard.hear(before, view);
	};
	const turn = (number, mode) => make('TurnStarted', { turn: number, mode }, { run: 1, turn: number });
	const text = (number, offset, words) => ({
		run: 1,
		turn: number,
		attempt: 1,
		offset,
		kind: 'TextDelta',
		body: { text: words },
	});
	const reply = (number, words, role) =>
		make(
			'ModelReplied',
			{ attempt: 1, model: 'm', parts: [{ type: 'text', text: words }], stop: 'stop', usage: {}, role },
			{ run: 1, turn: number },
		);
	happens(turn(1, 'plan'), text(1, 0, 'A plan. Then '));
	happens(reply(1, 'A plan. Then more.', 'planner'));
	happens(turn(2, 'tools'), text(2, 0, 'It is done. And '));
	happens(text(2, 16, 'well'));
	happens(reply(2, 'It is done. And well.'));
	happens(turn(3, 'tools'), text(3, 0, 'Short'), reply(3, 'Short.'));
	happens(reply(4, 'A title.', 'title'));
	assert.deepEqual(said, ['It is done.', 'And well.', 'Short.']);
});

test('older records that could not be loaded are asked for again a little later', async (context) => {
	context.mock.timers.enable({ apis: ['Date'] });
	const errors = [];
	const answers = [() => Promise.reject(new ApiError(503, 'draining', 'no')), () => ({ records: [], more: false })];
	const asked = context.mock.method(api, 'records', async () => answers.shift()());
	const feed = new SessionFeed('s', { onChange() {}, onState() {}, onError: (error) => errors.push(error.kind) });
	feed.more = true;
	await feed.loadOlder();
	await feed.loadOlder();
	assert.deepEqual([asked.mock.callCount(), feed.more, errors], [1, true, ['draining']]);
	context.mock.timers.tick(5000);
	await feed.loadOlder();
	assert.deepEqual([asked.mock.callCount(), feed.more], [2, false]);
	assert.equal(asked.mock.calls[0].arguments[2], asked.mock.calls[1].arguments[2], 'a failed page counts for nothing');
});

test('a session whose server is away is tried until it can be read, and never after it was closed', async (context) => {
	context.mock.timers.enable({ apis: ['setTimeout'] });
	const [errors, begun] = [[], later()];
	const away = new ApiError(0, 'unreachable', 'no');
	const asked = context.mock.method(api, 'records', () => Promise.reject(away));
	const feed = new SessionFeed('s', { onChange() {}, onState() {}, onError: (error) => errors.push(error.kind) });
	const opened = feed.open();
	for (let tries = 1; tries <= 3; tries++) {
		while (asked.mock.callCount() < tries) await null;
		for (let step = 0; step < 10; step++) await null;
		context.mock.timers.tick(10000);
	}
	assert.deepEqual(errors, ['unreachable'], 'the same error is reported once');
	asked.mock.mockImplementation(() => begun.promise);
	while (asked.mock.callCount() < 4) await null;
	feed.close();
	begun.resolve({ records: [], more: false });
	await opened;
	assert.equal(feed.stream, undefined);
});

test('the page names every module it needs, so that they are loaded at once', () => {
	const source = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
	const needed = new Set();
	const add = (name) => {
		if (needed.has(name)) return;
		needed.add(name);
		for (const [, other] of source(`js/${name}`).matchAll(/from '\.\/([\w.]+)'/g)) add(other);
	};
	add('main.js');
	needed.delete('main.js');
	const named = [...source('index.html').matchAll(/modulepreload" href="\/assets\/js\/([\w.]+)"/g)].map((found) => found[1]);
	assert.deepEqual(named, [...needed].sort());
});

test('a stream that the server gives up says why, and a closed one says nothing', async (context) => {
	globalThis.addEventListener ??= () => {};
	globalThis.removeEventListener ??= () => {};
	const sent = 'id: 1\ndata: {"seq":1}\n\nevent: error\ndata: {"kind":"store","message":"no","hint":null}\n\n';
	const asked = context.mock.method(globalThis, 'fetch', async () => new Response(sent));
	const [seen, states] = [[], []];
	const refused = later();
	const stream = new EventStream('s', {
		after: 0,
		onEvents: (events) => seen.push(...events),
		onState: (state) => states.push(state),
		onRefused: (error) => refused.resolve(error),
	});
	assert.deepEqual([(await refused.promise).kind, seen, states], ['store', [{ seq: 1 }], ['refused']]);
	assert.equal(asked.mock.callCount(), 1, 'it is not tried again');
	stream.close();
	stream.say('lost');
	assert.deepEqual(states, ['refused']);
});
