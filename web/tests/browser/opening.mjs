// A page that is opened again: its files are the ones that the browser has, and its session does not wait for the list of all.

import assert from 'node:assert/strict';
import { play, say, scene } from './stage.mjs';
import { ended, send } from './steps.mjs';

const scenes = [scene('haul', say('Hauled.'))];

// The files that the page was sent, out of those it has loaded.
const sent = (page) =>
	page.evaluate(() => {
		const files = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'));
		return { loaded: files.length, sent: files.filter((file) => file.transferSize > 0).map((file) => file.name) };
	});

await play('opening', {}, async (stage) => {
	await stage.open({ scenes });
	const page = await stage.tab();
	await send(page, 'haul');
	assert.equal(await ended(page), 'Done');

	// A file that has changed has another address; the others are not asked for.
	await page.reload();
	assert.equal(await ended(page), 'Done');
	const files = await sent(page);
	assert.ok(files.loaded > 50, `${files.loaded}`);
	if (!process.env.WEB_FOLDER) assert.deepEqual(files.sent, [], 'no file is asked for again');

	// The list, which names the session, is on its way until the session is shown.
	let shown;
	const isShown = new Promise((resolve) => (shown = resolve));
	const isList = (url) => url.pathname === '/api/sessions';
	await page.route(isList, async (route) => {
		await isShown;
		await route.continue();
	});
	await page.reload();
	assert.equal(await ended(page), 'Done');
	assert.equal(await page.locator('.session').count(), 0);
	shown();
	await page.locator('#head .title', { hasText: 'haul' }).waitFor();
	await page.locator('.session [aria-current]', { hasText: 'haul' }).waitFor();
	await page.unroute(isList);
});
