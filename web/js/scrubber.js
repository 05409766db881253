// The scrubber: every loaded record a tick, coloured by kind. Dragging shows the conversation as it stood there.

import { button, h, leaveFocus } from './dom.js';
import { clock, count } from './format.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { t } from './words.js';

const SHOWN = 1500; // the newest records that have a tick
const COLOURS = { message: '--text', model: '--accent', call: '--ok', ask: '--warn', bad: '--danger', other: '--wait' };

export function tickKind(record) {
	if (record.kind === 'MessageAccepted') return 'message';
	if (record.kind === 'ModelReplied' || record.kind === 'TurnStarted') return 'model';
	if (record.kind.startsWith('Question')) return 'ask';
	if (
		record.kind === 'AttemptFailed' ||
		(record.kind === 'RunEnded' && record.body.failure) ||
		(record.kind === 'CallFinished' && record.body.outcome !== 'ok')
	)
		return 'bad';
	return /^(Call|Files)/.test(record.kind) ? 'call' : 'other';
}

// Where the slider comes to rest that is moved from one record to another: at the end of a batch, for a session can only be
// forked between batches. One step back leaves the batch. Pure.
export function stopAt(records, from, to) {
	const left = to === from - 1 && records[from].batch[0] > 0;
	const aim = left ? from - records[from].batch[0] - 1 : to;
	if (aim < 0) return from;
	const { batch } = records[aim];
	return Math.min(records.length - 1, aim + (batch[1] - 1 - batch[0]));
}

export class Scrubber {
	constructor() {
		this.canvas = h('canvas', { 'aria-hidden': 'true' });
		this.slider = h('input', { type: 'range', min: 0, 'aria-label': t('scrubber.label') });
		this.words = h('span');
		this.fork = button(t('scrubber.fork'), () => run('fork', page.past), { shape: 'fork', kind: 'quiet' });
		this.back = button(t('scrubber.now'), () => run('scrub', null), { kind: 'link' });
		this.root = h(
			'div.scrubber',
			{ hidden: true },
			h('div.words', null, this.words, h('div.row', null, this.back, this.fork)),
			h('div.strip', null, this.canvas, this.slider),
		);
		this.slider.addEventListener('input', () => this.move());
	}

	update(feed) {
		this.root.hidden = !feed || feed.records.length === 0;
		if (this.root.hidden) return;
		const records = feed.records.slice(-SHOWN);
		const changed =
			records.length !== this.records?.length ||
			records.at(-1) !== this.records.at(-1) ||
			this.width !== this.canvas.clientWidth ||
			this.scheme !== getComputedStyle(this.root).color;
		this.records = records;
		this.slider.max = records.length - 1;
		if (page.past === null) this.slider.value = this.place = records.length - 1;
		if (changed) this.paint();
		this.say();
	}

	paint() {
		const { canvas, records } = this;
		const scale = devicePixelRatio || 1;
		this.width = canvas.clientWidth;
		this.scheme = getComputedStyle(this.root).color;
		canvas.width = this.width * scale;
		canvas.height = canvas.clientHeight * scale;
		const pen = canvas.getContext('2d');
		const colours = this.colours();
		const width = Math.max(1, Math.min(4 * scale, canvas.width / records.length - scale));
		const step = (canvas.width - width) / Math.max(1, records.length - 1);
		records.forEach((record, index) => {
			const kind = tickKind(record);
			pen.fillStyle = colours[kind];
			const height = canvas.height * (kind === 'message' ? 1 : kind === 'other' ? 0.35 : 0.65);
			pen.fillRect(index * step, (canvas.height - height) / 2, width, height);
		});
	}

	// A canvas knows no custom properties, so each colour is read once from an element that has it.
	colours() {
		const read = ([kind, name]) => {
			this.canvas.style.color = `var(${name})`;
			return [kind, getComputedStyle(this.canvas).color];
		};
		return Object.fromEntries(Object.entries(COLOURS).map(read));
	}

	// The slider stops where a batch ends; a key goes one batch on or back.
	move() {
		const place = stopAt(this.records, this.place ?? this.records.length - 1, Number(this.slider.value));
		this.place = place;
		this.slider.value = place;
		const last = place === this.records.length - 1;
		cancelAnimationFrame(this.frame);
		this.frame = requestAnimationFrame(() => run('scrub', last ? null : this.records[place].seq));
	}

	say() {
		const record =
			page.past === null
				? this.records.at(-1)
				: (this.records.findLast((one) => one.seq <= page.past) ?? this.records[0]);
		const words = t(page.past === null ? 'scrubber.at_end' : 'scrubber.at', {
			seq: count(record.seq),
			time: clock(record.at),
		});
		this.words.textContent = words;
		this.slider.setAttribute('aria-valuetext', words);
		if (page.past === null) leaveFocus(this.back.parentElement, this.slider);
		this.back.hidden = this.fork.hidden = page.past === null;
	}
}
