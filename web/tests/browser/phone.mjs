// A phone: one column, sheets from the sides, controls that a thumb hits, and nothing wider than the screen.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { answer, asked, composer, ended, send } from './steps.mjs';

const LONG =
	'cargo test --workspace --all-features -- --nocapture a_test_with_a_very_long_name_that_is_wider_than_a_phone';
const scenes = [
	scene(
		'work',
		call('write_file', {
			path: 'a/very/long/path/that/does/not/fit/on/a/phone/of/any/size/notes.txt',
			content: 'one\ntwo\n',
		}),
		call('run_command', { command: LONG }),
		say(
			'# A heading\n\nA paragraph with `code`.\n\n| a | b | c | d | e | f | g |\n|-|-|-|-|-|-|-|\n| wide | wide | wide | wide | wide | wide | wide |',
		),
	),
];

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

async function fits(page) {
	const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
	assert.equal(wide, false, 'nothing is wider than the screen');
}

// Every control in view is at least 44 pixels high or wide enough apart; texts inside prose are not controls.
async function thumbs(page, where) {
	const small = await page
		.locator(`${where} :is(button, a[href], summary, input:not([type=file], [type=range]), select)`)
		.evaluateAll((all) =>
			all
				.map((element) => ({ element, box: (element.closest('label') ?? element).getBoundingClientRect() }))
				.filter(({ element, box }) => box.width > 0 && element.checkVisibility() && !element.closest('.prose'))
				.filter(({ box }) => box.height < 43.5)
				.map(
					({ element, box }) => `${element.outerHTML.slice(0, 90)} ${Math.round(box.width)}×${Math.round(box.height)}`,
				),
		);
	assert.deepEqual(small, [], where);
}

await play('phone', phone, async (stage) => {
	await stage.open({ scenes, arguments: ['--sandbox', 'off'] });
	const page = await stage.tab();
	await fits(page);
	// Enter breaks the line, as there is no other key for it; the button sends.
	await send(page, 'work');
	await composer(page).pressSequentially('on');
	assert.equal(await composer(page).inputValue(), 'work\non');
	await page.locator('#composer button', { hasText: 'Send' }).click();
	await asked(page, 'cargo test');
	await fits(page);
	await thumbs(page, '#dock');
	const place = await composer(page).boundingBox();
	assert.ok(place.y > 600 && place.y + place.height <= 844, 'the composer is at the bottom');
	await stage.shot(page, 'asking');
	await answer(page, 5);
	await page.locator('#question .fields [type=submit]').click();
	assert.equal(await ended(page, 1), 'Done');
	await page.locator('.call summary').first().click();
	await page.locator('.call[open] .inside').waitFor();
	await fits(page);
	await thumbs(page, '#main');
	await stage.shot(page, 'done');
	await page.locator('.end [data-key=fork]').click();
	await page.locator('.thin a').waitFor();
	await page.locator('.toast').waitFor();
	await thumbs(page, '#main');
	await page.goBack();
	await page.locator('.end').waitFor();

	// The rail is a sheet from the left; a session closes it.
	await page.locator('#head [data-key=rail]').click();
	await page.locator('#rail .session a[aria-current]').waitFor();
	await page.waitForFunction(() => document.querySelector('#rail').getAnimations().length === 0);
	await thumbs(page, '#rail');
	await stage.shot(page, 'rail');
	const inside = (name) => page.evaluate((id) => document.getElementById(id).contains(document.activeElement), name);
	assert.ok(await inside('rail'));
	const focused = () => page.evaluate(() => document.activeElement.dataset.key ?? document.activeElement.id);
	await page.locator('#veil').click({ position: { x: 380, y: 400 } });
	await page.locator('#rail').waitFor({ state: 'hidden' });
	assert.equal(await focused(), 'rail', 'the focus is where it was, and no keyboard comes up');
	await page.locator('#head [data-key=rail]').click();
	await page.locator('#rail .session a[aria-current]').click();
	await page.locator('#rail').waitFor({ state: 'hidden' });
	assert.equal(await focused(), 'conversation');
	await page.locator('#head [data-key=panel]').click();
	await page.locator('#panel .timeline').waitFor();
	await page.waitForFunction(() => document.querySelector('#panel').getAnimations().length === 0);
	await fits(page);
	await thumbs(page, '#panel');
	await stage.shot(page, 'panel');
	assert.ok(await inside('panel'));
	await page.keyboard.press('Escape');
	await page.locator('#panel').waitFor({ state: 'hidden' });
	assert.equal(await focused(), 'panel');

	// A bar of the timeline shows its call, which the panel would cover; a wider window needs no sheet.
	await page.locator('#head [data-key=panel]').click();
	await page.locator('#panel button.span').first().click();
	await page.locator('#panel').waitFor({ state: 'hidden' });
	await page.locator('.call[open] summary').first().waitFor();
	assert.equal(await page.evaluate(() => document.activeElement.tagName), 'SUMMARY');
	for (const [name, shown] of [
		['settings', '.sheet .listed'],
		['usage', '.sheet table'],
	]) {
		await page.goto(`${stage.server.url}/#/${name}`);
		await page.locator(shown).first().waitFor();
		await fits(page);
		await thumbs(page, '#view');
		await stage.shot(page, name);
	}
	await page.locator('.tabs [data-key=session]').click();
	await page.locator('.sheet td a').first().waitFor();
	await thumbs(page, '#view');
	await page.locator('#head [data-key=rail]').click();
	await page.locator('#rail .session a').first().click();
	await page.locator('#head [data-key=panel]').click();
	await page.locator('#veil').waitFor();
	await page.setViewportSize({ width: 1200, height: 844 });
	await page.locator('#veil').waitFor({ state: 'hidden' });
});
