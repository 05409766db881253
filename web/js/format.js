// Numbers, times and amounts as people read them.

import { language, t } from './words.js';

// 12 ms, 3.4 s, 25 s, 1 min 5 s, 2 h 3 min
export function duration(ms) {
	if (ms === null || ms === undefined || Number.isNaN(ms)) return '';
	if (ms < 1000) return t('time.ms', { n: Math.max(1, Math.round(ms)) });
	const seconds = ms / 1000;
	if (seconds < 9.95) return t('time.s', { n: seconds.toFixed(1) });
	if (seconds < 60) return t('time.s', { n: Math.round(seconds) });
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return t('time.min', { n: minutes, s: Math.floor(seconds % 60) });
	return t('time.h', { n: Math.floor(minutes / 60), m: minutes % 60 });
}

export function between(from, to) {
	return from && to ? new Date(to) - new Date(from) : null;
}

export function clock(at) {
	return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

// For what is due in a moment.
export function clockSeconds(at) {
	return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

export function ago(at, now = Date.now()) {
	const seconds = (now - new Date(at)) / 1000;
	if (seconds < 60) return t('ago.now');
	if (seconds < 3600) return t('ago.min', { n: Math.floor(seconds / 60) });
	if (seconds < 86400) return t('ago.h', { n: Math.floor(seconds / 3600) });
	if (seconds < 7 * 86400) return t('ago.d', { n: Math.floor(seconds / 86400) });
	return new Date(at).toLocaleDateString(language(), { day: 'numeric', month: 'short' });
}

export function count(n) {
	return new Intl.NumberFormat(language()).format(n ?? 0);
}

// 950, 12.4k, 1.2M
export function tokens(n) {
	if (n < 1000) return String(n ?? 0);
	if (n < 999_500) return `${(n / 1000).toFixed(n < 99_500 ? 1 : 0).replace(/\.0$/, '')}k`;
	return `${(n / 1e6).toFixed(1)}M`;
}

// What something cost; nothing where it cost nothing, or no price is known.
export function money(nanos) {
	if (!nanos) return '';
	return nanos < 1e7 ? t('money.cents') : `$${(nanos / 1e9).toFixed(2)}`;
}

// A limit and what is spent of it, which may be less than a cent.
function exactMoney(nanos) {
	const dollars = nanos / 1e9;
	if (nanos === 0 || dollars >= 0.1) return `$${dollars.toFixed(2)}`;
	return dollars < 0.0001 ? t('money.tiny') : `$${dollars.toFixed(4).replace(/0{1,2}$/, '')}`;
}

export function bytes(n) {
	if (n < 1000) return t('size.bytes', { n });
	return n < 999_500 ? `${Math.round(n / 1000)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}

export function amount(unit, value) {
	if (unit === 'cost') return exactMoney(value);
	return unit === 'time' ? duration(value) : tokens(value);
}
