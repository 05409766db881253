// What the page knows beside the view of the session: shared by the parts that draw, changed by main.js only.

export const page = {
	me: null, // GET /api/me
	sessions: [], // the rows of the rail
	row: null, // the row of the open session
	feed: null, // the open session's SessionFeed
	view: null, // what is shown: the view as it is, or as it was where the scrubber stands
	past: null, // the seq that the scrubber stands at, or null
	connection: 'live',
	open: new Set(), // the calls that are open
};
