// The composer: text, files, send and stop. It never moves; what is typed is kept for each session.

import { button, byId, h, icon, replaceKeepingFocus } from './dom.js';
import { bytes } from './format.js';
import { toast } from './dialogs.js';
import { commandOf } from './commands.js';
import { remember, remembered } from './memory.js';
import { run } from './actions.js';
import { t } from './words.js';
import { visibleLine } from './visible_text.js';

const MOST = 20_000_000; // bytes of all files of one message

export class Composer {
	constructor() {
		this.form = byId('composer');
		this.files = [];
		this.draftKey = 'draft-new';
		this.build();
		this.listen();
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
			if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
			event.preventDefault();
			this.submit();
		});
		this.text.addEventListener('input', () => {
			this.grow();
			remember(this.draftKey, this.text.value);
		});
		this.text.addEventListener('paste', (event) => {
			if (event.clipboardData.files.length > 0) {
				event.preventDefault();
				this.add(event.clipboardData.files);
			}
		});
		this.picker.addEventListener('change', () => {
			this.add(this.picker.files);
			this.picker.value = '';
		});
		const main = byId('main');
		const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
		main.addEventListener('dragover', (event) => {
			if (hasFiles(event)) {
				event.preventDefault();
				this.form.classList.add('dropping');
			}
		});
		main.addEventListener('dragleave', () => this.form.classList.remove('dropping'));
		main.addEventListener('drop', (event) => {
			this.form.classList.remove('dropping');
			if (!hasFiles(event)) return;
			event.preventDefault();
			this.add(event.dataTransfer.files);
		});
	}

	// Browsers without field-sizing get the height by hand.
	grow() {
		if (CSS.supports('field-sizing', 'content')) return;
		this.text.style.height = 'auto';
		this.text.style.height = `${this.text.scrollHeight}px`;
	}

	open(session) {
		this.draftKey = `draft-${session ?? 'new'}`;
		this.text.value = remembered(this.draftKey, '');
		this.files = [];
		this.drawFiles();
		this.grow();
	}

	// Where there is a keyboard, one writes at once; on a phone the keyboard of the screen would cover the page.
	takeFocus() {
		const elsewhere = document.activeElement && document.activeElement !== document.body;
		if (!elsewhere && matchMedia('(hover: hover)').matches) this.text.focus({ preventScroll: true });
	}

	setRunning(running, { asking = false } = {}) {
		this.stop.hidden = !running;
		this.hint.textContent = t(asking ? 'composer.hint.asking' : running ? 'composer.hint.running' : 'composer.hint');
		this.text.placeholder = t(running ? 'composer.placeholder.running' : 'composer.placeholder');
	}

	setText(text) {
		this.text.value = text;
		this.grow();
		this.text.focus();
		remember(this.draftKey, text);
	}

	add(list) {
		for (const file of list) {
			const sum = this.files.reduce((all, one) => all + one.size, file.size);
			if (sum > MOST)
				toast(t('composer.too_large', { name: visibleLine(file.name), size: bytes(MOST) }), { bad: true });
			else this.files.push(file);
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
			this.setText('');
			return run(typed.run);
		}
		const text = typed.send;
		if ((!text && this.files.length === 0) || this.sending) return;
		this.sending = true;
		try {
			const files = await Promise.all(this.files.map(encodeFile));
			if ((await run('send', text, files)) === false) return;
			this.text.value = '';
			this.files = [];
			this.drawFiles();
			this.grow();
			remember(this.draftKey, null);
		} finally {
			this.sending = false;
		}
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
		reader.onerror = () => reject(reader.error);
		reader.readAsDataURL(file);
	});
}
