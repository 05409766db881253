// Puts the parts together: what is open, what is shown, and what the actions do.

import { api } from './api.js';
import { define, run } from './actions.js';
import { byId, button, h, leaveFocus, replaceKeepingFocus } from './dom.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { QuestionCard } from './question_card.js';
import { RunPanel } from './run_panel.js';
import { SentMessages } from './sent_messages.js';
import { SessionFeed, firstRecords } from './session_feed.js';
import { SessionList } from './session_list.js';
import { SessionLoader } from './session_loader.js';
import { Announcer, canNotify, notify, showTab, tabState } from './notifications.js';
import { toast } from './dialogs.js';
import { drawHead } from './head_bar.js';
import { drawLogin, drawTrouble, drawWelcome, redrawConnect } from './welcome.js';
import { drawSettings } from './settings_view.js';
import { drawUsage } from './usage_view.js';
import { defineSessionActions } from './session_actions.js';
import { definePageActions } from './page_actions.js';
import { goTo, parseRoute, sessionRoute, watchRoute } from './router.js';
import { modelNow, showModels } from './model_choice.js';
import { page } from './page_state.js';
import { remember, remembered } from './memory.js';
import { isDemo, rowsOf } from './rows.js';
import { statusOf } from './fold.js';
import { nameOf } from './titles.js';
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
const sent = new SentMessages();
let ahead = null; // {id, records}: what the page opens with, asked for while the server says who is here

// ---- the rail

async function loadSessions() {
	if (page.route.name === 'login') return;
	const isFirst = loader.taken === 0;
	try {
		const rows = await loader.load();
		if (!rows) return;
		tellOthers(rows);
		page.sessions = rows;
		if (page.view || isFirst) loadRow();
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
	drawComposer();
	showTab(tabState(page.row ? page.status : 'idle', unseenEnd), page.row && nameOf(page.row));
}

// What the composer says beside the text: which model answers, and where a message would go.
function drawComposer() {
	const driver = page.row?.driver;
	const elsewhere = typeof driver === 'object' && driver !== null;
	const blocked = elsewhere ? t(driver.pid ? 'composer.blocked' : 'composer.blocked.unknown', driver) : null;
	composer.show({ past: page.past !== null, blocked });
	composer.showModel(modelNow(page.feed?.view ?? null, page.me));
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
			h('span', null, t(page.me.demo ? 'demo.words' : 'demo.played')),
			...(page.me.demo ? [button(t('demo.connect'), () => run('new'), { kind: 'link', data: { key: 'connect' } })] : []),
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
	const asked = ahead?.id === id ? ahead.records : null;
	ahead = null;
	page.feed = new SessionFeed(id, { asked, onChange, onState, onError: (error, how) => onFeedError(error, id, how) });
	page.feed.open();
	if (loader.taken > 0) loadRow(); // else the list, which is on its way, brings it
	showStage('conversation');
	composer.open(id);
	composer.takeFocus();
}

function closeSession() {
	page.feed?.close();
	Object.assign(page, { feed: null, view: null, past: null, row: null, connection: 'live' });
	page.open.clear();
	page.openFiles.clear();
	sent.clear();
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
		lookAgain();
	}
	drawNotice();
}

// Asks the server again what it answers with: a model may have been connected, or have gone, and a server that was started
// again may be another version, with another page.
async function lookAgain() {
	const me = await api.me().catch((error) => error.status === 401 && showLogin());
	if (!me || !page.me) return;
	if (me.version !== page.version) page.outdated = me.version;
	const changed = me.demo !== page.me.demo || me.model !== page.me.model;
	page.me = me;
	if (changed) {
		redrawConnect();
		if (page.route.name === 'new' && !byId('view').querySelector('.connect')) showView(drawWelcome());
	}
	drawFrame();
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
		conversation.setRows(rowsOf(view, sent.waiting(view)), { older });
		panel.draw(view);
		if (!older) drawFrame();
	} else if (older) run('scrub', page.past);
	else if (changed) panel.scrubber.update(page.feed);
	if (page.past === null) conversation.setLive(view);
	card.show(view);
	composer.show({ running: view.openRun !== null, asking: view.questions.length > 0 });
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
		giveBack(view);
		announcer.say(t(`end.${item.reason}`));
		const text = item.failure?.message ?? item.answer;
		notify(item.reason === 'failed' ? 'failed' : 'done', { id, name, text }, openRow);
		loadSessions();
		if (item.reason === 'failed') lookAgain();
		drawFrame();
	}
}

// What a stop has dropped can be sent again: its words and files come back into the composer.
function giveBack(view) {
	const dropped = sent.takeBack(view, page.feed.records);
	if (dropped.length === 0) return;
	const typed = dropped.map((message) => message.text).join('\n');
	const files = dropped.flatMap((message) => message.files);
	composer.putBack({ typed, files }, page.feed.id);
	if (page.past === null) conversation.setRows(rowsOf(view));
	toast(t('stop.given_back'));
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
	if (page.route.name === 'login') return; // what is typed there stays
	const known = remembered('signed-in', false);
	closeSession();
	page.route = { name: 'login', id: null };
	document.body.dataset.route = 'login';
	showView(drawLogin(() => location.reload(), { known }));
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
			lookAgain();
			composer.open(null);
			composer.show({ running: false, asking: false });
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
		rowsOf(
			{ ...page.view, openRun: seq === null ? page.view.openRun : null },
			seq === null ? sent.waiting(page.view) : [],
		),
	);
	conversation.setLive(page.view);
	panel.draw(page.view);
	drawNotice();
	drawComposer();
});
define('redraw', () => {
	panel.draw(page.view);
	drawFrame();
});
define('reload', () => loadSessions());
define('look', lookAgain);
define('signed out', showLogin);
define('model', showModels);
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
	sent.add(message);
	if (page.view && page.past === null) conversation.setRows(rowsOf(page.view, sent.waiting(page.view)));
});
define('stopping', () => (sent.stopping = true));
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
		if (page.route.name === 'login') comeIn();
		else lookAgain();
	}
});

// Who has signed in on another page of the browser meanwhile need not do it here again. What is typed is left alone.
async function comeIn() {
	if (byId('view').querySelector('input')?.value) return;
	if (await api.me().catch(() => null)) location.reload();
}
setInterval(() => {
	if (!document.hidden && page.route.name !== 'login') lookAgain();
}, 30000);
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
	const route = parseRoute(location.hash);
	if (route?.name === 'session') ahead = { id: route.id, records: firstRecords(route.id) };
	page.me = await signedIn();
	if (!page.me) return showLogin();
	remember('signed-in', true);
	page.version = page.me.version;
	page.connection = 'live';
	const listed = loadSessions();
	if (!location.hash) await choose(listed);
	watchRoute(onRoute);
}

// What an address without a session shows: the newest one, or the demo where there is none and no model.
async function choose(listed) {
	await listed;
	if (page.sessions.length > 0) goTo(sessionRoute(page.sessions[0].id));
	else if (page.me.demo) await run('demo');
}
start();
