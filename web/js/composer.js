// The composer: text, files, model, send and stop. It never moves; what is typed is kept for each session.

import { button, byId, h, icon, isShown, leaveFocus, replaceKeepingFocus } from './dom.js';
import { bytes } from './format.js';
import { showError, toast } from './dialogs.js';
import { commandOf } from './commands.js';
import { editPlace, keepDraft, keepEdit, keptDraft, keptEdit } from './drafts.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

const MOST = 20_000_000; // bytes of all files of one message

export class Composer {
	constructor() {
		this.form = byId('composer');
		this.session = null;
		this.edit = null; // the message that is edited in place of the draft
		this.attached = new Map(); // the files of each draft
		this.sending = new Set(); // the places that a message is on its way from
		this.state = { running: false, asking: false, past: false, blocked: null };
		this.build();
		this.listen();
	}

	// Where what is typed belongs to.
	get place() {
		return this.edit ? editPlace(this.session) : this.session;
	}

	// An edited message goes to a fork, whoever has the session.
	get isBlocked() {
		return Boolean(this.state.blocked) && !this.edit;
	}

	get files() {
		return this.attached.get(this.place) ?? [];
	}

	set files(files) {
		this.attached.set(this.place, files);
	}

	build() {
		this.text = h('textarea', { id: 'composer-text', rows: 1, 'aria-label': t('composer.label') });
		this.about = h('div.about', { hidden: true, id: 'composer-about' });
		this.chips = h('div.chips', { hidden: true });
		this.picker = h('input', { type: 'file', multiple: true, hidden: true, 'aria-label': t('composer.attach') });
		this.hint = h('span.hint.cut');
		this.model = button('', () => run('model'), { kind: 'quiet', shape: 'arrow', data: { key: 'model' } });
		this.stop = button(t('composer.stop'), () => run('stop'), { shape: 'stop', title: t('composer.stop.key') });
		this.sendButton = h('button.main', { type: 'submit' }, icon('up'), h('span', null, t('composer.send')));
		this.form.replaceChildren(
			this.about,
			this.chips,
			this.text,
			this.picker,
			h(
				'div.under',
				null,
				button(t('composer.attach'), () => this.picker.click(), { kind: 'quiet', shape: 'clip', text: false }),
				this.model,
				this.hint,
				this.stop,
				this.sendButton,
			),
		);
		this.show({});
	}

	listen() {
		this.form.addEventListener('submit', (event) => {
			event.preventDefault();
			this.submit();
		});
		this.text.addEventListener('keydown', (event) => this.key(event));
		this.text.addEventListener('input', () => {
			this.grow();
			keepDraft(this.place, this.text.value);
			this.drawHint();
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

	key(event) {
		if (event.isComposing) return;
		if (event.key === 'Escape' && this.edit) {
			event.preventDefault();
			event.stopPropagation();
			return this.endEdit(this.session);
		}
		if (event.key !== 'Enter' || event.shiftKey || !matchMedia('(hover: hover)').matches) return;
		event.preventDefault();
		this.submit();
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

	// The text is only replaced where it differs: it may be the one that somebody is typing at.
	open(session) {
		this.session = session;
		this.edit = keptEdit(session);
		const kept = keptDraft(this.place);
		if (this.text.value !== kept) this.text.value = kept;
		this.drawFiles();
		this.drawAbout();
		this.drawHint();
		this.grow();
	}

	// Where there is a keyboard, one writes at once; on a phone the keyboard of the screen would cover the page.
	takeFocus() {
		const elsewhere = document.activeElement && document.activeElement !== document.body;
		if (!elsewhere && matchMedia('(hover: hover)').matches) this.text.focus({ preventScroll: true });
	}

	// What the composer goes by: {running, asking, past, blocked}. `blocked` says why nothing can be sent.
	show(change) {
		Object.assign(this.state, change);
		const { running, past } = this.state;
		if (!running) leaveFocus(this.stop, this.text);
		this.stop.hidden = !running;
		this.text.placeholder = t(
			past ? 'composer.placeholder.past' : running ? 'composer.placeholder.running' : 'composer.placeholder',
		);
		this.drawAbout();
		this.drawHint();
	}

	showModel(name) {
		this.model.hidden = !name;
		const words = name ? t('composer.model', { name: visibleLine(name) }) : '';
		this.model.title = words;
		this.model.setAttribute('aria-label', words);
		this.model.querySelector('span').textContent = visibleLine(name ?? '');
	}

	drawHint() {
		this.hint.textContent = t(`composer.hint.${this.hintKind()}`);
	}

	hintKind() {
		const { running, asking } = this.state;
		if (this.sending.has(this.place)) return 'sending';
		if (this.edit) return 'editing';
		if (asking) return 'asking';
		if (running) return this.text.value.trim() ? 'adding' : 'running';
		return 'idle';
	}

	// The line above the text: where a message would go, where that is not plain.
	drawAbout() {
		const words = this.aboutWords();
		this.sendButton.disabled = this.isBlocked;
		if (this.about.dataset.words === words) return;
		this.about.dataset.words = words;
		leaveFocus(this.about, this.text);
		const cancel = () => this.endEdit(this.session);
		this.about.hidden = !words;
		this.about.replaceChildren(
			...[
				h('span.grow', null, words),
				this.edit && button(t('cancel'), cancel, { kind: 'link', data: { key: 'cancel' } }),
			].filter(Boolean),
		);
	}

	aboutWords() {
		const { past, blocked } = this.state;
		if (this.edit) return t('composer.editing');
		return blocked ?? (past ? t('composer.past') : '');
	}

	// Edits a message in place of the draft, which comes back afterwards.
	startEdit(session, edit, text) {
		keepEdit(session, edit);
		keepDraft(editPlace(session), text);
		if (session !== this.session) return;
		this.open(session);
		this.text.focus();
	}

	endEdit(session) {
		keepEdit(session, null);
		this.attached.delete(editPlace(session));
		if (session !== this.session) return;
		this.open(session);
		this.text.focus();
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
			this.putIn(this.place, '', this.files);
			return run(typed.run);
		}
		const { session, place, edit } = this;
		if (this.isBlocked || this.sending.has(place)) return;
		if (!typed.send && this.files.length === 0) return;
		const message = { text: typed.send, typed: this.text.value, files: this.files };
		this.sending.add(place);
		this.putIn(place, '', []);
		const sent = await this.deliver(message, { session, place, edit });
		this.sending.delete(place);
		if (sent && edit) this.endEdit(session);
		if (!sent && edit && !keptEdit(session)) this.startEdit(session, edit, '');
		if (!sent) this.putBack(message, place);
		this.drawHint();
	}

	async deliver({ text, files }, from) {
		try {
			return await run('send', { ...from, text, attached: files, files: await Promise.all(files.map(encodeFile)) });
		} catch (error) {
			showError(error);
			return false;
		}
	}

	// What could not be sent stands before what was typed since.
	putBack({ typed, files }, place) {
		const since = keptDraft(place);
		this.putIn(place, since ? `${typed}\n${since}` : typed, files.concat(this.attached.get(place) ?? []));
	}

	// What was typed at a place while a session was made for it belongs to that session, and what is typed from now on, too:
	// the page opens the session a moment later.
	moveTo(session, from) {
		const files = this.attached.get(from) ?? [];
		keepDraft(session, keptDraft(from));
		this.attached.set(session, files);
		keepDraft(from, '');
		this.attached.delete(from);
		if (this.place === from) this.open(session);
	}

	putIn(place, text, files) {
		keepDraft(place, text);
		this.attached.set(place, files);
		if (place === this.place) this.open(this.session);
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
