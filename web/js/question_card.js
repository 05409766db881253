// The card of an open question, above the composer until it is answered.

import { byId, h, icon } from './dom.js';
import { editForm, reasonForm } from './answer_forms.js';
import { amount } from './format.js';
import { diffLines, diffOfCall, looksLikeDiff } from './diff.js';
import { drawArguments, drawDiff, toolName } from './call_view.js';
import { findCall } from './fold_calls.js';
import { unitOf } from './limits.js';
import { formFields, readForm } from './form_fields.js';
import { t } from './words.js';
import { visibleLine, visibleText } from './visible_text.js';

const ORDER = ['once', 'session', 'always', 'edit', 'submit', 'run_again', 'interrupt', 'no', 'dismiss'];
const APPROVAL_KEYS = { once: 1, session: 2, always: 3, edit: 4, no: 5 };

const GOES_ON = new Set(['cycle', 'stuck', 'purse']); // what they ask is whether the run goes on

const QUIET = 700; // ms without a key before a card may take the focus
const SETTLED = 300; // ms before a card takes a key

let lastKey = -Infinity;

const subjectOf = (kind) => (kind.about === 'step' ? subjectOf(kind.subject) : kind);

// The call that a question is about; null for a step's, whose calls are in the journal of its own session. Pure.
export function callAsked(question, view) {
	const { about, call } = question.kind;
	return about !== 'step' && call ? (findCall(view, call)?.call ?? null) : null;
}

// The answers with their keys. For an approval a key always means the same answer. Pure.
export function answersOf(question) {
	const offered = ORDER.filter((option) => question.options.includes(option));
	const approval = subjectOf(question.kind).about === 'approval';
	return offered.map((option, index) => ({ option, key: approval ? APPROVAL_KEYS[option] : index + 1 }));
}

export class QuestionCard {
	constructor({ onAnswer }) {
		this.onAnswer = onAnswer;
		this.root = byId('question');
		this.question = null;
		setInterval(() => this.showTimeLeft(), 1000);
		addEventListener('keydown', () => (lastKey = performance.now()), true);
		this.root.addEventListener('keydown', (event) => this.leave(event));
		this.root.addEventListener('keydown', (event) => this.passOn(event));
	}

	show(view) {
		const question = view?.questions[0] ?? null;
		if (question && question === this.question) return this.showWaiting(view);
		const had = this.root.contains(document.activeElement);
		this.question = question;
		this.answering = false;
		this.root.hidden = !question;
		this.root.dataset.question = question?.question ?? '';
		this.root.replaceChildren();
		if (question) this.draw(question, view);
		delete this.root.dataset.ready;
		clearTimeout(this.settling);
		if (question) this.settling = setTimeout(() => (this.root.dataset.ready = ''), SETTLED);
		if (question && had) this.root.focus({ preventScroll: true });
		else if (question) this.claimFocus(question);
		else if (had) byId('composer-text').focus();
	}

	// Takes the focus once, as soon as that disturbs nobody.
	claimFocus(question) {
		if (this.question !== question) return;
		if (mayTakeFocus()) {
			this.fromComposer = document.activeElement === byId('composer-text');
			this.root.focus({ preventScroll: true });
		} else setTimeout(() => this.claimFocus(question), 200);
	}

	draw(question, view) {
		const subject = subjectOf(question.kind);
		const call = callAsked(question, view);
		this.call = call;
		this.more = h('div.fields');
		const title = question.preview?.title ?? question.elicitation?.message ?? t(`ask.${subject.about}`);
		const rule = question.options.includes('always') && question.preview?.rule;
		this.shown = this.preview(question, call);
		this.choices = [
			h(
				'div.answers.choices',
				null,
				answersOf(question).map(({ option, key }) => this.answerButton(question, option, key)),
			),
			rule && h('p.tiny.muted.always', null, t('ask.always_writes'), ' ', h('code', null, visibleLine(rule))),
		].filter(Boolean);
		this.root.setAttribute('aria-label', t('ask.label'));
		this.root.append(
			...[
				h(
					'div.row.heading',
					null,
					icon('alert'),
					h('h2.grow', null, withCode(title)),
					(this.left = h('span.left.small.muted')),
				),
				h(
					'p.asks',
					null,
					[
						title !== t(`ask.${subject.about}`) && t(`ask.${subject.about}`),
						question.elicitation && t('ask.from', { name: visibleLine(question.elicitation.from) }),
						call && !question.preview && `${toolName(call)}:`,
					]
						.filter(Boolean)
						.join(' '),
					' ',
					(this.waiting = h('span')),
					' ',
					becauseWords(question, call),
				),
				this.shown,
				this.fields(question, subject),
				this.more,
				...this.choices,
			].filter(Boolean),
		);
		this.showTimeLeft();
		this.showWaiting(view);
	}

	// How many more questions wait behind this one.
	showWaiting(view) {
		const n = view.questions.length - 1;
		this.waiting.textContent = n > 0 ? t('ask.more', { n }) : '';
	}

	preview(question, call) {
		const body = question.preview?.body ?? '';
		if (looksLikeDiff(body)) return h('div.preview', null, drawDiff(diffLines(body)));
		const diff = call && diffOfCall(call);
		if (diff) return h('div.preview', null, drawDiff(diff));
		const command = call?.arguments?.command;
		const said = question.preview?.title.includes(command);
		const shown =
			typeof command === 'string'
				? !said && h('pre.block', { tabindex: 0 }, visibleText(command))
				: call && !body && drawArguments(call.arguments ?? {});
		return h('div.preview', null, shown, body && h('p.asks.plain', null, visibleText(body)));
	}

