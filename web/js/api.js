// Requests to the server. Every failure is an ApiError with a kind, a sentence and, where known, what to do.

import { t } from './words.js';

export class ApiError extends Error {
	constructor(status, kind, message, { hint = null, retryAfter = null } = {}) {
		super(message);
		Object.assign(this, { status, kind, hint, retryAfter });
	}
}

export async function errorOf(response) {
	let found = null;
	try {
		found = (await response.json()).error;
	} catch {
		/* no JSON: the status has to do */
	}
	const retryAfter = Number(response.headers.get('Retry-After')) || null;
	const kind = found?.kind ?? (response.status === 401 ? 'unauthorized' : 'internal');
	return new ApiError(response.status, kind, found?.message ?? t('error.status', { status: response.status }), {
		hint: found?.hint ?? null,
		retryAfter,
	});
}

async function request(method, path, { body, headers = {}, raw = false, signal } = {}) {
	const options = { method, headers: { Accept: 'application/json', ...headers }, signal, credentials: 'same-origin' };
	if (body !== undefined) {
		options.body = raw ? body : JSON.stringify(body);
		if (!raw) options.headers['Content-Type'] = 'application/json';
	}
	let response;
	try {
		response = await fetch(`/api/${path}`, options);
	} catch (error) {
		if (error.name === 'AbortError') throw error;
		throw new ApiError(0, 'unreachable', t('error.unreachable'), { hint: t('error.unreachable.hint') });
	}
	if (!response.ok) throw await errorOf(response);
	if (response.status === 204 || response.headers.get('Content-Length') === '0') return null;
	const text = await response.text();
	return text ? JSON.parse(text) : null;
}

// A repeated request with the same key is accepted once, so that a lost answer is safe to send again.
async function sendOnce(path, body) {
	const headers = { 'Idempotency-Key': crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` };
	for (let tries = 1; ; tries++) {
		try {
			return await request('POST', path, { body, headers });
		} catch (error) {
			if (error.status !== 0 || tries === 3) throw error;
			await new Promise((resolve) => setTimeout(resolve, 400 * tries));
		}
	}
}

const at = (id, rest = '') => `sessions/${encodeURIComponent(id)}${rest}`;
const query = (values) =>
	new URLSearchParams(
		Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== ''),
	).toString();

export const api = {
	me: () => request('GET', 'me'),
	login: (token) => request('POST', 'login', { body: { token } }),
	sessions: (search) => request('GET', `sessions?${query(search)}`),
	session: (id) => request('GET', at(id)),
	demo: () => request('POST', 'demo'),
	create: (body) => request('POST', 'sessions', { body }),
	change: (id, body) => request('PATCH', at(id), { body }),
	remove: (id) => request('DELETE', at(id)),
	records: (id, before, batches) => request('GET', at(id, `/records?${query({ before, batches })}`)),
	diffs: (id, record) => request('GET', at(id, `/records/${record}/diffs`)),
	send: (id, body) => sendOnce(at(id, '/messages'), body),
	stop: (id) => request('POST', at(id, '/stop')),
	answer: (id, question, body) => request('POST', at(id, `/questions/${question}/answer`), { body }),
	retry: (id) => request('POST', at(id, '/retry')),
	fork: (id, body) => request('POST', at(id, '/fork'), { body }),
	undo: (id, body) => request('POST', at(id, '/undo'), { body }),
	compact: (id) => request('POST', at(id, '/compact')),
	importFile: (file) => request('POST', 'sessions/import', { body: file, raw: true }),
	usage: (by) => request('GET', `usage?by=${by}`),
	models: () => request('GET', 'models'),
	servers: () => request('GET', 'servers'),
	retryServer: (name) => request('POST', `servers/${encodeURIComponent(name)}/retry`),
	settings: () => request('GET', 'settings'),
	rules: () => request('GET', 'rules'),
	forget: (id) => request('DELETE', `rules/${id}`),
};

export const exportAddress = (id) => `/api/${at(id, '/export')}`;
export const eventsAddress = (id, after) => `/api/${at(id, `/events?after=${after}`)}`;
