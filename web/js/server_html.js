// The only place that puts HTML into the page.

import { h } from './dom.js';
import { copyButton } from './copy.js';
import { t } from './words.js';
import { visibleText } from './visible_text.js';

// The HTML of a finished record: the server made it from Markdown and sanitised it. Nothing else may be passed here.
function putServerHtml(element, html) {
	element.innerHTML = html;
	for (const link of element.querySelectorAll('a[href]')) {
		link.target = '_blank';
		link.rel = 'noopener noreferrer nofollow';
	}
	for (const code of element.querySelectorAll('pre')) wrapCode(code);
	for (const table of element.querySelectorAll('table')) wrap(table, 'scroll');
}

// A text as prose: its HTML, or the text itself where the server made none.
export function prose(html, text) {
	const element = h(html === null ? 'div.plain' : 'div.prose');
	if (html === null) element.textContent = visibleText(text);
	else putServerHtml(element, html);
	return element;
}

function wrapCode(code) {
	code.tabIndex = 0;
	wrap(code, 'code').append(copyButton(() => code.textContent, t('copy.code')));
}

function wrap(element, name) {
	const box = h(`div.${name}`);
	element.replaceWith(box);
	box.append(element);
	return box;
}
