// Loads the rows of the rail. Answers may overtake each other: one that is older than what is shown is dropped.

import { api } from './api.js';

const PAGE = 100;
const MOST = 1000; // as many as the server lists
const HIDDEN_WAIT = 14000; // between two looks of a page that nobody sees, a little under three of its ticks

export class SessionLoader {
	constructor(ask = api.sessions) {
		Object.assign(this, {
			ask,
			search: '',
			archived: false,
			limit: PAGE,
			next: null,
			failed: false,
			asked: 0,
			taken: 0,
			lookedAt: -Infinity,
		});
	}

	// Other words or the other list: from its beginning.
	look(change) {
		Object.assign(this, change, { limit: PAGE });
	}

	// One page more than the rows that are shown.
	more(shown) {
		this.limit = Math.min(MOST, Math.max(this.limit, shown + PAGE));
	}

	// Whether to look again: a page that is hidden only does if it may tell of what it finds.
	due(now, { hidden, notifying }) {
		return hidden ? notifying && now - this.lookedAt >= HIDDEN_WAIT : true;
	}

	// The rows; null where something newer is shown, or something else is looked for by now.
	async load(now = Date.now()) {
		const number = ++this.asked;
		const { search, archived, limit } = this;
		this.lookedAt = now;
		const found = await this.ask({ search, archived: archived || null, limit });
		if (number < this.taken || search !== this.search || archived !== this.archived) return null;
		this.taken = number;
		Object.assign(this, { next: limit < MOST ? found.next : null, failed: false });
		return found.sessions;
	}
}
