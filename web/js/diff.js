// Diffs: the lines of a unified diff, and a plain comparison of two texts where none was made.

const LIMIT = 400; // lines compared one by one; more are shown as removed and added

export function looksLikeDiff(text) {
	return /^--- .*\n\+\+\+ /m.test(text) || /^@@ /m.test(text);
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const MARKS = { '+': 'add', '-': 'remove', ' ': 'same' };

// Lines of a unified diff: {kind: add|remove|same|head, text}. Within a hunk, whose head counts its lines, the first
// character alone decides: a removed `-- x` is written `--- x`, as a head is.
export function diffLines(text) {
	let left = { old: 0, new: 0 };
	return text
		.replace(/\n$/, '')
		.split('\n')
		.map((line) => {
			const inside = left.old > 0 || left.new > 0;
			const hunk = inside ? null : HUNK.exec(line);
			if (hunk) left = { old: Number(hunk[1] ?? 1), new: Number(hunk[2] ?? 1) };
			if (hunk || (inside ? /^[^ +-]/ : /^(---|\+\+\+|@@|\\|\[)/).test(line)) return { kind: 'head', text: line };
			const kind = MARKS[line[0]] ?? 'same';
			if (kind !== 'add') left.old--;
			if (kind !== 'remove') left.new--;
			return { kind, text: MARKS[line[0]] ? line.slice(1) : line };
		});
}

// The longest common part keeps its lines; what is before and after it is compared by a table.
export function compareTexts(before, after) {
	const [a, b] = [linesOf(before), linesOf(after)];
	let start = 0;
	while (start < a.length && start < b.length && a[start] === b[start]) start++;
	let end = 0;
	while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
	const middle = compareMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end));
	const same = (text) => ({ kind: 'same', text });
	return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

const linesOf = (text) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

function compareMiddle(a, b) {
	const removed = a.map((text) => ({ kind: 'remove', text }));
	const added = b.map((text) => ({ kind: 'add', text }));
	if (a.length === 0 || b.length === 0 || a.length > LIMIT || b.length > LIMIT) return [...removed, ...added];
	const common = commonLengths(a, b);
	const lines = [];
	let [i, j] = [0, 0];
	while (i < a.length && j < b.length) {
		if (a[i] === b[j]) {
			lines.push({ kind: 'same', text: a[i] });
			i++;
			j++;
		} else if (common[i + 1][j] >= common[i][j + 1]) lines.push(removed[i++]);
		else lines.push(added[j++]);
	}
	return [...lines, ...removed.slice(i), ...added.slice(j)];
}

function commonLengths(a, b) {
	const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
	for (let i = a.length - 1; i >= 0; i--) {
		for (let j = b.length - 1; j >= 0; j--) {
			table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
		}
	}
	return table;
}

// The change that a call makes to a file, or null: from its preview, unless a person edited the call, else from its
// arguments.
export function diffOfCall(call) {
	const body = call.preview?.body ?? '';
	if (looksLikeDiff(body) && !call.edited) return diffLines(body);
	const edit = call.arguments ?? {};
	if (typeof edit.old_text === 'string' && typeof edit.new_text === 'string')
		return compareTexts(edit.old_text, edit.new_text);
	const added = addedBy(call, edit);
	return added === null ? null : linesOf(added).map((text) => ({ kind: 'add', text }));
}

// The text of a call that only adds text: at the end of a file, or as a new file; else null.
function addedBy(call, { text, content }) {
	if (call.tool === 'local.append_file' && typeof text === 'string') return text;
	const isNew = call.changes?.length > 0 && call.changes.every((one) => one.change === 'created');
	return call.tool === 'local.write_file' && isNew && typeof content === 'string' ? content : null;
}

export function diffCounts(lines) {
	const count = (kind) => lines.filter((line) => line.kind === kind).length;
	return { added: count('add'), removed: count('remove') };
}
