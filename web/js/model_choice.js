// Which model answers: its name beside the composer, and the models that there are with what makes another one answer.

import { DEMO } from './rows.js';
import { api } from './api.js';
import { ask, showError } from './dialogs.js';
import { command } from './copy.js';
import { h } from './dom.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

// The model of the open run, else the one that would answer the next message. Pure.
export function modelNow(view, me) {
	const last = view?.runs.at(-1)?.models[0] ?? null;
	if (last && (view.openRun !== null || (me?.demo && last !== DEMO))) return last;
	return me?.demo ? DEMO : (me?.model ?? last);
}

// The server has no way yet to switch the model of one session: the dialog says where it is set.
export async function showModels() {
	let models;
	try {
		models = (await api.models()).models;
	} catch (error) {
		return showError(error);
	}
	const lines = models.map((model) =>
		h(
			'li.row',
			null,
			h(`span.dot${model.reachable === false ? '.failed' : model.in_use ? '.good' : ''}`),
			h('span.grow', null, visibleLine(model.name)),
			h('span.muted', null, model.reachable === false ? t('model.unreachable') : model.in_use ? t('settings.in_use') : ''),
		),
	);
	const settings = await ask({
		title: t('settings.models'),
		body: [
			models.length === 0 ? h('p', null, t('demo.words')) : h('ul', null, lines),
			models.length > 1 && h('p.muted', null, t('model.order')),
			h('p.muted', null, t(models.length === 0 ? 'model.connect' : 'model.switch')),
			command('windlass serve --model NAME'),
		].filter(Boolean),
		yes: t('rail.settings'),
		no: t('close'),
	});
	if (settings) run('settings');
}
