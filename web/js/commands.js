// Commands that are typed into the composer, as at the terminal: /new /stop /help /compact … Pure.

const COMMANDS = {
	new: 'new',
	stop: 'stop',
	help: 'keys',
	compact: 'compact',
	model: 'model',
	status: 'usage',
	undo: 'undo',
	fork: 'fork',
	retry: 'retry',
};

// {send: text} | {run: action} | {unknown, nearest}. Two slashes send the text with one.
export function commandOf(text) {
	if (text.startsWith('//')) return { send: text.slice(1) };
	const typed = /^\/([a-z_-]+)\s*$/i.exec(text.trim());
	if (!typed) return { send: text };
	const name = typed[1].toLowerCase();
	if (Object.hasOwn(COMMANDS, name)) return { run: COMMANDS[name] };
	const nearest = Object.keys(COMMANDS).sort((a, b) => distance(name, a) - distance(name, b))[0];
	return { unknown: name, nearest };
}

// How many letters must be changed, added or taken out.
export function distance(a, b) {
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++)
			next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
		row = next;
	}
	return row[b.length];
}
