// The page of the OpenAPI document words the types of schemas.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { typeOf } from '../js/api_types.js';

test('a schema is worded by its name, its kinds or its type', () => {
	for (const [schema, words] of [
		[undefined, 'empty'],
		[{ $ref: '#/components/schemas/Me' }, 'Me'],
		[{ type: 'string', format: 'uuid' }, 'string (uuid)'],
		[{ type: ['string', 'null'] }, 'string | null'],
		[{ type: 'array', items: { $ref: '#/components/schemas/Row' } }, 'Row[]'],
		[{ type: 'string', enum: ['day', 'model'] }, '"day" | "model"'],
		[{ oneOf: [{ type: 'null' }, { $ref: '#/components/schemas/Me' }] }, 'null | Me'],
		[{}, 'any'],
	]) {
		assert.equal(typeOf(schema), words);
	}
});
