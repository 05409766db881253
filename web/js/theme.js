// Sets the colours before the first paint. Loaded as a plain script in the head.
(() => {
	const root = document.documentElement;
	const apply = (name) => {
		if (name === 'light' || name === 'dark') root.dataset.theme = name;
		else delete root.dataset.theme;
	};
	const stored = () => {
		try {
			return localStorage.getItem('theme') ?? 'auto';
		} catch {
			return 'auto';
		}
	};
	window.theme = {
		get: stored,
		set(name) {
			try {
				localStorage.setItem('theme', name);
			} catch {
				/* shown, but not remembered */
			}
			apply(name);
			dispatchEvent(new Event('colours'));
		},
	};
	apply(stored());
})();
