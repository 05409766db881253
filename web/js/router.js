// The address says what is shown: #/s/ID a session, #/new, #/usage, #/settings.

// The route that an address names; null where it names a place on the page and no route. Pure.
export function parseRoute(hash) {
	if (hash !== '' && !hash.startsWith('#/')) return null;
	const [name, id] = hash.slice(2).split('/');
	if (name === 's' && id) return { name: 'session', id: decoded(id) };
	return { name: ['usage', 'settings'].includes(name) ? name : 'new', id: null };
}

function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

export const sessionRoute = (id) => `#/s/${encodeURIComponent(id)}`;

export function goTo(hash) {
	if (location.hash !== hash) location.hash = hash;
}

export function watchRoute(onRoute) {
	addEventListener('hashchange', () => {
		const route = parseRoute(location.hash);
		if (route) onRoute(route);
	});
	onRoute(parseRoute(location.hash) ?? parseRoute(''));
}
