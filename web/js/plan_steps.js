// The steps of a plan and the sessions that carry them out. Pure.

import { placeOf } from './fold_calls.js';

// The last one, where a step was tried again; null where none is known: while it runs only the step is.
export function sessionOfStep(view, index) {
	const mine = Object.entries(view.children).filter(
		([child, { step }]) => step === index && placeOf(child).run === view.planRun,
	);
	return mine.at(-1)?.[1].session ?? null;
}

// What a step is about, where the plan that it belongs to is still the newest; else null.
export function titleOfStep(view, { run, step }) {
	const item = run === view.planRun ? view.plan?.[step] : null;
	return item ? [item.file, item.step].filter(Boolean).join(': ') : null;
}

// A line that says that a step begins is not needed any more once one says how it ended.
export const isPassed = (view, item) => item.what === 'step_started' && Boolean(view.children[item.child]?.ended);
