// The first visit: without a model the demo plays, labelled on every line, and the page says how to connect one. Without a
// token it says where the token is.

import assert from 'node:assert/strict';
import { play } from './stage.mjs';
import { answer, ended, question, send } from './steps.mjs';

await play('first_visit', {}, async (stage) => {
	stage.expect('401');
	await stage.open({ scenes: [], without: ['OPENAI_BASE_URL', 'OPENAI_MODEL'] });
	const page = await stage.tab();
	await page.locator('.welcome .tag', { hasText: 'demo' }).waitFor();
	assert.equal(await page.locator('.way').count(), 2);
	assert.equal(await page.locator('.way .copy').count(), 3);
	await stage.shot(page, 'welcome-1440');
	await page.setViewportSize({ width: 390, height: 844 });
	await stage.shot(page, 'welcome-390');
	await page.setViewportSize({ width: 1440, height: 900 });
	await send(page, 'show me');
	for (let run = 0; run < 10 && !(await page.locator('.end').isVisible()); run++) {
		await page.locator('.end, #question:not([hidden])').first().waitFor();
		if (await question(page).isVisible()) {
			const id = await question(page).getAttribute('data-question');
			await answer(page, 1);
			await page.waitForFunction((old) => document.querySelector('#question').dataset.question !== old, id);
		}
	}
	await ended(page, 1);
	await page.locator('#notice .tag', { hasText: 'demo' }).waitFor();
	const replies = await page.locator('.reply').count();
	assert.ok(replies > 0);
	assert.equal(await page.locator('.reply .tag', { hasText: 'demo' }).count(), replies, 'every line is labelled');
	await stage.shot(page, 'demo');

	// Somebody without the token.
	await stage.context.clearCookies();
	await page.reload();
	await page.locator('.welcome h2', { hasText: 'needs a token' }).waitFor();
	await stage.shot(page, 'login');
	await page.locator('.welcome input').fill('not the token, but long enough');
	await page.locator('.welcome button', { hasText: 'Open' }).click();
	await page.locator('[role=alert]', { hasText: 'not valid' }).waitFor();
	await page.locator('.welcome input').fill(stage.server.token);
	await page.locator('.welcome button', { hasText: 'Open' }).click();
	await page.locator('.end').waitFor();
});
