// Puts the parts together: what is open, what is shown, and what the actions do.

import { api } from './api.js';
import { define, run } from './actions.js';
import { byId, button, h, leaveFocus, replaceKeepingFocus } from './dom.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { QuestionCard } from './question_card.js';
import { RunPanel } from './run_panel.js';
import { SessionFeed } from './session_feed.js';
import { SessionList, nameOf } from './session_list.js';
import { SessionLoader } from './session_loader.js';
import { Announcer, canNotify, notify, showTab, tabState } from './notifications.js';
import { toast } from './dialogs.js';
import { drawHead } from './head_bar.js';
import { drawLogin, drawTrouble, drawWelcome } from './welcome.js';
import { drawSettings } from './settings_view.js';
import { drawUsage } from './usage_view.js';
import { defineSessionActions } from './session_actions.js';
import { definePageActions } from './page_actions.js';
import { goTo, sessionRoute, watchRoute } from './router.js';
import { page } from './page_state.js';
import { isDemo, rowsOf } from './rows.js';
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
const announcer = new Announcer(byId('announcer'));
const loader = new SessionLoader();
const list = new SessionList({
	onSearch: (search) => {
		loader.look({ search });
		loadSessions();
	},
});
let unseenEnd = false;
let pending = [];

// ---- the rail

async function loadSessions() {
	if (page.route.name === 'login') return;
	try {
		const rows = await loader.load();
		if (!rows) return;
		tellOthers(rows);
		page.sessions = rows;
		if (page.view) loadRow();
	} catch (error) {
		if (error.status === 401) return showLogin();
		loader.failed = page.sessions.length === 0;
	}
	drawFrame();
}

// The row of the open session, which the list need not have: it may be archived, far down, or not what is searched for.
async function loadRow() {
	const { feed } = page;
	const listed = page.sessions.find((row) => row.id === feed?.id);
	if (listed) page.row = listed;
	if (listed || !feed) return;
	const row = await api.session(feed.id).catch(() => null);
	if (!row || page.feed !== feed) return;
	page.row = row;
	drawFrame();
}

const openRow = (id) => goTo(sessionRoute(id));

// Another session than the open one asks, or is done.
function tellOthers(rows) {
	const before = new Map(page.sessions.map((row) => [row.id, row.status]));
	for (const row of rows) {
		const was = before.get(row.id);
		if (row.id === page.feed?.id || was === undefined || was === row.status) continue;
		const kind =
			row.status === 'waiting' ? 'asking' : row.status === 'failed' ? 'failed' : row.status === 'idle' ? 'done' : null;
		if (!kind) continue;
		notify(kind, { id: row.id, name: nameOf(row), text: row.last_prompt ?? '' }, openRow);
		toast(t(`notify.${kind}`, { name: nameOf(row) }), { action: { label: t('open'), run: () => openRow(row.id) } });
	}
}

function drawFrame() {
	page.status = page.feed && page.view ? statusOf(page.feed.view) : (page.row?.status ?? 'idle');
	list.draw(loader);
	drawHead(page.status, page.route.name);
	drawNotice();
	showTab(tabState(page.row ? page.status : 'idle', unseenEnd), page.row && nameOf(page.row));
}

// ---- the line under the head

function drawNotice() {
	const parts = [];
	if (page.connection === 'lost') parts.push(h('span.warn', { role: 'status' }, t('connection.lost')));
	if (page.connection === 'back') parts.push(h('span.ok', { role: 'status' }, t('connection.back')));
	if (page.outdated)
		parts.push(
			h('span', null, t('connection.outdated', { version: page.outdated })),
			button(t('connection.reload'), () => location.reload(), { kind: 'link', data: { key: 'reload' } }),
		);
	if (page.past !== null)
		parts.push(
			h('span', null, t('scrubber.notice')),
			button(t('scrubber.now'), () => run('scrub', null), { kind: 'link', data: { key: 'now' } }),
		);
	if (page.row?.driver?.pid) parts.push(h('span', null, t('driver.other', { pid: page.row.driver.pid })));
	if (page.view && isDemo(page.view))
		parts.push(
			h('span.tag', null, t('demo.tag')),
			h('span', null, t('demo.words')),
			button(t('demo.connect'), () => run('new'), { kind: 'link', data: { key: 'connect' } }),
		);
	const words = parts.map((part) => part.textContent).join();
	if (byId('notice').dataset.words === words) return;
	byId('notice').dataset.words = words;
	const focused = document.activeElement?.dataset.key;
	if (!parts.some((part) => focused && part.dataset.key === focused))
		leaveFocus(byId('notice'), byId('conversation'), byId('view'));
	replaceKeepingFocus(byId('notice'), parts);
}

// ---- the open session

function openSession(id) {
	closeSession();
	showStage('conversation');
	composer.open(id);
	composer.takeFocus();
	page.feed = new SessionFeed(id, { onChange, onState, onError: (error, how) => onFeedError(error, id, how) });
	page.feed.open();
	loadRow();
}

