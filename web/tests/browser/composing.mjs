// What is written, answered and stopped: nothing runs but what was meant, and no text is lost on its way.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { tooLow } from './judge.mjs';
import { answer, asked, composer, ended, question, send, unasked } from './steps.mjs';

const command = (line) => call('run_command', { command: line });

const scenes = [
	scene('edit me', command('echo wrong > edited.txt'), say('As you changed it.')),
	scene('write it', call('write_file', { path: 'plan.txt', content: 'wrong\n' }), say('Written.')),
	scene('halt', command('sleep 600'), say('Then not.')),
	scene('hello', say('Good morning.')),
	scene('second', say('And again.')),
	scene('other words', say('Other words, indeed.')),
];

const text = (page, words) =>
	page.waitForFunction((one) => document.querySelector('#composer-text').value === one, words);
const focusOf = (page) => page.evaluate(() => document.activeElement.id);
const about = (page) => page.locator('#composer .about');
const newSession = (page) => page.locator('#rail button', { hasText: 'New session' }).click();
const sessions = (page) => page.evaluate(async () => (await (await fetch('/api/sessions')).json()).sessions.length);

// While a command is edited, no answer is there that would run the one before.
async function editCalls(stage, page) {
	await send(page, 'edit me');
	await asked(page, 'echo wrong');
	await question(page).locator('.asks', { hasText: 'In strict mode every change asks first.' }).waitFor();
	await question(page).locator('.left', { hasText: /^Denied in \d:\d\d$/ }).waitFor();
	await answer(page, 4);
	const field = question(page).locator('textarea');
	assert.equal(await field.inputValue(), 'echo wrong > edited.txt');
	const shown = await question(page).locator('button:visible').allInnerTexts();
	assert.deepEqual(
		shown.map((words) => words.split('\n').at(-1).replace(/^(Ctrl Enter|Esc)/, '')),
		['Run the edited command', 'Cancel'],
	);
	await stage.shot(page, 'editing-a-command');
	await page.locator('#conversation').focus();
	await page.keyboard.press('1');
	await page.keyboard.press('5');
	assert.ok(await field.isVisible(), 'the keys of the answers are off');
	await field.press('Escape');
	await field.waitFor({ state: 'detached' });
	assert.equal(await focusOf(page), 'question');
	assert.equal(await question(page).locator('.answers button:visible').count(), 5);
	await page.locator('#question[data-ready]').waitFor();
	await page.keyboard.press('4');
	await field.fill(' ');
	await field.press('Control+Enter');
	await question(page).locator('[role=alert]', { hasText: 'Write a command.' }).waitFor();
	await field.fill('echo right > edited.txt');
	await field.press('Control+Enter');
	assert.equal(await ended(page, 1), 'Done');
	assert.equal(stage.file('edited.txt'), 'right\n');

	await send(page, 'write it');
	await asked(page, 'plan.txt');
	await answer(page, 4);
	await field.fill('{ not json');
	await question(page).locator('button.main:visible').click();
	await question(page).locator('[role=alert]', { hasText: 'not valid JSON' }).waitFor();
	await field.fill('{"path": "plan.txt", "content": "right\\n"}');
	await question(page).locator('button', { hasText: 'Run with these arguments' }).click();
	assert.equal(await ended(page, 2), 'Done');
	assert.equal(stage.file('plan.txt'), 'right\n');
}

