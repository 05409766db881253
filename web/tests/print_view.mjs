// Prints the view of a journal as JSON, so that it can be compared with another fold: node print_view.mjs FILE.jsonl
import { readFileSync } from 'node:fs';
import { emptyView, foldAll, statusOf } from '../js/fold.js';

const lines = readFileSync(process.argv[2], 'utf8')
	.trim()
	.split('\n')
	.map((line) => JSON.parse(line));
const view = foldAll(
	emptyView(),
	lines.filter((line) => line.kind !== undefined && line.body !== undefined),
);
process.stdout.write(`${JSON.stringify({ status: statusOf(view), ...view }, null, 2)}\n`);
