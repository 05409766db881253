// A plan that is made first and carried out step by step: the panel shows where it stands, and leads to the steps' sessions.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { answer, asked, ended, send } from './steps.mjs';

const names = ['a.txt', 'b.txt', 'c.txt'];
const edit = (path) => call('edit_file', { path, old_text: '10', new_text: '12' });

const scenes = [
	scene('Write the plan for this request', say('FOR EACH FILE *.txt: change the price to 12')),
	scene('Write the answer to the request', say('All three prices are 12 now.')),
	scene('This step (1 of 3)', edit('a.txt'), say('Changed a.txt.')),
	scene('This step (2 of 3)', call('run_command', { command: 'echo b' }), edit('b.txt'), say('Changed b.txt.')),
	scene('This step (3 of 3)', edit('c.txt'), say('Changed c.txt.')),
];

await play('plan', {}, async (stage) => {
	await stage.open({
		scenes,
		arguments: ['--sandbox', 'off'],
		files: Object.fromEntries(names.map((name) => [name, 'price: 10\n'])),
		settings: '[policy]\nplanning = "always"\n',
	});
	const page = await stage.tab();
	await send(page, 'Raise all prices to 12.');

	// The second step asks: the first is done, the third is to do.
	await asked(page, 'echo b');
	const steps = page.locator('#panel .plan li');
	const states = () => steps.locator('.box').evaluateAll((boxes) => boxes.map((box) => box.getAttribute('aria-label')));
	assert.deepEqual(await states(), ['done', 'under way', 'to do']);
	assert.deepEqual((await steps.locator('code').allInnerTexts()).map((name) => name.trim()), names);
	assert.equal(await page.locator('#panel .part header', { hasText: 'Plan' }).locator('.number').innerText(), '1/3');
	assert.equal(await steps.locator('a').count(), 1, 'only a step that is done has its session named');
	await page.locator('.thin', { hasText: 'step 2 begins: b.txt: change the price to 12' }).waitFor();
	assert.equal(await page.locator('#panel .span', { hasText: 'step' }).count(), 2, 'where the time went');
	await stage.shot(page, 'step-asks');
	await answer(page, 1);
	assert.equal(await ended(page, 1), 'Done');
	assert.deepEqual(await states(), ['done', 'done', 'done']);
	assert.deepEqual(names.map((name) => stage.file(name)), Array(3).fill('price: 12\n'));
	await page.locator('.thin', { hasText: 'step 2: Done. Changed b.txt.' }).waitFor();
	assert.equal(await page.locator('.thin', { hasText: 'begins' }).count(), 0, 'a line for each step, not two');
	await stage.shot(page, 'done');

	// A step leads to the session that carried it out.
	const own = page.url();
	await steps.nth(1).locator('a').click();
	await page.locator('.reply', { hasText: 'Changed b.txt.' }).waitFor();
	assert.notEqual(page.url(), own);
	await page.locator('.call', { hasText: 'echo b' }).waitFor();
	await page.goBack();
	await page.locator('.reply', { hasText: 'All three prices' }).waitFor();
});
