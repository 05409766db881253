// Draws the end of a run: the outcome in words, what it did and cost, and what can be done next.

import { button, h } from './dom.js';
import { copyButton } from './copy.js';
import { between, duration, money, tokens } from './format.js';
import { page } from './page_state.js';
import { prose } from './server_html.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

const GOOD = ['completed', 'asked', 'conversed'];
const BAD = ['failed', 'turn_cap', 'budget_spent'];

export function changedPaths(changes) {
	if (!changes) return [];
	const moved = (changes.moved ?? []).map((one) => `${one.from} → ${one.to}`);
	return [...(changes.created ?? []), ...(changes.changed ?? []), ...(changes.deleted ?? []), ...moved];
}

export function drawEnd({ item, repeated, last, run: known }) {
	const tone = BAD.includes(item.reason) ? '.danger' : GOOD.includes(item.reason) ? '' : '.warn';
	const said = item.answer && !repeated && !item.failure;
	return [
		said && h('div.reply', null, prose(item.html, item.answer)),
		h(
			'div.end',
			{ data: { run: item.run } },
			h(
				'div.outcome',
				null,
				h(`strong${tone}`, null, t(`end.${item.reason}`)),
				h('span.figures.number.grow', null, figures(item, known)),
				actions(item, last),
			),
			why(item),
			changeWords(item.changes),
		),
	];
}

function figures(item, known) {
	const files = changedPaths(item.changes).length + (item.changes?.more ?? 0);
	const took = between(known.startedAt, item.at);
	return [
		files > 0 && t('end.files', { n: files }),
		// Of a run that began in a page that is not loaded, neither is known.
		took !== null && known.calls > 0 && t('end.calls', { n: known.calls }),
		t('end.tokens', { in: tokens(item.usage.input), out: tokens(item.usage.output) }) +
			(item.usage.estimated ? ` ${t('end.estimated')}` : ''),
		money(item.cost),
		took !== null && duration(took),
	]
		.filter(Boolean)
		.join(' · ');
}

function why(item) {
	const words =
		item.failure?.message ??
		(item.cutOff ? t('end.cut_off') : item.dropped > 0 ? t('end.dropped', { n: item.dropped }) : null);
	if (!words) return null;
	const what = item.reason === 'budget_spent' ? t('advice.budget') : item.failure && t(`advice.${item.failure.class}`);
	return h('p.why', null, visibleLine(words), what && ' ', what && h('span.muted', null, what));
}

function changeWords(changes) {
	if (!changes) return null;
	const paths = changedPaths(changes).map(visibleLine);
	const shown = paths.slice(0, 6).join(', ') + (paths.length > 6 ? ` ${t('end.more', { n: paths.length - 6 })}` : '');
	return [
		paths.length > 0 && h('p.why.mono.muted', null, shown),
		changes.unfounded && h('p.why.warn', null, t(`end.missing.${changes.unfounded}`)),
		changes.restored?.length > 0 &&
			h('p.why.warn', null, t('end.restored', { names: changes.restored.map(visibleLine).join(', ') })),
		changes.lost &&
			Object.keys(changes.lost).length > 0 &&
			h('p.why.danger', null, t('end.lost', { names: Object.keys(changes.lost).map(visibleLine).join(', ') })),
	];
}

function actions(item, last) {
	const act = (label, name, shape, ...values) =>
		button(label, () => run(name, ...values), { kind: 'quiet', shape, text: name === 'retry', data: { key: name } });
	const changed = page.view?.files.length > 0 || changedPaths(item.changes).length > 0;
	return h(
		'div.actions',
		null,
		last && BAD.includes(item.reason) && act(t('action.retry'), 'retry', 'retry'),
		act(t('action.fork'), 'fork', 'fork', item.seq),
		last && changed && act(t('action.undo'), 'undo', 'undo'),
		item.answer && copyButton(() => item.answer, t('action.copy')),
		act(t('action.export'), 'export', 'export'),
	);
}
