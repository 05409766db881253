// The context bar: what fills the model's window. Yellow from 60 %, red from 85 %.

import { button, h } from './dom.js';
import { count, tokens } from './format.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { t } from './words.js';

const PARTS = ['prefix', 'tools', 'history', 'retrieved', 'reserve', 'safety'];

// The share of the window that a request takes, and how worrying that is. Pure.
function contextLevel(budget) {
	const used = (budget.prefix ?? 0) + (budget.tools ?? 0) + (budget.history ?? 0) + (budget.retrieved ?? 0);
	if (!budget.window) return { used, share: null, level: 'ok' };
	const share = used / budget.window;
	return { used, share, level: share >= 0.85 ? 'danger' : share >= 0.6 ? 'warn' : 'ok' };
}

export function drawContext(budget) {
	const { used, share, level } = contextLevel(budget);
	const whole = budget.window ?? used;
	const words =
		share === null
			? t('context.unknown', { used: count(used) })
			: t('context.share', { percent: Math.round(share * 100), used: tokens(used), window: tokens(budget.window) });
	const bar = h(
		'div.bar',
		{ 'aria-hidden': 'true' },
		PARTS.filter((part) => budget[part] > 0).map((part) => {
			const piece = h(`i.${part}`);
			piece.style.width = `${Math.max(0.5, (budget[part] / Math.max(1, whole)) * 100)}%`;
			return piece;
		}),
	);
	const toggle = h(
		'button.context',
		{
			type: 'button',
			'aria-expanded': String(Boolean(page.contextOpen)),
			title: t('context.more'),
			data: { level, key: 'context' },
			onclick: () => {
				page.contextOpen = !page.contextOpen;
				run('redraw');
			},
		},
		bar,
		h(
			'div.words',
			null,
			h(`span${level === 'ok' ? '' : `.${level}`}`, null, words),
			h(
				'span',
				null,
				budget.remaining === undefined ? '' : t('context.left', { n: tokens(Math.max(0, budget.remaining)) }),
			),
		),
	);
	return [toggle, page.contextOpen && drawParts(budget)];
}

function drawParts(budget) {
	const rows = PARTS.filter((part) => budget[part] > 0).flatMap((part) => [
		h('dt', null, t(`context.part.${part}`)),
		h('dd.number', null, count(budget[part])),
	]);
	return h(
		'div',
		null,
		h('dl.pairs', null, rows),
		button(t('action.compact'), () => run('compact'), {
			kind: 'quiet',
			data: { key: 'compact' },
			disabled: page.view?.openRun !== null,
		}),
	);
}
