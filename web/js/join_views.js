// Puts the view of an older page of records in front of a newer view. Folding both pages in one go gives the same view.

import { addCost, addUsage, emptyRun } from './fold.js';
import { findCall, patchCall, undoUndo } from './fold_calls.js';

export function joinViews(older, newer) {
	if (older.lastSeq === 0) return newer;
	if (newer.lastSeq === 0) return older;
	const touched = newer.runs.length > 0;
	const startsRun = newer.items.some((item) => item.type === 'run');
	const endsRun = newer.lastReason !== null;
	const kept = startsRun || endsRun ? [] : older.questions.filter((open) => !newer.closed.includes(open.question));
	const joined = {
		...newer,
		session: joinSessions(older.session, newer.session),
		firstSeq: older.firstSeq,
		items: older.items.slice(),
		runs: joinRuns(older.runs, newer.runs),
		openRun: touched ? newer.openRun : older.openRun,
		called: newer.called || (!startsRun && !endsRun && older.called),
		turn: newer.turn ?? (touched ? stillOwed(older.turn, newer) : older.turn),
		questions: kept.concat(newer.questions),
		plan: newer.plan ?? older.plan,
		planRun: newer.plan ? newer.planRun : older.planRun,
		children: joinChildren(older.children, newer.children),
		budget: newer.budget ?? older.budget,
		files: older.files.concat(newer.files),
		lastReason: newer.lastReason ?? older.lastReason,
		loose: older.loose,
		undos: older.undos,
		undoing: { ...older.undoing, ...newer.undoing },
		closed: older.closed.concat(newer.closed.filter((one) => !older.questions.some((open) => open.question === one))),
	};
	for (const one of newer.undos) undoUndo(joined, one);
	for (const [id, fields] of Object.entries(newer.loose)) patchCall(joined, id, fields);
	for (const item of newer.items) joined.items.push(withBeginning(withTurnStart(item, older.turn), older));
	settleAnswered(joined, older, newer);
	return joined;
}

function joinChildren(older, newer) {
	const joined = { ...older };
	for (const [child, fields] of Object.entries(newer)) joined[child] = { ...joined[child], ...fields };
	return joined;
}

// An undo or a step that began in the older page and ended in the newer one.
function withBeginning(item, older) {
	if (item.what === 'undo' && item.paths === null) return { ...item, ...older.undoing[item.undo] };
	if (item.what === 'step_ended' && item.step === null)
		return { ...item, step: older.children[item.child]?.step ?? null };
	return item;
}

function stillOwed(turn, newer) {
	const replied = newer.items.some(
		(item) => (item.type === 'reply' && item.turn === turn?.turn) || item.type === 'end',
	);
	return replied ? null : turn;
}

function joinSessions(older, newer) {
	if (!older || !newer) return newer ?? older;
	return { ...older, ...newer };
}

function joinRuns(older, newer) {
	const runs = new Map(older.map((run) => [run.run, run]));
	for (const run of newer) runs.set(run.run, runs.has(run.run) ? joinRun(runs.get(run.run), run) : run);
	return [...runs.values()];
}

function joinRun(first, rest) {
	return {
		...emptyRun(first.run),
		...first,
		endedAt: rest.endedAt,
		reason: rest.reason,
		limits: { ...first.limits, ...rest.limits },
		usage: addUsage(first.usage, rest.usage),
		cost: addCost(first.cost, rest.cost),
		calls: first.calls + rest.calls,
	};
}

function withTurnStart(item, turn) {
	const owed =
		turn && item.type === 'reply' && item.startedAt === null && item.run === turn.run && item.turn === turn.turn;
	return owed ? { ...item, startedAt: turn.startedAt } : item;
}

// A call whose question was answered in the newer page is no longer asked about, unless that page says more of it.
function settleAnswered(joined, older, newer) {
	for (const open of older.questions) {
		const answer = newer.items.find((item) => item.what === 'answer' && item.question === open.question);
		if (!answer || !open.kind.call) continue;
		const found = findCall(joined, open.kind.call);
		const state = newer.loose[open.kind.call]?.state ?? 'requested';
		if (found) patchCall(joined, open.kind.call, { state, answeredAt: answer.at });
	}
}