function closeSession() {
	page.feed?.close();
	Object.assign(page, { feed: null, view: null, past: null, row: null, connection: 'live' });
	page.open.clear();
	page.openFiles.clear();
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
	if (state === 'back') {
		loadSessions();
		lookForUpdate();
	}
	drawNotice();
}

// The server that is back may be another version, with another page.
async function lookForUpdate() {
	const me = await api.me().catch(() => null);
	if (!me || me.version === page.me.version) return;
	page.outdated = me.version;
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
	if (first) {
		showStage('conversation');
		leaveFocus(byId('view'), byId('conversation'));
	}
	const changed = first || before?.lastSeq !== view.lastSeq || before?.firstSeq !== view.firstSeq;
	if (page.past === null) page.view = view;
	if (changed && page.past === null) {
		pending = pending.filter((message) => !view.items.some((item) => item.id === message.id));
		conversation.setRows(rowsOf(view, pending), { older });
		panel.draw(view);
		if (!older) drawFrame();
	} else if (older) run('scrub', page.past);
	else if (changed) panel.scrubber.update(page.feed);
	if (page.past === null) conversation.setLive(view);
	card.show(view);
	composer.setRunning(view.openRun !== null, { asking: view.questions.length > 0 });
	if (before && !older) tell(before, view);
}

function tell(before, view) {
	announcer.hear(before, view);
	const { id } = page.feed;
	const name = page.row ? nameOf(page.row) : '';
	const asked = view.questions.find((one) => !before.questions.includes(one));
	if (asked) {
		announcer.say(t('notify.asks', { name: asked.preview?.title ?? '' }));
		notify('asking', { id, name, text: asked.preview?.title ?? '' }, openRow);
	}
	for (const item of view.items.slice(before.items.length)) {
		if (item.type !== 'end') continue;
		unseenEnd = document.hidden;
		if (item.reason === 'cancelled' && pending.length > 0) {
			pending = [];
			if (page.past === null) conversation.setRows(rowsOf(view));
		}
		announcer.say(t(`end.${item.reason}`));
		const text = item.failure?.message ?? item.answer;
		notify(item.reason === 'failed' ? 'failed' : 'done', { id, name, text }, openRow);
		loadSessions();
		drawFrame();
	}
}

// ---- what the stage shows

function showStage(name) {
	byId('conversation').hidden = name !== 'conversation';
	byId('view').hidden = name !== 'view';
	byId('dock').hidden = name === 'view' && page.route.name !== 'new';
}

function showView(content) {
	showStage('view');
	byId('view').replaceChildren(content);
}

function showLogin() {
	closeSession();
	page.route = { name: 'login', id: null };
	document.body.dataset.route = 'login';
	showView(drawLogin(() => location.reload()));
	drawHead('idle', 'login');
}

function onRoute(next) {
	page.route = next;
	document.body.dataset.route = next.name;
	run('close', { chosen: true });
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
		if (next.name === 'settings') {
			drawSettings(byId('view'));
			byId('view').querySelector('h2').focus({ preventScroll: true });
		}
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
define('more', () => {
	loader.more(page.sessions.length);
	loadSessions();
});
define('archived', () => {
	loader.look({ archived: !loader.archived });
	loadSessions();
});
define('reopen', () => (page.me ? onRoute(page.route) : cutWait()));
define('pending', (message) => {
	pending = pending.filter((one) => one.id !== message.id);
	if (!page.view?.items.some((item) => item.id === message.id)) pending.push(message);
	if (page.view && page.past === null) conversation.setRows(rowsOf(page.view, pending));
});
define('show end', () => conversation.toEnd());
define('reveal', (call) => {
	run('close', { chosen: true });
	page.open.add(call);
	const index = conversation.rows.findIndex(
		(row) => row.type === 'calls' && row.item.calls.some((one) => one.id === call),
	);
	if (index >= 0) conversation.reveal(index, call);
});
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
	if (loader.due(Date.now(), { hidden: document.hidden, notifying: canNotify() })) loadSessions();
}, 5000);

let cutWait = () => {};

// Until the server answers; what is wrong is drawn once, so that what is focused there stays.
async function signedIn() {
	for (let reported = null; ; ) {
		try {
			return await api.me();
		} catch (error) {
			if (error.status === 401) return null;
			page.connection = 'lost';
			if (error.kind !== reported) showView(drawTrouble(error, null));
			drawNotice();
			reported = error.kind;
		}
		await new Promise((resolve) => {
			cutWait = resolve;
			setTimeout(resolve, 3000);
		});
	}
}

async function start() {
	page.me = await signedIn();
	if (!page.me) return showLogin();
	page.connection = 'live';
	await loadSessions();
	if (!location.hash && page.sessions.length > 0) goTo(sessionRoute(page.sessions[0].id));
	else if (!location.hash && page.me.demo) await run('demo');
	watchRoute(onRoute);
}
start();
