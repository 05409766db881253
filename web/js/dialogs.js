// Short messages, questions of the page itself, and menus.

import { button, byId, h, icon, leaveFocus } from './dom.js';
import { t } from './words.js';

// It goes by itself, but not while somebody points at it or has the focus in it.
export function toast(words, { bad = false, action = null } = {}) {
	let timer = null;
	const close = () => {
		clearTimeout(timer);
		leaveFocus(element, byId('conversation'), byId('view'));
		element.remove();
	};
	const wait = () => {
		clearTimeout(timer);
		if (!element.matches(':hover, :focus-within')) timer = setTimeout(close, bad ? 9000 : 4000);
	};
	const element = h(
		`div.toast${bad ? '.bad' : ''}`,
		null,
		h('span.grow', null, words),
		action &&
			button(
				action.label,
				() => {
					close();
					action.run();
				},
				{ kind: 'link' },
			),
		button(t('close'), close, { kind: 'quiet', shape: 'cross', text: false }),
	);
	for (const kind of ['pointerenter', 'focusin']) element.addEventListener(kind, () => clearTimeout(timer));
	for (const kind of ['pointerleave', 'focusout']) element.addEventListener(kind, () => setTimeout(wait));
	byId('toasts').prepend(element); // above the others, which stay where somebody may be pointing at them
	wait();
}

// An error of the server in words that say what to do.
export function errorWords(error) {
	if (error.kind === 'limited') return t('error.limited', { time: error.retryAfter ?? 60 });
	if (error.kind === 'unauthorized') return t('error.unauthorized');
	return [error.message, error.hint].filter(Boolean).map(sentence).join(' ');
}

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?…]$/.test(words) ? '' : '.');

export function showError(error) {
	if (error.name !== 'AbortError') toast(errorWords(error), { bad: true });
}

// Asks with a dialog; the promise holds whether the person agreed. Focus goes back to where it was.
export function ask({ title, body = [], yes, danger = false, no = t('cancel') }) {
	const dialog = byId('dialog');
	return new Promise((resolve) => {
		const done = (value) => {
			dialog.close();
			resolve(value);
		};
		const main = yes && button(yes, () => done(true), { kind: danger ? 'danger' : 'main' });
		dialog.replaceChildren(
			h('h2', { id: 'dialog-title' }, title),
			h('div.body', null, body),
			h(
				'div.buttons',
				null,
				button(no, () => done(false)),
				main,
			),
		);
		dialog.setAttribute('aria-labelledby', 'dialog-title');
		dialog.oncancel = () => resolve(false);
		if (!dialog.open) dialog.showModal();
		(main ?? dialog.querySelector('button')).focus();
	});
}

let closeMenu = null;

// Opens a menu below a button. Entries: [label, shape, run, danger].
export function menu(from, entries) {
	closeMenu?.();
	const box = from.getBoundingClientRect();
	const items = entries.filter(Boolean).map(([label, shape, run, danger]) =>
		h(
			`button${danger ? '.danger' : ''}`,
			{
				type: 'button',
				role: 'menuitem',
				onclick: () => {
					close();
					run();
				},
			},
			icon(shape),
			label,
		),
	);
	const element = h('div.menu', { role: 'menu' }, items);
	document.body.append(element);
	element.style.top = `${box.bottom + 4}px`;
	element.style.left = `${Math.max(8, Math.min(box.right - element.offsetWidth, innerWidth - element.offsetWidth - 8))}px`;
	const close = () => {
		element.remove();
		removeEventListener('pointerdown', outside, true);
		closeMenu = null;
		from.focus();
	};
	const outside = (event) => {
		if (!element.contains(event.target)) close();
	};
	addEventListener('pointerdown', outside, true);
	element.addEventListener('keydown', (event) => menuKey(event, items, close));
	closeMenu = close;
	items[0]?.focus();
}

function menuKey(event, items, close) {
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	if (event.key === 'Escape' || event.key === 'Tab') close();
	else if (step) items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
	else return;
	event.preventDefault();
	event.stopPropagation();
}
