// The run panel: plan, timeline, context, cost, files changed; the scrubber at its foot.

import { button, byId, h, icon, replaceKeepingFocus } from './dom.js';
import { amount, count, money, tokens } from './format.js';
import { diffOfCall } from './diff.js';
import { drawContext } from './context_bar.js';
import { drawDiff } from './call_view.js';
import { drawTimeline, spansOf } from './timeline.js';
import { findCall } from './fold_calls.js';
import { unitOf } from './limits.js';
import { noUsage, addUsage, addCost } from './fold.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';
import { Scrubber } from './scrubber.js';

export class RunPanel {
  constructor() {
    this.body = h('div.panel-body');
    this.scrubber = new Scrubber();
    byId('panel').append(
      h('div.panel-head', null, h('strong', null, t('panel.title')), button(t('panel.close'), () => run('panel'), { kind: 'quiet', shape: 'cross', text: false })),
      this.body, this.scrubber.root);
    this.openFiles = new Set();
    setInterval(() => { if (page.view?.openRun !== null && page.view && !document.hidden) this.draw(page.view); }, 1000);
  }

  draw(view) {
    this.scrubber.update(page.feed);
    if (!view) return this.body.replaceChildren();
    const top = this.body.scrollTop;
    replaceKeepingFocus(this.body, this.plan(view), this.timeline(view), this.context(view), this.cost(view), this.files(view));
    if (this.body.children.length === 0) this.body.append(h('p.empty', null, t('panel.empty')));
    this.body.scrollTop = top;
  }

  plan(view) {
    if (!view.plan?.length) return null;
    const done = view.plan.filter((item) => item.status === 'done').length;
    return part(t('plan.title'), h('span.muted.number', null, `${done}/${view.plan.length}`), h('ol.plan', null, view.plan.map((item) => h(`li.${item.status}`, null,
      h('i.box', { role: 'img', 'aria-label': t(`plan.${item.status}`) }, item.status === 'done' && icon('check'), item.status === 'failed' && icon('cross')),
      h('span', null, item.file && h('code', null, `${visibleLine(item.file)} `), visibleLine(item.step))))));
  }

  timeline(view) {
    const last = view.runs.at(-1);
    const spans = last ? spansOf(view, last.run, page.past === null && view.openRun !== null ? Date.now() : 0) : [];
    return spans.length > 0 ? part(t('timeline.title'), h('span.muted', null, t('timeline.run', { n: last.run })), drawTimeline(spans)) : null;
  }

  context(view) {
    return view.budget ? part(t('context.title'), null, drawContext(view.budget)) : null;
  }

  cost(view) {
    const last = view.runs.at(-1);
    if (!last) return null;
    const all = view.runs.reduce((sum, one) => addUsage(sum, one.usage), noUsage());
    const spent = view.runs.reduce((sum, one) => addCost(sum, one.cost), null);
    const pair = (words, value) => [h('dt', null, words), h('dd.number', null, value)];
    const limits = Object.entries(last.limits).flatMap(([name, limit]) => this.limit(view, name, limit, { last, all, spent }));
    return part(t('cost.title'), h('span.muted', null, last.models[0] ? visibleLine(last.models[0]) : ''), h('dl.pairs', null,
      pair(t('cost.run'), last.cost === null ? t('cost.unknown') : money(last.cost)),
      spent !== null && view.runs.length > 1 && pair(t('cost.session'), money(spent)),
      pair(t('cost.tokens'), t('cost.in_out', { in: tokens(last.usage.input), out: tokens(last.usage.output) })),
      last.usage.cached > 0 && pair(t('cost.cached'), tokens(last.usage.cached)),
      pair(t('cost.calls'), count(last.usage.calls)), limits));
  }

  limit(view, name, limit, { last, all, spent }) {
    const unit = unitOf(name);
    const of = name.startsWith('run_') ? last : { usage: all, cost: spent };
    const used = { cost: of.cost ?? 0, tokens: of.usage.input + of.usage.output, time: last.startedAt ? (last.endedAt ? new Date(last.endedAt) : Date.now()) - new Date(last.startedAt) : 0 }[unit];
    const share = Math.min(1, used / Math.max(1, limit));
    const bar = h(`i${share >= 0.85 ? '.danger' : share >= 0.6 ? '.warn' : ''}`);
    bar.style.width = `${share * 100}%`;
    return [h('dt', null, t(`limit.${name}`)), h('dd.number', null, `${amount(unit, used)} / ${amount(unit, limit)}`), h('dd.meter', { 'aria-hidden': 'true' }, bar)];
  }

  files(view) {
    if (view.files.length === 0) return null;
    const byPath = Map.groupBy ? Map.groupBy(view.files, (file) => file.path) : grouped(view.files);
    return part(t('files.title'), h('span.muted.number', null, count(byPath.size)), [...byPath].map(([path, changes]) => this.file(view, path, changes)));
  }

  file(view, path, changes) {
    const last = changes.at(-1);
    const calls = [...new Set(changes.map((change) => change.call))].map((id) => findCall(view, id)?.call).filter(Boolean);
    const undone = calls.length > 0 && calls.every((call) => call.undone);
    const sign = { created: ['+', 'ok'], deleted: ['−', 'danger'], changed: ['~', 'muted'] }[last.change];
    const details = h(`details.file${undone ? '.undone' : ''}`, { open: this.openFiles.has(path) }, h('summary', { data: { key: `file-${path}` } },
      h(`span.sign.${sign[1]}`, { title: t(`files.${last.change}`) }, sign[0]), h('span.path.cut', null, h('bdi', { dir: 'ltr' }, visibleLine(path))), undone && h('span.tiny.muted', null, t('call.undone'))));
    const fill = () => { if (details.open && details.children.length === 1) details.append(h('div.inside', null, calls.flatMap((call) => this.change(call)), calls.length === 0 && h('p.muted', null, t('files.no_diff')))); };
    details.addEventListener('toggle', () => { this.openFiles[details.open ? 'add' : 'delete'](path); fill(); });
    fill();
    return details;
  }

  change(call) {
    const diff = diffOfCall(call);
    return [diff ? drawDiff(diff) : h('p.muted', null, t('files.no_diff')),
      h('div.row', null, button(t('files.show_call'), () => run('reveal', call.id), { kind: 'link', data: { key: `show-${call.id}` } }),
        !call.undone && button(t('files.undo'), () => run('undo', call.id), { kind: 'quiet', shape: 'undo', data: { key: `undo-${call.id}` } }))];
  }
}

function part(title, beside, ...children) {
  return h('section.part', null, h('header', null, h('h2', null, title), beside), children.flat());
}

function grouped(files) {
  const map = new Map();
  for (const file of files) map.set(file.path, [...(map.get(file.path) ?? []), file]);
  return map;
}
