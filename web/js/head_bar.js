// The head of the conversation: title (editable in place), status, folder, menu.

import { button, byId, h, replaceKeepingFocus } from './dom.js';
import { menu } from './dialogs.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { nameOf, plainName } from './titles.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

let editing = false;
let drawn = null;

export function drawHead(status, route) {
	if (editing) return;
	const row = page.row;
	const key = JSON.stringify([row, status, route]);
	if (key === drawn) return;
	drawn = key;
	const title = row
		? h(
				'button.title',
				{ type: 'button', title: t('title.edit'), data: { key: 'title' }, onclick: () => editTitle(row) },
				h('span', null, nameOf(row)),
			)
		: h('span.title.cut', null, t(`title.${route}`));
	replaceKeepingFocus(
		byId('head'),
		button(t('rail.toggle'), () => run('rail'), { kind: 'quiet', shape: 'rail', text: false, data: { key: 'rail' } }),
		h('h1.cut', null, title),
		row && h('span.state', null, h(`span.dot.${status}`), h('span', null, t(`status.${status}`))),
		h('span.grow'),
		row?.folder &&
			h('span.place.cut', { title: visibleLine(row.folder) }, h('bdi', { dir: 'ltr' }, visibleLine(row.folder))),
		row &&
			button(t('menu'), (event) => openMenu(event.currentTarget, row), {
				kind: 'quiet',
				shape: 'more',
				text: false,
				'aria-haspopup': 'menu',
				data: { key: 'menu' },
			}),
		row &&
			button(t('panel.toggle'), () => run('panel'), {
				kind: 'quiet',
				shape: 'panel',
				text: false,
				data: { key: 'panel' },
			}),
	);
}

function openMenu(from, row) {
	menu(from, [
		[t('action.rename'), 'edit', () => editTitle(row)],
		[t(row.pinned ? 'action.unpin' : 'action.pin'), 'pin', () => run('pin', row)],
		[t('action.fork'), 'fork', () => run('fork')],
		[t('action.undo'), 'undo', () => run('undo')],
		[t('action.export'), 'export', () => run('export', row.id)],
		[t(row.archived ? 'action.unarchive' : 'action.archive'), 'archive', () => run('archive', row)],
		[t('action.delete'), 'cross', () => run('delete', row), true],
	]);
}

export function editTitle(row) {
	const old = byId('head').querySelector('.title');
	if (!old || editing) return;
	editing = true;
	const name = plainName(row);
	const input = h('input.title', { value: name, 'aria-label': t('title.edit'), maxlength: 200 });
	const done = (keep, { stay = false } = {}) => {
		if (!editing) return;
		editing = false;
		drawn = null;
		const title = input.value.trim();
		if (keep && title && title !== name) {
			row.title = title;
			run('rename', row, title);
		}
		run('redraw');
		if (stay) byId('head').querySelector('[data-key="title"]')?.focus();
	};
	input.addEventListener('keydown', (event) => {
		if (event.key === 'Enter') {
			event.preventDefault();
			done(true, { stay: true });
		}
		if (event.key === 'Escape') {
			event.stopPropagation();
			done(false, { stay: true });
		}
	});
	input.addEventListener('blur', () => done(true));
	old.replaceWith(input);
	input.select();
}
