// The page's reducer: events (records and deltas) in, one plain JSON object out. No DOM, no clock, no randomness.
//
//   emptyView()            the view before the first record
//   foldEvent(view, event) the view after one event; the given view is not changed
//   foldAll(view, events)  the same for many events, without a copy for each
//   statusOf(view)         idle | processing | tool_loop | waiting | failed (rule L4)
//
// A record whose seq is not above view.lastSeq is ignored, so a repeated event changes nothing.
//
// view = {
//   session    null | {id, key, title, folder, owner, forkedFrom, imported}
//   firstSeq, lastSeq          0 before the first record
//   items      what the conversation shows, oldest first; each has {type, seq, at}:
//     message  {id, text, html, attachments, batchStart}       a person's message
//     run      {run, models, retryOf}                          a run began
//     reply    {run, turn, model, role, text, html, thinking, thinkingMs, startedAt, partial, usage}
//     calls    {run, turn, calls: [Call]}                      the calls of one turn
//     line     {what, run, …}                                  something to be said in one sentence
//     end      {run, reason, answer, html, failure, usage, cost, changes, cutOff, dropped}
//   runs       [{run, startedAt, endedAt, reason, models, retryOf, tries, limits, spentBefore, usage, cost, calls}]
//   openRun    number of the run that is open | null           called: it has made a call
//   turn       null | {run, turn, mode, startedAt}             the turn whose reply is owed
//   questions  the open ones: [{question, kind, preview, options, expires, default, elicitation, because, askedAt}]
//   plan       null | [{step, status, file}]                   planRun: the run that made it
//   children   {child: {step, session, ended}} sessions that carry out steps of plans; what is not known is absent
//   budget     null | what fills the context window (ContextBudget)
//   files      [{path, change: created|changed|deleted, call}] in order
//   live       null | {run, turn, attempt, text, thinking, thinkingNow, thinkingMs, calls, waiting, leftOut}
//   progress   {call: output while it runs}
//   lastReason how the last run ended | null
//   loose      {call: fields of a call that was asked for in a page that is not loaded}
//   undos      [{undo, of}] undos of undos in a page that is not loaded
//   undoing    {undo: {paths, redo}} what each undo is about
//   closed     [numbers of answered or withdrawn questions asked in a page that is not loaded]
// }
// Call = {id, name, tool, arguments, state: requested|asking|running|paused|finished, outcome, text, cut, exit, tookMs,
//   requestedAt, startedAt, finishedAt, verdict, because, preview, effect, snapshot, repairs, remedy, images,
//   answeredFrom, origin, settlement, changes, changesAt, undone}; fields that are not known are absent. changesAt is the seq
// of the record that names the changes.

import { addCall, patchCall, callRecords } from './fold_calls.js';
import { applyDelta, freshLive } from './fold_live.js';
import { limitsOf, raiseLimit } from './limits.js';

export function emptyView() {
	return {
		session: null,
		firstSeq: 0,
		lastSeq: 0,
		items: [],
		runs: [],
		openRun: null,
		called: false,
		turn: null,
		questions: [],
		plan: null,
		planRun: null,
		children: {},
		budget: null,
		files: [],
		live: null,
		progress: {},
		lastReason: null,
		loose: {},
		undos: [],
		undoing: {},
		closed: [],
	};
}

export function foldEvent(view, event) {
	return foldAll(view, [event]);
}

export function foldAll(view, events) {
	let draft = null;
	for (const event of events) {
		const isRecord = event.seq !== undefined;
		if (isRecord && event.seq <= (draft ?? view).lastSeq) continue;
		draft ??= { ...view };
		if (isRecord) applyRecord(ownLists(draft, view), event);
		else applyDelta(draft, event);
	}
	return draft ?? view;
}

export function statusOf(view) {
	if (view.openRun === null) return ['failed', 'turn_cap'].includes(view.lastReason) ? 'failed' : 'idle';
	if (view.questions.length > 0) return 'waiting';
	return view.called ? 'tool_loop' : 'processing';
}

// Copies the lists that a record may add to, once for a batch of events.
function ownLists(draft, view) {
	if (draft.items === view.items) {
		draft.items = view.items.slice();
		draft.runs = view.runs.slice();
		draft.files = view.files.slice();
	}
	return draft;
}

function applyRecord(view, record) {
	view.firstSeq ||= record.seq;
	view.lastSeq = record.seq;
	noteOpenRun(view, record);
	const apply = records[record.kind] ?? callRecords[record.kind];
	try {
		if (apply) apply(view, record.body ?? {}, record);
		else if (!QUIET.has(record.kind)) addLine(view, record, 'unknown', { kind: record.kind });
	} catch {
		// A record that another version writes in another form must not hide the rest of the session.
		addLine(view, record, 'unknown', { kind: record.kind });
	}
}

const QUIET = new Set(['LeaseTaken', 'SnapshotTaken']);

