// Puts the parts together: what is open, what is shown, and what the actions do.

import { api } from './api.js';
import { define, run } from './actions.js';
import { byId, button, h } from './dom.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { QuestionCard } from './question_card.js';
import { RunPanel } from './run_panel.js';
import { SessionFeed } from './session_feed.js';
import { SessionList, nameOf } from './session_list.js';
import { Announcer, notify, showTab, tabState } from './notifications.js';
import { toast } from './dialogs.js';
import { drawHead } from './head_bar.js';
import { drawLogin, drawTrouble, drawWelcome } from './welcome.js';
import { drawSettings } from './settings_view.js';
import { drawUsage } from './usage_view.js';
import { defineSessionActions } from './session_actions.js';
import { definePageActions } from './page_actions.js';
import { goTo, sessionRoute, watchRoute } from './router.js';
import { page } from './page_state.js';
import { rowsOf } from './rows.js';
import { statusOf } from './fold.js';
import { t, translatePage } from './words.js';

translatePage(document);
const conversation = new Conversation({
	onTop: () => page.past === null && page.feed?.loadOlder(),
	onShown: () => page.view && requestAnimationFrame(() => conversation.setLive(page.view)),
});
const composer = new Composer();
const card = new QuestionCard({ onAnswer: (question, answer) => run('answer', question, answer) });
const panel = new RunPanel();
const announcer = new Announcer();
const rail = { search: '', archived: false, next: null, failed: false };
const list = new SessionList({
	onSearch: (text) => {
		rail.search = text;
		loadSessions();
	},
});
let route = { name: 'new', id: null };
let unseenEnd = false;
let pending = [];

// ---- the rail

async function loadSessions(more = false) {
	try {
		const { search, archived } = rail;
		const found = await api.sessions({
			search,
			archived: archived || null,
			limit: 100,
			after: more ? rail.next : null,
		});
		if (search !== rail.search || archived !== rail.archived) return;
		tellOthers(found.sessions);
		page.sessions = more ? page.sessions.concat(found.sessions) : found.sessions;
		Object.assign(rail, { next: found.next, failed: false });
		const mine = page.sessions.find((row) => row.id === page.row?.id);
		if (mine) page.row = mine;
	} catch (error) {
		if (error.status === 401) return showLogin();
		rail.failed = page.sessions.length === 0;
	}
	drawFrame();
}

// Another session than the open one asks, or is done.
function tellOthers(rows) {
	const before = new Map(page.sessions.map((row) => [row.id, row.status]));
	for (const row of rows) {
		const was = before.get(row.id);
		if (row.id === page.row?.id || was === undefined || was === row.status) continue;
		const kind =
			row.status === 'waiting' ? 'asking' : row.status === 'failed' ? 'failed' : row.status === 'idle' ? 'done' : null;
		if (!kind) continue;
		notify(kind, nameOf(row), row.last_prompt ?? '');
		toast(t(`notify.${kind}`, { name: nameOf(row) }), {
			action: { label: t('open'), run: () => goTo(sessionRoute(row.id)) },
		});
	}
}

function drawFrame() {
	page.status = page.feed && page.view ? statusOf(page.feed.view) : (page.row?.status ?? 'idle');
	list.draw(rail);
	drawHead(page.status, route.name);
	drawNotice();
	showTab(tabState(page.row ? page.status : 'idle', unseenEnd), page.row && nameOf(page.row));
}

// ---- the line under the head

function drawNotice() {
	const parts = [];
	if (page.connection === 'lost') parts.push(h('span.warn', { role: 'status' }, t('connection.lost')));
	if (page.connection === 'back') parts.push(h('span.ok', { role: 'status' }, t('connection.back')));
	if (page.past !== null)
		parts.push(
			h('span', null, t('scrubber.notice')),
			button(t('scrubber.now'), () => run('scrub', null), { kind: 'link' }),
		);
	if (page.row?.driver?.pid) parts.push(h('span', null, t('driver.other', { pid: page.row.driver.pid })));
	if (page.me?.demo && page.row)
		parts.push(
			h('span.tag', null, t('demo.tag')),
			h('span', null, t('demo.words')),
			button(t('demo.connect'), () => run('new'), { kind: 'link' }),
		);
	const words = parts.map((part) => part.textContent).join();
	if (byId('notice').dataset.words === words) return;
	byId('notice').dataset.words = words;
	byId('notice').replaceChildren(...parts);
}

// ---- the open session

function openSession(id) {
	closeSession();
	page.row = page.sessions.find((row) => row.id === id) ?? null;
	if (!page.row)
		api.session(id).then(
			(row) => {
				if (route.id === id) {
					page.row = row;
					drawFrame();
				}
			},
			() => {},
		);
	showStage('conversation');
	composer.open(id);
	composer.takeFocus();
	page.feed = new SessionFeed(id, { onChange, onState, onError: (error, how) => onFeedError(error, id, how) });
	page.feed.open();
}

function closeSession() {
	page.feed?.close();
	Object.assign(page, { feed: null, view: null, past: null, row: null, connection: 'live', open: new Set() });
	pending = [];
	unseenEnd = false;
	byId('conversation').classList.remove('past');
	conversation.clear();
	card.show(null);
	panel.draw(null);
}

function onState(state) {
	page.connection = state;
	if (state === 'lost' || state === 'back') announcer.say(t(`connection.${state}`));
	if (state === 'back') loadSessions();
	drawNotice();
}

