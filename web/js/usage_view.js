// What was used: by day, model or session.

import { button, h } from './dom.js';
import { api } from './api.js';
import { count, money, tokens } from './format.js';
import { errorWords } from './dialogs.js';
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
	host.replaceChildren(h('div.sheet', null, h('div.row', null, h('h2.grow', null, t('title.usage')), tabs), body));
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

function table(rows, by) {
	const sum = rows.reduce(
		(all, row) => ({
			runs: all.runs + row.runs,
			calls: all.calls + row.calls,
			tokens_in: all.tokens_in + row.tokens_in,
			tokens_out: all.tokens_out + row.tokens_out,
			cost_nanos: row.cost_nanos === null ? all.cost_nanos : (all.cost_nanos ?? 0) + row.cost_nanos,
		}),
		{ runs: 0, calls: 0, tokens_in: 0, tokens_out: 0, cost_nanos: null },
	);
	const cells = (row) =>
		[
			count(row.runs),
			count(row.calls),
			tokens(row.tokens_in),
			tokens(row.tokens_out),
			row.cost_nanos === null ? '–' : money(row.cost_nanos),
		].map((value) => h('td.number', null, value));
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
					['runs', 'calls', 'in', 'out', 'cost'].map((name) => h('th.number', { scope: 'col' }, t(`usage.${name}`))),
				),
			),
			h(
				'tbody',
				null,
				rows.map((row) => h('tr', null, h('td', null, visibleLine(row.name)), cells(row))),
			),
			h('tfoot', null, h('tr', null, h('th', { scope: 'row' }, t('usage.all')), cells(sum))),
		),
	);
}
