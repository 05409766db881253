// The actions on sessions: send, stop, answer, retry, fork, undo, compact, rename, pin, archive, delete, import.

import { api, exportAddress } from './api.js';
import { ask, showError, toast } from './dialogs.js';
import { define, run } from './actions.js';
import { goTo, sessionRoute } from './router.js';
import { h } from './dom.js';
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

export function defineSessionActions({ composer, loadSessions }) {
	const changed = (row) => {
		if (page.row?.id === row.id) page.row = row;
		loadSessions();
	};

	define('error', showError);

	define('send', async (text, files) => {
		if (page.past !== null) run('scrub', null);
		const row = page.row ?? (await tried(() => api.create(page.folder ? { folder: page.folder } : {})));
		if (!row) return false;
		const sent = await tried(() =>
			api.send(row.id, { text, ...(files.length > 0 ? { files } : {}), when_busy: 'queue' }),
		);
		if (!sent) return false;
		if (page.row?.id === row.id) {
			run('pending', { id: sent.message_id, text });
			run('show end');
			composer.text.focus();
		} else goTo(sessionRoute(row.id));
		loadSessions();
		return true;
	});

	define('stop', async () => {
		if (!page.row) return;
		const done = await tried(() => api.stop(page.row.id));
		if (done && done.runs === 0) toast(t('stop.none'));
		else if (done?.dropped > 0) toast(t('stop.dropped', { n: done.dropped }));
	});

	// Whether the answer was taken.
	define('answer', async (question, answer) => {
		try {
			const taken = await api.answer(page.row.id, question.question, answer);
			if (taken?.always === 'session_only') toast(t('ask.session_only'));
			return true;
		} catch (error) {
			const known = ['already_answered', 'run_is_over', 'not_offered'].includes(error.kind);
			toast(known ? t(`ask.${error.kind}`) : error.message, { bad: true });
			return false;
		}
	});

	define('retry', () => tried(() => api.retry(page.row.id)));

	define('fork', async (seq) => {
		const row = page.row && (await tried(() => api.fork(page.row.id, seq ? { at: seq } : {})));
		if (!row) return null;
		await loadSessions();
		goTo(sessionRoute(row.id));
		toast(t('fork.done'));
		return row;
	});

	// "Edit and run from here": a fork from before the message, with its text in the composer.
	define('edit', async (message) => {
		const item = message ?? page.view?.items.findLast((one) => one.type === 'message');
		if (!item) return;
		const at = item.batchStart - 1;
		if (at > 0 ? await run('fork', at) : (goTo('#/new'), true)) setTimeout(() => composer.setText(item.text), 50);
	});

	define('undo', async (call) => {
		const which = call ? { call } : {};
		const plan = page.row && (await tried(() => api.undo(page.row.id, { ...which, check: true })));
		if (!plan) return;
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
				plan.kept.length > 0 && h('p', null, t('undo.kept')),
				names(plan.kept.map((one) => `${one.path}: ${one.why}`)),
			],
		});
		if (agreed && (await tried(() => api.undo(page.row.id, which)))) toast(t('undo.done'));
	});

	define('compact', async () => {
		if (page.row && (await tried(() => api.compact(page.row.id)))) toast(t('compact.done'));
	});
	define('export', (id) => {
		location.href = exportAddress(id ?? page.row.id);
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
		if (page.row?.id === row.id) goTo('#/new');
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
