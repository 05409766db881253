// What a key press means. Pure: a description of the press and of the page in, the name of an action out, or null.

// Shown in the list of keys, in this order.
export const KEYS = [
	['?', 'keys'],
	['/', 'search'],
	['n', 'new'],
	['j', 'next'],
	['k', 'previous'],
	['Ctrl K', 'palette'],
	['Enter', 'send'],
	['Shift Enter', 'line'],
	['Esc', 'stop'],
	['1 – 5', 'answer'],
	['[', 'rail'],
	[']', 'panel'],
	['e', 'edit'],
	['End', 'end'],
];

const PLAIN = {
	'?': 'keys',
	'/': 'search',
	n: 'new',
	j: 'next',
	k: 'previous',
	'[': 'rail',
	']': 'panel',
	e: 'edit',
	End: 'end',
};

// press: {key, ctrl, meta, alt, typing, holdsText, again, repeated, composing}; page: {asking, running, overlay, drawer}
export function actionFor(press, page) {
	if (press.composing) return null;
	if ((press.ctrl || press.meta) && !press.alt && press.key.toLowerCase() === 'k') return { name: 'palette' };
	if (press.ctrl || press.meta || press.alt) return null;
	if (page.overlay) return null;
	if (press.key === 'Escape') return press.repeated ? null : escape(press, page);
	if (press.typing) return null;
	if (page.asking && /^[1-5]$/.test(press.key)) return { name: 'answer', number: Number(press.key) };
	return PLAIN[press.key] ? { name: PLAIN[press.key] } : null;
}

// Escape first closes what is open or leaves what it is pressed in: a field that holds text, or a question. Only then does it
// stop the run, so that nobody stops one who wants to get out of a field.
function escape(press, page) {
	if (page.drawer) return { name: 'close' };
	const leaves = press.holdsText || (page.asking && !press.again);
	if (page.running && !leaves) return { name: 'stop' };
	return press.typing || leaves ? { name: 'leave' } : null;
}
