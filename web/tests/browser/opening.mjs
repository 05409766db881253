// A page that is opened again: its files are the ones that the browser has.

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
});
