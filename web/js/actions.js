// Every action by its name. The parts of the page call run('fork', …) and need not know who does it.

const actions = new Map();

export function define(name, action) {
	actions.set(name, action);
}

export function run(name, ...values) {
	return actions.get(name)?.(...values);
}
