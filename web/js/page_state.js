// What the page knows beside the view of the session, shared by its parts. Each says who changes it; the others read it.

export const page = {
	// main.js
	me: null, // GET /api/me
	version: null, // of the server that sent this page
	outdated: null, // the server's version, where it is another one by now
	route: { name: 'new', id: null }, // what the address names
	sessions: [], // the rows of the rail
	row: null, // the row of the open session; null until it is known
	feed: null, // the open session's SessionFeed: what actions on the open session go by
	view: null, // what is shown: the view as it is, or as it was where the scrubber stands
	past: null, // the seq that the scrubber stands at, or null
	status: 'idle', // the status of the open session
	connection: 'live',
	// what the person has opened or chosen; the parts that show it
	folder: null, // where a new session works
	contextOpen: false, // what fills the context
	open: new Set(), // the calls that are open
	openFiles: new Set(), // the files of the panel whose changes are open
};