	fields(question, subject) {
		const wants = question.elicitation?.wants;
		const message = question.preview && question.elicitation && h('p', null, visibleText(question.elicitation.message));
		this.form = wants?.form ? formFields(wants.form.schema) : null;
		if (this.form) return h('div.fields', null, message, this.form);
		if (wants?.visit)
			return h(
				'p.small',
				null,
				message,
				t('ask.visit'),
				' ',
				h(
					'a',
					{ href: safeAddress(wants.visit.url), target: '_blank', rel: 'noopener noreferrer' },
					visibleLine(wants.visit.url),
				),
			);
		if (subject.about === 'purse')
			return h(
				'p.asks',
				null,
				t('ask.raise', {
					amount: amount(unitOf(subject.limit), subject.raised_to),
					limit: t(`limit.${subject.limit}`),
				}),
			);
		return null;
	}

	answerButton(question, option, key) {
		const about = subjectOf(question.kind).about;
		const words =
			GOES_ON.has(about) && ['once', 'no'].includes(option)
				? t(`answer.${option}.go_on`)
				: t(`answer.${option}`);
		return h(
			`button${option === 'once' || option === 'submit' ? '.main' : ''}`,
			{ type: 'button', data: { option }, onclick: () => this.choose(option) },
			h('kbd', null, String(key)),
			words,
		);
	}

	press(number) {
		// A digit that was meant for something else when the card came up answers nothing.
		if (this.root.dataset.ready === undefined || this.more.firstChild) return;
		const found = this.question && answersOf(this.question).find((answer) => answer.key === number);
		if (found) this.choose(found.option);
	}

	choose(option) {
		if (option === 'edit') return this.editArguments();
		if (option === 'no' && subjectOf(this.question.kind).about === 'approval') return this.askReason();
		if (option === 'submit' && this.form) {
			const content = readForm(this.form);
			return content && this.give({ option, arguments: content });
		}
		return this.give({ option });
	}

	// Gives one answer; the others are locked until it turns out that it was not taken.
	async give(answer) {
		if (this.answering) return;
		const { question } = this;
		this.lock(true);
		const taken = await this.onAnswer(question, answer);
		if (!taken && question === this.question) this.lock(false);
	}

	lock(locked) {
		this.answering = locked;
		if (locked && document.activeElement?.matches('#question button')) this.root.focus({ preventScroll: true });
		this.root.setAttribute('aria-busy', String(locked));
		for (const control of this.root.querySelectorAll('.answers button, .fields button')) control.disabled = locked;
	}

	editArguments() {
		const onSend = (edited) => this.give({ option: 'edit', arguments: edited });
		this.openForm(editForm(this.call, { onSend, onCancel: () => this.closeForm() }), [this.shown, ...this.choices]);
	}

	askReason() {
		const onSend = (reason) => this.give(reason ? { option: 'no', reason } : { option: 'no' });
		this.openForm(reasonForm({ onSend, onCancel: () => this.closeForm() }), this.choices);
	}

	// A form takes the place of the answers: beside an edited command, "Allow once" would run the one that was not edited.
	openForm({ form, field }, replaced) {
		this.more.replaceChildren(form);
		this.replaced = replaced;
		for (const element of replaced) element.hidden = true;
		field.focus();
	}

	closeForm() {
		this.more.replaceChildren();
		for (const element of this.replaced) element.hidden = false;
		this.root.focus({ preventScroll: true });
	}

	// Escape in a field of the card closes the field; it does not stop the run.
	leave(event) {
		if (event.key !== 'Escape' || !this.more.contains(event.target)) return;
		event.preventDefault();
		event.stopPropagation();
		this.closeForm();
	}

	// Somebody who begins to write although the card took the focus from the composer writes there: letters are no keys then.
	passOn(event) {
		const isLetter = event.key.length === 1 && !/[1-5\s]/.test(event.key);
		if (!this.fromComposer || event.target !== this.root || !isLetter) return;
		if (event.ctrlKey || event.metaKey || event.altKey || this.more.firstChild) return;
		event.stopPropagation();
		byId('composer-text').focus();
	}

	showTimeLeft() {
		if (!this.question?.expires || !this.left) return;
		const ms = new Date(this.question.expires) - Date.now();
		this.left.textContent = ms > 0 ? leftWords(this.question, ms) : t('ask.expired');
		this.left.classList.toggle('warn', ms < 30000);
	}
}

// What happens without an answer, and when. Pure.
export function leftWords(question, ms) {
	const seconds = Math.ceil(ms / 1000);
	const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
	const { about } = subjectOf(question.kind);
	if (question.default === 'no') return t(GOES_ON.has(about) ? 'ask.left.stop' : 'ask.left.no', { time });
	return t('ask.left', { time, answer: t(`answered.${question.default}`) });
}

// `code` in a heading.
function withCode(text) {
	return visibleLine(text)
		.split('`')
		.map((part, index) => (index % 2 === 1 ? h('code', null, part) : part));
}

// A card takes the focus from an empty composer, unless somebody is just about to write there. It goes to the card and not
// to an answer, so that Enter gives none.
function mayTakeFocus() {
	const active = document.activeElement;
	const idle = !active || active === document.body || (active === byId('composer-text') && active.value === '');
	return idle && performance.now() - lastKey > QUIET && matchMedia('(hover: hover)').matches;
}

function safeAddress(url) {
	return /^https?:\/\//i.test(url) ? url : '#';
}

// Why it is asked about.
function becauseWords(question, call) {
	const because = question.because ?? call?.because;
	if (!because) return '';
	const known = ['strict', 'bypass'].includes(because.mode) ? because.mode : call && toolName(call) === 'run_command' ? 'command' : 'call';
	return t(because.by === 'mode' ? `because.mode.${known}` : `because.${because.by}`, {
		rule: visibleLine(because.rule ?? ''),
		path: visibleLine(because.path ?? ''),
	});
}
