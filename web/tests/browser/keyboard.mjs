// A whole conversation without the mouse: the focus is always somewhere sensible, and every action has a way.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { asked, ended, question, unasked } from './steps.mjs';

const scenes = [
	scene('hello', say('Good morning.')),
	scene('work', call('run_command', { command: 'echo yes > yes.txt' }), say('Worked.')),
	scene('halt', call('run_command', { command: 'sleep 600' })),
	scene('again, better', say('Better.')),
];

await play('keyboard', { reducedMotion: 'reduce' }, async (stage) => {
	await stage.open({ scenes, arguments: ['--sandbox', 'off'] });
	const page = await stage.tab();
	const keys = page.keyboard;
	const focused = () => page.evaluate(() => document.activeElement?.tagName ?? 'BODY');
	// The card has the focus, and takes keys.
	const card = () =>
		page.waitForFunction(() => {
			const element = document.querySelector('#question[data-ready]');
			return element?.contains(document.activeElement);
		});
	const typing = () => page.waitForFunction(() => document.activeElement?.id === 'composer-text');

	// The page opens with the focus where one writes.
	await typing();
	await keys.type('hello');
	await keys.press('Enter');
	assert.equal(await ended(page, 1), 'Done');
	await typing();

	// A question takes the keys 1 to 5 as soon as one is not writing; it says how to get there.
	await keys.type('work');
	await keys.press('Enter');
	await asked(page, 'echo yes');
	await card();
	await keys.press('1');
	assert.equal(await ended(page, 2), 'Done');
	await unasked(page);
	await typing();
	assert.equal(stage.file('yes.txt'), 'yes\n');

	// What is being written stays where it is while a question comes up.
	await keys.type('halt');
	await keys.press('Enter');
	await asked(page, 'sleep 600');
	await card();
	await keys.press('1');
	await page.locator('.mark.running').waitFor();
	await keys.press('Escape');
	assert.equal(await ended(page, 3), 'Stopped');
	await typing();

	// The button that stops goes away with the run, and leaves the focus where one writes.
	await keys.type('halt');
	await keys.press('Enter');
	await asked(page, 'sleep 600');
	await card();
	await keys.press('1');
	await page.locator('.mark.running').waitFor();
	await page.locator('#composer button', { hasText: 'Stop' }).focus();
	await keys.press('Enter');
	assert.equal(await ended(page, 4), 'Stopped');

	// Escape leaves the field; then single keys act.
	await typing();
	await keys.press('Escape');
	await page.waitForFunction(() => document.activeElement?.id !== 'composer-text');
	await keys.press('?');
	await page.locator('#dialog h2', { hasText: 'Keys' }).waitFor();
	await keys.press('Escape');
	await page.locator('#dialog').waitFor({ state: 'hidden' });
	await keys.press('[');
	await page.waitForFunction(() => document.body.classList.contains('no-rail'));
	await keys.press('[');

	// Its own button folds the rail, and the focus goes to the one that brings it back, and from there to the first again.
	const key = () => page.evaluate(() => document.activeElement.dataset.key ?? document.activeElement.ariaLabel);
	await page.locator('#rail [aria-label="Hide the sessions"]').focus();
	await keys.press('Enter');
	assert.equal(await key(), 'rail');
	await keys.press('Enter');
	assert.equal(await key(), 'Hide the sessions');

	// A link that skips leads to a place on the page, not to another page.
	const address = page.url();
	await page.locator('.skip').first().focus();
	await keys.press('Enter');
	assert.equal(await page.evaluate(() => document.activeElement.id), 'conversation');
	assert.equal(page.url(), address);

	// Where the browser does not let the page copy, the focus stays at the button all the same.
	await page.evaluate(() => {
		navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
	});
	await page.locator('.end .copy').first().focus();
	await keys.press('Enter');
	await page.locator('.end .copy.done').waitFor();
	assert.match(await key(), /^copy-/);
	await keys.press(']');
	await page.waitForFunction(() => document.body.classList.contains('no-panel'));
	await keys.press(']');
	await keys.press('/');
	await page.waitForFunction(() => document.activeElement?.type === 'search');
	await keys.press('Escape');
	await typing();

	// The palette has every action.
	await keys.press('Control+k');
	await page.locator('#palette input').waitFor();
	await keys.type('dark');
	await keys.press('Enter');
	await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
	await keys.press('Control+k');
	await keys.type('new session');
	await keys.press('Enter');
	await page.locator('.welcome').waitFor();
	await typing();

	// Sessions by j and k, folds by Tab and Enter, the last message by e.
	await keys.press('Escape');
	await keys.press('j');
	await page.locator('.end[data-run="4"]').waitFor();
	await page.locator('.call summary').first().focus();
	await keys.press('Enter');
	await page.locator('.call[open] .inside').waitFor();
	assert.equal(await focused(), 'SUMMARY');
	await keys.press('e');
	await page.waitForFunction(() => document.querySelector('#composer-text').value === 'halt');
	await typing();
	await keys.press('Control+a');
	await keys.type('again, better');
	await keys.press('Enter');
	await page.locator('.reply', { hasText: 'Better.' }).waitFor();

	// Every stop of Tab is visible and has a name.
	await keys.press('Escape');
	const stops = [];
	for (let step = 0; step < 60; step++) {
		await keys.press('Tab');
		const stop = await page.evaluate(() => {
			const element = document.activeElement;
			const box = element.getBoundingClientRect();
			const name = element.getAttribute('aria-label') ?? element.innerText ?? '';
			const ring = getComputedStyle(element).outlineStyle;
			return { tag: element.tagName, id: element.id, name: name.trim(), seen: box.width > 0 && box.height > 0, ring };
		});
		if (stop.tag === 'BODY' || (stops[0] && stop.id && stop.id === stops[0].id)) break;
		stops.push(stop);
	}
	assert.ok(stops.length > 10, JSON.stringify(stops));
	for (const stop of stops) {
		assert.ok(stop.seen && stop.name.length > 0, JSON.stringify(stop));
		if (stop.tag !== 'TEXTAREA') assert.notEqual(stop.ring, 'none', JSON.stringify(stop));
	}
	assert.equal(await question(page).isVisible(), false);
});
