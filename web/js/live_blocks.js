// The reply that is being written, in blocks: paragraphs, headings, points, tables and code look as they will when the
// server's HTML takes their place. Everything goes in as text nodes; a link or a picture stays the text it is.

import { h } from './dom.js';
import { visibleText } from './visible_text.js';

const FENCE = /^ {0,3}(```+|~~~+)(.*)$/;

// The blocks of a text that may break off anywhere: {kind: text|head|point|table|code, text, at, number?}. `at` is where the
// block begins. Pure.
export function blocksOf(text) {
	const blocks = [];
	let [open, fence, at] = [null, null, 0];
	const begin = (kind, line, more = {}) => blocks.push((open = { kind, text: line, at, ...more }));
	for (const line of text.split('\n')) {
		if (fence) {
			if (line.trim().startsWith(fence)) fence = open = null;
			else open.lines.push(line);
		} else if (FENCE.test(line)) {
			fence = FENCE.exec(line)[1];
			begin('code', '', { lines: [] });
		} else if (line.trim() === '') open = null;
		else if (/^#{1,4} /.test(line)) {
			begin('head', line.replace(/^#+ +/, ''));
			open = null;
		} else if (/^ {0,3}([-*+]|\d{1,3}[.)]) /.test(line)) {
			const mark = line.trim().split(' ')[0];
			begin('point', line.trim().slice(mark.length + 1), { mark: /\d/.test(mark) ? mark : '•' });
		} else if (/^\s*\|/.test(line)) {
			if (open?.kind === 'table') open.text += `\n${line}`;
			else begin('table', line);
		} else if (open) open.text += `\n${line}`;
		else begin('text', line);
		at += line.length + 1;
	}
	return blocks.map(({ lines, ...block }) => (lines ? { ...block, text: lines.join('\n') } : block));
}

// `code` and **strong** words; a mark without its other end stays as it is. Pure: [{kind: text|code|strong, text}].
export function inlineOf(text) {
	const parts = text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/);
	return parts
		.map((part, index) => {
			if (index % 2 === 0) return { kind: 'text', text: part };
			if (part.startsWith('`')) return { kind: 'code', text: part.slice(1, -1) };
			return { kind: 'strong', text: part.slice(2, -2).replace(/^`(.*)`$/, '$1') };
		})
		.filter((part) => part.text !== '');
}

const drawn = new WeakMap(); // host → {text, from, kept}: the blocks before `from` do not change any more

// Draws the text into the host. Only the block that grows is drawn again.
export function drawBlocks(host, text) {
	let state = drawn.get(host);
	if (!state || !text.startsWith(state.text.slice(0, state.from)) || text.length < state.from) {
		host.replaceChildren();
		state = { text: '', from: 0, kept: 0 };
	}
	if (text === state.text) return;
	const blocks = blocksOf(text.slice(state.from));
	while (host.children.length > state.kept + blocks.length) host.lastChild.remove();
	blocks.forEach((block, index) => drawBlock(host, state.kept + index, block));
	const last = blocks.at(-1);
	const kept = last ? state.kept + blocks.length - 1 : state.kept;
	drawn.set(host, { text, from: last ? state.from + last.at : state.from, kept });
}

function drawBlock(host, place, block) {
	const known = host.children[place];
	if (known?.dataset.kind === block.kind) return fill(known, block);
	const element = h(block.kind === 'code' || block.kind === 'table' ? 'pre' : 'p', { data: { kind: block.kind } });
	if (known) known.replaceWith(element);
	else host.append(element);
	return fill(element, block);
}

function fill(element, block) {
	if (block.mark) element.dataset.mark = block.mark;
	if (block.kind === 'code' || block.kind === 'table') return addText(element, block.text);
	const parts = inlineOf(visibleText(block.text));
	while (element.childNodes.length > parts.length) element.lastChild.remove();
	parts.forEach((part, index) => fillPart(element, element.childNodes[index], part));
}

function fillPart(element, known, part) {
	const name = part.kind === 'text' ? '#text' : part.kind;
	if (known?.nodeName.toLowerCase() === name) {
		if (known.textContent !== part.text) known.textContent = part.text;
		return;
	}
	const node = part.kind === 'text' ? document.createTextNode(part.text) : h(part.kind, null, part.text);
	if (known) known.replaceWith(node);
	else element.append(node);
}

// Puts a text that only grows into one text node.
export function addText(element, text) {
	const shown = visibleText(text);
	const node = element.firstChild;
	if (node && shown.startsWith(node.data)) {
		if (shown.length > node.data.length) node.appendData(shown.slice(node.data.length));
	} else element.textContent = shown;
}
