// The server is killed while it streams, and while it waits for an approval. The page recovers by itself.

import assert from 'node:assert/strict';
import { call, play, say, scene, slowly } from './stage.mjs';
import { answer, asked, ended, lines, question, sameAfterReload, send, unasked } from './steps.mjs';

const words = (count) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');

const scenes = [
	scene('first', {
		text: 'One is enough.',
		faults: [{ kind: 'status', code: 429, retry_after: '3', times: 1 }],
	}),
	scene('stream', say(words(300), slowly(20, 24))),
	scene('approve', call('run_command', { command: 'echo done >> made.txt' }), say('Made.')),
];

await play('restart', {}, async (stage) => {
	stage.expect(
		'ERR_CONNECTION_REFUSED',
		'ERR_INCOMPLETE_CHUNKED_ENCODING',
		'ERR_CONNECTION_RESET',
		'ERR_EMPTY_RESPONSE',
		'ERR_SOCKET_NOT_CONNECTED',
	);
	await stage.open({ scenes, arguments: ['--sandbox', 'off'] });
	const page = await stage.tab();
	const notice = page.locator('#notice');
	await send(page, 'first');
	// A provider that says when it can be asked again: the wait is counted down.
	await page.locator('.working', { hasText: /Tries again in 2\.0\s/ }).waitFor();
	await page.locator('.thin', { hasText: /tries again at .*\d:\d\d.* \(2 of \d\)/ }).waitFor();
	await page.locator('.working', { hasText: /in 1\.0\s/ }).waitFor();
	await ended(page, 1);
	await page.locator('.thin', { hasText: '1 try failed' }).waitFor();

	// In mid-stream.
	await send(page, 'stream');
	await page.locator('.live .text', { hasText: 'word20' }).waitFor();
	await page.evaluate(() => {
		const host = document.querySelector('#notice');
		window.said = [];
		new MutationObserver(() => window.said.push(host.innerText.trim())).observe(host, { childList: true });
	});
	await stage.kill();
	await notice.filter({ hasText: 'Reconnecting' }).waitFor();
	assert.ok(await page.locator('.live .text', { hasText: 'word20' }).isVisible(), 'what was read stays in view');
	await stage.start();
	assert.equal(await ended(page, 2), 'Done');
	assert.ok((await page.evaluate(() => window.said)).includes('Back, nothing missed.'));
	const story = await page.locator('.reply').last().innerText();
	assert.equal(story, words(300), 'every word is there once');
	assert.equal(await page.locator('.thin', { hasText: 'restarted, went on at record' }).count(), 1);
	assert.equal(await page.locator('.message', { hasText: 'stream' }).count(), 1);
	await sameAfterReload(page);

	// A session that is opened while the server is away opens when it is back.
	const address = page.url();
	await page.locator('button', { hasText: 'New session' }).click();
	await page.locator('.welcome select, .welcome h2').first().waitFor();
	await stage.kill();
	await page.evaluate((hash) => {
		location.hash = hash;
	}, new URL(address).hash);
	await page.locator('.welcome h2', { hasText: 'does not answer' }).waitFor();
	await stage.start();
	assert.equal(await ended(page, 2), 'Done');

	// A page that is opened meanwhile says so once, and what is focused there stays.
	let tries = 0;
	await page.route('**/api/me', (route) => (++tries < 3 ? route.abort('connectionrefused') : route.continue()));
	const refused = () => page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/me'));
	let failed = refused();
	await page.reload();
	await failed;
	const again = page.locator('.welcome button', { hasText: 'Try again' });
	await again.focus();
	failed = refused();
	await again.press('Enter');
	await failed;
	await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
	assert.equal(await page.evaluate(() => document.activeElement.innerText), 'Try again');
	await page.keyboard.press('Enter');
	assert.equal(await ended(page, 2), 'Done');
	await page.unroute('**/api/me');

	// While it waits for an answer.
	await send(page, 'approve');
	await asked(page, 'echo done');
	const id = await question(page).getAttribute('data-question');
	await stage.kill();
	await notice.filter({ hasText: 'Reconnecting' }).waitFor();
	assert.ok(await question(page).isVisible(), 'the question stays in view');
	await page.route('**/api/me', async (route) => {
		const response = await route.fetch();
		await route.fulfill({ response, json: { ...(await response.json()), version: '9.9.9' } });
	});
	await stage.start();
	await notice.filter({ hasText: 'Back, nothing missed.' }).waitFor();
	await notice.filter({ hasText: 'updated to 9.9.9' }).locator('button', { hasText: 'Load the new page' }).waitFor();
	await page.unroute('**/api/me');
	await asked(page, 'echo done');
	assert.equal(await question(page).getAttribute('data-question'), id, 'it asks under the same id');
	await answer(page, 1);
	assert.equal(await ended(page, 3), 'Done');
	await unasked(page);
	assert.equal(stage.file('made.txt'), 'done\n', 'it ran once');
	const seen = await lines(page);
	assert.equal(seen.filter((line) => line.text.includes('echo done')).length, 1);
	await sameAfterReload(page);
});
