// What the page remembers between visits: which parts are folded away, drafts. Does without where storage is refused.

export function remember(key, value) {
	try {
		if (value === null || value === '') localStorage.removeItem(key);
		else localStorage.setItem(key, JSON.stringify(value));
	} catch {
		/* nothing depends on it */
	}
}

export function remembered(key, otherwise = null) {
	try {
		return JSON.parse(localStorage.getItem(key)) ?? otherwise;
	} catch {
		return otherwise;
	}
}
