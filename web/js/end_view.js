// Draws the end of a run: the outcome in words, what it did and cost, and what can be done next.

import { button, h } from './dom.js';
import { copyButton } from './copy.js';
import { limitOfRow } from './limits.js';
import { between, count, duration, money, tokens } from './format.js';
import { page } from './page_state.js';
import { prose } from './server_html.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

const GOOD = ['completed', 'asked', 'conversed'];
const BAD = ['failed', 'turn_cap', 'budget_spent'];

function changedPaths(changes) {
	if (!changes) return [];
	const moved = (changes.moved ?? []).map((one) => `${one.from} → ${one.to}`);
	return [...(changes.created ?? []), ...(changes.changed ?? []), ...(changes.deleted ?? []), ...moved];
}

export function drawEnd({ item, repeated, last, run: known }) {
	const tone = BAD.includes(item.reason) ? '.danger' : GOOD.includes(item.reason) ? '' : '.warn';
	const said = item.answer && !repeated && !item.failure && item.reason !== 'budget_spent';
	return [
		said && h('div.reply', null, prose(item.html, item.answer)),
		h(
			'div.end',
			{ data: { run: item.run } },
			h(
				'div.outcome',
				null,
				h(`strong${tone}`, null, t(`end.${item.reason}`)),
				h('span.figures.number', null, figures(item, known)),
				actions(item, last),
			),
			why(item, last),
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

// What can be done about it is said at the last end only: by the others, the session went on.
function why(item, last) {
	const { words, what } = reasonOf(item);
	const advice = last && what ? [' ', h('span.muted', null, what)] : [];
	return words ? h('p.why', null, visibleLine(words), advice) : null;
}

// Why it ended so, and what can be done about it. Pure.
export function reasonOf(item) {
	if (item.reason === 'budget_spent') return budgetWords(item.answer);
	if (item.failure) return { words: item.failure.message, what: t(`advice.${item.failure.class}`) };
	if (item.cutOff) return { words: t('end.cut_off') };
	return { words: item.dropped > 0 ? t('end.dropped', { n: item.dropped }) : null };
}

const LIMIT = /^The limit (\w+) is ([^:]+): (.+?) spent(?:, and the next model call would need about (.+?) more)?\./;

// $0.5 as $0.50, and 50000 as 50,000
const readable = (amount) => amount.replace(/^\$\d+\.\d$/, '$&0').replace(/^\d{4,}/, (n) => count(Number(n)));

// What was spent, and of what: the answer of such a run names the limit as the configuration does.
function budgetWords(answer) {
	const [, row, allowed, spent, more] = LIMIT.exec(answer) ?? [];
	const limit = limitOfRow(row);
	if (!limit) return { words: answer, what: t('advice.budget') };
	const [used, most] = [spent, allowed].map((amount) => readable(amount).replace(/ tokens$/, ''));
	const said = t('end.spent', { limit: t(`limit.${limit}`), spent: used, allowed: most });
	const words = [said, more && t('end.spent.next', { more: readable(more) })];
	return { words: words.filter(Boolean).join(' '), what: t('advice.budget.row', { row }) };
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
		last && !GOOD.includes(item.reason) && act(t('action.retry'), 'retry', 'retry'),
		act(t('action.fork'), 'fork', 'fork', item.seq),
		last && changed && act(t('action.undo'), 'undo', 'undo'),
		item.answer && copyButton(() => item.answer, t('action.copy')),
		act(t('action.export'), 'export', 'export'),
	);
}
