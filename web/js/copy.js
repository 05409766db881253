// Copies text, with a mark that says so.

import { h, icon } from './dom.js';
import { t } from './words.js';

async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const from = document.activeElement;
		const area = h('textarea.unseen', { value: text });
		document.body.append(area);
		area.select();
		document.execCommand('copy');
		area.remove();
		from?.focus({ preventScroll: true });
	}
}

export function copyButton(textOf, label, { text = false } = {}) {
	const words = h('span', null, label);
	const button = h(
		'button.quiet.copy',
		{ type: 'button', title: label, 'aria-label': label, data: { key: `copy-${label}` } },
		icon('copy'),
		text && words,
	);
	button.addEventListener('click', async () => {
		await copyText(textOf());
		button.classList.add('done');
		button.replaceChildren(icon('check'), ...(text ? [h('span', null, t('copy.done'))] : []));
		setTimeout(() => {
			button.classList.remove('done');
			button.replaceChildren(icon('copy'), ...(text ? [words] : []));
		}, 1500);
	});
	return button;
}

// A command to be typed at a terminal.
export const command = (text) =>
	h(
		'div.command',
		null,
		h('code', { tabindex: 0 }, text),
		copyButton(() => text, t('copy.command')),
	);
