// The palette: every action and session by a few letters.

import { byId, h } from './dom.js';
import { t } from './words.js';

// How well the letters fit: in order, better at the start of words. -1 where they do not. Pure.
export function fit(letters, words) {
	const text = words.toLowerCase();
	let [score, from] = [0, 0];
	for (const letter of letters.toLowerCase().replace(/\s+/g, '')) {
		const found = text.indexOf(letter, from);
		if (found < 0) return -1;
		if (found === from) score += 2;
		if (found === 0 || text[found - 1] === ' ') score += 3;
		from = found + 1;
	}
	return score - text.length / 100;
}

export function openPalette(entries) {
	const dialog = byId('palette');
	const input = h('input', {
		type: 'text',
		role: 'combobox',
		'aria-expanded': 'true',
		'aria-controls': 'palette-list',
		'aria-label': t('palette.label'),
		placeholder: t('palette.label'),
		autocomplete: 'off',
	});
	const list = h('ul', { id: 'palette-list', role: 'listbox', 'aria-label': t('palette.label') });
	let [shown, chosen] = [[], 0];
	const choose = (entry) => {
		dialog.close();
		entry?.run();
	};
	const mark = () => {
		[...list.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === chosen)));
		list.children[chosen]?.scrollIntoView({ block: 'nearest' });
		input.setAttribute('aria-activedescendant', `palette-${chosen}`);
	};
	const draw = () => {
		shown = entries
			.map((entry) => ({ entry, score: fit(input.value, entry.label) }))
			.filter(({ score }) => score >= 0 || input.value === '')
			.sort((a, b) => (input.value ? b.score - a.score : 0))
			.slice(0, 60)
			.map(({ entry }) => entry);
		chosen = 0;
		list.replaceChildren(
			...shown.map((entry, index) =>
				h(
					'li',
					{ role: 'option', id: `palette-${index}`, onclick: () => choose(entry) },
					h('span.grow.cut', null, entry.label),
					entry.key && h('kbd', null, entry.key),
				),
			),
		);
		none.hidden = shown.length > 0;
		mark();
	};
	const none = h('p.none', { hidden: true }, t('palette.none'));
	input.addEventListener('input', draw);
	input.addEventListener('keydown', (event) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (step) {
			chosen = (chosen + step + shown.length) % Math.max(1, shown.length);
			mark();
			event.preventDefault();
		}
		if (event.key === 'Enter') {
			event.preventDefault();
			choose(shown[chosen]);
		}
	});
	dialog.setAttribute('aria-label', t('palette.label'));
	dialog.replaceChildren(input, list, none);
	dialog.onclick = (event) => {
		if (event.target === dialog) dialog.close();
	};
	draw();
	dialog.showModal();
	input.focus();
}
