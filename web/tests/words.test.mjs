import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { keys, t } from '../js/words.js';

const web = new URL('../', import.meta.url);
const sources = readdirSync(new URL('js/', web))
	.filter((name) => name !== 'words.js')
	.map((name) => readFileSync(new URL(`js/${name}`, web), 'utf8'));
const html = readFileSync(new URL('index.html', web), 'utf8');

test('every key that is used has words', () => {
	const known = new Set(keys());
	const whole = [...sources.join('\n').matchAll(/\bt\(\s*(?:[^'`()]*\? )?'([\w.]+)'(?: : '([\w.]+)')?/g)]
		.flatMap((found) => [found[1], found[2]])
		.filter(Boolean);
	const inHtml = [...html.matchAll(/data-t(?:-label)?="([\w.]+)"/g)].map((found) => found[1]);
	assert.ok(whole.length > 100);
	for (const key of [...whole, ...inHtml]) assert.ok(known.has(key), key);
});

test('every key that is put together has words for some ending', () => {
	const beginnings = [...sources.join('\n').matchAll(/\bt\(`([\w.]+)\$\{/g)].map((found) => found[1]);
	for (const start of new Set(beginnings))
		assert.ok(
			keys().some((key) => key.startsWith(start)),
			start,
		);
});

test('no words are left unused', () => {
	const all = sources.join('\n') + html;
	const starts = [...all.matchAll(/`([\w.]+\.)\$\{/g)].map((found) => found[1]);
	const unused = keys().filter(
		(key) => !all.includes(`'${key}'`) && !all.includes(`"${key}"`) && !starts.some((start) => key.startsWith(start)),
	);
	assert.deepEqual(unused, []);
});

test('numbers choose the form, and values are filled in', () => {
	assert.equal(t('end.files', { n: 1 }), '1 file changed');
	assert.equal(t('end.files', { n: 3 }), '3 files changed');
});
