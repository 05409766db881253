// The actions on sessions: send, stop, answer, retry, fork, undo, compact, rename, pin, archive, delete, import.

import { api, exportAddress } from './api.js';
import { ask, showError, toast } from './dialogs.js';
import { define, run } from './actions.js';
import { goTo, sessionRoute } from './router.js';
import { h } from './dom.js';
import { keepDraft } from './drafts.js';
import { nameOf } from './session_list.js';
import { page } from './page_state.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

// Runs a request; shows what went wrong. The value is false where it failed.
async function tried(work) {
	try {
		return (await work()) ?? true;
	} catch (error) {
		showError(error);
		return false;
	}
}

// What an undo would do; `conflict` says which later changes it would overwrite.
async function planUndo(id, which) {
	const plan = (force) => api.undo(id, { ...which, check: true, force });
	try {
		return { plan: await plan(false), conflict: null };
	} catch (error) {
		if (!error.hint?.includes('force')) throw error;
		return { plan: await plan(true), conflict: error.message.split(';')[0] };
	}
}

export function defineSessionActions({ composer, loadSessions }) {
	const changed = (row) => {
		if (page.feed?.id === row.id) page.row = row;
		loadSessions();
	};

	define('error', showError);

	// A session that was made for a message which then could not be sent: the next try takes it.
	let unused = null;
	const newSession = async () => {
		const { folder } = page;
		if (unused?.folder !== folder) {
			const row = await tried(() => api.create(folder ? { folder } : {}));
			unused = row && { id: row.id, folder };
		}
		return unused?.id;
	};

	// Sends to the session it was written in, whatever is open by now; without one, to a new session.
	define('send', async ({ text, files, session }) => {
		if (page.past !== null) run('scrub', null);
		const id = session ?? (await newSession());
		if (!id) return false;
		const sent = await tried(() => api.send(id, { text, ...(files.length > 0 ? { files } : {}), when_busy: 'queue' }));
		if (!sent) return false;
		if (session === null) unused = null;
		if (page.feed?.id === id) {
			run('pending', { id: sent.message_id, text });
			run('show end');
			composer.text.focus();
		} else if (session === null && page.route.name === 'new') {
			composer.moveDraft(id);
			goTo(sessionRoute(id));
		}
		loadSessions();
		return true;
	});

	define('demo', async () => {
		const row = await tried(() => api.demo());
		if (!row) return;
		await loadSessions();
		goTo(sessionRoute(row.id));
	});

	define('stop', async () => {
		if (!page.feed) return;
		const done = await tried(() => api.stop(page.feed.id));
		if (done && done.runs === 0) toast(t('stop.none'));
		else if (done?.dropped > 0) toast(t('stop.dropped', { n: done.dropped }));
	});

	// Whether the answer was taken.
	define('answer', async (question, answer) => {
		try {
			const taken = await api.answer(page.feed.id, question.question, answer);
			if (taken?.always === 'session_only') toast(t('ask.session_only'));
			return true;
		} catch (error) {
			const known = ['already_answered', 'run_is_over', 'not_offered'].includes(error.kind);
			toast(known ? t(`ask.${error.kind}`) : error.message, { bad: true });
			return false;
		}
	});

	define('retry', () => page.feed && tried(() => api.retry(page.feed.id)));

	define('fork', async (seq, draft = '') => {
		const row = page.feed && (await tried(() => api.fork(page.feed.id, seq ? { at: seq } : {})));
		if (!row) return;
		await loadSessions();
		keepDraft(row.id, draft);
		goTo(sessionRoute(row.id));
		toast(t('fork.done'));
	});

	// "Edit and run from here": a fork from before the message, with its text in the composer.
	define('edit', async (message) => {
		const item = message ?? page.view?.items.findLast((one) => one.type === 'message');
		if (!item) return;
		const at = item.batchStart - 1;
		composer.text.focus();
		if (at > 0) await run('fork', at, item.text);
		else {
			keepDraft(null, item.text);
			goTo('#/new');
		}
		if (item.attachments.length > 0) toast(t('edit.files'));
	});

	define('undo', async (call) => {
		const id = page.feed?.id;
		const which = call ? { call: { call } } : {};
		const found = id && (await tried(() => planUndo(id, which)));
		if (!found) return;
		const { plan, conflict } = found;
		const names = (list) =>
			h(
				'ul',
				null,
				list.map((line) => h('li', null, h('code', null, visibleLine(line)))),
			);
		if (plan.restored.length === 0 && plan.kept.length === 0) return toast(t('undo.nothing'));
		const agreed = await ask({
			title: t(plan.redo ? 'undo.redo' : 'undo.title'),
			yes: t(plan.redo ? 'undo.redo.yes' : 'undo.yes'),
			body: [
				plan.restored.length > 0 && h('p', null, t('undo.restored')),
				names(plan.restored),
				conflict && h('p.warn', null, t('undo.conflict')),
				conflict && h('p.small', null, visibleLine(conflict)),
				plan.kept.length > 0 && h('p', null, t('undo.kept')),
				names(plan.kept.map((one) => `${one.path}: ${one.why}`)),
				plan.unseen && h('p.warn', null, t('undo.unseen', { what: visibleLine(plan.unseen) })),
			],
			danger: Boolean(conflict),
		});
		if (agreed && (await tried(() => api.undo(id, { ...which, force: Boolean(conflict) })))) toast(t('undo.done'));
	});

	define('compact', async () => {
		if (page.feed && (await tried(() => api.compact(page.feed.id)))) toast(t('compact.done'));
	});
	define('export', (id = page.feed?.id) => {
		if (id) h('a', { href: exportAddress(id), download: '' }).click();
	});
	define('rename', async (row, title) => {
		const next = await tried(() => api.change(row.id, { title }));
		if (next) changed(next);
		else run('redraw');
	});
	define('pin', async (row) => {
		const next = await tried(() => api.change(row.id, { pinned: !row.pinned }));
		if (next) changed(next);
	});

	define('archive', async (row) => {
		const next = await tried(() => api.change(row.id, { archived: !row.archived }));
		if (!next) return;
		changed(next);
		toast(t(next.archived ? 'archive.done' : 'archive.undone'), {
			action: { label: t('take_back'), run: () => run('archive', next) },
		});
	});

	define('delete', async (row) => {
		if (
			!(await ask({
				title: t('delete.title'),
				body: [h('p', null, t('delete.words', { name: nameOf(row) }))],
				yes: t('action.delete'),
				danger: true,
			}))
		)
			return;
		if (!(await tried(() => api.remove(row.id)))) return;
		if (page.feed?.id === row.id) goTo('#/new');
		loadSessions();
	});

	define('import', () => {
		const picker = h('input', { type: 'file', accept: '.jsonl,application/jsonl,text/plain' });
		picker.onchange = async () => {
			const row = picker.files[0] && (await tried(() => api.importFile(picker.files[0])));
			if (row) {
				await loadSessions();
				goTo(sessionRoute(row.id));
			}
		};
		picker.click();
	});
}
