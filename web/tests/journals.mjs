// Reads the stored journals that the Rust tests read, too, and makes short journals for tests.
import { readFileSync } from 'node:fs';

const FOLDER = new URL('../../fixtures/journals/v1/', import.meta.url);

export const NAMES = ['contents', 'denied', 'every-kind', 'pauses', 'plan', 'undone'];

export function journal(name) {
	const lines = readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8')
		.trim()
		.split('\n');
	return lines.map((line) => JSON.parse(line)).filter((line) => line.kind !== undefined && line.body !== undefined);
}

// Makes records with numbers, times and batches of one; `at` is the second of the record.
export function recorder() {
	let seq = 0;
	return (kind, body, place = {}) => {
		seq += 1;
		const at = new Date(Date.UTC(2026, 0, 1, 10, 0, place.second ?? seq)).toISOString();
		const { second: _second, ...rest } = place;
		return { v: 1, id: `r${seq}`, session: 's', seq, batch: [0, 1], epoch: 1, at, kind, body, ...rest };
	};
}

export const delta = (kind, body, place = {}) => ({ run: 1, turn: 1, attempt: 1, offset: 0, kind, body, ...place });
