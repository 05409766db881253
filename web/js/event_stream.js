// Follows a session: server-sent events over fetch, which unlike EventSource says why a connection was refused.
// It connects again by itself, from the last record it has, and says so.

import { ApiError, errorOf, eventsAddress } from './api.js';

// Splits the text of a stream into events: {name, data}. Pure: give it the rest of the last call and the new text.
export function parseStream(rest, chunk) {
	const blocks = (rest + chunk).replace(/\r\n?/g, '\n').split('\n\n');
	const unfinished = blocks.pop();
	const events = [];
	for (const block of blocks) {
		const field = (name) =>
			block
				.split('\n')
				.filter((line) => line.startsWith(`${name}:`))
				.map((line) => line.slice(name.length + 1).replace(/^ /, ''));
		const data = field('data');
		if (data.length > 0) events.push({ name: field('event').at(-1) ?? 'message', data: data.join('\n') });
	}
	return { events, rest: unfinished };
}

// How long to wait before the next try: doubled each time, at most 10 s, spread so that pages do not come together.
export function waitBefore(tries, chance) {
	const whole = Math.min(10000, 300 * 2 ** Math.min(tries, 10));
	return Math.round(whole * (0.6 + 0.4 * chance));
}

// What a person is told about the connection. `state` is live | lost | back | refused.
export function nextConnection(state, happened) {
	if (happened === 'refused') return 'refused';
	if (happened === 'lost') return 'lost';
	if (happened === 'opened') return state === 'lost' ? 'back' : 'live';
	if (happened === 'settled') return state === 'back' ? 'live' : state;
	return state;
}

// Whether another try can help. The server says 401 or 404 for good; 429 and 5xx pass.
export const isFinal = (status) => status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status);

const failureOf = ({ kind, message, hint }) =>
	Object.assign(new ApiError(200, kind, message, { hint }), { final: true });

const SILENCE = 40000; // the server writes a comment every 15 s

export class EventStream {
	constructor(session, { after, onEvents, onState, onRefused }) {
		Object.assign(this, { session, after, onEvents, onState, onRefused, state: 'live', tries: 0, closed: false });
		this.wake = () => this.cutWait?.();
		addEventListener('online', this.wake);
		this.run();
	}

	close() {
		this.closed = true;
		removeEventListener('online', this.wake);
		this.abort?.abort();
		this.cutWait?.();
	}

	say(happened) {
		if (this.closed) return;
		const next = nextConnection(this.state, happened);
		if (next === this.state) return;
		this.state = next;
		this.onState(next);
	}

	async run() {
		while (!this.closed) {
			try {
				await this.follow();
			} catch (error) {
				if (this.closed) return;
				if (error.final || isFinal(error.status)) {
					this.say('refused');
					this.onRefused(error);
					return;
				}
				this.retryAfter = error.retryAfter;
			}
			if (this.closed) return;
			this.say('lost');
			await this.pause();
		}
	}

	async follow() {
		this.abort = new AbortController();
		const response = await fetch(eventsAddress(this.session, this.after), {
			headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(this.after) },
			signal: this.abort.signal,
			cache: 'no-store',
		});
		if (!response.ok) throw await errorOf(response);
		this.tries = 0;
		this.say('opened');
		if (this.state === 'back') setTimeout(() => this.say('settled'), 4000);
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
		let rest = '';
		for (;;) {
			const { value, done } = await this.readOrGiveUp(reader);
			if (done) return;
			const parsed = parseStream(rest, value);
			rest = parsed.rest;
			if (parsed.events.length > 0) this.deliver(parsed.events);
		}
	}

	async readOrGiveUp(reader) {
		const timer = setTimeout(() => this.abort.abort(), SILENCE);
		try {
			return await reader.read();
		} finally {
			clearTimeout(timer);
		}
	}

	// The server ends a stream that it can't go on with by an event that says why.
	deliver(sent) {
		const received = Date.now();
		const events = sent.filter(({ name }) => name === 'message').map(({ data }) => JSON.parse(data));
		for (const event of events) {
			if (event.seq !== undefined) this.after = Math.max(this.after, event.seq);
			else event.received = received;
		}
		this.onEvents(events);
		const failed = sent.find(({ name }) => name === 'error');
		if (failed) throw failureOf(JSON.parse(failed.data));
	}

	pause() {
		const wait = this.retryAfter ? this.retryAfter * 1000 : waitBefore(this.tries++, Math.random());
		this.retryAfter = null;
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, wait);
			this.cutWait = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}
}