// Escape leaves a field with text and a question before it stops anything; a stop gives back what was not read.
async function escapes(page) {
	const keys = page.keyboard;
	const card = () =>
		page.waitForFunction(() => document.querySelector('#question[data-ready]')?.contains(document.activeElement));
	await send(page, 'halt');
	await asked(page, 'sleep 600');
	// The card takes the focus from the empty composer, and gives it back to who writes on: "n" opens no new session.
	await card();
	await keys.type('never mind');
	await text(page, 'never mind');
	await composer(page).fill('');
	await question(page).focus();
	await keys.press('Escape');
	assert.equal(await focusOf(page), 'conversation');
	assert.ok(await question(page).isVisible(), 'it still asks');
	await answer(page, 1);
	await page.locator('.mark.running').waitFor();
	await page.locator('#composer .hint', { hasText: 'Working. Esc stops' }).waitFor();
	await composer(page).fill('half a thought');
	await keys.press('Escape');
	assert.equal(await focusOf(page), 'conversation');
	assert.ok(await page.locator('.mark.running').isVisible(), 'it still works');
	await text(page, 'half a thought');
	await keys.press('Escape');
	assert.equal(await ended(page, 3), 'Stopped');
	await text(page, 'half a thought');

	await send(page, 'halt');
	await asked(page, 'sleep 600');
	await answer(page, 1);
	await page.locator('.mark.running').waitFor();
	await send(page, 'and then\nthis');
	await page.locator('.message', { hasText: 'and then' }).waitFor();
	await composer(page).fill('and that');
	await page.locator('#composer button', { hasText: 'Stop' }).click();
	assert.equal(await ended(page, 4), 'Stopped');
	await text(page, 'and then\nthis\nand that');
	await page.locator('.toast', { hasText: 'in the composer again' }).waitFor();
	await composer(page).fill('');
}

// A session is named by its first message, and what is typed while it opens stays.
async function begins(page) {
	await newSession(page);
	await page.locator('.welcome').waitFor();
	await page.evaluate(() => {
		const type = () => {
			const field = document.querySelector('#composer-text');
			field.value += 'typed meanwhile';
			field.dispatchEvent(new Event('input'));
		};
		addEventListener('hashchange', type, { capture: true, once: true });
	});
	await send(page, 'hello there, hello');
	assert.equal(await ended(page, 1), 'Done');
	await text(page, 'typed meanwhile');
	const row = page.locator('.session', { has: page.locator('a[aria-current]') });
	assert.equal(await row.locator('.name').innerText(), 'hello there, hello');
	assert.equal(await row.locator('.prompt').count(), 0, 'the name is not said twice');
	await send(page, 'second');
	await ended(page, 2);
	await row.locator('.prompt', { hasText: 'second' }).waitFor();
	assert.equal(await row.locator('.name').innerText(), 'hello there, hello');
	await page.locator('#head .title').click();
	assert.equal(await page.locator('#head input.title').inputValue(), 'hello there, hello');
	await page.keyboard.press('Escape');
}

// Editing a message forks when it is sent, and not before; the draft stays where it was.
async function edits(stage, page) {
	const before = await sessions(page);
	const address = page.url();
	await composer(page).fill('a draft');
	await page.keyboard.press('Escape');
	await page.keyboard.press('e');
	await text(page, 'second');
	await about(page).filter({ hasText: 'You are editing a message' }).waitFor();
	await stage.shot(page, 'editing-a-message');
	await page.reload();
	await text(page, 'second');
	await page.locator('.end[data-run="2"]').waitFor();
	await composer(page).press('Escape');
	await about(page).waitFor({ state: 'hidden' });
	await text(page, 'a draft');
	assert.equal(page.url(), address);
	assert.equal(await sessions(page), before, 'nothing was forked');

	// One that is refused leaves no fork, and can be sent again.
	const refused = { status: 500, body: JSON.stringify({ error: { kind: 'internal', message: 'refused for a test' } }) };
	const refuse = () => page.route((url) => url.pathname.endsWith('/messages'), (route) => route.fulfill(refused), { times: 1 });
	const toast = page.locator('.toast.bad', { hasText: 'Refused for a test' });
	const first = page.locator('.message', { hasText: 'hello there' });
	await first.hover();
	await first.locator('.edit').click();
	await text(page, 'hello there, hello');
	await refuse();
	await send(page, 'other words');
	await toast.waitFor();
	await text(page, 'other words');
	await about(page).waitFor();
	assert.equal(await sessions(page), before);
	await composer(page).press('Enter');
	await page.locator('.reply', { hasText: 'Other words, indeed.' }).waitFor();
	assert.notEqual(page.url(), address);
	assert.equal(await page.locator('#head .title').innerText(), 'other words', 'its first message names the fork');
	assert.equal(await sessions(page), before + 1);
	await page.goto(address);
	await text(page, 'a draft');
	await composer(page).fill('');

	// Nor does a first message that is refused leave a session.
	await newSession(page);
	await page.locator('.welcome').waitFor();
	await refuse();
	await send(page, 'hello again');
	await toast.last().waitFor();
	await text(page, 'hello again');
	assert.equal(await sessions(page), before + 1);
	await composer(page).fill('');
}

