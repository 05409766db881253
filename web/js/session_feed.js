// Loads a session, follows it, and folds what comes once per frame.

import { api } from './api.js';
import { EventStream, isFinal, waitBefore } from './event_stream.js';
import { emptyView, foldAll } from './fold.js';
import { joinViews } from './join_views.js';

// Who reads on towards the beginning gets larger pages, as joining each one to the rest takes as long as there is of it.
const MOST_BATCHES = 400;
const FIRST_BATCHES = 100;
const OLDER_WAIT = 5000; // before older records are asked for again that could not be loaded

// Asks for the records that a session opens with; null where that fails, so that they are asked for again.
export const firstRecords = (id) => api.records(id, null, FIRST_BATCHES).catch(() => null);

// `asked`: the first records, where they are on their way already.
export class SessionFeed {
	constructor(id, { asked = null, onChange, onState, onError }) {
		Object.assign(this, {
			id,
			asked,
			onChange,
			onState,
			onError,
			view: emptyView(),
			records: [],
			more: false,
			olderAt: 0,
			batches: FIRST_BATCHES,
			waiting: [],
			closed: false,
		});
	}

	async open() {
		const page = await this.firstPage();
		if (!page || this.closed) return;
		this.records = page.records;
		this.more = page.more;
		this.view = foldAll(this.view, page.records);
		this.onChange(this.view, { first: true });
		this.stream = new EventStream(this.id, {
			after: this.view.lastSeq,
			onEvents: (events) => this.take(events),
			onState: (state) => this.onState(state),
			onRefused: (error) => this.onError(error),
		});
	}

	// Tries until the session can be read or never will be. Only the first of the same errors in a row is reported.
	async firstPage() {
		let reported = null;
		for (let tries = 0; !this.closed; tries++) {
			try {
				const asked = tries === 0 ? await this.asked : null;
				return asked ?? (await api.records(this.id, null, this.batches));
			} catch (error) {
				if (this.closed) return null;
				if (error.kind !== reported) this.onError(error);
				if (isFinal(error.status)) return null;
				reported = error.kind;
				const wait = error.retryAfter ? error.retryAfter * 1000 : waitBefore(tries, Math.random());
				await new Promise((resolve) => setTimeout(resolve, wait));
			}
		}
		return null;
	}

	close() {
		this.closed = true;
		this.stream?.close();
	}

	// A hidden page gets no frames, so a timer stands in for them.
	take(events) {
		for (const event of events) this.waiting.push(event);
		if (this.due) return;
		this.due = true;
		this.frame = requestAnimationFrame(() => this.flush());
		this.timer = setTimeout(() => this.flush(), 250);
	}

	flush() {
		this.due = false;
		cancelAnimationFrame(this.frame);
		clearTimeout(this.timer);
		if (this.closed) return;
		const events = this.waiting;
		this.waiting = [];
		const before = this.view;
		this.view = foldAll(before, events);
		for (const event of events) {
			if (event.seq !== undefined && event.seq > (this.records.at(-1)?.seq ?? 0)) this.records.push(event);
		}
		this.onChange(this.view, { before });
	}

	async loadOlder() {
		if (!this.more || this.loading || this.closed || Date.now() < this.olderAt) return;
		this.loading = true;
		try {
			const batches = Math.min(MOST_BATCHES, this.batches * 2);
			const page = await api.records(this.id, this.view.firstSeq, batches);
			if (this.closed) return;
			this.batches = batches;
			this.more = page.more && page.records.length > 0;
			this.records = page.records.concat(this.records);
			const before = this.view;
			this.view = joinViews(foldAll(emptyView(), page.records), before);
			this.onChange(this.view, { before, older: true });
		} catch (error) {
			this.olderAt = Date.now() + OLDER_WAIT;
			if (!this.closed) this.onError(error, { mild: true });
		} finally {
			this.loading = false;
		}
	}

	// The session as it stood after this record.
	viewAt(seq) {
		return foldAll(
			emptyView(),
			this.records.filter((record) => record.seq <= seq),
		);
	}
}
