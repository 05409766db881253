// Draws diffs: those that a call's request says, and those that the server makes of what it keeps.

import { api } from './api.js';
import { diffLines, looksLikeDiff } from './diff.js';
import { h } from './dom.js';
import { page } from './page_state.js';
import { t } from './words.js';
import { visibleLine, visibleText } from './visible_text.js';

export function drawDiff(lines) {
	return h(
		'div.diff',
		{ tabindex: 0, role: 'group', 'aria-label': t('call.change') },
		lines.map((line) => h(`div.${line.kind}`, null, visibleText(line.text))),
	);
}

// What a call changed whose request does not say it, as one that overwrites a file, or a command: all files, or one. It is
// asked for each time, because what was in a file after the call may be known no more later.
export function keptDiffs(call, { path = null } = {}) {
	const host = h('div.kept', null, h('p.tiny.muted', null, t('loading')));
	fill(host, call, path);
	return host;
}

async function fill(host, call, path) {
	const found = await api.diffs(page.feed.id, call.changesAt).catch(() => ({ files: [] }));
	const files = found.files.filter((file) => path === null || file.path === path);
	const named = path === null && call.changes.length > 1;
	const parts = files.map((file) => drawFile(file, named)).flat();
	host.replaceChildren(...(parts.length > 0 ? parts : [h('p.tiny.muted', null, t('files.no_diff'))]));
	host.dispatchEvent(new Event('grown', { bubbles: true }));
}

// Of what is no text the server says only how large it is; of what it does not know, nothing.
function drawFile({ path, diff }, named) {
	if (!diff) return named ? [h('p.tiny.muted', null, `${visibleLine(path)}: ${t('files.no_diff')}`)] : [];
	if (!looksLikeDiff(diff)) return [h('p.tiny.muted', null, visibleLine(diff.trim()))];
	const lines = drawDiff(diffLines(diff).filter((line, index) => index > 1 || line.kind !== 'head'));
	return named ? [h('p.label.mono', null, visibleLine(path)), lines] : [lines];
}
