// Titles, pins, the archive, search, the scrubber, files that are dropped and pasted, and what a hidden page tells.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { answer, asked, composer, ended, lines, send } from './steps.mjs';

const scenes = [
	scene('sails', call('write_file', { path: 'sails.txt', content: 'white\n' }), say('The sails are white.')),
	scene('anchor', say('The anchor is down.')),
	scene('see these', say('Two files, seen.')),
	scene('hoist', say('Hoisted.')),
	scene('and so', say('So it is.')),
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
	assert.equal(await page.evaluate(() => document.activeElement.dataset.key), 'title');

	// Who clicks elsewhere while the title is edited gets there.
	await page.locator('#head .title').click();
	await page.locator('#head input.title').waitFor();
	await composer(page).click();
	await page.locator('#head button.title').waitFor();
	assert.equal(await page.evaluate(() => document.activeElement.id), 'composer-text');

	// Pin, search, archive, and back.
	const sails = rows.filter({ hasText: 'set the sails' });
	await sails.hover();
	await sails.locator('[aria-label="Pin"]').click();
	await page.locator('#rail-list h2', { hasText: 'Pinned' }).waitFor();
	await page.locator('#rail input').fill('anchor');
	await page.locator('#rail .covers', { hasText: 'titles, last messages' }).waitFor();
	await sails.waitFor({ state: 'hidden' });
	assert.equal(await rows.count(), 1);
	await page.locator('#rail input').fill('nothing of the kind');
	await page.locator('#rail .empty', { hasText: 'Nothing found' }).waitFor();
	await page.locator('#rail .empty button').click();
	await sails.waitFor();
	await sails.hover();
	await sails.locator('[aria-label="Archive"]').click();
	await sails.waitFor({ state: 'hidden' });
	await page.locator('.toast button', { hasText: 'Undo' }).click();
	await sails.waitFor();
	await sails.hover();
	await page.locator('.toast').last().waitFor({ state: 'detached' });
	await sails.locator('[aria-label="Archive"]').click();
	await sails.waitFor({ state: 'hidden' });

	// A short message stays as long as somebody points at it.
	const archived = page.locator('.toast', { hasText: 'Archived.' });
	await archived.hover();
	await send(page, '/stop');
	const other = page.locator('.toast', { hasText: 'Nothing was running.' });
	await other.waitFor();
	await other.waitFor({ state: 'detached' });
	assert.ok(await archived.isVisible());

	await page.locator('#rail-list button', { hasText: 'Archived' }).click();
	await sails.locator('a').click();
	await page.locator('.reply', { hasText: 'The sails are white.' }).waitFor();
	await page.locator('#rail-list button', { hasText: 'Back' }).click();
}

// A session that is not in the list is sent to as any other, though its row can't be read.
async function sendUnlisted(page) {
	const rows = page.locator('.session');
	await page.locator('#rail-list button', { hasText: 'Archived' }).click();
	await rows.filter({ hasText: 'set the sails' }).locator('a').click();
	await page.locator('.end').waitFor();
	await page.locator('#rail-list button', { hasText: 'Back' }).click();
	await rows.filter({ hasText: 'Anchoring' }).waitFor();
	const address = page.url();
	const row = (url) => url.pathname === `/api/sessions/${address.split('/').pop()}`;
	await page.route(row, (route) => route.fulfill({ status: 500, body: '{}' }));
	await page.reload();
	await page.locator('.reply', { hasText: 'The sails are white.' }).waitFor();
	await send(page, 'and so on');
	await page.locator('.reply', { hasText: 'So it is.' }).waitFor();
	assert.equal(page.url(), address);
	await page.unroute(row);
	await page.locator('#head button.title', { hasText: 'set the sails' }).waitFor();
}

