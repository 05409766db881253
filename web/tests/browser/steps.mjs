// What a person does on the page and what they see, for every browser test.

import assert from 'node:assert/strict';

export const composer = (page) => page.locator('#composer-text');
export const question = (page) => page.locator('#question');

export async function send(page, text) {
	await composer(page).fill(text);
	await composer(page).press('Enter');
}

// Waits until this run of the session has ended, and returns its outcome.
export function ended(page, run = 1) {
	return page.locator(`.end[data-run="${run}"] strong`).innerText();
}

// Waits for the question whose heading contains these words.
export async function asked(page, words) {
	await question(page).locator('h2', { hasText: words }).waitFor();
}

export async function answer(page, key) {
	await question(page).locator(`.answers button:has(kbd:text-is("${key}"))`).click();
}

// Waits until nothing is asked.
export const unasked = (page) => question(page).waitFor({ state: 'hidden' });

// The lines that are drawn now: what they are, and their text without what is folded away.
export function lines(page) {
	return page.locator('.item').evaluateAll((items) =>
		items.map((item) => {
			const copy = item.cloneNode(true);
			for (const inside of copy.querySelectorAll('.inside')) inside.remove();
			return { row: item.dataset.row, kind: item.className.replace(/^item of-/, ''), text: copy.textContent };
		}),
	);
}

// Reads the conversation from its first line to its last, as a person who scrolls does.
export async function allLines(page) {
	const found = new Map();
	const conversation = page.locator('#conversation');
	for (let [from, end] = [0, false]; !end; from += 400) {
		end = await conversation.evaluate(async (element, top) => {
			element.scrollTo(0, top);
			for (let frame = 0; frame < 3; frame++) await new Promise((drawn) => requestAnimationFrame(drawn));
			return element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
		}, from);
		for (const line of await lines(page)) found.set(line.row, line);
	}
	return [...found.values()];
}

// What the page shows after a reload is exactly what it showed before it: nothing lost, nothing twice.
export async function sameAfterReload(page) {
	const before = await allLines(page);
	await page.reload();
	await page.locator('.item').first().waitFor();
	assert.deepEqual(await allLines(page), before);
	return before;
}
