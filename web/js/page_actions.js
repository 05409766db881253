// The actions on the page itself, the keys, and the palette that lists every action.

import { KEYS, actionFor } from './keys.js';
import { allowNotifications } from './notifications.js';
import { ask } from './dialogs.js';
import { byId, h, isShown, isTyping, leaveFocus } from './dom.js';
import { define, run } from './actions.js';
import { editTitle } from './head_bar.js';
import { goTo, sessionRoute } from './router.js';
import { nameOf } from './titles.js';
import { openPalette } from './palette.js';
import { page } from './page_state.js';
import { remember, remembered } from './memory.js';
import { t } from './words.js';

const narrow = (width) => matchMedia(`(max-width: ${width}px)`).matches;

const WIDTHS = { rail: 699, panel: 1099 }; // up to where each slides over the page
const opener = (name) => byId('head').querySelector(`[data-key="${name}"]`);

// Rail and panel fold away, or slide over the page where there is no room beside it.
function toggle(name) {
	const body = document.body;
	if (!narrow(WIDTHS[name])) return fold(name);
	if (body.classList.contains(`${name}-drawer`)) return closeDrawers();
	closeDrawers();
	body.classList.add(`${name}-drawer`);
	byId('veil').hidden = false;
	byId(name).querySelector('button').focus();
}

// Of the button that folds and the one that unfolds, only one is seen: the focus goes from one to the other.
function fold(name) {
	const folded = document.body.classList.toggle(`no-${name}`);
	remember(`no-${name}`, folded || null);
	run('redraw');
	const inside = byId(name).querySelector('button');
	if (folded) leaveFocus(byId(name), opener(name), byId('conversation'), byId('view'));
	else if (opener(name)) leaveFocus(opener(name), inside);
}

// The focus goes back to the button that opens the drawer, or to the conversation where something in it was chosen.
function closeDrawers({ chosen = false } = {}) {
	const open = Object.keys(WIDTHS).filter((name) => document.body.classList.contains(`${name}-drawer`));
	document.body.classList.remove('rail-drawer', 'panel-drawer');
	byId('veil').hidden = true;
	for (const name of open)
		leaveFocus(byId(name), ...(chosen ? [] : [opener(name)]), byId('conversation'), byId('view'));
}

// The links that skip to a part of the page; they are no addresses of it.
function skip(event) {
	event.preventDefault();
	const id = event.target.hash.slice(1);
	if (id === 'rail-list' && !isShown(byId(id))) run('rail');
	[byId(id), byId('view'), byId('conversation')].find(isShown)?.focus();
}

function step(by) {
	const rows = page.sessions;
	const next = rows[Math.max(0, Math.min(rows.length - 1, rows.findIndex((row) => row.id === page.row?.id) + by))];
	if (next) goTo(sessionRoute(next.id));
}

function showKeys() {
	return ask({
		title: t('keys.title'),
		no: t('close'),
		body: [
			h(
				'dl.keys',
				null,
				KEYS.flatMap(([key, name]) => [
					h(
						'dt',
						null,
						key.split(' ').map((part) => h('kbd', null, part)),
					),
					h('dd', null, t(`key.${name}`)),
				]),
			),
		],
	});
}

function paletteEntries() {
	const entry = (label, name, key, ...values) => ({ label, key, run: () => run(name, ...values) });
	const row = page.row;
	const here = row
		? [
				entry(t('action.stop'), 'stop', 'Esc'),
				entry(t('action.edit'), 'edit', 'e'),
				entry(t('action.retry'), 'retry'),
				entry(t('action.fork'), 'fork'),
				entry(t('action.undo'), 'undo'),
				entry(t('action.compact'), 'compact'),
				{ label: t('action.rename'), run: () => editTitle(row) },
				entry(t(row.pinned ? 'action.unpin' : 'action.pin'), 'pin', null, row),
				entry(t(row.archived ? 'action.unarchive' : 'action.archive'), 'archive', null, row),
				entry(t('action.export'), 'export'),
				entry(t('action.delete'), 'delete', null, row),
			]
		: [];
	const themes = ['auto', 'light', 'dark'].map((name) => ({
		label: `${t('settings.theme')}: ${t(`theme.${name}`)}`,
		run: () => window.theme.set(name),
	}));
	return [
		entry(t('action.new'), 'new', 'n'),
		...here,
		entry(t('rail.search'), 'search', '/'),
		entry(t('action.import'), 'import'),
		entry(t('rail.usage'), 'usage'),
		entry(t('rail.settings'), 'settings'),
		entry(t('rail.toggle'), 'rail', '['),
		entry(t('panel.toggle'), 'panel', ']'),
		entry(t('action.keys'), 'keys', '?'),
		{ label: t('settings.notify'), run: () => allowNotifications(true) },
		...themes,
		...page.sessions.map((one) => ({
			label: t('palette.session', { name: nameOf(one) }),
			run: () => goTo(sessionRoute(one.id)),
		})),
	];
}

export function definePageActions({ list, card, composer }) {
	for (const name of ['rail', 'panel']) if (remembered(`no-${name}`)) document.body.classList.add(`no-${name}`);
	for (const name of Object.keys(WIDTHS)) {
		define(name, () => toggle(name));
		matchMedia(`(max-width: ${WIDTHS[name]}px)`).addEventListener('change', () => closeDrawers());
	}
	define('close', closeDrawers);
	byId('veil').addEventListener('click', () => closeDrawers());
	byId('veil').addEventListener('mousedown', (event) => event.preventDefault()); // it takes no focus
	// Also of the session that is open already, to which no address leads.
	byId('rail').addEventListener('click', (event) => event.target.closest('a') && closeDrawers({ chosen: true }));
	for (const link of document.querySelectorAll('.skip')) link.addEventListener('click', skip);
	define('new', () => {
		goTo('#/new');
		composer.text.focus();
	});
	define('usage', () => goTo('#/usage'));
	define('settings', () => goTo('#/settings'));
	define('search', () => {
		if (narrow(699) && !document.body.classList.contains('rail-drawer')) run('rail');
		list.input.focus();
	});
	define('next', () => step(1));
	define('previous', () => step(-1));
	define('keys', showKeys);
	define('palette', () => {
		if (!byId('palette').open && !byId('dialog').open) openPalette(paletteEntries());
	});
	define('end', () => run('show end'));
	define('leave', () => {
		document.activeElement.blur();
		byId('conversation').focus({ preventScroll: true });
	});

	let before = null; // the key before this one, unless something was pointed at meanwhile
	addEventListener('pointerdown', () => (before = null), true);
	addEventListener('keydown', (event) => {
		const typing = isTyping(event.target);
		const press = {
			key: event.key,
			ctrl: event.ctrlKey,
			meta: event.metaKey,
			alt: event.altKey,
			typing,
			holdsText: typing && Boolean(event.target.value),
			again: before === event.key,
			repeated: event.repeat,
			composing: event.isComposing,
		};
		before = event.key;
		const state = {
			asking: !byId('question').hidden,
			running: Boolean(page.feed) && page.feed.view.openRun !== null,
			overlay: Boolean(document.querySelector('dialog[open], .menu')),
			drawer: document.body.matches('.rail-drawer, .panel-drawer'),
		};
		const action = actionFor(press, state);
		if (!action) return;
		event.preventDefault();
		if (action.name === 'answer') card.press(action.number);
		else run(action.name);
	});
}
