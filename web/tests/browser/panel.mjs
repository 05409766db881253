// What the conversation and the run panel say of failed tries, limits, changes, long timelines and the context; and a tool
// server that failed.

import assert from 'node:assert/strict';
import { call, play, say, scene } from './stage.mjs';
import { answer, asked, ended, question, send } from './steps.mjs';

const FILES = Array.from({ length: 16 }, (_, n) => `log-${n}.txt`);
const read = (path) => ({ name: 'read_file', arguments: { path } });

const scenes = [
	scene('storm', say('Calm again.', { faults: [{ kind: 'status', code: 503, times: 2 }] })),
	scene('stop here', call('run_command', { command: 'sleep 600' })),
	scene('overwrite', call('write_file', { path: 'notes.txt', content: 'one\n2\n' }), call('delete_file', { path: 'old.txt' }), say('Written.')),
	scene('all logs', { calls: FILES.map(read) }, say('All read.')),
	scene('dear', { calls: [read('notes.txt')], usage: { prompt: 90_000, completion: 500 } }, say('Never said.')),
	scene('and then', say('And then.')),
];

// A server of tools that says why it can't start, and how often it was started.
const SERVER = 'echo again >> starts; echo "no oil, start $(wc -l < starts)" >&2; exit 3';

async function failures(page) {
	const thin = page.locator('.thin');
	await send(page, 'a storm');
	await thin.filter({ hasText: /tries again at .*\d:\d\d.* \(\d of \d\): / }).waitFor();
	assert.equal(await ended(page, 1), 'Done');
	assert.equal(await thin.count(), 1, 'one line for all tries');
	assert.match(await thin.innerText(), /2 tries failed: /);
	assert.equal(await page.locator('.end .figures', { hasText: /\$|unknown/ }).count(), 0, 'no price is known');

	await send(page, 'stop here');
	await asked(page, 'sleep 600');
	await answer(page, 1);
	await page.locator('.mark.running').waitFor();
	await page.locator('#composer button', { hasText: 'Stop' }).click();
	assert.equal(await ended(page, 2), 'Stopped');
	assert.ok(await page.locator('.end[data-run="2"] [data-key=retry]').isVisible(), 'it can be tried again');
}

// Nobody was asked, and the request has only the new content: the change is shown all the same, in call and panel.
async function changes(page) {
	await send(page, 'overwrite the notes');
	assert.equal(await ended(page, 3), 'Done');
	const line = (kind) => `.diff .${kind}`;
	const written = page.locator('.call', { hasText: 'write_file' });
	await written.locator('summary').click();
	assert.equal(await written.locator(line('remove')).innerText(), 'two');
	assert.equal(await written.locator(line('add')).innerText(), '2');
	const file = page.locator('#panel .file', { hasText: 'old.txt' });
	await file.locator('summary').click();
	assert.equal(await file.locator(line('remove')).innerText(), 'gone');

	await page.locator('.end[data-run="3"] [data-key=undo]').click();
	await page.locator('#dialog button.main').click();
	await page.locator('.thin', { hasText: 'put back: old.txt' }).waitFor();
}

async function timeline(page) {
	await send(page, 'read all logs');
	assert.equal(await ended(page, 4), 'Done');
	const spans = page.locator('#panel .timeline .span');
	const all = page.locator('#panel [data-key=timeline-all]');
	assert.equal(await spans.count(), 12);
	assert.equal(await all.innerText(), 'Show all 18');
	await all.click();
	assert.equal(await spans.count(), 18);
	assert.equal(await page.locator('#panel .span.together').count(), 16);
	await page.locator('#panel button', { hasText: 'Show the newest only' }).click();
	assert.equal(await spans.count(), 12);
	// A file of the folder is no text from outside.
	const call = page.locator('.call', { hasText: 'log-15.txt' });
	await call.locator('summary').click();
	await call.locator('.inside .block', { hasText: 'log' }).waitFor();
	assert.equal(await call.locator('.inside', { hasText: 'nobody here has checked' }).count(), 0);
}

// The context bar says what fills the window, and has the older part summarised before the next answer.
async function compaction(stage, page) {
	const bar = page.locator('#panel [data-key=context]');
	await bar.click();
	await page.locator('#panel dt', { hasText: 'Tool definitions' }).waitFor();
	await page.locator('#panel [data-key=compact]').click();
	const toast = page.locator('.toast', { hasText: 'summarised before the next answer' });
	await toast.waitFor();
	const [above, below] = [await toast.boundingBox(), await page.locator('#composer').boundingBox()];
	assert.ok(above.y + above.height <= below.y, 'a short message covers nothing one writes in');
	await stage.shot(page, 'compact');
	await send(page, 'and then?');
	await page.locator('.thin', { hasText: 'a summary is sent in place of the oldest turns' }).waitFor();
	assert.equal(await ended(page, 5), 'Done');
	await page.locator('summary', { hasText: 'What the summary says' }).click();
	// The scripted model knows one reply to what is left out.
	await page.locator('.thinking .plain', { hasText: 'All read.' }).waitFor();
}

async function limit(page) {
	await send(page, 'something dear');
	await asked(page, 'limit');
	await question(page).locator('button', { hasText: 'Stop the run' }).click();
	assert.equal(await ended(page, 6), 'A spending limit is reached');
	const why = page.locator('.end[data-run="6"] .why');
	assert.match(await why.innerText(), /^Tokens of the run: 9\d,\d{3} of 50,000 spent\..*Try again.*run_token_limit/);
	assert.equal(await page.locator('.reply', { hasText: 'run_token_limit' }).count(), 0, 'it is said once');
	assert.ok(await page.locator('.end[data-run="6"] [data-key=retry]').isVisible());
}

// A server of tools that failed says why, with its last words, and is started again when a person asks for it.
async function toolServer(stage, page) {
	await page.locator('#rail button', { hasText: 'Settings' }).click();
	const row = page.locator('.listed li', { hasText: 'lamp' });
	await row.locator('span', { hasText: 'failed' }).waitFor();
	const reason = row.locator('.danger', { hasText: 'exit code 3' });
	const before = Number(/its last words: no oil, start (\d+)/.exec(await reason.innerText())[1]);
	await stage.shot(page, 'server-failed');
	await row.locator('button', { hasText: 'Try again' }).click();
	await page.waitForFunction(
		(starts) => Number(/start (\d+)/.exec(document.querySelector('.listed .danger')?.innerText)?.[1]) > starts,
		before,
	);
	await row.locator('span', { hasText: 'failed' }).waitFor();
}

await play('panel', {}, async (stage) => {
	await stage.open({
		scenes,
		arguments: ['--sandbox', 'off'],
		files: { ...Object.fromEntries(FILES.map((name) => [name, 'a log\n'])), 'notes.txt': 'one\ntwo\n', 'old.txt': 'gone\n' },
		settings: [
			'[policy]\nrun_token_limit = 50000',
			'[models.scripted]\nwindow = 200000',
			`[mcpServers.lamp]\ncommand = "sh"\nargs = ["-c", ${JSON.stringify(SERVER)}]`,
			'',
		].join('\n\n'),
	});
	const page = await stage.tab();
	await failures(page);
	await changes(page);
	await timeline(page);
	await stage.shot(page, 'timeline');
	await compaction(stage, page);
	await limit(page);
	await stage.shot(page, 'limit');
	await toolServer(stage, page);
});
