// The composer: text, files, send and stop. It never moves; what is typed is kept for each session.

import { button, byId, h, icon, isShown, leaveFocus, replaceKeepingFocus } from './dom.js';
import { bytes } from './format.js';
import { showError, toast } from './dialogs.js';
import { commandOf } from './commands.js';
import { keepDraft, keptDraft } from './drafts.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

const MOST = 20_000_000; // bytes of all files of one message

export class Composer {
	constructor() {
		this.form = byId('composer');
		this.session = null;
		this.attached = new Map(); // the files of each session's draft
		this.sending = new Set(); // the sessions that a message is on its way to; null for a new one
		this.state = { running: false, asking: false };
		this.build();
		this.listen();
	}

	get files() {
		return this.attached.get(this.session) ?? [];
	}

	set files(files) {
		this.attached.set(this.session, files);
	}

	build() {
		this.text = h('textarea', {
			id: 'composer-text',
			rows: 1,
			'aria-label': t('composer.label'),
			placeholder: t('composer.placeholder'),
		});
		this.chips = h('div.chips', { hidden: true });
		this.picker = h('input', { type: 'file', multiple: true, hidden: true, 'aria-label': t('composer.attach') });
		this.hint = h('span.hint.cut');
		this.stop = button(t('composer.stop'), () => run('stop'), { shape: 'stop', title: t('composer.stop.key') });
		this.sendButton = h('button.main', { type: 'submit' }, icon('up'), h('span', null, t('composer.send')));
		this.form.replaceChildren(
			this.chips,
			this.text,
			this.picker,
			h(
				'div.under',
				null,
				button(t('composer.attach'), () => this.picker.click(), { kind: 'quiet', shape: 'clip', text: false }),
				this.hint,
				this.stop,
				this.sendButton,
			),
		);
		this.setRunning(false);
	}

	listen() {
		this.form.addEventListener('submit', (event) => {
			event.preventDefault();
			this.submit();
		});
		this.text.addEventListener('keydown', (event) => {
			if (event.key !== 'Enter' || event.shiftKey || event.isComposing || !matchMedia('(hover: hover)').matches) return;
			event.preventDefault();
			this.submit();
		});
		this.text.addEventListener('input', () => {
			this.grow();
			keepDraft(this.session, this.text.value);
		});
		// Cells of a spreadsheet come as text and as a picture of it: what is text is pasted as text.
		this.text.addEventListener('paste', (event) => {
			const { files, types } = event.clipboardData;
			if (files.length === 0 || types.includes('text/plain')) return;
			event.preventDefault();
			this.add(files);
		});
		this.picker.addEventListener('change', () => {
			this.add(this.picker.files);
			this.picker.value = '';
		});
		this.listenForDrops();
	}

	// Anywhere on the page: the browser would open a file that is dropped beside the composer.
	listenForDrops() {
		const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
		addEventListener('dragover', (event) => {
			if (!hasFiles(event)) return;
			event.preventDefault();
			this.form.classList.toggle('dropping', isShown(this.form));
		});
		addEventListener('dragleave', () => this.form.classList.remove('dropping'));
		addEventListener('drop', (event) => {
			this.form.classList.remove('dropping');
			if (!hasFiles(event)) return;
			event.preventDefault();
			if (isShown(this.form)) this.add(event.dataTransfer.files);
		});
	}

	// Browsers without field-sizing get the height by hand.
	grow() {
		if (CSS.supports('field-sizing', 'content')) return;
		this.text.style.height = 'auto';
		this.text.style.height = `${this.text.scrollHeight}px`;
	}

	open(session) {
		this.session = session;
		this.text.value = keptDraft(session);
		this.drawFiles();
		this.drawHint();
		this.grow();
	}

	// Where there is a keyboard, one writes at once; on a phone the keyboard of the screen would cover the page.
	takeFocus() {
		const elsewhere = document.activeElement && document.activeElement !== document.body;
		if (!elsewhere && matchMedia('(hover: hover)').matches) this.text.focus({ preventScroll: true });
	}

	setRunning(running, { asking = false } = {}) {
		this.state = { running, asking };
		if (!running) leaveFocus(this.stop, this.text);
		this.stop.hidden = !running;
		this.text.placeholder = t(running ? 'composer.placeholder.running' : 'composer.placeholder');
		this.drawHint();
	}

	drawHint() {
		const { running, asking } = this.state;
		const state = this.sending.has(this.session) ? 'sending' : asking ? 'asking' : running ? 'running' : 'idle';
		this.hint.textContent = t(`composer.hint.${state}`);
	}

	add(list) {
		for (const file of list) {
			const sum = this.files.reduce((all, one) => all + one.size, file.size);
			if (sum > MOST)
				toast(t('composer.too_large', { name: visibleLine(file.name), size: bytes(MOST) }), { bad: true });
			else this.files = [...this.files, file];
		}
		this.drawFiles();
		this.text.focus();
	}

	drawFiles() {
		this.chips.hidden = this.files.length === 0;
		replaceKeepingFocus(
			this.chips,
			this.files.map((file) =>
				h(
					'span.chip',
					null,
					icon('clip'),
					h('span.cut', null, visibleLine(file.name)),
					h('span.muted', null, bytes(file.size)),
					button(
						t('composer.detach', { name: visibleLine(file.name) }),
						() => {
							this.files = this.files.filter((one) => one !== file);
							this.drawFiles();
						},
						{ kind: 'quiet', shape: 'cross', text: false },
					),
				),
			),
		);
	}

	async submit() {
		const typed = commandOf(this.text.value.trim());
		if (typed.unknown)
			return toast(t('command.unknown', { name: typed.unknown, nearest: typed.nearest }), { bad: true });
		if (typed.run) {
			this.putIn(this.session, '', this.files);
			return run(typed.run);
		}
		const { session } = this;
		if ((!typed.send && this.files.length === 0) || this.sending.has(session)) return;
		const message = { text: typed.send, typed: this.text.value, files: this.files };
		this.sending.add(session);
		this.putIn(session, '', []);
		const sent = await this.deliver(message, session);
		this.sending.delete(session);
		if (!sent) this.putBack(message, session);
		this.drawHint();
	}

	async deliver({ text, files }, session) {
		try {
			return await run('send', { text, files: await Promise.all(files.map(encodeFile)), session });
		} catch (error) {
			showError(error);
			return false;
		}
	}

	// What could not be sent stands before what was typed since.
	putBack({ typed, files }, session) {
		const since = keptDraft(session);
		this.putIn(session, since ? `${typed}\n${since}` : typed, files.concat(this.attached.get(session) ?? []));
	}

	// What was typed for a new session while it was made belongs to the session.
	moveDraft(session) {
		const files = this.attached.get(null) ?? [];
		keepDraft(session, keptDraft(null));
		this.attached.set(session, files);
		keepDraft(null, '');
		this.attached.delete(null);
	}

	putIn(session, text, files) {
		keepDraft(session, text);
		this.attached.set(session, files);
		if (session === this.session) this.open(session);
	}
}

function encodeFile(file) {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () =>
			resolve({
				name: file.name,
				media_type: file.type || 'application/octet-stream',
				data: reader.result.slice(reader.result.indexOf(',') + 1),
			});
		reader.onerror = () => reject(new Error(t('composer.unreadable', { name: visibleLine(file.name) })));
		reader.readAsDataURL(file);
	});
}
