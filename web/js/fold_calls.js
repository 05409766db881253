// The part of the reducer that follows tool calls from the request to the result.

// Returns the run and turn in the id of a call: 2.3.0 is the first call of turn 3 of run 2.
export function placeOf(id) {
	const [run, turn] = id.split('.').map(Number);
	return { run, turn };
}

export function addCall(view, body, record) {
	const { provider_id: _provider, raw: _raw, effect_id: _effect, call: id, ...fields } = body;
	const call = { id, ...fields, state: 'requested', requestedAt: record.at };
	const last = view.items.at(-1);
	if (last?.type === 'calls' && last.run === record.run && last.turn === record.turn) {
		view.items[view.items.length - 1] = { ...last, calls: last.calls.concat(call) };
	} else {
		view.items.push({
			type: 'calls',
			seq: record.seq,
			at: record.at,
			run: record.run ?? null,
			turn: record.turn ?? null,
			calls: [call],
		});
	}
}

export function findCall(view, id) {
	const { run, turn } = placeOf(id);
	for (let index = view.items.length - 1; index >= 0; index--) {
		const item = view.items[index];
		if (item.type !== 'calls' || item.run !== run || item.turn !== turn) continue;
		const place = item.calls.findIndex((call) => call.id === id);
		if (place >= 0) return { index, place, call: item.calls[place] };
	}
	return null;
}

// Changes a call; where its request is not loaded the fields are kept until it is.
export function patchCall(view, id, fields) {
	const found = findCall(view, id);
	if (!found) {
		view.loose = { ...view.loose, [id]: { ...view.loose[id], ...fields } };
		return;
	}
	const item = view.items[found.index];
	const calls = item.calls.slice();
	calls[found.place] = { ...found.call, ...fields };
	view.items[found.index] = { ...item, calls };
}

function changeKind({ was, now }) {
	if (was?.is === 'absent') return 'created';
	return now?.is === 'absent' ? 'deleted' : 'changed';
}

const isFolderChange = ({ was, now }) => now?.is === 'folder' || (was?.is === 'folder' && now?.is === 'absent');

function finishedFields(body, record) {
	const fields = {
		state: 'finished',
		outcome: body.outcome,
		text: body.text ?? '',
		tookMs: body.took_ms ?? 0,
		finishedAt: record.at,
	};
	for (const name of ['cut', 'exit', 'origin', 'remedy', 'images']) {
		if (body[name] !== undefined) fields[name] = body[name];
	}
	if (body.answered_from !== undefined) fields.answeredFrom = body.answered_from;
	return fields;
}

export const callRecords = {
	CallStarted(view, body, record) {
		const edited = body.arguments === undefined ? {} : { arguments: body.arguments, edited: true };
		patchCall(view, body.call, { state: 'running', startedAt: record.at, ...edited });
	},

	CallPaused(view, body) {
		patchCall(view, body.call, { state: 'paused' });
	},

	CallSettled(view, body, record) {
		patchCall(view, body.call, { settlement: body.settlement });
		view.items.push({
			type: 'line',
			seq: record.seq,
			at: record.at,
			what: 'settled',
			run: record.run ?? null,
			call: body.call,
			settlement: body.settlement,
		});
	},

	CallFinished(view, body, record) {
		patchCall(view, body.call, finishedFields(body, record));
		if (view.progress[body.call] !== undefined) {
			const { [body.call]: _done, ...rest } = view.progress;
			view.progress = rest;
		}
		if (view.live?.waiting?.call === body.call) view.live = { ...view.live, waiting: null };
	},

	FilesChanged(view, body, record) {
		const changes = Object.entries(body.changes ?? {}).map(([path, change]) => ({ path, change: changeKind(change) }));
		if (changes.length > 0) patchCall(view, body.call, { changes, changesAt: record.seq });
		// A folder is made for what lies in it, and has no diff.
		const isFolder = ({ path }) => isFolderChange(body.changes[path]);
		for (const change of changes) if (!isFolder(change)) view.files.push({ ...change, call: body.call });
	},

	UndoStarted(view, body) {
		const changed = Object.entries(body.changes ?? {}).filter(([, change]) => !isFolderChange(change));
		const paths = changed.map(([path]) => path);
		view.undoing = { ...view.undoing, [body.undo]: { paths, redo: body.of.undo !== undefined } };
		if (body.of.call) patchCall(view, body.of.call, { undone: true, undo: body.undo });
		else undoUndo(view, { undo: body.undo, of: body.of.undo });
	},
};

// An undo of an undo puts the call's changes back, and one of that takes them away again. Where no loaded page says which
// call it is about, it is kept until one does.
export function undoUndo(view, { undo, of }) {
	const calls = [...view.items.flatMap((item) => item.calls ?? []), ...Object.entries(view.loose).map(looseCall)];
	const found = calls.find((call) => call.undo === of);
	if (found) patchCall(view, found.id, { undone: !found.undone, undo });
	else view.undos = view.undos.concat({ undo, of });
}

const looseCall = ([id, fields]) => ({ ...fields, id });
