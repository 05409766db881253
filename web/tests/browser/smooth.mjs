// A reply of 2,000 tokens a second below ten open calls, and a session of thousands of messages: nothing moves that should
// not, only a few rows are drawn, and the figures are printed. MESSAGES=10000 measures a session of 10,000 messages.

import assert from 'node:assert/strict';
import { play, say, scene } from './stage.mjs';
import { ended, send } from './steps.mjs';

const MESSAGES = Number(process.env.MESSAGES ?? 300);
// More than is read: the reply is stopped when all has been seen, however slow the machine is.
const TOKENS = 90_000;
const story = Array.from({ length: TOKENS / 30 }, (_, n) => `**Part ${n}**\n\n${'haul '.repeat(26).trim()}.`).join(
	'\n\n',
);
const calls = Array.from({ length: 10 }, (_, n) => ({ name: 'read_file', arguments: { path: `log${n}.txt` } }));

const scenes = [
	scene(
		'read all',
		{ text: 'I read them all.', calls },
		say(story, { pace: { latency_ms: 3000, pause_ms: 10, writes: 'events', delta_chars: 200 } }),
	),
	scene('one line', say('One line.')),
];

const files = Object.fromEntries(
	Array.from({ length: 10 }, (_, n) => [
		`log${n}.txt`,
		Array.from({ length: 30 }, (_, line) => `line ${line} of log ${n}\n`).join(''),
	]),
);

