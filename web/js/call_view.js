// Draws calls: one line each, which opens. Calls of one turn that ran together share a bracket and a clock.

import { button, h, icon } from './dom.js';
import { between, count, duration } from './format.js';
import { diffCounts, diffOfCall } from './diff.js';
import { drawDiff, keptDiffs } from './diff_view.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine, visibleText } from './visible_text.js';
import { retryWords } from './working.js';

export { drawDiff };

const LEADING = ['command', 'pattern', 'query', 'url', 'path', 'from', 'question', 'name'];
const SHOWN = 24; // lines of a result before "show all"

export const toolName = (call) => (call.tool ?? call.name).replace(/^local\./, '');

// The argument that matters, on one line.
export function mainArgument(values) {
	if (typeof values !== 'object' || values === null) return visibleLine(values ?? '');
	if (Array.isArray(values.items)) return planWords(values.items);
	const name =
		LEADING.find((one) => typeof values[one] === 'string') ??
		Object.keys(values).find((one) => typeof values[one] === 'string');
	if (!name) return '';
	const to = name === 'from' && values.to ? ` → ${values.to}` : '';
	return visibleLine(values[name].slice(0, 300) + to);
}

// Where a plan stands: how much is done, and what is under way.
function planWords(items) {
	const done = items.filter((item) => item?.status === 'done').length;
	const doing = items.find((item) => item?.status === 'doing');
	return [`${done}/${items.length}`, doing && visibleLine(doing.step)].filter(Boolean).join(' · ');
}

export function drawCalls(item) {
	const together = item.calls.length > 1;
	const list = h(`div.call-list${together ? '.together' : ''}`, null, item.calls.map(drawCall));
	if (!together) return list;
	const ends = item.calls.map((call) => call.finishedAt);
	const starts = item.calls
		.map((call) => call.startedAt)
		.filter(Boolean)
		.sort();
	const took = ends.every(Boolean) && starts.length > 0 ? between(starts[0], ends.sort().at(-1)) : null;
	const words =
		took === null
			? t('calls.together', { n: item.calls.length })
			: t('calls.took', { n: item.calls.length, time: duration(took) });
	const open = took === null && starts.length > 0;
	return [h('div.together-head', null, words, ' ', open && h('span.number', { data: { since: starts[0] } })), list];
}

function stateMark(call) {
	if (call.state === 'running') return h('span.mark.running', { title: t('call.running') });
	if (call.state === 'asking' || call.state === 'paused')
		return h('span.mark.asking', { title: t('call.asking') }, icon('alert'));
	if (call.state !== 'finished') return h('span.mark', { title: t('call.requested') }, '·');
	const good = call.outcome === 'ok' && !(call.exit && call.exit.code !== 0);
	return h(`span.mark.${good ? 'ok' : 'bad'}`, { title: t(`outcome.${call.outcome}`) }, icon(good ? 'check' : 'cross'));
}

function exitWords(exit) {
	if (!exit) return null;
	return exit.signal === undefined ? t('call.exit', { code: exit.code }) : t('call.signal', { signal: exit.signal });
}

function drawCall(call) {
	const diff = diffOfCall(call);
	const counts = diff && diffCounts(diff);
	const failed = call.state === 'finished' && call.outcome !== 'ok';
	const summary = h(
		'summary',
		{ data: { key: call.id } },
		stateMark(call),
		h('span.tool', null, visibleLine(toolName(call))),
		h('span.what.cut', null, mainArgument(call.arguments)),
		counts &&
			h(
				'span.tiny.number',
				null,
				h('span.ok', null, `+${counts.added} `),
				h('span.danger', null, `−${counts.removed}`),
			),
		call.exit && call.exit.code !== 0 && h('span.exit.danger', null, exitWords(call.exit)),
		failed && h('span.exit.danger', null, t(`outcome.${call.outcome}`)),
		call.undone && h('span.exit.muted', null, t('call.undone')),
		h(
			'span.took.number',
			{ data: call.state === 'running' ? { since: call.startedAt } : {} },
			call.state === 'finished' && call.startedAt ? duration(call.tookMs) : '',
		),
	);
	const details = h('details.call', { open: page.open.has(call.id) }, summary);
	const fill = () => {
		if (details.open && details.children.length === 1) details.append(drawInside(call, diff));
	};
	details.addEventListener('toggle', () => {
		page.open[details.open ? 'add' : 'delete'](call.id);
		fill();
		details.dispatchEvent(new Event('grown', { bubbles: true }));
	});
	fill();
	return details;
}

