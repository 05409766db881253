// The messages that this page sent to the open session. One that the journal does not have yet is shown as waiting; where a
// stop drops messages, their words come back into the composer.

export class SentMessages {
	constructor() {
		this.clear();
	}

	clear() {
		this.sent = new Map(); // by id: {id, text, files}
		this.stopping = false; // whether this page asked for the stop of the open run
	}

	add(message) {
		this.sent.set(message.id, message);
	}

	// Those that wait for their turn.
	waiting(view) {
		const known = new Set(view.items.filter((item) => item.type === 'message').map((item) => item.id));
		return [...this.sent.values()].filter((message) => !known.has(message.id));
	}

	// Those that the end of a run has dropped, each once: what waited, and what had joined the run and was not read. Where this
	// page stopped the run, also what was sent before the page was opened. `records` are those of the session.
	takeBack(view, records) {
		const ended = records.findLast((record) => record.kind === 'RunEnded');
		const asked = records.findLast((record) => record.kind === 'CancelAsked' || record.kind === 'RunStarted');
		if (ended?.body.reason !== 'cancelled' || asked?.body.by !== 'person') return [];
		const isDropped = new Set(ended.body.dropped ?? []);
		const unread = view.items
			.filter((item) => item.type === 'message' && isDropped.has(item.id))
			.map((item) => this.sent.get(item.id) ?? (this.stopping ? { id: item.id, text: item.text, files: [] } : null));
		const back = [...unread.filter(Boolean), ...this.waiting(view)];
		this.clear();
		return back;
	}
}
