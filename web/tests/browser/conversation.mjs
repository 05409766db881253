// A whole conversation: tools side by side, each answer to an approval, stop, steering, retry, fork, undo.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, play, say, scene, slowly } from './stage.mjs';
import { answer, asked, composer, ended, lines, question, sameAfterReload, send, unasked } from './steps.mjs';

const command = (line, more) => call('run_command', { command: line }, more);

const scenes = [
	scene(
		'look around',
		{
			text: 'I look at both files first.',
			calls: [
				{ name: 'read_file', arguments: { path: 'notes.txt' } },
				{ name: 'search_files', arguments: { pattern: 'harbour' } },
			],
		},
		call('edit_file', { path: 'notes.txt', old_text: 'A quiet harbour.', new_text: 'A busy harbour.' }),
		say('The harbour is **busy** now.\n\n- one\n- two\n\n```\ncode\n```'),
	),
	scene('once please', command('echo one >> once.txt'), say('Ran it once.')),
	scene(
		'session please',
		command('echo two >> session.txt'),
		command('echo two >> session.txt'),
		say('Twice, one question.'),
	),
	scene('always please', command('echo three >> always.txt'), command('echo three >> always.txt'), say('Always.')),
	scene('edited please', command('echo wrong > edited.txt'), say('As you changed it.')),
	scene('refused please', command('rm -r precious'), say('Then I leave it.')),
	scene('stop me', command('touch begun; sleep 600')),
	scene('steer me', command('touch steering; until test -e go; do sleep 0.05; done'), say('Never said.')),
	scene('also the mast', say('The mast, too.')),
	scene('fail once', { text: 'It works now.', faults: [{ kind: 'status', code: 400, times: 1 }] }),
	scene('write once more', call('write_file', { path: 'more.txt', content: 'more\n' }), say('More.')),
	scene('long story', say('wave '.repeat(400), slowly(20, 20))),
];

