// The run panel: plan, timeline, context, cost, files changed; the scrubber at its foot.

import { button, byId, h, icon, replaceKeepingFocus } from './dom.js';
import { count, money, tokens } from './format.js';
import { diffOfCall } from './diff.js';
import { drawContext } from './context_bar.js';
import { drawDiff, keptDiffs } from './diff_view.js';
import { drawTimeline, newestSpans, placeSpans, spansOf } from './timeline.js';
import { drawLimit, fillLimit, spentOf } from './limit_meters.js';
import { addCost } from './fold.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { sessionOfStep } from './plan_steps.js';
import { sessionRoute } from './router.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';
import { Scrubber } from './scrubber.js';

const NAMES = ['plan', 'timeline', 'context', 'cost', 'files'];

export class RunPanel {
	constructor() {
		this.parts = Object.fromEntries(NAMES.map((name) => [name, h('section.part', { hidden: true })]));
		this.empty = h('p.empty', null, t('panel.empty'));
		this.body = h('div.panel-body', null, Object.values(this.parts), this.empty);
		this.scrubber = new Scrubber();
		byId('panel').append(
			h(
				'div.panel-head',
				null,
				h('strong', null, t('panel.title')),
				button(t('panel.close'), () => run('panel'), { kind: 'quiet', shape: 'panel', text: false }),
			),
			this.body,
			this.scrubber.root,
		);
		this.keys = {};
		this.whole = null; // the session and run whose timeline is shown with all its rows
		setInterval(() => {
			if (page.view && page.view.openRun !== null && !document.hidden) this.tick(page.view);
		}, 1000);
	}

	// What a second changes: the bars and the time used. The elements stay, so that a click finds them.
	tick(view) {
		const [now, last] = [timeShown(), view.runs.at(-1)];
		this.place(this.spans(view, last, now).shown);
		const meter = this.parts.cost.querySelector('[data-limit=run_time]');
		if (meter) fillLimit(meter, 'run_time', last.limits.run_time, spentOf(view, 'run_time', now));
	}

	place(spans) {
		const timeline = this.parts.timeline.querySelector('.timeline');
		if (timeline?.children.length === spans.length) placeSpans(timeline, spans);
	}

	// Draws the parts that changed; the others keep their place, focus and scrolling.
	draw(view) {
		this.scrubber.update(page.feed);
		const now = timeShown();
		const more = Boolean(page.feed?.more);
		const last = view?.runs.at(-1);
		const calls = callsOf(view);
		this.put('plan', [view?.plan, view?.children], () => this.plan(view));
		const spans = last && this.spans(view, last, now);
		this.put('timeline', spans && [last.run, spans.all.length, spans.shown.map(shapeOf)], () => spans && this.timeline(last, spans));
		if (spans) this.place(spans.shown);
		this.put(
			'context',
			[view?.budget, page.contextOpen, view?.openRun],
			() => view.budget && [title(t('context.title')), drawContext(view.budget)],
		);
		this.put('cost', [last, view?.firstSeq, more], () => last && this.cost(view, last, { now, more }));
		this.put(
			'files',
			[view?.firstSeq, view?.files.length, [...new Set(view?.files.map((file) => calls.get(file.call)?.undone && file.call))]],
			() => view.files.length > 0 && this.files(view, calls),
		);
		this.empty.hidden = NAMES.some((name) => !this.parts[name].hidden);
	}

	put(name, depends, make) {
		const key = JSON.stringify([page.feed?.id, depends]);
		if (this.keys[name] === key) return;
		this.keys[name] = key;
		const content = page.view ? make() : null;
		this.parts[name].hidden = !content;
		replaceKeepingFocus(this.parts[name], content ? content.flat() : []);
	}

	plan(view) {
		if (!view.plan?.length) return null;
		const done = view.plan.filter((item) => item.status === 'done').length;
		return [
			title(t('plan.title'), h('span.muted.number', null, `${done}/${view.plan.length}`)),
			h(
				'ol.plan',
				null,
				view.plan.map((item, index) =>
					h(
						`li.${item.status}`,
						null,
						h(
							'i.box',
							{ role: 'img', 'aria-label': t(`plan.${item.status}`) },
							item.status === 'done' && icon('check'),
							item.status === 'failed' && icon('cross'),
						),
						stepWords(item, sessionOfStep(view, index)),
					),
				),
			),
		];
	}

	timeline(last, { all, shown, whole }) {
		if (all.length === 0) return null;
		const more = newestSpans(all).length < all.length;
		const toggle = () => {
			this.whole = whole ? null : placeOfRun(last);
			run('redraw');
		};
		return [
			title(t('timeline.title'), h('span.muted', null, t('timeline.run', { n: last.run }))),
			more &&
				button(whole ? t('timeline.newest') : t('timeline.all', { count: count(all.length) }), toggle, {
					kind: 'link',
					data: { key: 'timeline-all' },
				}),
			drawTimeline(shown),
		];
	}

