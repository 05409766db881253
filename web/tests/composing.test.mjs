// What is written, asked and answered: the modules below the composer and the card of a question.

import test from 'node:test';
import assert from 'node:assert/strict';
import { actionFor } from '../js/keys.js';
import { editedArguments } from '../js/answer_forms.js';
import { emptyView, foldAll } from '../js/fold.js';
import { leftWords } from '../js/question_card.js';
import { modelNow } from '../js/model_choice.js';
import { nameOf, plainName, secondLine, titleFrom } from '../js/titles.js';
import { SentMessages } from '../js/sent_messages.js';
import { recorder } from './journals.mjs';

// proves W4: nobody stops a run who wants to get out of a field or of a question
test('escape first closes or leaves, and only then stops the run', () => {
	const escape = (press, page) => actionFor({ key: 'Escape', ...press }, page)?.name ?? null;
	const running = { running: true };
	assert.equal(escape({}, running), 'stop');
	assert.equal(escape({ typing: true }, running), 'stop', 'an empty composer holds nothing');
	assert.equal(escape({ typing: true, holdsText: true }, running), 'leave');
	assert.equal(escape({ typing: true, holdsText: true, again: true }, running), 'leave');
	const asking = { running: true, asking: true };
	assert.equal(escape({}, asking), 'leave');
	assert.equal(escape({ typing: true }, asking), 'leave');
	assert.equal(escape({ again: true }, asking), 'stop');
	assert.equal(escape({ again: true, repeated: true }, asking), null, 'a key that is held down presses once');
	assert.equal(escape({ typing: true, holdsText: true }, {}), 'leave');
	assert.equal(escape({}, {}), null);
	assert.equal(escape({ again: true }, { ...asking, drawer: true }), 'close');
});

// proves W4: a session keeps the name that its first message gave it
test('a title is the beginning of the first message, and the newest message is not said twice', () => {
	assert.equal(titleFrom('  Set\n\tthe sails '), 'Set the sails');
	assert.equal(titleFrom(' ', [{ name: 'chart.png' }]), 'chart.png');
	assert.equal(titleFrom(''), null);
	const long = titleFrom(`${'sail '.repeat(40)}`);
	assert.ok(long.length <= 80 && long.endsWith('sail…'), long);
	assert.equal([...titleFrom('⛵'.repeat(300))].length, 80);
	const row = { title: 'Set the sails', last_prompt: 'Set the sails', key: 'page-0123456789ab' };
	assert.equal(secondLine(row), null);
	assert.equal(secondLine({ ...row, title: long, last_prompt: 'sail '.repeat(40) }), null, 'nor where it was cut');
	assert.equal(secondLine({ ...row, last_prompt: 'and\nthen?' }), 'and then?');
	assert.equal(secondLine({ ...row, title: null }), null);
	assert.equal(nameOf({ ...row, last_prompt: 'and then?' }), 'Set the sails');
	assert.equal(nameOf({ title: null, last_prompt: 'Weigh\nanchor', key: 'notes' }), 'Weigh anchor');
	assert.equal(nameOf({ title: null, last_prompt: null, key: 'notes' }), 'notes');
	assert.equal(nameOf({ title: null, last_prompt: null, key: 'page-0123456789ab' }), 'Untitled');
	assert.equal(plainName({ title: null, last_prompt: null, key: 'page-0123456789ab' }), '');
});

// proves T8: what runs is what was edited, and nothing else of the call changes
test('a command is edited as a command, other calls as their arguments', () => {
	const given = { command: 'rm -r all', timeout: 5 };
	assert.deepEqual(editedArguments(given, 'ls'), { arguments: { command: 'ls', timeout: 5 } });
	assert.deepEqual(editedArguments(given, ' \n'), { problem: 'Write a command.' });
	assert.deepEqual(editedArguments({ path: 'a' }, '{"path": "b"}'), { arguments: { path: 'b' } });
	assert.match(editedArguments({ path: 'a' }, '{').problem, /not valid JSON/);
});

test('a card says what happens when its time is up', () => {
	const words = (about, answer) => leftWords({ kind: { about }, default: answer }, 299_400);
	assert.equal(words('approval', 'no'), 'Denied in 5:00');
	assert.equal(words('purse', 'no'), 'Stops in 5:00');
	assert.equal(words('settlement', 'interrupt'), 'In 5:00: don’t run it again');
});

test('the model that is named is the one of the run, or the one that answers next', () => {
	const make = recorder();
	const view = (...records) => foldAll(emptyView(), records);
	const ran = [
		make('RunStarted', { run: 1, policy: {}, chain: ['old'] }, { run: 1 }),
		make('RunEnded', { reason: 'completed', answer: '' }, { run: 1 }),
	];
	const me = { demo: false, model: 'new' };
	assert.equal(modelNow(null, me), 'new');
	assert.equal(modelNow(view(ran[0]), me), 'old');
	assert.equal(modelNow(view(...ran), me), 'new');
	assert.equal(modelNow(null, { demo: true, model: null }), 'demo');
	assert.equal(modelNow(view(...ran), { demo: true, model: null }), 'old', 'its session goes on with no other');
});

// proves L8: a stop drops what was not read, and nobody has to write it again
test('what a stop drops comes back once, to the page that sent it', () => {
	const make = recorder();
	const began = make('RunStarted', { run: 1, policy: {}, chain: [] }, { run: 1 });
	const joined = make('MessageAccepted', { message_id: 'b', text: 'joined' }, { run: 1 });
	const asked = (by) => make('CancelAsked', { by }, { run: 1 });
	const ended = make('RunEnded', { reason: 'cancelled', answer: '', dropped: ['b'] }, { run: 1 });
	const sent = new SentMessages();
	const back = (...records) => sent.takeBack(foldAll(emptyView(), records), records).map(({ text }) => text);
	const add = () => {
		sent.add({ id: 'a', text: 'waits', files: [] });
		sent.add({ id: 'b', text: 'joined', files: [] });
	};
	add();
	assert.deepEqual(back(began, joined, asked('deadline'), ended), [], 'a deadline drops nothing');
	assert.deepEqual(back(began, joined, asked('person'), ended), ['joined', 'waits']);
	assert.deepEqual(back(began, joined, asked('person'), ended), [], 'not twice');
	// Sent before the page was opened: it comes back where this page stopped the run.
	sent.stopping = true;
	assert.deepEqual(back(began, joined, asked('person'), ended), ['joined']);
	add();
	const done = make('RunEnded', { reason: 'completed', answer: '' }, { run: 1 });
	assert.deepEqual(back(began, joined, done), [], 'what waits at the end of a run is taken up');
});
