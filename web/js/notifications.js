// What a person is told who looks elsewhere: the tab's title and icon, a notification of the system, and sentences for
// screen readers as they are finished.

import { byId } from './dom.js';
import { remember, remembered } from './memory.js';
import { isSaid, saidLive } from './rows.js';
import { t } from './words.js';
import { visibleText } from './visible_text.js';

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

// Tells of a session on a page that nobody sees; a click on it opens the session. One for each session at a time.
export function notify(kind, { id, name, text }, open) {
	if (!document.hidden || !canNotify()) return;
	const shown = new Notification(t(`notify.${kind}`, { name }), { body: text.slice(0, 160), tag: `windlass-${id}` });
	shown.onclick = () => {
		window.focus();
		open(id);
		shown.close();
	};
}

// Splits off the sentences that are finished. Pure: the rest is kept for the next text.
function finishedSentences(text) {
	const end = Math.max(...['. ', '! ', '? ', '.\n', '!\n', '?\n', ':\n', '\n\n'].map((mark) => text.lastIndexOf(mark)));
	return end < 0 ? { said: '', rest: text } : { said: text.slice(0, end + 1).trim(), rest: text.slice(end + 1) };
}

const turnOf = ({ run, turn }) => `${run}.${turn}`;

export class Announcer {
	constructor(host) {
		this.host = host;
		Object.assign(this, { attempt: null, turn: null, read: 0 });
	}

	say(words) {
		if (!words) return;
		const line = document.createElement('p');
		line.textContent = visibleText(words);
		this.host.append(line);
		while (this.host.children.length > 6) this.host.firstChild.remove();
	}

	// Says what is new in the conversation: first the rest of what was finished, then the reply that is being written.
	hear(before, view) {
		for (const item of view.items.slice(before.items.length)) if (isSaid(item)) this.finish(item);
		this.follow(view.live, saidLive(view));
	}

	follow(live, text) {
		const attempt = live && `${live.run}.${live.turn}.${live.attempt}`;
		if (attempt !== this.attempt) Object.assign(this, { attempt, turn: live && turnOf(live), read: 0 });
		const { said } = finishedSentences(text.slice(this.read));
		if (!said) return;
		this.read += text.slice(this.read).indexOf(said) + said.length;
		this.say(said);
	}

	// The record has the whole text: says what was not said yet, and of a reply that was not followed only the beginning.
	finish(reply) {
		this.say(turnOf(reply) === this.turn ? reply.text.slice(this.read).trim() : reply.text.slice(0, 400));
		Object.assign(this, { attempt: null, turn: null, read: 0 });
	}
}
