// Which session carried out a step of the plan. Pure.

import { placeOf } from './fold_calls.js';

// The last one, where a step was tried again; null where none is known: while it runs only the step is.
export function sessionOfStep(view, index) {
	const mine = Object.entries(view.children).filter(
		([child, { step }]) => step === index && placeOf(child).run === view.planRun,
	);
	return mine.at(-1)?.[1].session ?? null;
}
