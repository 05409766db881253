// Pictures of everything that opens over or in place of the conversation; axe-core finds no serious fault in them.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { everyLook, faults } from './judge.mjs';
import { ended, send } from './steps.mjs';

const scenes = [scene('log', call('write_file', { path: 'log.txt', content: 'Fair winds.\n' }), say('Written.'))];

async function everyDialog(stage, page, found) {
	const opened = [
		['keys', async () => page.keyboard.press('?'), '#dialog[open]'],
		['palette', async () => page.keyboard.press('Control+k'), '#palette[open]'],
		['undo', async () => page.locator('.end [data-key=undo]').click(), '#dialog[open]'],
		['menu', async () => page.locator('#head [data-key=menu]').click(), '.menu'],
	];
	for (const colorScheme of ['light', 'dark']) {
		await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
		for (const [name, open, selector] of opened) {
			await page.locator('#conversation').focus();
			await open();
			await page.locator(selector).waitFor();
			found.push(...(await faults(page, `${name} ${colorScheme}`)));
			await stage.shot(page, `${name}-${colorScheme}`);
			await page.keyboard.press('Escape');
			await page.locator(selector).waitFor({ state: 'hidden' });
		}
	}
}

async function everySheet(stage, page, found) {
	for (const [name, shown] of [
		['settings', '.sheet .listed, .sheet p'],
		['usage', '.sheet table'],
		['new', '.welcome'],
	]) {
		await page.goto(`${stage.server.url}/#/${name}`);
		await page.locator(shown).first().waitFor();
		await page.locator('.sheet [aria-live] .muted', { hasText: 'Loading' }).first().waitFor({ state: 'hidden' });
		await everyLook(stage, page, name, found);
	}
}

// The states of tool servers are kept up; one that failed or was closed can be connected again, which is shown.
async function serversAreFollowed(stage, page) {
	const server = { name: 'time', state: 'closed', tools: 0, reason: 'it went away', log_tail: ['bye'] };
	let retried = null;
	await page.route('**/api/servers', (route) => route.fulfill({ json: { servers: [server] } }));
	await page.route('**/api/servers/time/retry', (route) => (retried = route));
	await page.goto(`${stage.server.url}/#/usage`);
	await page.goto(`${stage.server.url}/#/settings`);
	const row = page.locator('.listed li', { hasText: 'time' });
	await row.locator('button', { hasText: 'Try again' }).click();
	await row.locator('span', { hasText: 'connecting…' }).waitFor();
	server.state = 'failed';
	await retried.fulfill({ json: server });
	await row.locator('span', { hasText: 'failed' }).waitFor();
	const log = row.locator('pre');
	await log.evaluate((element) => (element.kept = true));
	// The second look begins after the first has been drawn.
	await page.waitForResponse('**/api/servers');
	await page.waitForRequest('**/api/servers');
	assert.equal(await log.evaluate((element) => element.kept), true, 'what has not changed is left alone');
	server.state = 'connected';
	await row.locator('span', { hasText: 'connected' }).waitFor();
	await page.unroute('**/api/servers');
}

await play('dialogs', {}, async (stage) => {
	await stage.open({ scenes });
	const page = await stage.tab();
	const found = [];
	await send(page, 'write the log');
	assert.equal(await ended(page, 1), 'Done');
	await everyDialog(stage, page, found);
	await everySheet(stage, page, found);
	await serversAreFollowed(stage, page);
	assert.deepEqual(found, [], 'axe-core finds no serious fault');
});
