// The conversation as a list that draws only the rows near the view. It stays where the reader is, and follows the end
// only while the end is in view.

import { byId, h, replaceKeepingFocus } from './dom.js';
import { RowHeights, isAtEnd } from './virtual_rows.js';
import { guessHeight } from './rows.js';
import { drawRow, drawLive } from './row_views.js';
import { count } from './format.js';
import { t } from './words.js';

const SPARE = 700;

export class Conversation {
  constructor({ onTop, onShown }) {
    Object.assign(this, { onTop, onShown, rows: [], drawn: new Map(), measured: new Map(), following: true, unseen: 0 });
    this.root = byId('conversation');
    this.pill = byId('pill');
    this.above = h('div');
    this.list = h('div.rows');
    this.below = h('div');
    this.root.append(this.above, this.list, this.below);
    this.heights = new RowHeights();
    this.root.addEventListener('scroll', () => this.onScroll(), { passive: true });
    this.pill.addEventListener('click', () => this.toEnd());
    new ResizeObserver(() => this.draw()).observe(this.root);
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  // Another session: nothing of the old one stays.
  clear() {
    this.list.replaceChildren();
    this.drawn.clear();
    this.measured.clear();
    Object.assign(this, { rows: [], heights: new RowHeights(), following: true, unseen: 0 });
    this.above.style.height = this.below.style.height = '0px';
    this.showPill();
  }

  setRows(rows, { older = false } = {}) {
    const anchor = this.anchor();
    if (!this.following && !older) this.unseen += Math.max(0, rows.length - this.rows.length);
    this.rows = rows;
    this.heights = new RowHeights(rows.map((row) => this.measured.get(row.key) ?? guessHeight(row)));
    this.draw(anchor);
    this.showPill();
  }

  setLive(view) {
    const live = this.drawn.get('live');
    if (!live) return;
    drawLive(live.element, view);
    this.draw();
  }

  onScroll() {
    if (this.ownScroll === this.root.scrollTop) return;
    this.following = isAtEnd(this.root.scrollTop, this.root.clientHeight, this.root.scrollHeight);
    if (this.following) this.unseen = 0;
    this.showPill();
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  toEnd() {
    this.following = true;
    this.unseen = 0;
    this.draw();
    this.showPill();
    this.root.focus({ preventScroll: true });
  }

  // Shows a call in the middle of the view, with the focus on it.
  reveal(index, call) {
    this.following = false;
    this.root.scrollTop = this.heights.offset(index) - this.root.clientHeight / 3;
    this.draw(null);
    this.root.scrollTop = this.heights.offset(index) - this.root.clientHeight / 3;
    this.draw(null);
    const summary = this.list.querySelector(`[data-key="${CSS.escape(call)}"]`);
    if (!summary) return;
    summary.parentElement.open = true;
    summary.focus({ preventScroll: true });
  }

  showPill() {
    const away = !this.following && this.rows.length > 0;
    this.pill.hidden = !away;
    if (away) this.pill.textContent = this.unseen > 0 ? t('pill.new', { n: this.unseen, count: count(this.unseen) }) : t('pill.end');
  }

  // The first row in view and how far it is above the edge: what must not move.
  anchor() {
    if (this.following || this.rows.length === 0) return null;
    const index = this.heights.at(this.root.scrollTop);
    return { key: this.rows[index].key, shift: this.root.scrollTop - this.heights.offset(index) };
  }

  draw(anchor = this.anchor()) {
    if (this.drawing || this.root.hidden || this.root.clientHeight === 0) return;
    this.drawing = true;
    for (let pass = 0; pass < 4; pass++) {
      this.place(anchor);
      if (!this.drawRange()) break;
    }
    this.place(anchor);
    this.drawing = false;
    if (this.range?.start < 15) this.onTop();
  }

  place(anchor) {
    const total = this.heights.total;
    let top = this.root.scrollTop;
    if (this.following) top = Math.max(0, total - this.root.clientHeight);
    else if (anchor) {
      const index = this.rows.findIndex((row) => row.key === anchor.key);
      if (index >= 0) top = this.heights.offset(index) + anchor.shift;
    }
    this.setPads(total);
    if (Math.abs(top - this.root.scrollTop) >= 1) {
      this.root.scrollTop = top;
      this.ownScroll = this.root.scrollTop;
    }
    this.top = top;
  }

  setPads(total) {
    const range = this.range ?? { start: 0, end: 0 };
    const end = Math.min(range.end, this.rows.length);
    const start = Math.min(range.start, end);
    this.above.style.height = `${this.heights.offset(start)}px`;
    this.below.style.height = `${Math.max(0, total - this.heights.offset(end))}px`;
  }

  // Draws the rows near the view; whether a height turned out different from what was thought.
  drawRange() {
    this.range = this.heights.range(this.top, this.root.clientHeight, SPARE);
    const shown = this.rows.slice(this.range.start, this.range.end);
    this.removeOthers(new Set(shown.map((row) => row.key)));
    let next = this.list.firstElementChild;
    for (const row of shown) {
      const element = this.elementOf(row);
      if (element === next) next = next.nextElementSibling;
      else this.list.insertBefore(element, next);
    }
    this.setPads(this.heights.total);
    return this.measure(shown);
  }

  measure(shown) {
    let changed = false;
    shown.forEach((row, place) => {
      const height = this.drawn.get(row.key).element.getBoundingClientRect().height;
      this.measured.set(row.key, height);
      if (this.heights.set(this.range.start + place, height)) changed = true;
    });
    return changed;
  }

  removeOthers(kept) {
    for (const [key, { element }] of this.drawn) {
      if (kept.has(key)) continue;
      if (element.contains(document.activeElement)) this.root.focus({ preventScroll: true });
      element.remove();
      this.drawn.delete(key);
    }
  }

  elementOf(row) {
    const known = this.drawn.get(row.key);
    if (known && known.row.item === row.item && known.row.type === row.type) return known.element;
    const element = known?.element ?? h(`div.item.${row.type}`);
    replaceKeepingFocus(element, drawRow(row));
    this.drawn.set(row.key, { row, element });
    if (row.type === 'live') this.onShown();
    return element;
  }
}
