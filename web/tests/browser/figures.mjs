// The figures of the page on a released program, for `cargo xtask bench --only browser`: the last line is JSON, in milliseconds.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { play } from './stage.mjs';

const { program, arguments: words, config, rounds, long, many, runs } = JSON.parse(process.env.FIGURES);

const now = () => performance.timeOrigin + performance.now();
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

async function serve() {
	const begun = now();
	const env = { ...process.env, XDG_CONFIG_HOME: config };
	const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
	for await (const line of createInterface({ input: child.stdout })) {
		const [, url, token] = /^Open (http:\S+)\/\?token=(\S+)/.exec(line) ?? [];
		if (url) return { begun, url, token, child };
	}
	throw new Error('the server did not start');
}

// Returns how long a page takes from its address to what this selector shows.
async function shown(page, address, selector) {
	await page.goto('about:blank');
	await page.goto(address);
	return await page.evaluate(async (selector) => {
		while (!document.querySelector(selector)) await new Promise((drawn) => requestAnimationFrame(drawn));
		return performance.now();
	}, selector);
}

// Returns the lengths of all frames while the conversation is scrolled by `step` until `ended`.
const scrolled = (page, direction, until) =>
	page.evaluate(
		async ({ direction, until }) => {
			const host = document.querySelector('#conversation');
			const frames = [];
			let last = performance.now();
			while (!document.querySelector(until)) {
				host.scrollTop += direction * Math.max(900, (direction > 0 ? host.scrollHeight : 0) / 300);
				const now = await new Promise((drawn) => requestAnimationFrame(drawn));
				frames.push(now - last);
				last = now;
			}
			return frames.slice(1);
		},
		{ direction, until },
	);

await play('figures', { reducedMotion: 'reduce' }, async (stage) => {
	const [paints, showings] = [[], []];
	const last = (run) => `.end[data-run="${run}"]`;
	for (let round = 0; round <= rounds; round++) {
		const page = await stage.context.newPage();
		stage.server = await serve();
		const { begun, url, token, child } = stage.server;
		await page.goto(`${url}/?token=${token}#/s/${many}`);
		const { paint, ready } = await page.evaluate(async (selector) => {
			while (!document.querySelector(selector)) await new Promise((drawn) => requestAnimationFrame(drawn));
			const entry = performance.getEntriesByName('first-contentful-paint')[0];
			const { timeOrigin } = performance;
			return { paint: timeOrigin + entry.startTime, ready: timeOrigin + performance.now() };
		}, last(runs));
		if (round > 0) {
			paints.push(paint - begun);
			showings.push(ready - begun);
		}
		await page.close();
		if (round < rounds) child.kill('SIGKILL');
	}
	const { url, child } = stage.server;
	const page = await stage.context.newPage();
	const openings = [];
	for (let round = 0; round <= rounds; round++) {
		const took = await shown(page, `${url}/#/s/${long}`, last(1));
		if (round > 0) openings.push(took);
	}
	await shown(page, `${url}/#/s/${many}`, last(runs));
	// Up to the first message, and down again to the last.
	const frames = await scrolled(page, -1, '[data-row="message-2"], [data-row="message-3"], [data-row="message-4"]');
	frames.push(...(await scrolled(page, 1, last(runs))));
	frames.sort((a, b) => a - b);
	child.kill('SIGKILL');
	const figures = {
		first_paint: median(paints),
		session_shown: median(showings),
		long_session: median(openings),
		frames: frames.length,
		frame_p99: frames[Math.floor(frames.length * 0.99)],
		longest_frame: frames.at(-1),
	};
	console.log(JSON.stringify(figures));
});
