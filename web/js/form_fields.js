// A form from the schema of a flat object, for tools that ask the person something.

import { h } from './dom.js';
import { visibleLine, visibleText } from './visible_text.js';

export function formFields(schema) {
	const fields = Object.entries(schema.properties ?? {}).map(([name, kind]) => {
		const input = inputOf(kind);
		input.name = name;
		input.required = (schema.required ?? []).includes(name) && kind.type !== 'boolean';
		return h(
			'label',
			null,
			visibleLine(kind.title ?? name),
			input,
			kind.description && h('span.tiny.muted', null, visibleText(kind.description)),
		);
	});
	const form = h('form.fields', { onsubmit: (event) => event.preventDefault() }, fields);
	form.schema = schema;
	return form;
}

function inputOf(kind) {
	const choices = kind.enum ?? kind.oneOf?.map((one) => one.const);
	if (choices)
		return h(
			'select.field',
			null,
			choices.map((choice, index) => h('option', { value: choice }, visibleLine(kind.enumNames?.[index] ?? choice))),
		);
	if (kind.type === 'boolean') return h('input', { type: 'checkbox', checked: kind.default === true });
	const type =
		{ integer: 'number', number: 'number' }[kind.type] ??
		{ email: 'email', uri: 'url', date: 'date' }[kind.format] ??
		'text';
	return h('input.field', {
		type,
		step: kind.type === 'number' ? 'any' : null,
		min: kind.minimum,
		max: kind.maximum,
		value: kind.default ?? '',
	});
}

// The content of the form, or null where the browser finds a fault with it and shows where.
export function readForm(form) {
	if (!form.reportValidity()) return null;
	const content = {};
	for (const [name, kind] of Object.entries(form.schema.properties ?? {})) {
		const input = form.elements[name];
		if (kind.type === 'boolean') content[name] = input.checked;
		else if (input.value !== '')
			content[name] = ['integer', 'number'].includes(kind.type) ? Number(input.value) : input.value;
	}
	return content;
}
