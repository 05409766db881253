// Small helpers to build elements. Text always goes in as text.

const SVG = 'http://www.w3.org/2000/svg';

// h('button.quiet', { type: 'button', onclick: run, 'aria-label': 'Stop' }, icon('stop'), 'Stop')
export function h(selector, properties, ...children) {
	const [tag, ...classes] = selector.split('.');
	const element = document.createElement(tag || 'div');
	if (classes.length > 0) element.className = classes.join(' ');
	for (const [name, value] of Object.entries(properties ?? {})) {
		if (value === null || value === undefined || value === false) continue;
		if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
		else if (name === 'data') Object.assign(element.dataset, value);
		else if (name === 'value' || name === 'checked' || name === 'textContent') element[name] = value;
		else element.setAttribute(name, value === true ? '' : value);
	}
	element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
	return element;
}

// One of the shapes in index.html.
export function icon(name) {
	const svg = document.createElementNS(SVG, 'svg');
	svg.setAttribute('class', `icon i-${name}`);
	svg.setAttribute('aria-hidden', 'true');
	const use = document.createElementNS(SVG, 'use');
	use.setAttribute('href', `#i-${name}`);
	svg.append(use);
	return svg;
}

export function button(label, onclick, { kind = '', shape = null, text = true, ...rest } = {}) {
	const name = text ? {} : { 'aria-label': label, title: label };
	return h(
		`button${kind ? `.${kind}` : ''}`,
		{ type: 'button', onclick, ...name, ...rest },
		shape && icon(shape),
		text && h('span', null, label),
	);
}

export const byId = (id) => document.getElementById(id);

// Replaces the children and keeps the focus on the control with the same data-key, if it had one.
export function replaceKeepingFocus(element, ...children) {
	const active = document.activeElement;
	const inside = active && active !== element && element.contains(active);
	const key = inside ? active.dataset.key : null;
	element.replaceChildren(...children.flat().filter(Boolean));
	if (!inside) return;
	const again = key && element.querySelector(`[data-key="${CSS.escape(key)}"]`);
	(again || nearestFocusable(element))?.focus({ preventScroll: true });
}

// To be called before an element is hidden or removed: a focus in it goes to the first of these that is seen, not nowhere.
export function leaveFocus(element, ...next) {
	if (!element.contains(document.activeElement)) return;
	next.find((one) => one && isShown(one))?.focus({ preventScroll: true });
}

export const isShown = (element) =>
	element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';

function nearestFocusable(element) {
	const host = element.closest('[tabindex]');
	return host ?? byId('composer-text');
}

export function isTyping(target) {
	return (
		target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
	);
}
