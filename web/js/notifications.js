// What a person is told who looks elsewhere: the tab's title and icon, a notification of the system, and sentences for
// screen readers as they are finished.

import { byId } from './dom.js';
import { remember, remembered } from './memory.js';
import { t } from './words.js';

const COLOURS = { running: '#3aa3b0', asking: '#e0a100', done: '#2f9e57', failed: '#d64b42', idle: '#0d5f69' };

// running | asking | failed | done | idle. Done stays until the page is looked at. Pure.
export function tabState(status, unseenEnd) {
	if (status === 'waiting') return 'asking';
	if (status === 'processing' || status === 'tool_loop') return 'running';
	if (status === 'failed' && unseenEnd) return 'failed';
	return unseenEnd ? 'done' : 'idle';
}

export function showTab(state, name) {
	const mark = { running: '▸ ', asking: '? ', done: '✓ ', failed: '! ', idle: '' }[state];
	document.title = `${mark}${name ? `${name} · ` : ''}Windlass`;
	const dot =
		state === 'idle' ? '' : `<circle cx="25" cy="7" r="7" fill="${COLOURS[state]}" stroke="#fff" stroke-width="2"/>`;
	const shape = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0d5f69"/><g fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"><circle cx="16" cy="16" r="5.5"/><path d="M16 5v5M16 22v5M5 16h5M22 16h5"/></g>${dot}</svg>`;
	const icon = byId('tab-icon');
	const address = `data:image/svg+xml,${encodeURIComponent(shape)}`;
	if (icon.href !== address) icon.href = address;
}

export const canNotify = () =>
	'Notification' in window && Notification.permission === 'granted' && remembered('notify', true);

export async function allowNotifications(wanted) {
	remember('notify', wanted);
	if (wanted && 'Notification' in window && Notification.permission !== 'granted')
		await Notification.requestPermission();
	return canNotify();
}

export function notify(kind, name, text) {
	if (!document.hidden || !canNotify()) return;
	const shown = new Notification(t(`notify.${kind}`, { name }), { body: text.slice(0, 160), tag: `windlass-${name}` });
	shown.onclick = () => {
		window.focus();
		shown.close();
	};
}

// Splits off the sentences that are finished. Pure: the rest is kept for the next text.
export function finishedSentences(text) {
	const end = Math.max(...['. ', '! ', '? ', '.\n', '!\n', '?\n', ':\n', '\n\n'].map((mark) => text.lastIndexOf(mark)));
	return end < 0 ? { said: '', rest: text } : { said: text.slice(0, end + 1).trim(), rest: text.slice(end + 1) };
}

export class Announcer {
	constructor() {
		this.host = byId('announcer');
		this.read = 0;
		this.turn = null;
	}

	say(words) {
		if (!words) return;
		const line = document.createElement('p');
		line.textContent = words;
		this.host.append(line);
		while (this.host.children.length > 6) this.host.firstChild.remove();
	}

	// Follows the text of the live reply.
	follow(live) {
		const turn = live && `${live.run}.${live.turn}.${live.attempt}`;
		if (turn !== this.turn) [this.turn, this.read] = [turn, 0];
		if (!live) return;
		const { said } = finishedSentences(live.text.slice(this.read));
		if (!said) return;
		this.read += live.text.slice(this.read).indexOf(said) + said.length;
		this.say(said);
	}

	// The record has the whole text: says what was not said yet.
	finish(before, reply) {
		if (!before) return this.say(reply.text.slice(0, 400));
		const said = `${before.run}.${before.turn}.${before.attempt}` === this.turn ? this.read : 0;
		return this.say(reply.text.slice(said).trim());
	}
}