	spans(view, last, now) {
		const whole = this.whole === placeOfRun(last);
		const all = spansOf(view, last.run, now);
		return { all, shown: newestSpans(all, { all: whole }), whole };
	}

	cost(view, last, { now, more }) {
		const spent = view.runs.reduce((sum, one) => addCost(sum, one.cost), null);
		const pair = (words, value) => [h('dt', null, words), h('dd.number', null, value)];
		const limits = Object.entries(last.limits).flatMap(([name, limit]) =>
			drawLimit(name, limit, spentOf(view, name, now), { more }),
		);
		return [
			title(t('cost.title'), h('span.muted', null, last.models[0] ? visibleLine(last.models[0]) : '')),
			h(
				'dl.pairs',
				null,
				money(last.cost) && !last.limits.run_cost && pair(t('cost.run'), money(last.cost)),
				money(spent) && view.runs.length > 1 && pair(t('cost.session'), money(spent)),
				pair(t('cost.tokens'), t('cost.in_out', { in: tokens(last.usage.input), out: tokens(last.usage.output) })),
				last.usage.cached > 0 && pair(t('cost.cached'), tokens(last.usage.cached)),
				pair(t('cost.calls'), count(last.usage.calls)),
				limits,
			),
		];
	}

	files(view, known) {
		const byPath = Map.groupBy ? Map.groupBy(view.files, (file) => file.path) : grouped(view.files);
		return [
			title(t('files.title'), h('span.muted.number', null, count(byPath.size))),
			[...byPath].map(([path, changes]) => this.file(path, changes, known)),
		];
	}

	file(path, changes, known) {
		const last = changes.at(-1);
		const calls = [...new Set(changes.map((change) => change.call))].map((id) => known.get(id)).filter(Boolean);
		const undone = calls.length > 0 && calls.every((call) => call.undone);
		const sign = { created: ['+', 'ok'], deleted: ['−', 'danger'], changed: ['~', 'muted'] }[last.change];
		const details = h(
			`details.file${undone ? '.undone' : ''}`,
			{ open: page.openFiles.has(path) },
			h(
				'summary',
				{ data: { key: `file-${path}` } },
				h(`span.sign.${sign[1]}`, { title: t(`files.${last.change}`) }, sign[0]),
				h('span.path.cut', null, h('bdi', { dir: 'ltr' }, visibleLine(path))),
				undone && h('span.tiny.muted', null, t('call.undone')),
			),
		);
		const fill = () => {
			if (details.open && details.children.length === 1)
				details.append(
					h(
						'div.inside',
						null,
						calls.flatMap((call) => this.change(call, path)),
						calls.length === 0 && h('p.muted', null, t('files.by_step')),
					),
				);
		};
		details.addEventListener('toggle', () => {
			page.openFiles[details.open ? 'add' : 'delete'](path);
			fill();
		});
		fill();
		return details;
	}

	change(call, path) {
		const diff = call.changes?.length > 1 ? null : diffOfCall(call);
		return [
			diff ? drawDiff(diff) : keptDiffs(call, { path }),
			h(
				'div.row',
				null,
				button(t('files.show_call'), () => run('reveal', call.id), { kind: 'link', data: { key: `show-${call.id}` } }),
				!call.undone &&
					button(t('files.undo'), () => run('undo', call.id), {
						kind: 'quiet',
						shape: 'undo',
						data: { key: `undo-${call.id}` },
					}),
			),
		];
	}
}

// A step that a session of its own carried out leads there.
function stepWords(item, session) {
	const words = [item.file && h('code', null, `${visibleLine(item.file)} `), visibleLine(item.step)];
	return session ? h('a', { href: sessionRoute(session), data: { key: `step-${session}` } }, words) : h('span', null, words);
}

const callsOf = (view) => new Map(view?.items.flatMap((item) => item.calls ?? []).map((call) => [call.id, call]));

// What of a span needs another element; where it begins and ends does not.
const shapeOf = ({ from: _from, to: _to, open: _open, ...shape }) => shape;

const placeOfRun = ({ run }) => `${page.feed?.id} ${run}`;

// The time of what is shown: now, or that of the record that the scrubber stands at.
function timeShown() {
	if (page.past === null) return Date.now();
	return new Date(page.feed?.records.findLast((one) => one.seq <= page.past)?.at ?? 0).getTime();
}

function title(words, beside = null) {
	return h('header', null, h('h2', null, words), beside);
}

function grouped(files) {
	const map = new Map();
	for (const file of files) map.set(file.path, [...(map.get(file.path) ?? []), file]);
	return map;
}
