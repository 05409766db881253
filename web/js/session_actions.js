// The actions on sessions: send, stop, answer, retry, fork, undo, compact, rename, pin, archive, delete, import.

import { api, exportAddress } from './api.js';
import { ask, showError, toast } from './dialogs.js';
import { define, run } from './actions.js';
import { goTo, sessionRoute } from './router.js';
import { h } from './dom.js';
import { nameOf, titleFrom } from './titles.js';
import { page } from './page_state.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

// Runs a request; shows what went wrong. The value is false where it failed.
async function tried(work) {
	try {
		return (await work()) ?? true;
	} catch (error) {
		if (error.status === 401) run('signed out');
		else showError(error);
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

	// Makes the session that a message is for, if it is for none that is there: a new one, or a fork from before the message
	// that was edited. The first message gives it its title.
	const makeSession = async ({ text, attached, edit, session }) => {
		const title = titleFrom(text, attached);
		const { folder } = page;
		if (!edit || edit.at <= 0) return api.create({ ...(folder && { folder }), ...(title && { title }) });
		const fork = await api.fork(session, { at: edit.at });
		const renames = edit.isFirst && title && fork.title === titleFrom(edit.was);
		return renames ? api.change(fork.id, { title }).catch(() => fork) : fork;
	};

	// A session that was made for a message which could not be sent is of no use to anybody. One that has begun to work stays.
	const removeUnused = async (made) => {
		const now = await api.session(made.id).catch(() => null);
		if (now?.runs === made.runs && now.driver === null) await api.remove(made.id).catch(() => {});
		loadSessions();
	};

	// A session that was begun elsewhere has no title: it keeps the name that it has in the rail, whatever is said next.
	const keepName = (id, text) => {
		const row = page.row?.id === id ? page.row : null;
		const title = row && !row.title && titleFrom(row.last_prompt ?? text);
		if (title) api.change(id, { title }).then(changed, () => {});
	};

	// Sends to the session it was written in, whatever is open by now; without one, to a new session.
	define('send', async (message) => {
		const { text, files, attached, session, place, edit } = message;
		if (page.past !== null) run('scrub', null);
		const made = session === null || edit ? await tried(() => makeSession(message)) : null;
		if (made === false) return false;
		const id = made?.id ?? session;
		const sent = await tried(() => api.send(id, { text, ...(files.length > 0 ? { files } : {}), when_busy: 'queue' }));
		if (!sent) {
			if (made) await removeUnused(made);
			return false;
		}
		if (!made) keepName(id, text);
		if (page.feed?.id === id) {
			run('pending', { id: sent.message_id, text, files: attached });
			run('show end');
			composer.text.focus();
		} else if (made && (edit ? page.feed?.id === session : page.route.name === 'new')) {
			composer.moveTo(id, place);
			goTo(sessionRoute(id));
			if (edit) toast(t('edit.done'));
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
		const { id } = page.feed;
		run('stopping', id);
		const done = await tried(() => api.stop(id));
		if (done && done.runs === 0) toast(t('stop.none'));
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

	define('fork', async (seq) => {
		const row = page.feed && (await tried(() => api.fork(page.feed.id, seq ? { at: seq } : {})));
		if (!row) return;
		await loadSessions();
		goTo(sessionRoute(row.id));
		toast(t('fork.done'));
	});

	// "Edit and run from here": the text of the message in the composer. Only sending it forks.
	define('edit', (message) => {
		const messages = page.view?.items.filter((one) => one.type === 'message') ?? [];
		const item = message ?? messages.at(-1);
		if (!item || !page.feed) return;
		const isFirst = !page.feed.more && item === messages[0];
		composer.startEdit(page.feed.id, { at: item.batchStart - 1, isFirst, was: item.text }, item.text);
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
