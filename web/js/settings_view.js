// Settings: how the page looks and tells; models, tool servers and permissions as the server has them.

import { button, h, replaceKeepingFocus } from './dom.js';
import { api } from './api.js';
import { allowNotifications, canNotify } from './notifications.js';
import { clock, count } from './format.js';
import { errorWords, showError } from './dialogs.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine, visibleText } from './visible_text.js';

const EVERY = 3000; // ms between two looks at what changes by itself

export function drawSettings(host) {
	const part = (title, load, keepUp = () => {}) => {
		const body = h('div', { 'aria-live': 'polite' }, h('p.muted.small', null, t('loading')));
		fill(body, load).then(() => keepUp(body, load));
		return h('section', null, h('h3', null, title), body);
	};
	host.replaceChildren(
		h(
			'div.sheet',
			null,
			h('h2.unseen', { tabindex: '-1' }, t('title.settings')),
			pagePart(),
			part(t('settings.models'), models, follow),
			part(t('settings.servers'), servers, follow),
			part(t('settings.rules'), rules),
		),
	);
}

async function fill(body, load) {
	const again = () => fill(body, load);
	const content = await load(again).catch((error) => [
		h('p.danger.small', null, errorWords(error)),
		button(t('try_again'), again, { data: { key: 'again' } }),
	]);
	const fresh = h('div', null, content);
	// What has not changed is left alone: somebody may be reading or about to click.
	if (fresh.innerHTML !== body.innerHTML) replaceKeepingFocus(body, [...fresh.childNodes]);
}

// Fills it again and again, as long as it is shown.
async function follow(body, load) {
	while (body.isConnected) {
		await new Promise((resolve) => setTimeout(resolve, EVERY));
		if (body.isConnected && !document.hidden) await fill(body, load);
	}
}

function pagePart() {
	const themes = h('div.tabs', { role: 'group', 'aria-label': t('settings.theme') });
	const drawThemes = () =>
		replaceKeepingFocus(
			themes,
			['auto', 'light', 'dark'].map((name) =>
				button(
					t(`theme.${name}`),
					() => {
						window.theme.set(name);
						drawThemes();
					},
					{ 'aria-pressed': String(window.theme.get() === name), data: { key: name } },
				),
			),
		);
	drawThemes();
	const box = h('input', {
		type: 'checkbox',
		checked: canNotify(),
		onchange: async (event) => {
			event.target.checked = await allowNotifications(event.target.checked);
		},
	});
	return h(
		'section',
		null,
		h('h3', null, t('settings.page')),
		h(
			'div.row.wraps.small',
			null,
			h('span', null, t('settings.theme')),
			themes,
			h('label.row', null, box, t('settings.notify')),
		),
		h(
			'p.small.muted',
			null,
			t('settings.version', { version: page.me?.version ?? '?', user: visibleLine(page.me?.user ?? '') }),
		),
		h(
			'div.row.wraps',
			null,
			button(t('action.import'), () => run('import')),
			button(t('action.keys'), () => run('keys')),
		),
	);
}

async function models() {
	const { models: known } = await api.models();
	if (known.length === 0) return h('p.muted.small', null, t('settings.no_models'));
	return h(
		'ul.listed',
		null,
		known.map((model) =>
			h(
				'li.row.wraps',
				null,
				h(`span.dot${modelTrouble(model) ? '.failed' : model.in_use ? '.good' : ''}`),
				h('strong', null, visibleLine(model.name)),
				h(
					'span.muted.grow',
					null,
					[visibleLine(model.server ?? ''), model.window && t('settings.window', { n: count(model.window) })]
						.filter(Boolean)
						.join(' · '),
				),
				modelTrouble(model) && h('span.danger', null, modelTrouble(model)),
				model.in_use && h('span.ok', null, t('settings.in_use')),
			),
		),
	);
}

// What is wrong with a model, in words; null where nothing is known to be.
function modelTrouble(model) {
	if (model.health === 'resting') return t('model.resting', { time: clock(model.resting_until) });
	if (model.reachable === false) return t('model.unreachable');
	return model.health === 'failing' ? t('model.failing') : null;
}

const connecting = new Set(); // the servers that a person has asked to be connected again

async function servers(again) {
	const { servers: listed } = await api.servers();
	if (listed.length === 0) return h('p.muted.small', null, t('settings.no_servers'));
	const known = listed.map((server) => (connecting.has(server.name) ? { ...server, state: 'connecting' } : server));
	const retry = async (name) => {
		connecting.add(name);
		again();
		await api.retryServer(name).catch(showError);
		connecting.delete(name);
		again();
	};
	return h(
		'ul.listed',
		null,
		known.map((server) =>
			h(
				'li',
				null,
				h(
					'div.row.wraps',
					null,
					h(`span.dot.${server.state}`),
					h('strong', null, visibleLine(server.name)),
					h(
						'span.muted.grow',
						null,
						[t(`server.${server.state}`), server.tools > 0 && t('settings.tools', { n: server.tools })]
							.filter(Boolean)
							.join(' · '),
					),
					['failed', 'closed'].includes(server.state) &&
						button(t('try_again'), () => retry(server.name), { data: { key: `retry-${server.name}` } }),
				),
				server.reason && h('p.danger', null, visibleLine(server.reason)),
				server.state === 'waiting_for_consent' && h('p.muted', null, t('server.consent')),
				server.log_tail?.length > 0 &&
					h('pre.block', { tabindex: 0, 'aria-label': t('server.log') }, visibleText(server.log_tail.join('\n'))),
			),
		),
	);
}

async function rules(again) {
	const [settings, { rules: always }] = await Promise.all([api.settings(), api.rules()]);
	const forget = async (id) => {
		try {
			await api.forget(id);
			again();
		} catch (error) {
			showError(error);
		}
	};
	const list = (title, values) =>
		values?.length > 0 && [
			h('p.small.muted', null, title),
			h(
				'ul.listed',
				null,
				values.map((rule) => h('li', null, h('code', null, visibleLine(rule)))),
			),
		];
	return [
		h(
			'p.small',
			null,
			['preset', 'mode', 'sandbox']
				.filter((name) => settings[name])
				.map(
					(name) =>
						`${t(`settings.${name}`)}: ${visibleLine(typeof settings[name] === 'string' ? settings[name] : JSON.stringify(settings[name]))}`,
				)
				.join(' · '),
		),
		always.length > 0 && h('p.small.muted', null, t('settings.always')),
		always.length > 0 &&
			h(
				'ul.listed',
				null,
				always.map(({ id, rule, folder }) =>
					h(
						'li.row.wraps',
						null,
						h('code', null, visibleLine(rule)),
						h('span.muted.grow', null, visibleLine(folder)),
						button(t('settings.forget'), () => forget(id), {
							'aria-label': `${t('settings.forget')}: ${visibleLine(rule)}`,
							data: { key: `forget-${id}` },
						}),
					),
				),
			),
		list(t('settings.allow'), settings.rules?.allow),
		list(t('settings.ask'), settings.rules?.ask),
		list(t('settings.deny'), settings.rules?.deny),
	].flat();
}
