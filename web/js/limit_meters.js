// How much of each limit of a run is used: a figure and a bar.

import { addCost, addUsage, noUsage } from './fold.js';
import { amount } from './format.js';
import { h } from './dom.js';
import { t } from './words.js';
import { unitOf } from './limits.js';

// What the last run and those that share the limit have spent of it, as far as it is loaded. Others of the same day are in
// the record that began the run. Pure.
export function spentOf(view, name, now) {
	const last = view.runs.at(-1);
	const unit = unitOf(name);
	if (unit === 'time') return last.startedAt ? (last.endedAt ? new Date(last.endedAt) : now) - new Date(last.startedAt) : 0;
	const shared = name.startsWith('session_') ? view.runs : [last];
	const before = last.spentBefore[name.split('_')[0]]?.[unit] ?? 0;
	if (unit === 'cost') return before + (shared.reduce((sum, run) => addCost(sum, run.cost), null) ?? 0);
	const usage = shared.reduce((sum, run) => addUsage(sum, run.usage), noUsage());
	return before + usage.input + usage.output;
}

// The parts of a list of pairs. `more` says that the session has runs that are not loaded.
export function drawLimit(name, limit, used, { more = false } = {}) {
	const meter = h('dd.meter', { 'aria-hidden': 'true' }, h('i'));
	const figure = h('dd.number', { data: { limit: name } });
	const parts = [h('dt', null, t(`limit.${name}`)), figure, meter];
	fillLimit(figure, name, limit, used, { more, meter });
	return parts;
}

export function fillLimit(figure, name, limit, used, { more = false, meter = figure.nextElementSibling } = {}) {
	const unit = unitOf(name);
	const share = Math.min(1, used / Math.max(1, limit));
	const values = { used: amount(unit, used), limit: amount(unit, limit) };
	figure.textContent = t(more && name.startsWith('session_') ? 'limit.used.at_least' : 'limit.used', values);
	meter.firstChild.className = share >= 0.85 ? 'danger' : share >= 0.6 ? 'warn' : '';
	meter.firstChild.style.width = `${share * 100}%`;
}
