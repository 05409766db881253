// The forms of a question's card that come before an answer: other arguments for the call, or a reason for a no. Each is
// {form, field}; the field is where one writes.

import { h } from './dom.js';
import { t } from './words.js';
import { toolName } from './call_view.js';

// A call is edited as its command, where it has one, and else as the JSON of its arguments.
export function editForm(call, { onSend, onCancel }) {
	const given = call?.arguments ?? {};
	const isCommand = typeof given.command === 'string';
	const field = h('textarea.field', {
		'aria-label': isCommand ? t('ask.edit.command') : t('ask.edit', { tool: toolName(call ?? { name: '' }) }),
		value: isCommand ? given.command : JSON.stringify(given, null, 2),
		rows: isCommand ? 2 : 5,
		spellcheck: 'false',
	});
	const problem = h('p.small.danger', { role: 'alert' });
	const send = (event) => {
		event.preventDefault();
		const edited = editedArguments(given, field.value);
		problem.textContent = edited.problem ?? '';
		if (!edited.problem) onSend(edited.arguments);
	};
	const form = h('form', { onsubmit: send }, field, problem, buttons({
		main: h('button.main', { type: 'submit' }, h('kbd', null, 'Ctrl Enter'), t(isCommand ? 'ask.run_edited.command' : 'ask.run_edited')),
		onCancel,
	}));
	// Enter breaks the line, as commands and JSON have several.
	field.addEventListener('keydown', (event) => {
		if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
		event.preventDefault();
		form.requestSubmit();
	});
	return { form, field };
}

// {arguments} | {problem}. Pure.
export function editedArguments(given, text) {
	if (typeof given.command === 'string')
		return text.trim() ? { arguments: { ...given, command: text } } : { problem: t('ask.no_command') };
	try {
		return { arguments: JSON.parse(text) };
	} catch (error) {
		return { problem: t('ask.not_json', { why: error.message }) };
	}
}

// "No" needs a second Enter, which may carry a reason for the model.
export function reasonForm({ onSend, onCancel }) {
	const field = h('input.field', { 'aria-label': t('ask.reason'), placeholder: t('ask.reason') });
	const send = (event) => {
		event.preventDefault();
		onSend(field.value.trim());
	};
	const main = h('button.danger', { type: 'submit' }, h('kbd', null, 'Enter'), t('ask.deny'));
	return { form: h('form', { onsubmit: send }, field, buttons({ main, onCancel })), field };
}

const buttons = ({ main, onCancel }) =>
	h('div.choices', null, main, h('button', { type: 'button', onclick: onCancel }, h('kbd', null, 'Esc'), t('cancel')));
