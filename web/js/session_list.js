// The rail: sessions with search, pin, status and archive.

import { button, byId, h, icon, replaceKeepingFocus } from './dom.js';
import { ago } from './format.js';
import { page } from './page_state.js';
import { run } from './actions.js';
import { sessionRoute } from './router.js';
import { nameOf, secondLine } from './titles.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

export { nameOf };

// Rows in groups: pinned, then by the day they last changed. Pure but for the given time.
export function groupsOf(rows, now) {
	const day = new Date(now);
	day.setHours(0, 0, 0, 0);
	const nameFor = (row) => {
		if (row.pinned) return 'pinned';
		const age = day - new Date(row.updated);
		return age <= 0 ? 'today' : age <= 6 * 86400000 ? 'week' : 'older';
	};
	const groups = [];
	for (const name of ['pinned', 'today', 'week', 'older']) {
		const members = rows.filter((row) => nameFor(row) === name);
		if (members.length > 0) groups.push({ name, rows: members });
	}
	return groups;
}

export class SessionList {
	constructor({ onSearch }) {
		this.root = byId('rail');
		this.input = h('input.field', {
			type: 'search',
			placeholder: t('rail.search'),
			'aria-label': t('rail.search'),
			'aria-describedby': 'search-covers',
		});
		this.input.addEventListener('input', () => {
			clearTimeout(this.timer);
			this.timer = setTimeout(() => onSearch(this.input.value.trim()), 150);
		});
		this.input.addEventListener('keydown', (event) => this.searchKey(event));
		this.list = h('div', { id: 'rail-list', tabindex: '-1' });
		const foot = (label, name, shape) => button(label, () => run(name), { kind: 'quiet', shape });
		this.root.replaceChildren(
			h(
				'div.rail-head',
				null,
				h(
					'div.row',
					null,
					this.root.querySelector('.brand'),
					button(t('rail.close'), () => run('rail'), { kind: 'quiet', shape: 'rail', text: false }),
				),
				button(t('action.new'), () => run('new'), { shape: 'plus' }),
				h('div.search', null, icon('search'), this.input, h('kbd', { 'aria-hidden': 'true' }, '/')),
				h('p.covers.tiny.muted', { id: 'search-covers' }, t('rail.search.covers')),
			),
			this.list,
			h('div.rail-foot', null, foot(t('rail.usage'), 'usage', 'usage'), foot(t('rail.settings'), 'settings', 'gear')),
		);
	}

	searchKey(event) {
		if (event.key === 'Escape') {
			this.input.value = '';
			this.input.dispatchEvent(new Event('input'));
			this.input.blur();
			byId('composer-text').focus();
			event.stopPropagation();
		}
		if (event.key === 'Enter' || event.key === 'ArrowDown') this.list.querySelector('a')?.focus();
	}

	draw({ archived, search, next, failed }) {
		const rows = page.sessions;
		const key = JSON.stringify([
			rows,
			archived,
			search,
			next,
			failed,
			page.row?.id,
			page.status,
			Math.floor(Date.now() / 60000),
		]);
		if (key === this.key) return;
		this.key = key;
		const top = this.list.scrollTop;
		replaceKeepingFocus(
			this.list,
			archived &&
				h(
					'div.row.small',
					null,
					h('span.grow.muted', null, t('rail.archived')),
					button(t('rail.back'), () => run('archived'), { kind: 'link', data: { key: 'archived' } }),
				),
			groupsOf(rows, Date.now()).map((group) =>
				h(
					'section',
					null,
					h('h2', null, t(`rail.${group.name}`)),
					h(
						'ul',
						null,
						group.rows.map((row) => this.row(row)),
					),
				),
			),
			rows.length === 0 && this.empty(search, archived, failed),
			next && button(t('rail.more'), () => run('more'), { kind: 'quiet', data: { key: 'more' } }),
			!archived &&
				!search &&
				rows.length > 0 &&
				button(t('rail.show_archived'), () => run('archived'), {
					kind: 'quiet',
					shape: 'archive',
					data: { key: 'archived' },
				}),
		);
		this.list.scrollTop = top;
	}

	row(row) {
		const current = page.row?.id === row.id;
		const status = current && page.status ? page.status : row.status;
		const said = secondLine(row);
		const act = (name, label, shape) =>
			button(label, () => run(name, row), { kind: 'quiet', shape, text: false, data: { key: `${name}-${row.id}` } });
		return h(
			'li.session',
			null,
			h(
				'a',
				{ href: sessionRoute(row.id), 'aria-current': current ? 'page' : null, data: { key: row.id } },
				h(`span.dot.${status}`, { role: 'img', 'aria-label': t(`status.${status}`), title: t(`status.${status}`) }),
				h('span.name.cut', null, nameOf(row)),
				h('span.when', null, ago(row.updated)),
				said && h('span.prompt.cut', null, said),
			),
			h(
				'div.tools',
				null,
				act('pin', t(row.pinned ? 'action.unpin' : 'action.pin'), 'pin'),
				act('archive', t(row.archived ? 'action.unarchive' : 'action.archive'), 'archive'),
			),
		);
	}

	empty(search, archived, failed) {
		if (failed)
			return h(
				'div.empty',
				null,
				t('rail.failed'),
				button(t('try_again'), () => run('reload'), { data: { key: 'reload' } }),
			);
		if (search)
			return h(
				'div.empty',
				null,
				t('rail.no_result', { text: visibleLine(search) }),
				button(
					t('rail.clear'),
					() => {
						this.input.value = '';
						this.input.dispatchEvent(new Event('input'));
					},
					{ kind: 'link', data: { key: 'clear' } },
				),
			);
		return h('div.empty', null, t(archived ? 'rail.no_archived' : 'rail.empty'));
	}
}
