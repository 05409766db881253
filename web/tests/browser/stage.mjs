// What every browser test stands on: the browser, the server behind the page, and what must never happen on it.
//
// The tests of the binary run a script as a program (crates/cli/tests/cli/browser/stage.rs): a line `@{"do": …}` asks them to
// start or kill the server, and is answered with a line of JSON. With WEB_FOLDER the page's files are read from that folder
// instead of the binary, so that a changed file needs no build.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const packages = createRequire(join(process.env.BROWSER_PACKAGES, 'package.json'));
const { chromium } = packages('playwright-core');

export const WAIT = 25_000; // as long as a slow machine may take; a wait that succeeds takes as long as it must

const FLAGS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function wish(what) {
	process.stdout.write(`@${JSON.stringify(what)}\n`);
	const { value, done } = await answers.next();
	assert.ok(!done, 'the test program has gone');
	return JSON.parse(value);
}

// One step of the script's model: what it says and which calls it asks for.
export const say = (text, more = {}) => ({ text, ...more });
export const call = (name, args, more = {}) => ({ calls: [{ name, arguments: args }], ...more });
export const slowly = (pause_ms, delta_chars = 8) => ({
	pace: { latency_ms: 0, pause_ms, writes: 'events', delta_chars },
});
// Replies to the message that contains these words.
export const scene = (words, ...steps) => ({ when: { user_contains: words }, steps });

export class Stage {
	constructor(name, context, profile) {
		Object.assign(this, { name, context, profile, pages: [], faults: [], expected: [] });
	}

	// A server of its own, with this script for its model.
	async open({ scenes, ...rest }) {
		this.server = await wish({ do: 'open', script: { scenes }, ...rest });
		return this.server;
	}

	kill = () => wish({ do: 'kill' });
	start = (token = null) => wish({ do: 'start', token });
	lengthen = (from, to, runs) => wish({ do: 'lengthen', from, to, runs });
	terminal = (...words) => wish({ do: 'terminal', arguments: words });
	terminalEnded = () => wish({ do: 'terminal_ended' });
	file = (name) => readFileSync(join(this.server.workspace, name), 'utf8');

	// A tab with the page open; what the browser complains about fails the test, unless it is expected.
	async tab(path = '') {
		const page = await this.context.newPage();
		page.setDefaultTimeout(WAIT);
		page.on('pageerror', (error) => this.faults.push(`${error.stack ?? error}`));
		page.on('console', (message) => {
			if (message.type() === 'error') this.faults.push(`${message.text()} ${message.location().url}`);
		});
		this.pages.push(page);
		const entry = `${this.server.url}/?token=${this.server.token}`;
		if (process.env.WEB_FOLDER) {
			await this.fromFolder(page, process.env.WEB_FOLDER);
			await this.context.request.get(entry);
		}
		await page.goto((process.env.WEB_FOLDER ? `${this.server.url}/` : entry) + path);
		await page.locator('#head').waitFor();
		return page;
	}

	async fromFolder(page, folder) {
		const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };
		await page.route('**/assets/**', (route) => {
			const name = new URL(route.request().url()).pathname.slice('/assets/'.length);
			return route.fulfill({ path: join(folder, name), contentType: types[name.split('.').pop()] });
		});
		await page.route(
			(url) => url.pathname === '/' && !url.search,
			async (route) => {
				const response = await route.fetch();
				await route.fulfill({ response, body: readFileSync(join(folder, 'index.html')) });
			},
		);
	}

	// Complaints that contain these words are part of the test.
	expect(...words) {
		this.expected.push(...words);
	}

	shot(page, name) {
		return page.screenshot({ path: join(process.env.BROWSER_OUTPUT, `${name}.png`) });
	}

	unexpected() {
		return this.faults.filter((fault) => !this.expected.some((words) => fault.includes(words)));
	}
}

// Runs one script in a fresh browser. `options` are those of a browser context: viewport, colorScheme …
export async function play(name, options, script) {
	const profile = mkdtempSync(join(tmpdir(), 'windlass-browser-'));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: process.env.BROWSER,
		args: FLAGS,
		viewport: { width: 1440, height: 900 },
		colorScheme: 'light',
		...options,
	});
	const stage = new Stage(name, context, profile);
	try {
		await script(stage);
		assert.deepEqual(stage.unexpected(), [], 'the browser complains about nothing');
	} catch (error) {
		console.log(`${name}: ${error.stack}`);
		for (const fault of stage.unexpected()) console.log(`the browser says: ${fault}`);
		for (const [index, page] of stage.pages.entries())
			await stage.shot(page, `failed-${index}`).catch(() => console.log('no picture could be taken'));
		process.exitCode = 1;
	} finally {
		await context.close();
		rmSync(profile, { recursive: true, force: true });
		process.stdin.destroy();
	}
}
