// The address says what is shown: #/s/ID a session, #/new, #/usage, #/settings.

export function parseRoute(hash) {
	const [name, id] = hash.replace(/^#\/?/, '').split('/');
	if (name === 's' && id) return { name: 'session', id: decodeURIComponent(id) };
	return { name: ['usage', 'settings'].includes(name) ? name : 'new', id: null };
}

export const sessionRoute = (id) => `#/s/${encodeURIComponent(id)}`;

export function goTo(hash) {
	if (location.hash !== hash) location.hash = hash;
}

export function watchRoute(onRoute) {
	const tell = () => onRoute(parseRoute(location.hash));
	addEventListener('hashchange', tell);
	tell();
}
