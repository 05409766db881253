// Pictures of the page asking, streaming and done, at three widths, light and dark; axe-core finds no serious fault in them.

import assert from 'node:assert/strict';
import { call, play, say, scene, slowly } from './stage.mjs';
import { everyLook } from './judge.mjs';
import { answer, asked, ended, send } from './steps.mjs';

const OLD = 'fn depth(line: &Line) -> u32 {\n    line.fathoms * 6\n}\n';
const NEW = 'fn depth(line: &Line) -> Option<u32> {\n    line.fathoms.checked_mul(6)\n}\n';
const PLAN = ['Read the sounding module', 'Guard the multiplication', 'Run the tests', 'Write down what changed'];
const plan = (done) => ({
	items: PLAN.map((step, index) => ({ step, status: index < done ? 'done' : index === done ? 'doing' : 'open' })),
});

const ANSWER = [
	'The depth can no longer overflow. `depth` returns **`None`** where the product does not fit into 32 bits:',
	'```rust\nfn depth(line: &Line) -> Option<u32> {\n    line.fathoms.checked_mul(6)\n}\n```',
	'What callers see:\n\n- `report()` prints “too deep” for such a line,\n- `sum()` leaves it out and says so.',
	'| case | before | now |\n|-|-|-|\n| 700,000,000 fathoms | wraps | `None` |\n| 12 fathoms | 72 | 72 |',
].join('\n\n');

const scenes = [
	scene(
		'overflow',
		{
			thinking: 'The multiplication is unchecked. I look at the module and at its tests before I change anything.',
			text: 'I look at the module and its tests first.',
			calls: [
				{ name: 'todo', arguments: plan(0) },
				{ name: 'read_file', arguments: { path: 'depth.rs' } },
				{ name: 'search_files', arguments: { pattern: 'fathoms' } },
			],
			usage: { prompt: 6100, completion: 240 },
		},
		{
			...call('edit_file', { path: 'depth.rs', old_text: OLD, new_text: NEW }),
			usage: { prompt: 7400, completion: 180 },
		},
		{ ...call('todo', plan(2)), usage: { prompt: 7700, completion: 60 } },
		{
			...call('run_command', { command: 'cargo test --package sounding -- depth' }),
			usage: { prompt: 7800, completion: 60 },
		},
		say(ANSWER, slowly(300, 14)),
	),
];

await play('looks', {}, async (stage) => {
	await stage.open({
		scenes,
		arguments: ['--sandbox', 'off'],
		files: { 'depth.rs': OLD },
		settings: '[models.scripted]\nwindow = 12000\nprice_input = 3\nprice_output = 15\n',
	});
	const page = await stage.tab();
	const found = [];
	await page.locator('.welcome').waitFor();
	await send(
		page,
		'The depth of a line overflows for large numbers of fathoms. Please find out why, mend it and run the tests.',
	);
	await asked(page, 'cargo test');
	await everyLook(stage, page, 'asking', found);
	await answer(page, 5);
	await page.locator('#question .fields [type=submit]').click();
	await page.locator('.live .text', { hasText: 'product' }).waitFor();
	await everyLook(stage, page, 'streaming', found);
	assert.equal(await ended(page, 1), 'Done');
	await page.locator('.call', { hasText: 'edit_file' }).locator('summary').click();
	await everyLook(stage, page, 'done', found);
	assert.deepEqual(found, [], 'axe-core finds no serious fault');
});