await play('conversation', {}, async (stage) => {
	await stage.open({
		scenes,
		arguments: ['--sandbox', 'off'],
		files: { 'notes.txt': 'A quiet harbour.\n' },
	});
	const page = await stage.tab();

	// Tools: two calls share a bracket, an edit shows its diff, the answer is HTML of the server.
	await send(page, 'look around');
	assert.equal(await ended(page), 'Done');
	assert.equal(await page.locator('#conversation .together .call').count(), 2);
	assert.match(stage.file('notes.txt'), /busy harbour/);
	await page.locator('.call', { hasText: 'edit_file' }).locator('summary').click();
	assert.equal(await page.locator('.call .diff .add').first().innerText(), 'A busy harbour.');
	assert.equal(await page.locator('.reply strong').innerText(), 'busy');
	assert.equal(await page.locator('#panel .file').count(), 1);
	assert.ok((await page.locator('#panel .span').count()) >= 5);

	// Undo, over what was changed since then, which it says.
	stage.expect('409 (Conflict)');
	writeFileSync(join(stage.server.workspace, 'notes.txt'), 'Mine.\n');
	await page.locator('.end [data-key=undo]').click();
	await page.locator('#dialog .warn', { hasText: 'Later changes would be overwritten' }).waitFor();
	await page.locator('#dialog', { hasText: 'changed since then: notes.txt' }).waitFor();
	await stage.shot(page, 'undo-over-later-changes');
	await page.locator('#dialog button.danger').click();
	await page.locator('.thin', { hasText: 'put back: notes.txt' }).waitFor();
	assert.match(stage.file('notes.txt'), /quiet harbour/);

	// The five answers.
	await send(page, 'once please');
	await asked(page, 'echo one');
	assert.deepEqual(await question(page).locator('.answers kbd').allInnerTexts(), ['1', '2', '3', '4', '5']);
	const answers = [];
	page.on('request', (request) => request.url().endsWith('/answer') && answers.push(request.url()));
	await question(page)
		.locator('.answers button')
		.first()
		.evaluate((button) => [button.click(), button.click()]);
	assert.equal(await ended(page, 2), 'Done');
	assert.equal(answers.length, 1, 'the second click answers nothing');
	assert.equal(stage.file('once.txt'), 'one\n');

	await send(page, 'session please');
	await asked(page, 'echo two');
	await answer(page, 2);
	await ended(page, 3);
	assert.equal(stage.file('session.txt'), 'two\ntwo\n');

	await send(page, 'always please');
	await asked(page, 'echo three');
	assert.ok(await question(page).locator('.always code').isVisible(), 'it says what always writes');
	await answer(page, 3);
	await ended(page, 4);
	assert.equal(stage.file('always.txt'), 'three\nthree\n');

	await send(page, 'edited please');
	await asked(page, 'echo wrong');
	await answer(page, 4);
	await question(page).locator('textarea').fill('echo right > edited.txt');
	await question(page).locator('.fields button.main').click();
	await ended(page, 5);
	assert.equal(stage.file('edited.txt'), 'right\n');

	await send(page, 'refused please');
	await asked(page, 'rm -r precious');
	await answer(page, 5);
	await question(page).locator('.fields input').fill('it is precious');
	await question(page).locator('.fields input').press('Enter');
	await ended(page, 6);
	await page.locator('.call', { hasText: 'rm -r precious' }).locator('.exit').waitFor();
	await page.locator('.thin', { hasText: 'you answered: no (“it is precious”)' }).waitFor();
	await unasked(page);

	// Stop. A question that comes up behind the one shown is counted.
	await send(page, 'stop me');
	await asked(page, 'sleep 600');
	await page.evaluate(async () => {
		const { page: shown } = await import(new URL('page_state.js', document.querySelector('script[type=module]').src));
		const body = { question: 999, kind: { about: 'stuck' }, options: ['once', 'no'], default: 'no' };
		shown.feed.take([{ seq: shown.feed.view.lastSeq + 1, batch: [0, 1], kind: 'QuestionAsked', body }]);
	});
	await question(page).locator('.asks', { hasText: '1 more question waits.' }).waitFor();
	await page.reload();
	await asked(page, 'sleep 600');
	await answer(page, 1);
	await page.locator('.call .mark.running').waitFor();
	// Its bar grows, and stays the element that somebody may be about to click.
	const bar = page.locator('#panel .timeline button.span').last();
	await bar.evaluate((element) => (element.dataset.kept = element.querySelector('.took').textContent));
	await page.waitForFunction(() => {
		const kept = document.querySelector('#panel .span[data-kept]');
		return kept.querySelector('.took').textContent !== kept.dataset.kept;
	});
	await page.locator('#composer button', { hasText: 'Stop' }).click();
	assert.equal(await ended(page, 7), 'Stopped');

	// Steering: said while it works, read at the next turn.
	await send(page, 'steer me');
	await asked(page, 'touch steering');
	await answer(page, 1);
	await page.locator('.call', { hasText: 'touch steering' }).locator('.mark.running').waitFor();
	await send(page, 'also the mast');
	await page.locator('.message', { hasText: 'also the mast' }).waitFor();
	writeFileSync(join(stage.server.workspace, 'go'), '');
	await ended(page, 8);
	await page.locator('.reply', { hasText: 'The mast, too.' }).waitFor();

	// Retry.
	await send(page, 'fail once');
	assert.equal(await ended(page, 9), 'Failed');
	await page.locator('.end [data-key=retry]').click();
	assert.equal(await ended(page, 10), 'Done');
	await page.locator('.reply', { hasText: 'It works now.' }).waitFor();

	// A reload in mid-stream goes on where it was, and ends with every word once.
	await send(page, 'long story');
	await page.locator('.live .text', { hasText: 'wave wave' }).waitFor();
	await page.reload();
	assert.equal(await ended(page, 11), 'Done');
	const story = await page.locator('.reply').last().innerText();
	assert.equal(story.match(/wave/g).length, 400);
	await sameAfterReload(page);

	// A fork from the middle has the records up to there.
	const before = (await lines(page)).length;
	await page.locator('#conversation').evaluate((element) => element.scrollTo(0, 0));
	await page.locator('.end[data-run="1"] [data-key=fork]').click();
	await page.locator('.thin', { hasText: 'forked at record' }).waitFor();
	assert.ok((await lines(page)).length < before);
	const origin = await page.locator('.thin a', { hasText: 'Open that session' }).getAttribute('href');
	assert.ok(origin.startsWith('#/s/') && !page.url().endsWith(origin), 'the line leads to where it was forked from');
	await send(page, 'once please');
	await asked(page, 'echo one');
	await answer(page, 1);
	assert.equal(await ended(page, 2), 'Done');
	assert.equal(stage.file('once.txt'), 'one\none\n');

	// One call is undone where it is shown.
	await send(page, 'write once more');
	assert.equal(await ended(page, 3), 'Done');
	assert.equal(stage.file('more.txt'), 'more\n');
	const written = page.locator('.call', { hasText: 'more.txt' });
	await written.locator('summary').click();
	await written.locator('.inside [data-key^=undo]').click();
	await page.locator('#dialog button.main').click();
	await page.locator('.thin', { hasText: 'put back' }).waitFor();
	assert.ok(!existsSync(join(stage.server.workspace, 'more.txt')));
	assert.ok(!existsSync(join(stage.server.workspace, 'precious')));
	assert.ok(await composer(page).isVisible());

	// What was allowed for good is listed, and taken back.
	await page.locator('#rail button', { hasText: 'Settings' }).click();
	const rule = page.locator('.listed li', { hasText: 'echo three' });
	await rule.locator('button').click();
	await rule.waitFor({ state: 'detached' });
});
