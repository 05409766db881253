// A session that a terminal drives: followed live on the page, and its question is answered from there.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { answer, asked, ended, unasked } from './steps.mjs';

const scenes = [scene('tidy', call('run_command', { command: 'echo tidy > done.txt' }), say('All is tidy.'))];

await play('terminal', {}, async (stage) => {
	await stage.open({ scenes });
	const page = await stage.tab();
	await page.locator('#composer-text').waitFor();
	await stage.terminal('run', 'tidy up, please', '--session', 'deck', '--sandbox', 'off');
	await page.locator('.session', { hasText: 'tidy up' }).locator('a').click();
	await page.locator('#notice', { hasText: 'Followed live from pid' }).waitFor();
	await asked(page, 'echo tidy');
	// What is written here would be refused, so it can't be sent; it says why.
	await page.locator('#composer .about', { hasText: /^A terminal \(pid \d+\) is running this session/ }).waitFor();
	assert.ok(await page.locator('#composer [type=submit]').isDisabled());
	await answer(page, 1);
	assert.equal(await ended(page, 1), 'Done');
	await unasked(page);
	const ran = await stage.terminalEnded();
	assert.equal(ran.code, 0, ran.screen);
	assert.match(ran.stdout, /All is tidy/);
	assert.equal(stage.file('done.txt'), 'tidy\n');
	await page.locator('#notice', { hasText: 'Followed live' }).waitFor({ state: 'hidden' });
	await page.locator('#composer [type=submit]:enabled').waitFor();
});