// A page that begins in the middle of a run has no RunStarted: any record of the run says that it is open.
function noteOpenRun(view, record) {
	if (record.run === undefined || record.kind === 'RunEnded' || record.kind === 'RunStarted') return;
	if (record.body?.role === 'title') return;
	const known = view.runs.findLast((run) => run.run === record.run);
	if (known) return;
	view.openRun = record.run;
	view.runs.push(emptyRun(record.run));
}

export function emptyRun(run) {
	return {
		run,
		startedAt: null,
		endedAt: null,
		reason: null,
		models: [],
		retryOf: null,
		tries: null,
		limits: {},
		spentBefore: {},
		usage: noUsage(),
		cost: null,
		calls: 0,
	};
}

export function noUsage() {
	return { input: 0, output: 0, cached: 0, reasoning: 0, calls: 0, estimated: false };
}

export function addUsage(a, b = {}) {
	return {
		input: a.input + (b.input ?? 0),
		output: a.output + (b.output ?? 0),
		cached: a.cached + (b.cached ?? 0),
		reasoning: a.reasoning + (b.reasoning ?? 0),
		calls: a.calls + (b.calls ?? 0),
		estimated: a.estimated || Boolean(b.estimated),
	};
}

export function addCost(a, b) {
	return b === null || b === undefined ? a : (a ?? 0) + b;
}

function patchRun(view, number, change) {
	const index = view.runs.findLastIndex((run) => run.run === number);
	if (index >= 0) view.runs[index] = { ...view.runs[index], ...change(view.runs[index]) };
}

function spend(view, run, usage, cost) {
	patchRun(view, run, (known) => ({ usage: addUsage(known.usage, usage), cost: addCost(known.cost, cost) }));
}

function noteChild(view, child, fields) {
	view.children = { ...view.children, [child]: { ...view.children[child], ...fields } };
}

function addItem(view, record, type, fields) {
	view.items.push({ type, seq: record.seq, at: record.at, ...fields });
}

function addLine(view, record, what, fields = {}) {
	addItem(view, record, 'line', { what, run: record.run ?? null, ...fields });
}

const htmlOf = (record) => record.html ?? null;
const joined = (parts, type) =>
	parts
		.filter((part) => part.type === type)
		.map((part) => part.text)
		.join('');

