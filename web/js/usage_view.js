// What was used: by day, model or session.

import { button, h } from './dom.js';
import { api } from './api.js';
import { count, money, tokens } from './format.js';
import { errorWords } from './dialogs.js';
import { nameOf } from './session_list.js';
import { page } from './page_state.js';
import { sessionRoute } from './router.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

export async function drawUsage(host, by = 'day') {
	const tabs = h(
		'div.tabs',
		{ role: 'group', 'aria-label': t('usage.by') },
		['day', 'model', 'session'].map((one) =>
			button(t(`usage.${one}`), () => drawUsage(host, one), { 'aria-pressed': String(one === by), data: { key: one } }),
		),
	);
	const body = h('div', { 'aria-live': 'polite' }, h('p.muted', null, t('loading')));
	host.replaceChildren(h('div.sheet', null, h('h2.unseen', null, t('title.usage')), h('div', null, tabs), body));
	host.querySelector('[aria-pressed=true]').focus({ preventScroll: true });
	try {
		const { rows } = await api.usage(by);
		body.replaceChildren(rows.length > 0 ? table(rows, by) : h('p.muted', null, t('usage.none')));
	} catch (error) {
		body.replaceChildren(
			h('p.danger', null, errorWords(error)),
			button(t('try_again'), () => drawUsage(host, by)),
		);
	}
}

const FIGURES = ['calls', 'tokens_in', 'tokens_out', 'cost_nanos', 'unpriced_calls'];

function table(rows, by) {
	const sum = Object.fromEntries(FIGURES.map((name) => [name, rows.reduce((all, row) => all + (row[name] ?? 0), 0)]));
	const sorted = rows.toSorted(
		by === 'day' ? (a, b) => b.name.localeCompare(a.name) : (a, b) => b.tokens_in - a.tokens_in,
	);
	return h(
		'div.scroll',
		null,
		h(
			'table',
			null,
			h(
				'thead',
				null,
				h(
					'tr',
					null,
					h('th', { scope: 'col' }, t(`usage.${by}`)),
					['calls', 'in', 'out', 'cost'].map((name) => h('th.number', { scope: 'col' }, t(`usage.${name}`))),
				),
			),
			h(
				'tbody',
				null,
				sorted.map((row) => h('tr', null, h(by === 'day' ? 'td.day' : 'td', null, nameCell(row.name, by)), cells(row))),
			),
			h('tfoot', null, h('tr', null, h('th', { scope: 'row' }, t('usage.all')), cells(sum))),
		),
	);
}

// A session is named as in the rail, and leads there.
function nameCell(name, by) {
	const row = by === 'session' && page.sessions.find((one) => one.id === name);
	return row ? h('a', { href: sessionRoute(row.id) }, nameOf(row)) : visibleLine(name);
}

function cells(row) {
	const unpriced = row.unpriced_calls ?? 0;
	const cost = money(row.cost_nanos) || '–';
	return [
		h('td.number', null, count(row.calls)),
		h('td.number', null, tokens(row.tokens_in)),
		h('td.number', null, tokens(row.tokens_out)),
		h('td.number', { title: unpriced > 0 ? t('usage.unpriced', { n: unpriced }) : null }, cost),
	];
}
