// Titles, pins, the archive, search, the scrubber, files that are dropped and pasted, and what a hidden page tells.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { answer, asked, composer, ended, lines, send } from './steps.mjs';

const scenes = [
	scene('sails', call('write_file', { path: 'sails.txt', content: 'white\n' }), say('The sails are white.')),
	scene('anchor', say('The anchor is down.')),
	scene('see these', say('Two files, seen.')),
	scene('quietly', call('run_command', { command: 'touch quiet' }), say('Quietly done.')),
];

async function hide(page, hidden) {
	await page.evaluate((value) => {
		Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
		document.dispatchEvent(new Event('visibilitychange'));
	}, hidden);
}

async function findsAndFiles(stage, page) {
	const rows = page.locator('.session');
	await send(page, 'set the sails');
	await ended(page, 1);
	await page.keyboard.press('Escape');
	await page.locator('button', { hasText: 'New session' }).click();
	await send(page, 'drop the anchor');
	await page.locator('.reply', { hasText: 'The anchor is down.' }).waitFor();
	assert.equal(await rows.count(), 2);

	// The title is edited in its place.
	await page.locator('#head .title').click();
	await page.locator('#head input.title').fill('Anchoring');
	await page.keyboard.press('Enter');
	await rows.filter({ hasText: 'Anchoring' }).waitFor();
	assert.match(await page.title(), /^Anchoring/);

	// Pin, search, archive, and back.
	const sails = rows.filter({ hasText: 'set the sails' });
	await sails.hover();
	await sails.locator('[aria-label="Pin"]').click();
	await page.locator('#rail-list h2', { hasText: 'Pinned' }).waitFor();
	await page.locator('#rail input').fill('anchor');
	await sails.waitFor({ state: 'hidden' });
	assert.equal(await rows.count(), 1);
	await page.locator('#rail input').fill('nothing of the kind');
	await page.locator('#rail .empty', { hasText: 'Nothing found' }).waitFor();
	await page.locator('#rail .empty button').click();
	await sails.waitFor();
	await sails.hover();
	await sails.locator('[aria-label="Archive"]').click();
	await sails.waitFor({ state: 'hidden' });
	await page.locator('.toast button', { hasText: 'Take back' }).click();
	await sails.waitFor();
	await sails.hover();
	await sails.locator('[aria-label="Archive"]').click();
	await sails.waitFor({ state: 'hidden' });
	await page.locator('#rail-list button', { hasText: 'Archived' }).click();
	await sails.locator('a').click();
	await page.locator('.reply', { hasText: 'The sails are white.' }).waitFor();
	await page.locator('#rail-list button', { hasText: 'Back' }).click();
}

// The scrubber shows the session as it stood, and forks there.
async function walkBack(page) {
	const slider = page.locator('.scrubber input');
	const words = page.locator('.scrubber .words span').first();
	const whole = await lines(page);
	// One batch back at a time, until the end of the run is not there yet.
	const back = async () => {
		await slider.focus();
		for (let step = 0; step < 20 && (await page.locator('.end').isVisible()); step++) {
			const before = await words.innerText();
			await slider.press('ArrowLeft');
			await page.waitForFunction((old) => document.querySelector('.scrubber .words span').innerText !== old, before);
		}
		assert.equal(await page.locator('.end').count(), 0);
	};
	await back();
	await page.locator('#notice', { hasText: 'as it stood then' }).waitFor();
	assert.ok((await lines(page)).length < whole.length);
	await page.locator('#notice button', { hasText: 'Back to now' }).click();
	await page.locator('.end').waitFor();
	assert.deepEqual(await lines(page), whole);
	await back();
	await page.locator('.scrubber button', { hasText: 'Fork here' }).click();
	await page.locator('.thin', { hasText: 'forked at record' }).waitFor();
	assert.ok((await lines(page)).some((line) => line.kind === 'message' && line.text.includes('set the sails')));
	assert.equal(await page.locator('.end strong', { hasText: 'Done' }).count(), 0, 'the fork ends before the end');
}

async function takeFiles(page) {
	await page.locator('button', { hasText: 'New session' }).click();
	await page.locator('.welcome').waitFor();
	const give = (type, target, name, text) =>
		page.evaluate(
			([kind, selector, file, content]) => {
				const data = new DataTransfer();
				data.items.add(new File([content], file, { type: 'text/plain' }));
				const options = { bubbles: true, cancelable: true };
				const event =
					kind === 'paste'
						? new ClipboardEvent('paste', { ...options, clipboardData: data })
						: new DragEvent('drop', { ...options, dataTransfer: data });
				document.querySelector(selector).dispatchEvent(event);
			},
			[type, target, name, text],
		);
	await give('drop', '#stage', 'dropped.txt', 'dropped words');
	await give('paste', '#composer-text', 'pasted.txt', 'pasted words');
	assert.equal(await page.locator('#composer .chip').count(), 2);
	await send(page, 'see these');
	await page.locator('.reply', { hasText: 'Two files, seen.' }).waitFor();
	assert.deepEqual(await page.locator('.message .chip .cut').allInnerTexts(), ['dropped.txt', 'pasted.txt']);
}

async function hiddenPage(page) {
	await page.evaluate(() => {
		window.told = [];
		window.Notification = class {
			static permission = 'granted';
			constructor(title) {
				window.told.push(title);
			}
			close() {}
		};
	});
	await composer(page).fill('go quietly');
	await hide(page, true);
	await composer(page).press('Enter');
	await page.waitForFunction(() => document.title.startsWith('? '));
	await page.waitForFunction(() => window.told.length === 1);
	await asked(page, 'touch quiet');
	await answer(page, 1);
	await page.waitForFunction(() => document.title.startsWith('✓ '));
	const told = await page.evaluate(() => window.told);
	assert.equal(told.length, 2);
	assert.match(told[0], /asks you$/);
	assert.match(told[1], /is done$/);
	await hide(page, false);
	await page.waitForFunction(() => !document.title.startsWith('✓ '));
}

await play('organise', {}, async (stage) => {
	await stage.open({ scenes, arguments: ['--sandbox', 'off'] });
	const page = await stage.tab();
	await findsAndFiles(stage, page);
	await walkBack(page);
	await takeFiles(page);
	await hiddenPage(page);
});