const records = {
	SessionOpened(view, body, record) {
		const origin = body.forked_from?.at(-1) ?? null;
		view.session = {
			id: record.session,
			key: body.key,
			title: null,
			folder: body.workspace ?? null,
			owner: body.owner,
			forkedFrom: origin,
			imported: false,
		};
		if (origin) addLine(view, record, 'forked', { from: origin });
	},

	SessionChanged(view, body, record) {
		const known = view.session ?? { id: record.session };
		const changed = { ...known };
		if (body.title !== undefined) changed.title = body.title;
		if (body.key !== undefined) changed.key = body.key;
		if (body.imported) {
			changed.imported = true;
			changed.folder = body.imported.workspace ?? null;
			if (body.imported.owner) changed.owner = body.imported.owner;
			addLine(view, record, 'imported');
		}
		view.session = changed;
	},

	MessageAccepted(view, body, record) {
		addItem(view, record, 'message', {
			id: body.message_id,
			text: body.text ?? '',
			html: htmlOf(record),
			attachments: body.attachments ?? [],
			batchStart: record.seq - (record.batch?.[0] ?? 0),
		});
	},

	RunStarted(view, body, record) {
		const run = {
			...emptyRun(body.run),
			startedAt: body.began ?? record.at,
			models: body.chain ?? [],
			retryOf: body.retry_of ?? null,
			tries: body.policy?.retry?.tries ?? null,
			limits: limitsOf(body.policy ?? {}),
			spentBefore: { day: body.spent_today, agent: body.spent_by_agent },
		};
		view.runs.push(run);
		view.openRun = body.run;
		view.called = false;
		view.questions = [];
		addItem(view, record, 'run', { run: run.run, models: run.models, retryOf: run.retryOf });
	},

	RunResumed(view, body, record) {
		const withdrawn = body.withdrawn ?? [];
		view.questions = view.questions.filter((open) => !withdrawn.includes(open.question));
		view.closed = view.closed.concat(withdrawn);
		view.live = null;
		addLine(view, record, 'resume');
	},

	ContextPinned(view, body, record) {
		const awaited = body.context?.awaited ?? [];
		if (awaited.length > 0) addLine(view, record, 'without_servers', { servers: awaited });
		if (body.joined?.length > 0) addLine(view, record, 'joined_servers', { servers: body.joined });
	},

	TurnStarted(view, body, record) {
		view.turn = { run: record.run, turn: body.turn, mode: body.mode, startedAt: record.at };
		if (body.budget) view.budget = body.budget;
		view.live = freshLive(record.run, body.turn, 0);
	},

	AttemptFailed(view, body, record) {
		spend(view, record.run, body.usage);
		const next = body.next ?? { do: 'end' };
		const what = next.do === 'model' ? 'model_switch' : 'retry';
		addLine(view, record, what, {
			attempt: body.attempt,
			model: body.model,
			failure: body.failure,
			next,
			role: body.role ?? 'turn',
		});
		if (view.live) view.live = freshLive(record.run, record.turn, body.attempt + 1);
	},

	ModelReplied(view, body, record) {
		const parts = body.parts ?? [];
		const turn = view.turn?.run === record.run && view.turn?.turn === record.turn ? view.turn : null;
		const live = view.live?.run === record.run && view.live?.turn === record.turn ? view.live : null;
		spend(view, record.run, body.usage, body.cost);
		addItem(view, record, 'reply', {
			run: record.run ?? null,
			turn: record.turn ?? null,
			model: body.model,
			role: body.role ?? 'turn',
			text: joined(parts, 'text'),
			html: htmlOf(record),
			thinking: joined(parts, 'thinking'),
			thinkingMs: live?.thinkingMs ?? null,
			startedAt: turn?.startedAt ?? null,
			partial: Boolean(body.partial),
			usage: addUsage(noUsage(), body.usage),
		});
		if (body.cut) addLine(view, record, 'input_cut', { counted: body.cut.counted, read: body.cut.read });
		view.turn = null;
		view.live = null;
	},

	QuestionAsked(view, body, record) {
		if (view.closed.includes(body.question)) return;
		view.questions = view.questions
			.filter((open) => open.question !== body.question)
			.concat({
				question: body.question,
				kind: body.kind,
				preview: body.preview ?? null,
				options: body.options ?? [],
				expires: body.expires ?? null,
				default: body.default,
				elicitation: body.elicitation ?? null,
				because: body.because ?? null,
				askedAt: record.at,
			});
		if (body.kind.call) patchCall(view, body.kind.call, { state: 'asking', askedAt: record.at });
	},

	QuestionAnswered(view, body, record) {
		const open = view.questions.find((one) => one.question === body.question);
		view.questions = view.questions.filter((one) => one.question !== body.question);
		if (!open) view.closed = view.closed.concat(body.question);
		if (open?.kind.call) patchCall(view, open.kind.call, { state: 'requested', answeredAt: record.at });
		if (open) raiseLimit(view, record.run, open.kind, body.answer);
		addLine(view, record, 'answer', {
			question: body.question,
			option: body.answer.option,
			by: body.by,
			rule: body.grant ?? null,
			reason: body.answer.reason ?? null,
		});
	},

	Nudged(view, body, record) {
		addLine(view, record, 'nudge', { why: body.why, faults: body.faults ?? [] });
		view.live = null;
	},

	ToolWithheld(view, body, record) {
		addLine(view, record, 'withheld', { tool: body.tool, cause: body.cause });
	},

	PlanChanged(view, body, record) {
		view.plan = body.items.map((item) => ({ step: item.step, status: item.status, file: item.file ?? null }));
		view.planRun = record.run ?? null;
	},

	ChildSpawned(view, body, record) {
		noteChild(view, body.child, { step: body.step });
		addLine(view, record, 'step_started', { child: body.child, step: body.step });
	},

	ChildReported(view, body, record) {
		noteChild(view, body.child, { session: body.session ?? null, ended: true });
		spend(view, record.run, body.usage, body.spent?.cost || null);
		for (const path of body.changed ?? []) view.files.push({ path, change: 'changed', call: body.child });
		addLine(view, record, 'step_ended', {
			child: body.child,
			step: view.children[body.child]?.step ?? null,
			session: body.session ?? null,
			reason: body.reason,
			answer: body.answer,
		});
	},

	Compacted(view, body, record) {
		addLine(view, record, 'compaction', { method: body.method, summary: body.summary ?? null });
	},

	CancelAsked(view, body, record) {
		addLine(view, record, 'cancel', { by: body.by });
	},

	RunEnded(view, body, record) {
		if (!view.runs.some((run) => run.run === record.run)) view.runs.push(emptyRun(record.run));
		patchRun(view, record.run, () => ({ endedAt: record.at, reason: body.reason }));
		addItem(view, record, 'end', {
			run: record.run,
			reason: body.reason,
			answer: body.answer ?? '',
			html: htmlOf(record),
			failure: body.failure ?? null,
			usage: addUsage(noUsage(), body.usage),
			cost: body.cost ?? null,
			changes: body.changes ?? null,
			cutOff: Boolean(body.cut_off),
			dropped: (body.dropped ?? []).length,
		});
		Object.assign(view, {
			openRun: null,
			called: false,
			turn: null,
			live: null,
			progress: {},
			questions: [],
			lastReason: body.reason,
		});
	},

	CallRequested(view, body, record) {
		view.called = true;
		patchRun(view, record.run, (known) => ({ calls: known.calls + 1 }));
		addCall(view, body, record);
	},

	Undone(view, body, record) {
		addLine(view, record, 'undo', {
			undo: body.undo,
			leftAlone: body.left_alone ?? {},
			...(view.undoing[body.undo] ?? { paths: null, redo: false }),
		});
	},
};
