// The first visit: without a model the demo plays, labelled on every line, and the page says how to connect one. Without a
// token it says where the token is.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { play } from './stage.mjs';
import { tooLow } from './judge.mjs';
import { ended, send } from './steps.mjs';

// A model that is connected, or goes away, is noticed by itself.
async function models(stage, page) {
	const look = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
	const model = page.locator('#composer [data-key=model]');
	await page.locator('#rail button', { hasText: 'New session' }).click();
	await page.locator('.welcome .way').first().waitFor();
	assert.equal(await model.innerText(), 'demo');
	await page.route('**/api/me', async (route) => {
		const response = await route.fetch();
		await route.fulfill({ response, json: { ...(await response.json()), demo: false, model: 'qwen3' } });
	});
	await page.locator('.welcome .connect', { hasText: 'A model is ready: qwen3.' }).waitFor();
	await model.filter({ hasText: 'qwen3' }).waitFor();
	await page.unroute('**/api/me');
	await look();
	await page.locator('.welcome .way').first().waitFor();
	await model.filter({ hasText: 'demo' }).waitFor();
}

await play('first_visit', {}, async (stage) => {
	stage.expect('401', 'ERR_CONNECTION_', 'ERR_INCOMPLETE_CHUNKED_ENCODING', 'ERR_EMPTY_RESPONSE', 'ERR_SOCKET_NOT_CONNECTED');
	await stage.open({ scenes: [], without: ['OPENAI_BASE_URL', 'OPENAI_MODEL'] });
	const page = await stage.tab();

	// The demo plays by itself: a real job in a folder of its own.
	await page.locator('.message', { hasText: 'Rename the screenshots' }).waitFor();
	await page.locator('#notice .tag', { hasText: 'demo' }).waitFor();
	await stage.shot(page, 'demo-playing');
	assert.equal(await ended(page, 1), 'Done');
	const labelled = async () => {
		const replies = await page.locator('.reply').count();
		assert.ok(replies > 0);
		assert.equal(await page.locator('.reply .tag:visible', { hasText: 'demo' }).count(), replies, 'each is labelled');
	};
	await labelled();
	assert.equal(await page.locator('.way').count(), 2, 'two ways to connect a model');
	assert.equal(await page.locator('.way .copy').count(), 3);
	const folder = await page.locator('#head .place').textContent();
	assert.equal(readdirSync(folder).filter((name) => /^shot-.*png$/.test(name)).length, 0, 'each picture has its new name');
	await stage.shot(page, 'demo');

	// Another message is answered, too; a new session says how to connect a model, and leads back to the demo.
	await send(page, 'and now?');
	assert.equal(await ended(page, 2), 'Done');
	await page.locator('.session .prompt', { hasText: 'and now?' }).waitFor();
	const name = await page.locator('.session .name').innerText();
	assert.match(name, /^Rename the screenshots/, 'it keeps the name it had');
	await labelled();
	const address = page.url();
	await page.locator('button', { hasText: 'New session' }).click();
	await page.locator('.welcome .tag', { hasText: 'demo' }).waitFor();
	await stage.shot(page, 'welcome-1440');
	await page.setViewportSize({ width: 390, height: 844 });
	assert.deepEqual(await tooLow(page, '#main'), []);
	await stage.shot(page, 'welcome-390');
	await page.setViewportSize({ width: 1440, height: 900 });
	await page.locator('.welcome button', { hasText: 'Watch it do a job' }).click();
	assert.equal(await ended(page, 2), 'Done');
	assert.equal(page.url(), address, 'it is played once');

	await models(stage, page);

	// The server is started again with another token: the page asks for it, and goes on where it was.
	await page.goto(address);
	await ended(page, 2);
	await stage.kill();
	const { token } = await stage.start('fedcba9876543210fedcba9876543210');
	await page.locator('.welcome h2', { hasText: 'The server was started again and has a new token' }).waitFor();
	await page.locator('.welcome p', { hasText: 'Run “windlass open”, or paste the token' }).waitFor();
	await stage.shot(page, 'new-token');
	// `windlass open` signs in on a page of its own; this one comes in, too, when it is looked at.
	await stage.context.request.get(`${stage.server.url}/?token=${token}`);
	await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
	assert.equal(await ended(page, 2), 'Done');
	assert.equal(page.url(), address);

	// Somebody without the token.
	await stage.context.clearCookies();
	await page.evaluate(() => localStorage.clear());
	await page.reload();
	await page.locator('.welcome h2', { hasText: 'needs a token' }).waitFor();
	await stage.shot(page, 'login');
	await page.locator('.welcome input').fill('not the token, but long enough');
	const asked = await page.evaluate(() => {
		const seen = [];
		const send = window.fetch;
		window.fetch = (...values) => seen.push(values[0]) && send(...values);
		document.dispatchEvent(new Event('visibilitychange'));
		window.fetch = send;
		return seen;
	});
	assert.deepEqual(asked, [], 'who comes back with the token finds the field as it was');
	await page.locator('.welcome button', { hasText: 'Open' }).click();
	await page.locator('[role=alert]', { hasText: 'not valid' }).waitFor();
	await page.locator('.welcome input').fill(token);
	await page.locator('.welcome button', { hasText: 'Open' }).click();
	await page.locator('.end').first().waitFor();
});
