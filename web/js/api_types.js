// The type of a schema in few words.

export function typeOf(schema) {
	if (!schema) return 'empty';
	if (schema.$ref) return schema.$ref.split('/').pop();
	if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
	const either = schema.oneOf ?? schema.anyOf;
	if (either) return either.map(typeOf).join(' | ');
	const names = [schema.type ?? 'any'].flat();
	return names.map((name) => (name === 'array' ? `${typeOf(schema.items)}[]` : formatted(name, schema))).join(' | ');
}

function formatted(name, schema) {
	return name === 'string' && schema.format ? `string (${schema.format})` : name;
}