function onFeedError(error, id, { mild = false } = {}) {
	if (error.status === 401) return showLogin();
	if (mild) return run('error', error);
	conversation.clear();
	showView(drawTrouble(error, id));
}

// Draws what changed. Deltas touch the live row only; records the rows, the panel and the frame.
function onChange(view, { before = null, older = false, first = false }) {
	const changed = first || before?.lastSeq !== view.lastSeq || before?.firstSeq !== view.firstSeq;
	if (page.past === null) page.view = view;
	if (changed && page.past === null) {
		pending = pending.filter((message) => !view.items.some((item) => item.id === message.id));
		conversation.setRows(rowsOf(view, pending), { older });
		if (!older) {
			panel.draw(view);
			drawFrame();
		}
	}
	if (page.past === null) conversation.setLive(view);
	card.show(view);
	composer.setRunning(view.openRun !== null, { asking: view.questions.length > 0 });
	if (before && !older) tell(before, view);
}

function tell(before, view) {
	announcer.follow(view.live);
	const name = page.row ? nameOf(page.row) : '';
	const asked = view.questions.find((one) => !before.questions.includes(one));
	if (asked) {
		announcer.say(t('notify.asks', { name: asked.preview?.title ?? '' }));
		notify('asking', name, asked.preview?.title ?? '');
	}
	for (const item of view.items.slice(before.items.length)) {
		if (item.type === 'reply' && item.text) announcer.finish(before.live, item);
		if (item.type !== 'end') continue;
		unseenEnd = document.hidden;
		if (item.reason === 'cancelled' && pending.length > 0) {
			pending = [];
			conversation.setRows(rowsOf(view));
		}
		announcer.say(t(`end.${item.reason}`));
		notify(item.reason === 'failed' ? 'failed' : 'done', name, item.failure?.message ?? item.answer);
		loadSessions();
		drawFrame();
	}
}

// ---- what the stage shows

function showStage(name) {
	byId('conversation').hidden = name !== 'conversation';
	byId('view').hidden = name !== 'view';
	byId('dock').hidden = name === 'view' && route.name !== 'new';
}

function showView(content) {
	showStage('view');
	byId('view').replaceChildren(content);
}

function showLogin() {
	closeSession();
	route = { name: 'login', id: null };
	document.body.dataset.route = 'login';
	showView(drawLogin(() => location.reload()));
	drawHead('idle', 'login');
}

function onRoute(next) {
	route = next;
	document.body.dataset.route = next.name;
	document.body.classList.remove('rail-drawer', 'panel-drawer');
	byId('veil').hidden = true;
	if (next.name === 'session') openSession(next.id);
	else {
		closeSession();
		showStage('view');
		if (next.name === 'new') {
			showView(drawWelcome());
			composer.open(null);
			composer.setRunning(false);
			composer.takeFocus();
		}
		if (next.name === 'usage') drawUsage(byId('view'));
		if (next.name === 'settings') drawSettings(byId('view'));
	}
	drawFrame();
}

// ---- actions that need the state above

define('scrub', (seq) => {
	if (!page.feed) return;
	page.past = seq;
	page.view = seq === null ? page.feed.view : page.feed.viewAt(seq);
	byId('conversation').classList.toggle('past', seq !== null);
	conversation.following = true;
	conversation.setRows(
		rowsOf({ ...page.view, openRun: seq === null ? page.view.openRun : null }, seq === null ? pending : []),
	);
	conversation.setLive(page.view);
	panel.draw(page.view);
	drawNotice();
});
define('redraw', () => {
	panel.draw(page.view);
	drawFrame();
});
define('reload', () => loadSessions());
define('more', () => loadSessions(true));
define('archived', () => {
	rail.archived = !rail.archived;
	loadSessions();
});
define('reopen', () => onRoute(route));
define('pending', (message) => {
	pending = pending.filter((one) => one.id !== message.id);
	if (!message.gone && !page.view?.items.some((item) => item.id === message.id)) pending.push(message);
	if (page.view && page.past === null) conversation.setRows(rowsOf(page.view, pending));
});
define('show end', () => conversation.toEnd());
define('reveal', (call) => {
	page.open.add(call);
	const index = conversation.rows.findIndex(
		(row) => row.type === 'calls' && row.item.calls.some((one) => one.id === call),
	);
	if (index >= 0) conversation.reveal(index, call);
});
define('current route', () => route);
defineSessionActions({ composer, loadSessions });
definePageActions({ list, card, composer });

addEventListener('colours', () => run('redraw'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => run('redraw'));
document.addEventListener('visibilitychange', () => {
	if (!document.hidden) {
		unseenEnd = false;
		drawFrame();
		loadSessions();
	}
});
setInterval(() => {
	if (!document.hidden && route.name !== 'login') loadSessions();
}, 5000);

async function start() {
	try {
		page.me = await api.me();
	} catch (error) {
		if (error.status === 401) return showLogin();
		onState('lost');
		showView(drawTrouble(error, null));
		setTimeout(start, 3000);
		return;
	}
	page.connection = 'live';
	await loadSessions();
	if (!location.hash && page.sessions.length > 0 && !page.me.demo) goTo(sessionRoute(page.sessions[0].id));
	watchRoute(onRoute);
}
start();
