// The failed tries of a model call: one that is tried six times is one line that says how far it is, not six. Pure.

const SAME_TRY = ['whole', 'shorter', 'dialect', 'output']; // what follows belongs to the same try
const ENDS_RUN = ['turn', 'synthesis'];

export const isFailedTry = (item) => item.what === 'retry' || item.what === 'model_switch';

// What is known after this item, `before` being what was known after the one before: {first, model, count, waits, joins} of
// the call that failed; null where none is under way. `joins` says that the line before is replaced.
export function afterItem(before, item) {
	if (!isFailedTry(item)) return item.type === 'line' ? stopped(before) : null;
	const joins = Boolean(before?.waits) && before.run === item.run;
	const counted = before && before.run === item.run && before.model === item.model ? before.count : 0;
	return {
		run: item.run,
		first: joins ? before.first : item.seq,
		model: item.model,
		count: counted + (SAME_TRY.includes(item.next.do) ? 0 : 1),
		waits: item.next.do === 'retry',
		joins,
	};
}

// Another line came in between: the next failure begins a line of its own, and is counted on.
const stopped = (before) => before && { ...before, waits: false, joins: false };

// The row of a failed try; null where the end of the run says it all. `open` says that nothing has happened since.
export function tryRow(item, tries, { most, open }) {
	if (item.next.do === 'end' && ENDS_RUN.includes(item.role) && tries.count < 2) return null;
	// A server that does not run is tried less often.
	const known = item.failure?.not_running || most <= tries.count ? null : most;
	return { key: `line-${tries.first}`, type: 'line', item: { ...item, tries: tries.count, most: known, open } };
}