function drawInside(call, diff) {
	const values = { ...call.arguments };
	if (diff) ['old_text', 'new_text', 'content', 'text'].forEach((name) => delete values[name]);
	const undo = call.changes?.length > 0 && !call.undone;
	return h(
		'div.inside',
		null,
		Object.keys(values).length > 0 && h('div', null, h('p.label', null, t('call.arguments')), drawArguments(values)),
		call.repairs?.length > 0 && h('p.tiny.muted', null, t('call.repaired')),
		diff && h('div', null, h('p.label', null, t('call.change')), drawDiff(diff)),
		!diff && call.changes?.length > 0 && h('div', null, h('p.label', null, t('call.change')), keptDiffs(call)),
		call.state !== 'finished' &&
			h(
				'pre.block.progress',
				{ tabindex: 0, 'aria-label': t('call.result'), data: { progress: call.id } },
				visibleText(page.view?.progress[call.id] ?? ''),
			),
		call.state === 'finished' && drawResult(call),
		call.exit && h('p.tiny.muted', null, exitWords(call.exit)),
		call.remedy && h('p.small', null, remedyWords(call.remedy)),
		outsideWords(call.origin),
		undo &&
			button(t('files.undo'), () => run('undo', call.id), {
				kind: 'quiet',
				shape: 'undo',
				data: { key: `undo-${call.id}` },
			}),
	);
}

// Pages and tool servers are written by strangers; a file of the folder or a command's output need not be.
function outsideWords(origin) {
	if (!['page', 'server'].includes(origin?.kind)) return null;
	return h('p.tiny.muted', null, t(`call.origin.${origin.kind}`, { name: visibleLine(origin.url ?? origin.server) }));
}

// What a person can change so that such a call runs.
function remedyWords({ kind, rule, path, host, tokens }) {
	return t(`remedy.${kind}`, { value: visibleLine(rule ?? path ?? host ?? count(tokens)) });
}

export function drawArguments(values) {
	const shown = (value) =>
		visibleText(typeof value === 'string' ? value : JSON.stringify(value, null, 2)).slice(0, 4000);
	return h(
		'dl.args',
		null,
		Object.entries(values).flatMap(([name, value]) => [h('dt', null, visibleLine(name)), h('dd', null, shown(value))]),
	);
}

function drawResult(call) {
	const text = visibleText(call.text);
	const lines = text.split('\n');
	const block = h('pre.block', { tabindex: 0 }, lines.slice(0, SHOWN).join('\n').slice(0, 4000) || t('call.empty'));
	const long = lines.length > SHOWN || text.length > 4000;
	const all =
		long &&
		button(
			t('call.all', { n: lines.length, count: count(lines.length) }),
			() => {
				block.textContent = text;
				block.focus();
				all.remove();
			},
			{ kind: 'link', data: { key: `all-${call.id}` } },
		);
	return h(
		'div',
		null,
		h('p.label', null, t('call.result')),
		block,
		all,
		call.cut &&
			h(
				'p.tiny.muted',
				null,
				t('call.cut', { shown: count(call.cut.shown_chars), total: count(call.cut.total_chars) }),
			),
		call.images?.map((image) =>
			h('p.tiny.muted', null, t('call.image', { name: visibleLine(image.name || image.media_type) })),
		),
	);
}

// What running calls print, and how long they run.
export function followCalls(root, view) {
	for (const block of root.querySelectorAll('[data-progress]')) {
		const text = visibleText(view.progress[block.dataset.progress] ?? '');
		if (block.textContent === text) continue;
		const end = block.scrollHeight - block.scrollTop - block.clientHeight < 24;
		block.textContent = text;
		if (end) block.scrollTop = block.scrollHeight;
	}
}

export function tickClocks(root, now) {
	for (const clock of root.querySelectorAll('[data-since]'))
		clock.textContent = duration(now - new Date(clock.dataset.since));
	for (const words of root.querySelectorAll('[data-until]')) words.textContent = retryWords(words.dataset.until, now);
}

// Calls while the model still writes them.
export function drawLiveCalls(host, calls) {
	while (host.children.length > calls.length) host.lastChild.remove();
	calls.forEach((call, index) => {
		const row =
			host.children[index] ??
			host.appendChild(
				h('div.call', null, h('div.row.small', null, h('span.mark', null, '…'), h('span.tool'), h('span.what.cut'))),
			);
		row.querySelector('.tool').textContent = visibleLine(call.name);
		row.querySelector('.what').textContent = visibleLine(call.text.slice(-160));
	});
}
