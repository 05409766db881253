// The limits on what a run may spend, as the policy of the run sets them. Money is in billionths of a dollar.

const ROWS = {
	run_cost: 'run_cost_limit',
	run_tokens: 'run_token_limit',
	run_time: 'run_time_limit_ms',
	session_cost: 'session_cost_limit',
	session_tokens: 'session_token_limit',
	day_cost: 'day_cost_limit',
	day_tokens: 'day_token_limit',
	agent_cost: 'agent_cost_limit',
	agent_tokens: 'agent_token_limit',
};

export function unitOf(limit) {
	if (limit.endsWith('_cost')) return 'cost';
	return limit.endsWith('_tokens') ? 'tokens' : 'time';
}

// The limit that this row of the configuration sets.
export const limitOfRow = (row) => Object.keys(ROWS).find((name) => ROWS[name] === row) ?? null;

export function limitsOf(policy) {
	const limits = {};
	for (const [name, row] of Object.entries(ROWS)) {
		const value = policy[row];
		if (value === undefined || value === null) continue;
		limits[name] = unitOf(name) === 'cost' ? Math.round(Number(value) * 1e9) : Number(value);
	}
	return limits;
}

// A yes to "spend more?" raises the limit that was asked about.
export function raiseLimit(view, number, kind, answer) {
	if (kind.about !== 'purse' || answer.option !== 'once') return;
	const raised = typeof answer.arguments === 'number' ? answer.arguments : kind.raised_to;
	view.runs = view.runs.map((run) =>
		run.run === number ? { ...run, limits: { ...run.limits, [kind.limit]: raised } } : run,
	);
}
