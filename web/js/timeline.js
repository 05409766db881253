// Where the time of a run went: one bar for each call and each wait for the model, on one common clock.

import { h } from './dom.js';
import { duration } from './format.js';
import { mainArgument, toolName } from './call_view.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

const SHOWN = 12; // rows; a few more are shown, too, rather than a button for them
const at = (time) => new Date(time).getTime();

// The newest of many spans, which share their clock; or all. Pure.
export function newestSpans(spans, { all = false } = {}) {
	return all || spans.length <= SHOWN + 2 ? spans : spans.slice(-SHOWN);
}

// The spans of a run in order: {kind: model|call|asking|step, label, from, to, open, together, …}. `now` ends what is still open;
// `together` says that the call is one of several of its turn. Pure.
export function spansOf(view, number, now) {
	const spans = [];
	for (const item of view.items) {
		if (item.run !== number) continue;
		if (item.type === 'reply' && item.startedAt)
			spans.push({ kind: 'model', label: item.model, from: at(item.startedAt), to: at(item.at) });
		if (item.what === 'step_started') spans.push(spanOfStep(view, item, now));
		if (item.type === 'calls') spans.push(...item.calls.flatMap((call) => spansOfCall(call, { now, together: item.calls.length > 1 })));
	}
	if (view.turn?.run === number)
		spans.push({
			kind: 'model',
			label: '',
			from: at(view.turn.startedAt),
			to: Math.max(now, at(view.turn.startedAt)),
			open: true,
		});
	return spans;
}

// A step is carried out by a session of its own, which is not loaded here.
function spanOfStep(view, { child, step, at: begun }, now) {
	const ended = view.items.find((item) => item.what === 'step_ended' && item.child === child);
	const bad = ended !== undefined && !['completed', 'conversed'].includes(ended.reason);
	return { kind: 'step', step, from: at(begun), to: ended ? at(ended.at) : now, bad, open: !ended };
}

function spansOfCall(call, { now, together }) {
	const spans = [];
	const label = `${toolName(call)} ${mainArgument(call.arguments)}`;
	if (call.askedAt)
		spans.push({
			kind: 'asking',
			label,
			together,
			call: call.id,
			from: at(call.askedAt),
			to: call.answeredAt ? at(call.answeredAt) : call.finishedAt ? at(call.finishedAt) : now,
			open: !call.answeredAt && !call.finishedAt,
		});
	if (call.startedAt) {
		const from = at(call.startedAt);
		const to = call.state === 'finished' ? from + (call.tookMs || at(call.finishedAt) - from) : now;
		spans.push({
			kind: 'call',
			label,
			together,
			call: call.id,
			from,
			to,
			bad: call.outcome !== undefined && call.outcome !== 'ok',
			open: call.state !== 'finished',
		});
	}
	return spans;
}

export function drawTimeline(spans) {
	const timeline = h('div.timeline', null, spans.map(drawSpan));
	placeSpans(timeline, spans);
	return timeline;
}

function drawSpan(span) {
	const label = labelOf(span);
	const bar = h(`i.bar.${span.kind}${span.bad ? '.bad' : ''}`);
	const parts = [h('span.cut', null, label), h('span.lane', null, bar), h('span.took.number')];
	if (!span.call) return h(`div.span.${span.kind}`, null, parts);
	return h(
		`button.span${span.together ? '.together' : ''}`,
		{
			type: 'button',
			title: label,
			data: { key: `${span.kind}-${span.call}` },
			onclick: () => run('reveal', span.call),
		},
		parts,
	);
}

function labelOf({ kind, label, step }) {
	if (kind === 'step') return t('timeline.step', { n: step + 1 });
	return kind === 'call' ? visibleLine(label) : t(`timeline.${kind}`);
}

// Puts each bar in its place on the common clock, which goes on as long as a span is open.
export function placeSpans(timeline, spans) {
	const from = Math.min(...spans.map((span) => span.from));
	const whole = Math.max(1, Math.max(...spans.map((span) => span.to)) - from);
	spans.forEach((span, index) => {
		const element = timeline.children[index];
		const bar = element.querySelector('.bar');
		bar.style.left = `${((span.from - from) / whole) * 100}%`;
		bar.style.width = `${((span.to - span.from) / whole) * 100}%`;
		element.querySelector('.took').textContent = duration(span.to - span.from);
	});
}
