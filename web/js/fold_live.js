// The part of the reducer that collects deltas: what is shown of a reply before its record is there.
//
// A delta has its place: (run, turn, attempt, offset), the offset in bytes of UTF-8 of its own stream (text, thinking,
// or the arguments of one call). What is there already is skipped. Attempt 0 marks the progress of a running call.

import { findCall } from './fold_calls.js';

const PROGRESS_KEPT = 20000;

export function freshLive(run, turn, attempt) {
	return {
		run,
		turn,
		attempt,
		text: '',
		textBytes: 0,
		thinking: '',
		thinkingBytes: 0,
		thinkingNow: false,
		thinkingFrom: null,
		thinkingMs: null,
		calls: [],
		waiting: null,
		leftOut: [],
	};
}

export function applyDelta(view, delta) {
	if (delta.kind === 'CallDelta' && delta.attempt === 0) return addProgress(view, delta.body);
	if (view.openRun !== null && delta.run < view.openRun) return;
	if (delta.kind === 'Waiting') return noteWaiting(view, delta);
	const live = liveFor(view, delta);
	if (!live) return;
	if (delta.kind === 'SourceLeftOut') {
		view.live = { ...live, leftOut: live.leftOut.concat(delta.body) };
		return;
	}
	const add = streams[delta.kind];
	if (add) view.live = add(live, delta);
}

// Returns the live reply that the delta belongs to; null where a record has replaced it or a later attempt took over.
function liveFor(view, delta) {
	const known = view.live;
	const replied = view.items.findLast((item) => item.type === 'reply');
	if (replied && (replied.run > delta.run || (replied.run === delta.run && replied.turn >= delta.turn))) return null;
	if (!known || known.run !== delta.run || known.turn !== delta.turn) {
		if (known && (known.run > delta.run || (known.run === delta.run && known.turn > delta.turn))) return null;
		return freshLive(delta.run, delta.turn, delta.attempt);
	}
	if (delta.kind === 'SourceLeftOut') return known; // it belongs to the turn
	if (known.attempt > delta.attempt) return null;
	if (known.attempt === delta.attempt) return known;
	return { ...freshLive(delta.run, delta.turn, delta.attempt), leftOut: known.leftOut };
}

// A wait may be told of after the call that waited has ended.
function noteWaiting(view, delta) {
	const { call } = delta.body;
	if (call && findCall(view, call)?.call.state === 'finished') return;
	view.live = { ...(view.live ?? freshLive(delta.run, delta.turn, delta.attempt)), waiting: delta.body };
}

function addProgress(view, { call, text }) {
	const whole = (view.progress[call] ?? '') + text;
	view.progress = { ...view.progress, [call]: whole.slice(-PROGRESS_KEPT) };
}

const streams = {
	TextDelta(live, delta) {
		const { text, bytes } = appended(live.text, live.textBytes, delta);
		return { ...live, text, textBytes: bytes, waiting: null };
	},

	ThinkingStarted(live, delta) {
		return { ...live, thinkingNow: true, thinkingFrom: delta.received ?? null, waiting: null };
	},

	ThinkingEnded(live, delta) {
		const from = live.thinkingFrom;
		const took =
			from !== null && delta.received !== undefined ? (live.thinkingMs ?? 0) + delta.received - from : live.thinkingMs;
		return { ...live, thinkingNow: false, thinkingFrom: null, thinkingMs: took };
	},

	ThinkingDelta(live, delta) {
		const { text, bytes } = appended(live.thinking, live.thinkingBytes, delta);
		return { ...live, thinking: text, thinkingBytes: bytes, thinkingNow: true, waiting: null };
	},

	CallDelta(live, delta) {
		const { call: id, name } = delta.body;
		const known = live.calls.find((call) => call.id === id) ?? { id, name: '', text: '', bytes: 0 };
		const { text, bytes } = appended(known.text, known.bytes, delta);
		const call = { id, name: name ?? known.name, text, bytes };
		return { ...live, calls: live.calls.filter((one) => one.id !== id).concat(call), waiting: null };
	},

	Cleared(live) {
		return { ...freshLive(live.run, live.turn, live.attempt), leftOut: live.leftOut };
	},
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// Returns the text with the part of the fragment that is new.
function appended(text, bytes, delta) {
	const fragment = delta.body.text;
	const length = byteLength(fragment);
	const known = bytes - delta.offset;
	if (known <= 0) return { text: text + fragment, bytes: delta.offset + length };
	if (known >= length) return { text, bytes };
	const rest = decoder.decode(encoder.encode(fragment).subarray(known));
	return { text: text + rest, bytes: delta.offset + length };
}

function byteLength(text) {
	return /^[\x00-\x7f]*$/.test(text) ? text.length : encoder.encode(text).length;
}
