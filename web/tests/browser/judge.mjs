// How the page looks at every width and in both colours, and what axe-core says of it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const packages = createRequire(join(process.env.BROWSER_PACKAGES, 'package.json'));
const axe = readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8');

const widths = [
	[1440, 900],
	[1024, 768],
	[390, 844],
];

// The serious faults of the page as it stands.
export async function faults(page, where) {
	await page.evaluate(axe);
	const found = await page.evaluate(() =>
		window.axe.run(document, { resultTypes: ['violations'], rules: { region: { enabled: false } } }),
	);
	const serious = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
	return serious.map(
		(one) =>
			`${where}: ${one.id}: ${one.nodes.map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ''}`).join(' | ')}`,
	);
}

// The controls in view that are too low for a thumb: under 44 pixels. Links inside prose are not controls.
export function tooLow(page, where) {
	return page
		.locator(`${where} :is(button, a[href], summary, input:not([type=file], [type=range]), select, textarea, [role=option])`)
		.evaluateAll((all) =>
			all
				.map((element) => ({ element, box: (element.closest('label') ?? element).getBoundingClientRect() }))
				.filter(({ element, box }) => box.width > 0 && element.checkVisibility() && !element.closest('.prose'))
				.filter(({ box }) => box.height < 43.5)
				.map(({ element, box }) => `${element.outerHTML.slice(0, 90)} ${Math.round(box.height)}`),
		);
}

// Each colour and width, once with a picture of it.
export async function everyLook(stage, page, name, found) {
	const looks = ['light', 'dark'].flatMap((colorScheme) =>
		widths.map(([width, height]) => ({ colorScheme, width, height })),
	);
	const put = async ({ colorScheme, width, height }) => {
		await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
		await page.setViewportSize({ width, height });
		await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
	};
	// The pictures first: a reply that is streamed does not wait for the judge.
	for (const look of looks) {
		await put(look);
		await stage.shot(page, `${name}-${look.width}-${look.colorScheme}`);
	}
	for (const look of looks.filter(({ width }) => width !== 1024)) {
		await put(look);
		found.push(...(await faults(page, `${name} ${look.width} ${look.colorScheme}`)));
	}
	await page.setViewportSize({ width: 1440, height: 900 });
}
