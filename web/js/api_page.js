// The page of the OpenAPI document: fetches it and shows every request by its group. Everything goes in as text nodes.

import { typeOf } from './api_types.js';
import { h } from './dom.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

function resolved(api, thing) {
	if (!thing?.$ref) return thing ?? {};
	return thing.$ref.slice(2).split('/').reduce((place, step) => place?.[step], api) ?? {};
}

const plain = (text) => (text ?? '').replaceAll('`', '');

function table(heads, rows) {
	const head = h('tr', null, heads.map((text) => h('th', { scope: 'col' }, text)));
	const lines = rows.map((cells) => h('tr', null, cells.map((cell) => h('td', null, cell))));
	return h('table', null, h('thead', null, head), h('tbody', null, lines));
}

const code = (text) => h('code', null, text);

function fields(api, schema) {
	const shape = resolved(api, schema);
	const rows = Object.entries(shape.properties ?? {}).map(([name, field]) => [
		code(name),
		code(typeOf(field)),
		`${shape.required?.includes(name) ? '' : 'optional. '}${plain(field.description ?? resolved(api, field).description)}`,
	]);
	return rows.length ? table(['Field', 'Type', 'Meaning'], rows) : null;
}

function example(api, content) {
	const given = content.example ?? resolved(api, content.schema).example;
	if (given === undefined) return null;
	return h('pre', { tabindex: '0' }, typeof given === 'string' ? given : JSON.stringify(given, null, 2));
}

function bodyOf(api, title, content) {
	return Object.entries(content ?? {}).flatMap(([type, media]) => [
		h('h3', null, `${title}: `, code(type), ' ', code(typeOf(media.schema))),
		fields(api, media.schema),
		example(api, media),
	]);
}

function parameters(api, operation) {
	const rows = (operation.parameters ?? []).map((given) => {
		const parameter = resolved(api, given);
		const optional = parameter.required ? '' : 'optional. ';
		return [code(parameter.name), parameter.in, code(typeOf(parameter.schema)), optional + plain(parameter.description)];
	});
	return rows.length ? table(['Parameter', 'In', 'Type', 'Meaning'], rows) : null;
}

function answers(api, operation) {
	const all = Object.entries(operation.responses).map(([status, given]) => [status, resolved(api, given)]);
	const rows = all.map(([status, answer]) => [
		code(status),
		code(Object.values(answer.content ?? {}).map((media) => typeOf(media.schema)).join(', ') || 'empty'),
		plain(answer.description),
	]);
	const good = all.filter(([status]) => status.startsWith('2'));
	return [
		h('h3', null, 'Answers'),
		table(['Status', 'Body', 'Meaning'], rows),
		...good.flatMap(([status, answer]) => bodyOf(api, `Body of ${status}`, answer.content)),
	];
}

function request(api, { id, method, address, operation }) {
	const open = operation.security?.length === 1 && Object.keys(operation.security[0]).length === 0;
	const inside = [
		h('p.small.muted', null, plain(operation.description), open ? ' It needs no token.' : ''),
		parameters(api, operation),
		...bodyOf(api, 'Body', operation.requestBody?.content),
		...answers(api, operation),
	];
	return h(
		'details',
		{ id },
		h(
			'summary',
			null,
			h(`span.method.${method}`, null, method.toUpperCase()),
			h('span.address', null, address),
			h('span.small.muted', null, plain(operation.summary)),
		),
		h('div.inside', null, inside),
	);
}

function grouped(api) {
	const groups = new Map((api.tags ?? []).map((tag) => [tag.name, { ...tag, requests: [] }]));
	for (const [address, item] of Object.entries(api.paths)) {
		for (const method of METHODS.filter((method) => item[method])) {
			const operation = item[method];
			const name = operation.tags?.[0] ?? 'other';
			if (!groups.has(name)) groups.set(name, { name, requests: [] });
			const id = `${method}-${address.replaceAll(/[^a-z0-9]+/gi, '-')}`;
			groups.get(name).requests.push({ id, method, address, operation });
		}
	}
	return [...groups.values()].filter((group) => group.requests.length);
}

function show(api) {
	const index = document.getElementById('index');
	const main = document.getElementById('requests');
	main.append(
		h('h1', null, `${api.info.title} ${api.info.version}`),
		h('p', null, plain(api.info.description)),
		h('p.small', null, h('a', { href: '/api/openapi.json' }, 'The document as JSON')),
	);
	for (const group of grouped(api)) {
		index.append(h('h2', null, group.name));
		main.append(h('h2', null, group.name), h('p.small.muted', null, plain(group.description)));
		for (const entry of group.requests) {
			index.append(h('a', { href: `#${entry.id}` }, `${entry.method.toUpperCase()} ${entry.address}`));
			main.append(request(api, entry));
		}
	}
}

// The request that the address names is open.
function openNamed() {
	const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	if (named instanceof HTMLDetailsElement) {
		named.open = true;
		named.scrollIntoView();
	}
}

const response = await fetch('/api/openapi.json');
show(await response.json());
openNamed();
addEventListener('hashchange', openNamed);
