// What stands in the conversation before there is one: a new session, the demo, no access, a session that can't be read.

import { button, h } from './dom.js';
import { api } from './api.js';
import { command } from './copy.js';
import { errorWords } from './dialogs.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

export function drawWelcome() {
	const folders = page.me?.folders ?? [];
	page.folder ??= folders[0] ?? null;
	const select =
		folders.length > 1 &&
		h(
			'label.small',
			null,
			t('new.folder'),
			' ',
			h(
				'select.field',
				{
					onchange: (event) => {
						page.folder = event.target.value;
					},
				},
				folders.map((folder) =>
					h('option', { value: folder, selected: folder === page.folder }, visibleLine(folder)),
				),
			),
		);
	return h(
		'div.welcome',
		null,
		h(
			'div',
			null,
			h('h2', null, t('new.title')),
			h('p.muted', null, folders.length === 1 ? t('new.where', { folder: visibleLine(folders[0]) }) : t('new.words')),
		),
		select,
		page.me?.demo && connectCards(),
	);
}

// Two ways to connect a model, and a check that turns green by itself; where one is connected, which.
export function connectCards() {
	if (!page.me?.demo) return readyLine();
	const check = h('div.row.small', { role: 'status' }, h('span.dot'), h('span', null, t('connect.looking')));
	const cards = h(
		'div.connect',
		null,
		h(
			'p.small.row.wraps',
			null,
			h('span.tag', null, t('demo.tag')),
			h('span', null, t('demo.words')),
			button(t('demo.play'), () => run('demo'), { kind: 'link' }),
		),
		h(
			'div.ways',
			null,
			h(
				'div.way',
				null,
				h('h3', null, t('connect.key')),
				h('p.muted', null, t('connect.key.words')),
				command('export OPENAI_API_KEY=…'),
				command('windlass serve'),
			),
			h(
				'div.way',
				null,
				h('h3', null, t('connect.local')),
				h('p.muted', null, t('connect.local.words')),
				command('ollama run qwen3'),
				check,
			),
		),
	);
	watchModel(cards);
	return cards;
}

const readyLine = () =>
	h(
		'div.connect.row.small',
		{ role: 'status' },
		h('span.dot.good'),
		h('span', null, t('connect.ready', { name: visibleLine(page.me?.model ?? '') })),
	);

// Draws anew what says whether a model is connected: it was, or it has gone.
export function redrawConnect() {
	for (const shown of document.querySelectorAll('.connect')) shown.replaceWith(connectCards());
}

async function watchModel(cards) {
	for (;;) {
		await new Promise((resolve) => setTimeout(resolve, 3000));
		if (!cards.isConnected) return;
		await run('look');
	}
}

// `known`: the page had a token that is no longer valid, as after a new start of the server.
export function drawLogin(onDone, { known = false } = {}) {
	const field = h('input.field', {
		type: 'password',
		'aria-label': t('login.token'),
		placeholder: t('login.token'),
		autocomplete: 'off',
	});
	const problem = h('p.small.danger', { role: 'alert' });
	const send = async (event) => {
		event.preventDefault();
		try {
			await api.login(field.value.trim());
			onDone();
		} catch (error) {
			problem.textContent = error.status === 401 ? t('login.wrong') : errorWords(error);
		}
	};
	return h(
		'div.welcome',
		null,
		h(
			'div',
			null,
			h('h2', null, t(known ? 'login.again' : 'login.title')),
			h('p.muted', null, t(known ? 'login.again.words' : 'login.words')),
		),
		command('windlass open'),
		h('form.row', { onsubmit: send }, field, h('button.main', { type: 'submit' }, t('login.send'))),
		problem,
	);
}

// A session that can't be shown, with what to do about it.
export function drawTrouble(error, id) {
	const kind = ['not_found', 'store', 'forbidden', 'limited', 'unreachable'].includes(error.kind)
		? error.kind
		: 'other';
	return h(
		'div.welcome',
		null,
		h(
			'div',
			null,
			h('h2', null, t(`trouble.${kind}`)),
			h('p', null, visibleLine(errorWords(error))),
			h('p.muted', null, t(`trouble.${kind}.what`)),
		),
		h(
			'div.row.wraps',
			null,
			button(t('try_again'), () => run('reopen'), { kind: 'main' }),
			kind === 'store' && button(t('action.export'), () => run('export', id)),
			button(t('action.new'), () => run('new')),
		),
	);
}
