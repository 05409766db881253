// The conversation as a list that draws only the rows near the view. It stays where the reader is, and follows the end
// only while the end is in view.

import { byId, h, replaceKeepingFocus } from './dom.js';
import { RowHeights, isAtEnd } from './virtual_rows.js';
import { guessHeight } from './rows.js';
import { drawRow, drawLive } from './row_views.js';
import { followCalls, tickClocks } from './call_view.js';
import { count } from './format.js';
import { t } from './words.js';

const SPARE = 700;

export class Conversation {
	constructor({ onTop, onShown }) {
		Object.assign(this, {
			onTop,
			onShown,
			rows: [],
			drawn: new Map(),
			measured: new Map(),
			following: true,
			unseen: 0,
		});
		this.root = byId('conversation');
		this.pill = byId('pill');
		this.above = h('div');
		this.list = h('div.rows');
		this.below = h('div');
		this.root.append(this.above, this.list, this.below);
		this.heights = new RowHeights();
		this.root.addEventListener('scroll', () => this.onScroll(), { passive: true });
		this.pill.addEventListener('click', () => this.toEnd());
		this.range = { start: 0, end: 0 };
		this.top = this.height = 0;
		new ResizeObserver(() => {
			this.height = this.root.clientHeight;
			this.draw();
		}).observe(this.root);
		this.list.addEventListener('toggle', () => this.hold(), true);
		this.list.addEventListener('grown', () => this.hold());
		this.list.addEventListener('load', () => this.draw(), true);
		setInterval(() => tickClocks(this.list, Date.now()), 500);
		this.list.addEventListener('click', () => requestAnimationFrame(() => this.hold()));
	}

	// Another session: nothing of the old one stays.
	clear() {
		this.list.replaceChildren();
		this.drawn.clear();
		this.measured.clear();
		Object.assign(this, {
			rows: [],
			heights: new RowHeights(),
			range: { start: 0, end: 0 },
			top: 0,
			following: true,
			unseen: 0,
		});
		this.above.style.height = this.below.style.height = '0px';
		this.showPill();
	}

	setRows(rows, { older = false } = {}) {
		const anchor = this.anchor();
		if (!this.following && !older) this.unseen += Math.max(0, rows.length - this.rows.length);
		this.rows = rows;
		this.heights = new RowHeights(rows.map((row) => this.measured.get(row.key) ?? (row.guess ??= guessHeight(row))));
		this.draw(anchor);
		this.showPill();
	}

	setLive(view) {
		followCalls(this.list, view);
		const live = this.drawn.get('live');
		if (!live) return;
		drawLive(live.element, view);
		this.draw();
	}

	onScroll() {
		this.top = this.root.scrollTop;
		// The browser moves the text when the window changes; nobody has scrolled then.
		if (this.ownScroll === this.top || this.height !== this.root.clientHeight) return;
		this.ownScroll = null;
		this.following = isAtEnd(this.top, this.height, this.heights.total);
		if (this.following) this.unseen = 0;
		this.showPill();
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			this.draw();
		});
	}

	// What a person opens stays where it is, though it pushes the end out of view.
	hold() {
		const wasAtEnd = this.following;
		this.following = false;
		this.draw();
		this.following = wasAtEnd && isAtEnd(this.top, this.height, this.heights.total);
		this.showPill();
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
		const anchor = { key: this.rows[index].key, shift: -Math.round(this.height / 3) };
		this.draw(anchor);
		this.draw(anchor);
		const summary = this.list.querySelector(`[data-key="${CSS.escape(call)}"]`);
		if (!summary) return;
		summary.parentElement.open = true;
		summary.focus({ preventScroll: true });
	}

	showPill() {
		const away = !this.following && this.rows.length > 0;
		this.pill.hidden = !away;
		if (away)
			this.pill.textContent =
				this.unseen > 0 ? t('pill.new', { n: this.unseen, count: count(this.unseen) }) : t('pill.end');
	}

	// The first row in view and how far it is above the edge: what must not move.
	anchor() {
		if (this.following || this.rows.length === 0) return null;
		const index = this.heights.at(this.top);
		return { key: this.rows[index].key, shift: this.top - this.heights.offset(index) };
	}

	// Writes first, then one reading of the heights, then the place: each reading after a write costs a layout.
	draw(anchor = this.anchor()) {
		if (this.drawing || this.root.hidden || this.height === 0) return;
		this.drawing = true;
		let top = this.wantedTop(anchor);
		for (let pass = 0; pass < 3; pass++) {
			this.range = this.heights.range(top, this.height, SPARE);
			const changed = this.drawRange();
			top = this.wantedTop(anchor);
			if (!changed || this.covers(top)) break;
		}
		this.setPads();
		if (Math.abs(top - this.top) >= 1) this.root.scrollTop = this.top = this.ownScroll = Math.round(top);
		this.drawing = false;
		if (this.range.start < 15) this.onTop();
	}

	wantedTop(anchor) {
		if (this.following) return Math.max(0, this.heights.total - this.height);
		const index = anchor ? this.rows.findIndex((row) => row.key === anchor.key) : -1;
		return index >= 0 ? this.heights.offset(index) + anchor.shift : this.top;
	}

	covers(top) {
		const { start, end } = this.range;
		const above = start === 0 || this.heights.offset(start) <= top;
		return above && (end >= this.rows.length || this.heights.offset(end) >= top + this.height);
	}

	setPads() {
		const { start, end } = this.range;
		this.above.style.height = `${this.heights.offset(start)}px`;
		this.below.style.height = `${Math.max(0, this.heights.total - this.heights.offset(end))}px`;
	}

	// Draws the rows of the range; whether a height turned out different from what was thought.
	drawRange() {
		const shown = this.rows.slice(this.range.start, this.range.end);
		this.removeOthers(new Set(shown.map((row) => row.key)));
		let next = this.list.firstElementChild;
		for (const row of shown) {
			const element = this.elementOf(row);
			if (element === next) next = next.nextElementSibling;
			else this.list.insertBefore(element, next);
		}
		this.setPads();
		return this.measure(shown);
	}

	measure(shown) {
		let changed = false;
		shown.forEach((row, place) => {
			const height = this.drawn.get(row.key).element.offsetHeight;
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
		if (known && (known.row === row || row.type === 'live')) return known.element;
		const element = known?.element ?? h(`div.item.of-${row.type}`, { data: { row: row.key } });
		replaceKeepingFocus(element, drawRow(row));
		this.drawn.set(row.key, { row, element });
		if (row.type === 'live') this.onShown();
		return element;
	}
}