// Counts frames and tasks over 50 ms, and notes where the composer stands in each frame, from now on.
async function watch(page) {
	await page.evaluate(() => {
		const seen = { frames: [], tasks: [], composer: new Set() };
		const composer = document.querySelector('#composer');
		window.seen = seen;
		let last = performance.now();
		const frame = (now) => {
			seen.frames.push(now - last);
			last = now;
			seen.composer.add(composer.getBoundingClientRect().top);
			if (window.seen === seen) requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
		const note = (list) => list.getEntries().forEach((entry) => seen.tasks.push(entry.duration));
		new PerformanceObserver(note).observe({ type: 'longtask' });
	});
}

async function figures(page, what) {
	const { frames, tasks, composer } = await page.evaluate(() => {
		const seen = window.seen;
		window.seen = null;
		return { ...seen, composer: [...seen.composer] };
	});
	const sorted = frames.toSorted((a, b) => a - b);
	const at = (share) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
	console.log(
		`${what}: ${frames.length} frames, median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms; ` +
			`${tasks.length} tasks over 50 ms, longest ${Math.round(Math.max(0, ...tasks))} ms`,
	);
	return { frames: sorted, tasks, composer };
}

const drawn = (page) => page.locator('.item').count();

// Where the first row in view stands.
const place = (page) =>
	page.evaluate(() => {
		const edge = document.querySelector('#conversation').getBoundingClientRect().top;
		const row = [...document.querySelectorAll('.item')].find((item) => item.getBoundingClientRect().bottom > edge);
		return { row: row.dataset.row, top: Math.round(row.getBoundingClientRect().top) };
	});

await play('smooth', { reducedMotion: 'reduce' }, async (stage) => {
	await stage.open({ scenes, files });
	const page = await stage.tab();

	await send(page, 'read all');
	// What is opened stays where it is; the end is one click away.
	await page.locator('.together .mark.ok').nth(9).waitFor();
	await page.locator('.together summary').evaluateAll((folds) => folds.forEach((fold) => fold.click()));
	await page.locator('.together .call[open] .inside').nth(9).waitFor();
	await page.locator('#pill').click();
	await page.locator('.live .text', { hasText: 'Part 1' }).waitFor();
	const length = () => page.locator('.live .text').evaluate((element) => element.textContent.length);
	const [before, begun] = [await length(), Date.now()];
	await watch(page);
	await page.locator('.live .text', { hasText: 'Part 120' }).waitFor();
	const rate = Math.round((((await length()) - before) / 5 / (Date.now() - begun)) * 1000);
	const streamed = await figures(page, `${rate} tokens a second below ten open calls`);
	assert.equal(streamed.composer.length, 1, 'the composer never moves');
	const end = await page
		.locator('#conversation')
		.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
	assert.ok(end < 60, `the end stays in view: ${end}`);

	// Who reads further up is not moved.
	await page.locator('#conversation').hover();
	await page.mouse.wheel(0, -900);
	await page.locator('#pill').waitFor();
	await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
	const stood = await place(page);
	await page.waitForFunction(
		(length) => document.querySelector('.live .text').textContent.length > length + 3000,
		await page.locator('.live .text').evaluate((element) => element.textContent.length),
	);
	assert.deepEqual(await place(page), stood, 'the reader stays where they are');
	await page.locator('#pill').click();
	await page.locator('#composer button', { hasText: 'Stop' }).click();
	assert.equal(await ended(page, 1), 'Stopped');

	// A long session.
	await page.locator('button', { hasText: 'New session' }).click();
	await send(page, 'one line');
	assert.equal(await ended(page, 1), 'Done');
	const id = decodeURIComponent(new URL(page.url()).hash.split('/').pop());
	const row = await page.evaluate(async (session) => (await fetch(`/api/sessions/${session}`)).json(), id);
	stage.expect('ERR_');
	await stage.kill();
	const { records } = await stage.lengthen(row.key, 'long', MESSAGES);
	await stage.start();
	await page.locator('#notice .ok, #notice .warn').first().waitFor({ state: 'hidden' });
	const link = page.locator('.session', { hasText: 'one line' }).locator(`a:not([href*="${id}"])`);
	await link.waitFor();
	const opening = await link.evaluate(async (element, last) => {
		const begun = performance.now();
		element.click();
		while (!document.querySelector(`.end[data-run="${last}"]`))
			await new Promise((drawn) => requestAnimationFrame(drawn));
		return Math.round(performance.now() - begun);
	}, MESSAGES);
	console.log(`a session of ${records} records opens in ${opening} ms`);
	await watch(page);
	// Up to the first message, page by page, as with a held key.
	await page.evaluate(async () => {
		const host = document.querySelector('#conversation');
		const first = [2, 3, 4, 5, 6].map((seq) => `[data-row="message-${seq}"]`).join();
		while (!document.querySelector(first)) {
			host.scrollTop -= 2000;
			await new Promise((drawn) => requestAnimationFrame(drawn));
		}
	});
	await figures(page, `${MESSAGES} messages, read up to the first`);
	// The scrubber loads on to the first record by itself, too.
	await page.reload();
	await page.locator('.scrubber input').waitFor();
	await page.waitForFunction(
		(last) => {
			const input = document.querySelector('.scrubber input');
			input.value = 0;
			input.dispatchEvent(new Event('input', { bubbles: true }));
			return Number(input.max) === last - 1;
		},
		records,
		{ polling: 100 },
	);
	await page.locator('#notice button', { hasText: 'Back to now' }).click();
	await page.locator(`.end[data-run="${MESSAGES}"]`).waitFor();
	await page.locator('#conversation').evaluate((element) => element.scrollTo(0, 0));
	await page.locator('[data-row^="message-"]').first().waitFor();
	await watch(page);
	await page.evaluate(async () => {
		const host = document.querySelector('#conversation');
		const step = Math.max(900, host.scrollHeight / 300);
		while (host.scrollTop + host.clientHeight < host.scrollHeight - 60) {
			host.scrollTop += step;
			await new Promise((drawn) => requestAnimationFrame(drawn));
		}
	});
	await figures(page, `${MESSAGES} messages, scrolled from the first to the last`);
	assert.ok((await drawn(page)) < 80, 'only what is near the view is drawn');
	assert.equal(await ended(page, MESSAGES), 'Done');
});