// Which model answers is in view; from the past one sends to now.
async function says(page, address) {
	const model = page.locator('#composer [data-key=model]');
	assert.equal(await model.innerText(), 'scripted');
	await model.click();
	await page.locator('#dialog li', { hasText: 'scripted' }).waitFor();
	await page.locator('#dialog code', { hasText: 'windlass serve --model' }).waitFor();
	await page.keyboard.press('Escape');
	await page.locator('#dialog').waitFor({ state: 'hidden' });
	await page.goto(address);
	await page.locator('.end[data-run="2"]').waitFor();
	await page.locator('.scrubber input').focus();
	await page.keyboard.press('Home');
	await about(page).filter({ hasText: 'goes on from now' }).waitFor();
	assert.equal(await composer(page).getAttribute('placeholder'), 'Sends to now');
	await page.locator('#notice button', { hasText: 'Back to now' }).click();
	await about(page).waitFor({ state: 'hidden' });
}

// On a phone every control that these states bring is high enough for a thumb.
async function thumbs(page) {
	const check = async (where) => assert.deepEqual(await tooLow(page, where), [], where);
	await newSession(page);
	await page.setViewportSize({ width: 390, height: 844 });
	await page.locator('.welcome').waitFor();
	await page.locator('#composer input[type=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
	await page.locator('#composer .chip').waitFor();
	await check('#main');
	await page.locator('#composer .chip button').click();
	await composer(page).fill('halt');
	await page.locator('#composer [type=submit]').click();
	await asked(page, 'sleep 600');
	await check('#dock');
	for (const key of ['edit', 'no']) {
		await question(page).locator(`[data-option=${key}]`).click();
		await check('#dock');
		await question(page).locator('button:visible', { hasText: 'Cancel' }).click();
	}
	await question(page).locator('[data-option=no]').click();
	await question(page).locator('[type=submit]:visible').click();
	await ended(page, 1);
	await page.locator('.message .edit').click();
	await about(page).waitFor();
	await check('#composer');
	await about(page).locator('button').click();
	await page.locator('#composer [data-key=model]').click();
	await page.locator('#dialog[open]').waitFor();
	await check('#dialog');
	await page.keyboard.press('Escape');
	await page.locator('#head [data-key=menu]').click();
	await check('.menu');
	await page.locator('.menu button').first().click();
	await page.locator('#head input.title').waitFor();
	await check('#head');
	await page.keyboard.press('Escape');
	await page.keyboard.press('Control+k');
	await page.locator('#palette[open]').waitFor();
	await check('#palette');
	await page.keyboard.press('Escape');
	await page.locator('#head [data-key=rail]').click();
	await page.locator('#rail input').fill('nothing of the kind');
	await page.locator('#rail .empty').waitFor();
	await check('#rail');
}

await play('composing', {}, async (stage) => {
	stage.expect('500');
	await stage.open({ scenes, arguments: ['--sandbox', 'off', '--mode', 'strict'] });
	const page = await stage.tab();
	await editCalls(stage, page);
	await escapes(page);
	await begins(page);
	const address = page.url();
	await edits(stage, page);
	await says(page, address);
	await unasked(page);
	await thumbs(page);
});