// What is typed is never lost: not while a message is on its way, not when it fails, and not in another session.
async function sendWhatever(page) {
	const refused = { status: 500, body: JSON.stringify({ error: { kind: 'internal', message: 'refused for a test' } }) };
	const text = (words) => page.waitForFunction((one) => document.querySelector('#composer-text').value === one, words);
	const isMessage = (url) => url.pathname.endsWith('/messages');
	const held = async (words) => {
		let hold;
		const arrived = new Promise((resolve) => {
			hold = (route) => resolve(route);
		});
		await page.route(isMessage, hold, { times: 1 });
		await send(page, words);
		return arrived;
	};
	const rows = page.locator('.session');
	await rows.filter({ hasText: 'Anchoring' }).locator('a').click();
	await page.locator('.reply', { hasText: 'The anchor is down.' }).waitFor();

	// It fails: the words come back before those typed since.
	let route = await held('weigh');
	await text('');
	await composer(page).pressSequentially('anchors');
	await route.fulfill(refused);
	await text('weigh\nanchors');
	await page.locator('.toast.bad [aria-label=Close]').click();
	await composer(page).fill('');

	// The person goes elsewhere meanwhile: they stay there, and both keep what is theirs.
	await page.locator('button', { hasText: 'New session' }).click();
	await page.locator('.welcome').waitFor();
	const before = await rows.count();
	route = await held('hoist the jib');
	await text('');
	await rows.filter({ hasText: 'Anchoring' }).locator('a').click();
	await page.locator('.reply', { hasText: 'The anchor is down.' }).waitFor();
	await composer(page).fill('not yet');
	const address = page.url();
	await route.fulfill(refused);
	await page.locator('.toast.bad', { hasText: 'Refused for a test' }).waitFor();
	assert.equal(page.url(), address);
	assert.equal(await composer(page).inputValue(), 'not yet');
	await composer(page).fill('');

	// The failed try has left no session behind; what is typed during the next one goes along.
	await page.locator('button', { hasText: 'New session' }).click();
	await text('hoist the jib');
	route = await held('hoist the jib');
	await composer(page).pressSequentially('then the main');
	await route.continue();
	await page.locator('.reply', { hasText: 'Hoisted.' }).waitFor();
	await text('then the main');
	await rows.filter({ hasText: 'hoist the jib' }).waitFor();
	assert.equal(await rows.count(), before + 1);
	await composer(page).fill('');
	assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('draft-'))), []);
}

// The folder that is shown is the one that is worked in.
async function chooseFolder(page) {
	const folder = page.locator('.welcome select');
	const shown = () => folder.evaluate((select) => select.value);
	await page.locator('button', { hasText: 'New session' }).click();
	const first = await folder.locator('option').first().getAttribute('value');
	const other = await folder.locator('option').nth(1).getAttribute('value');
	await folder.selectOption(other);
	await page.locator('#rail button', { hasText: 'Settings' }).click();
	await page.locator('.sheet').waitFor();
	assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H2');
	await page.locator('button', { hasText: 'New session' }).click();
	await folder.waitFor();
	assert.equal(await shown(), other);
	await folder.selectOption(first);
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
	const give = (type, target, name, text, plain = '') =>
		page.evaluate(
			([kind, selector, file, content, words]) => {
				const data = new DataTransfer();
				data.items.add(new File([content], file, { type: 'text/plain' }));
				if (words) data.setData('text/plain', words);
				const options = { bubbles: true, cancelable: true };
				const event =
					kind === 'paste'
						? new ClipboardEvent('paste', { ...options, clipboardData: data })
						: new DragEvent('drop', { ...options, dataTransfer: data });
				document.querySelector(selector).dispatchEvent(event);
				return event.defaultPrevented;
			},
			[type, target, name, text, plain],
		);
	assert.ok(await give('drop', '#rail', 'dropped.txt', 'dropped words'), 'the browser does not open it');
	await give('paste', '#composer-text', 'pasted.txt', 'pasted words');
	assert.equal(await give('paste', '#composer-text', 'cells.png', 'a picture', 'one\ttwo'), false, 'cells are text');
	assert.equal(await page.locator('#composer .chip').count(), 2);
	// What can't be read, such as a folder, is not sent, and not lost either.
	await page.evaluate(() => {
		window.readFile = FileReader.prototype.readAsDataURL;
		FileReader.prototype.readAsDataURL = function () {
			this.onerror();
		};
	});
	await send(page, 'see these');
	await page.locator('.toast.bad', { hasText: 'dropped.txt could not be read' }).waitFor();
	assert.equal(await page.locator('#composer .chip').count(), 2);
	await page.evaluate(() => {
		FileReader.prototype.readAsDataURL = window.readFile;
	});
	await composer(page).press('Enter');
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
				window.newest = this;
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

	// Of another session than the open one, too; a click on the notification opens it.
	const id = await page.evaluate(async () => {
		const post = (path, body) => {
			const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() };
			return fetch(`/api/sessions${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
		};
		window.post = post;
		return (await (await post('', {})).json()).id;
	});
	await page.locator(`.session [data-key="${id}"]`).waitFor();
	await hide(page, true);
	await page.evaluate(async (session) => {
		const now = Date.now.bind(Date);
		let passed = 0;
		Date.now = () => now() + (passed += 20_000);
		await window.post(`/${session}/messages`, { text: 'go quietly' });
	}, id);
	await page.waitForFunction(() => window.told.length === 3);
	assert.match((await page.evaluate(() => window.told))[2], /asks you$/);
	await page.evaluate(() => window.newest.onclick());
	await asked(page, 'touch quiet');
	assert.ok(page.url().endsWith(id));
	await answer(page, 1);
	await ended(page, 1);
}

await play('organise', {}, async (stage) => {
	stage.expect('500');
	await stage.open({ scenes, arguments: ['--sandbox', 'off', '--folder', '/tmp'] });
	const page = await stage.tab();
	await findsAndFiles(stage, page);
	await walkBack(page);
	await sendUnlisted(page);
	await sendWhatever(page);
	await chooseFolder(page);
	await takeFiles(page);
	await hiddenPage(page);
});
