// The scrubber: the loaded records as ticks, coloured by kind. Dragging shows the conversation as it stood there.

import { button, h, leaveFocus } from './dom.js';
import { clock, count } from './format.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { t } from './words.js';

const SHOWN = 1500; // of more records, only some have a tick
const COLOURS = { message: '--text', model: '--accent', call: '--ok', ask: '--warn', bad: '--danger', other: '--wait' };

function tickKind(record) {
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

// The place of the record that the session is shown at; the last one for now. Pure.
export function placeOf(records, past) {
	return past === null ? records.length - 1 : Math.max(0, records.findLastIndex((record) => record.seq <= past));
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
		const { records } = feed;
		const looks = [records.length, records[0].seq, this.canvas.clientWidth, getComputedStyle(this.root).color].join();
		this.feed = feed;
		this.records = records;
		this.slider.max = records.length - 1;
		this.slider.value = this.place = placeOf(records, page.past);
		if (this.looks !== looks) this.paint();
		this.looks = looks;
		this.say();
	}

	paint() {
		const { canvas, records } = this;
		const scale = devicePixelRatio || 1;
		canvas.width = canvas.clientWidth * scale;
		canvas.height = canvas.clientHeight * scale;
		const pen = canvas.getContext('2d');
		const colours = this.colours();
		const width = Math.max(1, Math.min(4 * scale, canvas.width / records.length - scale));
		const step = (canvas.width - width) / Math.max(1, records.length - 1);
		const every = Math.ceil(records.length / SHOWN);
		records.forEach((record, index) => {
			if (index % every > 0) return;
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

	// The slider stops where a batch ends; a key goes one batch on or back. At the first one, older ones are loaded.
	move() {
		const { records } = this;
		const place = stopAt(records, this.place, Number(this.slider.value));
		this.place = place;
		this.slider.value = place;
		const last = place === records.length - 1;
		cancelAnimationFrame(this.frame);
		this.frame = requestAnimationFrame(() => run('scrub', last ? null : records[place].seq));
		if (place === records[place].batch[0]) this.feed.loadOlder();
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
