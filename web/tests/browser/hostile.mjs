// Text of models and tools full of HTML, script, control and bidi characters. Nothing runs, nothing is loaded, nothing
// leaves its place.

import assert from 'node:assert/strict';
import { call, play, say, scene, slowly } from './stage.mjs';
import { answer, asked, ended, send } from './steps.mjs';

const EVIL = [
	'<script>window.ran = 1</script>',
	'<img src=x onerror="window.ran = 2"><svg onload="window.ran = 3">',
	'[a link](javascript:window.ran=4) [data](data:text/html,<script>window.ran=5</script>)',
	'![picture](http://127.0.0.1:9/pixel.png)',
	'<style>body { display: none }</style><base href="//evil.example/"><form action="/api/sessions"><input id="composer-text">',
	'\u202egnp.exe\u202c \u0007\u001b[2J\u0000 \u200b\ufeff',
	'</div></section></main>',
	'x'.repeat(5000),
	`|${'cell|'.repeat(60)}\n|${'-|'.repeat(60)}\n|${'v|'.repeat(60)}`,
	'```html\n<script>window.ran = 6</script>\n```',
].join('\n\n');

const scenes = [
	scene(
		'show <b>it',
		{
			text: EVIL,
			thinking: EVIL,
			calls: [{ name: 'write_file', arguments: { path: 'evil.html', content: EVIL } }],
			...slowly(1, 200),
		},
		call('run_command', { command: 'cat evil.html; echo "\u202e<img src=x onerror=window.ran=7>"' }),
		say(EVIL),
	),
];

await play('hostile', {}, async (stage) => {
	await stage.open({ scenes, arguments: ['--sandbox', 'off'] });
	const page = await stage.tab();
	const strangers = [];
	page.on('request', (request) => {
		if (!request.url().startsWith(stage.server.url) && !request.url().startsWith('data:image/svg'))
			strangers.push(request.url());
	});
	await page.evaluate(() => {
		window.reports = [];
		document.addEventListener('securitypolicyviolation', (event) => window.reports.push(event.violatedDirective));
	});
	await send(page, 'show <b>it</b> <script>window.ran = 8</script>');
	await asked(page, 'cat evil.html');
	assert.match(await page.locator('#question').innerText(), /⟨U\+202E⟩/, 'what could hide in a command is visible');
	await answer(page, 1);
	assert.equal(await ended(page, 1), 'Done');
	for (const fold of await page.locator('#conversation details > summary').all()) await fold.click();
	for (const file of await page.locator('#panel details > summary').all()) await file.click();
	const state = await page.evaluate(() => ({
		ran: window.ran ?? null,
		reports: window.reports,
		forms: document.querySelectorAll('#conversation :is(form, input, script, style, base, iframe, img)').length,
		links: [...document.querySelectorAll('#conversation a[href]')].map((link) => link.protocol),
		composers: document.querySelectorAll('#composer-text').length,
		wide: document.documentElement.scrollWidth > innerWidth,
		column: document.querySelector('#conversation').scrollWidth > document.querySelector('#conversation').clientWidth,
		title: document.title,
		hidden: [...document.querySelectorAll('body *')]
			.filter((element) => [...element.childNodes].some((node) => /[\u202a-\u202e\u200b\ufeff]/.test(node.data)))
			.map((element) => element.outerHTML),
	}));
	assert.deepEqual(
		{ ...state, title: null, links: state.links.filter((protocol) => !/^https?:$/.test(protocol)) },
		{ ran: null, reports: [], forms: 0, links: [], composers: 1, wide: false, column: false, title: null, hidden: [] },
	);
	assert.deepEqual(strangers, [], 'nothing else is asked for');
	await stage.shot(page, 'hostile');
	await page.reload();
	assert.equal(await ended(page, 1), 'Done');
	assert.equal(await page.evaluate(() => window.ran ?? null), null);
});
