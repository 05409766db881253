// The only place that puts HTML into the page.

import { h } from './dom.js';
import { copyButton } from './copy.js';
import { t } from './words.js';

// The HTML of a finished record: the server made it from Markdown and sanitised it. Nothing else may be passed here.
export function putServerHtml(element, html) {
	element.innerHTML = html;
	for (const link of element.querySelectorAll('a[href]')) {
		link.target = '_blank';
		link.rel = 'noopener noreferrer nofollow';
	}
	for (const code of element.querySelectorAll('pre')) wrapCode(code);
	for (const table of element.querySelectorAll('table')) wrap(table, 'scroll');
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
