// Draws one row of the conversation.

import { button, h, icon } from './dom.js';
import { drawCalls, drawLiveCalls } from './call_view.js';
import { drawEnd } from './end_view.js';
import { lineOf } from './line_words.js';
import { addText, drawBlocks } from './live_blocks.js';
import { prose } from './server_html.js';
import { visibleLine, visibleText } from './visible_text.js';
import { bytes, clock, count, duration } from './format.js';
import { DEMO, isDemo, saidLive } from './rows.js';
import { connectCards } from './welcome.js';
import { run } from './actions.js';
import { sessionRoute } from './router.js';
import { t } from './words.js';
import { workingOf } from './working.js';

const draw = {
	message: ({ item }) => drawMessage(item),
	pending: ({ item }) =>
		h(
			'div.message.pending',
			null,
			h('div.plain', null, visibleText(item.text)),
			h('div.tiny.muted', null, t('message.queued')),
		),
	reply: ({ item }) => drawReply(item),
	calls: ({ item }) => drawCalls(item),
	line: ({ item }) => drawLine(item),
	end: (row) => drawEnd(row),
	live: () => liveParts(),
	connect: () => connectCards(),
};

export function drawRow(row) {
	return draw[row.type](row);
}

function drawMessage(item) {
	return h(
		'div.message',
		null,
		h('span.unseen', null, t('message.yours')),
		prose(item.html, item.text),
		item.attachments.length > 0 && h('div.chips', null, item.attachments.map(attachmentChip)),
		editButton(item),
	);
}

function editButton(item) {
	const element = button(t('message.edit'), () => run('edit', item), {
		kind: 'quiet',
		shape: 'edit',
		text: false,
		data: { key: 'edit' },
	});
	element.classList.add('edit');
	return element;
}

function attachmentChip(file) {
	const size = file.width > 0 ? `${file.width} × ${file.height}, ${bytes(file.bytes)}` : bytes(file.bytes);
	return h(
		'span.chip',
		null,
		icon('clip'),
		h('span.cut', null, visibleLine(file.name || t('message.image'))),
		h('span.muted', null, size),
	);
}

function drawReply(item) {
	return h(
		'div.reply',
		null,
		item.model === DEMO && h('span.tag', null, t('demo.tag')),
		item.thinking && drawThinking(item.thinking, item.thinkingMs, item.usage.reasoning),
		item.text && prose(item.html, item.text),
		item.partial && h('p.tiny.muted', null, t('reply.partial')),
	);
}

function drawThinking(text, ms, tokens) {
	const words = ms
		? t('thinking.for', { time: duration(ms) })
		: tokens > 0
			? t('thinking.tokens', { n: tokens, count: count(tokens) })
			: t('thinking.done');
	return drawFold(words, text, 'thinking');
}

// A text that is folded away, under these words.
function drawFold(words, text, key) {
	return h(
		'details.thinking',
		null,
		h('summary', { data: { key } }, icon('arrow'), h('span', null, words)),
		h('div.plain', null, visibleText(text)),
	);
}

function drawLine(item) {
	const { words, tone, session, summary } = lineOf(item);
	const link = session && h('a', { href: sessionRoute(session), data: { key: 'session' } }, t('line.session'));
	return [
		h(
			`div.thin${tone ? `.${tone}` : ''}`,
			null,
			h('span', null, h('time', { datetime: item.at }, clock(item.at)), visibleLine(words), link && ' ', link),
		),
		summary && drawFold(t('line.summary'), summary, 'summary'),
	].filter(Boolean);
}

// The reply that is being written: its parts stay, and only what is new is added to them.
function liveParts() {
	const thinking = h(
		'details.thinking',
		{ hidden: true },
		h('summary', { data: { key: 'live-thinking' } }, icon('arrow'), h('span', null, t('thinking.now'))),
		h('div.plain'),
	);
	return [
		h('div.reply.live', null, h('span.tag', { hidden: true }, t('demo.tag')), thinking, h('div.prose.text')),
		h('div.live-calls'),
		h('div.tiny.muted.left-out'),
		h('div.working', null, h('span.dot.processing'), h('span.words')),
	];
}

export function drawLive(element, view) {
	const live = view.live;
	const said = saidLive(view);
	element.querySelector('.tag').hidden = !isDemo(view);
	const thinking = element.querySelector('.thinking');
	thinking.hidden = !live?.thinking;
	thinking.querySelector('span').textContent = live?.thinkingNow
		? t('thinking.now')
		: live?.thinkingMs
			? t('thinking.for', { time: duration(live.thinkingMs) })
			: t('thinking.done');
	addText(thinking.querySelector('.plain'), live?.thinking ?? '');
	drawBlocks(element.querySelector('.text'), said.trimEnd());
	drawLiveCalls(element.querySelector('.live-calls'), live?.calls ?? []);
	drawWorking(element.querySelector('.working'), workingOf(view, Date.now()));
	element.querySelector('.working .dot').className = `dot ${view.questions.length > 0 ? 'waiting' : 'processing'}`;
	const reply = element.querySelector('.reply');
	reply.hidden = !said && !live?.thinking;
	const leftOut = live?.leftOut ?? [];
	element.querySelector('.left-out').textContent = leftOut
		.map(({ source, why }) => t('working.left_out', { source: visibleLine(source), why: visibleLine(why) }))
		.join(' ');
}

function drawWorking(element, working) {
	element.hidden = working === null;
	if (working === null) return;
	const words = element.querySelector('.words');
	words.textContent = working.words;
	if (working.until) words.dataset.until = working.until;
	else delete words.dataset.until;
}
