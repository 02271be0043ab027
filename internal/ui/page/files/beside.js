import { button, diffLines, el, fill, visible } from './dom.js';
import { post } from './net.js';
import { showResult } from './result.js';

/**
 * Where a call can be made again.
 * @typedef {{server: number, protocol: string, name: string, note: string, fits: boolean}} Place
 */

/**
 * The places for a call, the most useful first: other servers, then versions that the server is known to speak, or that are
 * older than the one of its session.
 * @param {any[]} servers @param {string[]} protocols @param {any} call @returns {Place[]}
 */
function placesFor(servers, protocols, call) {
  const out = servers.filter((s) => s.id !== call.server).map((s) => ({ server: s.id, protocol: '', name: s.name, note: '', fits: true }));
  const own = servers.find((s) => s.id === call.server);
  const versions = protocols.filter((p) => p !== 'auto');
  const spoken = own?.spoken ?? [];
  const of = (/** @type {any} */ s, /** @type {string} */ protocol, /** @type {string} */ note) => ({ server: s.id, protocol, name: s.name + ', ' + protocol, note, fits: note === '' });
  /** @param {string} p */
  const note = (p) => {
    if (p === spoken[0]) return 'the same version again';
    const sessions = spoken[0] !== undefined && spoken[0] < '2026';
    if (spoken.includes(p) || sessions && p < spoken[0]) return '';
    return 'not known to be spoken';
  };
  if (own) {
    const list = versions.map((p) => of(own, p, note(p)));
    out.push(...list.filter((p) => p.fits), ...list.filter((p) => !p.fits));
  }
  for (const s of servers) if (s.id !== call.server) out.push(...versions.map((p) => of(s, p, s.spoken?.includes(p) ? '' : 'not known to be spoken')));
  return out;
}

/** *Also on*: the same call on other servers, or with other protocol versions, side by side, and what differs. */
export class BesidePanel {
  /** @param {any} app @param {(about: any, where: string) => Promise<boolean>} ask */
  constructor(app, ask) {
    this.app = app;
    this.ask = ask;
    /** @type {any} */
    this.first = null; // the call that is made again
    /** @type {Place[]} */
    this.places = [];
    /** The other calls. @type {Map<number, {differs: HTMLElement, result: HTMLElement, column: HTMLElement, shown: boolean}>} */
    this.calls = new Map();
    this.boxes = el('fieldset', { class: 'places' });
    this.send = button('Also on', () => this.toSend());
    this.columns = el('div', { class: 'others' });
    this.root = el('div', { hidden: true }, this.boxes, el('div', { class: 'row' }, this.send, el('span', { class: 'faint' }, 'calls it there as well and shows what differs')));
  }

  close() {
    this.root.hidden = true;
    this.first = null;
    this.calls.clear();
    fill(this.columns);
  }

  /** @param {any} call that has ended */
  open(call) {
    this.first = call;
    this.root.hidden = false;
    const { servers, protocols } = this.app.state;
    this.places = placesFor(servers, protocols, call);
    const begin = this.places[0]?.fits ? 0 : -1;
    fill(this.boxes, el('legend', {}, 'The same call on other servers and protocol versions'), ...this.places.map((p, i) => {
      const box = el('input', { type: 'checkbox', id: 'place-' + i, onchange: () => this.update() });
      box.checked = i === begin;
      return el('span', { class: 'check' }, box, el('label', { for: box.id }, visible(p.name), p.note ? el('small', { class: 'faint' }, ' ' + p.note) : null));
    }));
    this.update();
  }

  /** The places that are ticked. */
  chosen() {
    const boxes = [...this.boxes.querySelectorAll('input')];
    return this.places.filter((_, i) => boxes[i]?.checked);
  }

  async toSend() {
    const { first } = this;
    const places = this.chosen();
    this.app.say('');
    this.calls.clear();
    fill(this.columns);
    this.sending = true;
    this.update();
    for (const p of places) if (this.first === first) await this.sendTo(first, p); // each is asked about by itself
    this.sending = false;
    this.update();
  }

  /** @param {any} first @param {Place} place */
  async sendTo(first, place) {
    const wanted = { call: first.id, server: place.server, protocol: place.protocol };
    let answer = await this.app.try(() => post('also-on', wanted));
    if (answer?.confirm) answer = await this.ask(answer, place.name) ? await this.app.try(() => post('also-on', { ...wanted, confirm: answer.confirm })) : null;
    if (!answer?.call || this.first !== first) return;
    const name = visible(place.name);
    const differs = el('div', { role: 'region', 'aria-label': 'Differences on ' + name }, el('p', {}, 'Running …'));
    const result = el('div', { role: 'region', 'aria-label': 'Result on ' + name });
    const column = el('div', { class: 'drawer' }, el('h3', {}, 'Also on ' + name), differs, result);
    this.columns.append(column);
    this.calls.set(answer.call, { differs, result, column, shown: false });
    this.update();
  }

  update() {
    this.send.disabled = Boolean(this.sending) || !this.first || this.chosen().length === 0;
    for (const [id, other] of this.calls) {
      const c = this.app.state.calls.find((/** @type {any} */ v) => v.id === id);
      if (!c || !c.done || other.shown || !this.first) continue;
      other.shown = true;
      this.show(c, other);
    }
  }

  /** @param {any} c @param {{differs: HTMLElement, result: HTMLElement, column: HTMLElement}} other */
  async show(c, other) {
    const { first } = this;
    await showResult(other.result, c.id, this.app, null);
    other.column.scrollIntoView({ block: 'nearest' });
    if (c.outcome === 'no response' || first.outcome === 'no response') {
      fill(other.differs, el('p', { class: 'bad' }, 'One of them got no response, so nothing is compared.'));
      return;
    }
    const d = await this.app.try(() => post('differences', { first: first.id, other: c.id }));
    if (!d) return;
    if (d.lines.length === 0) fill(other.differs, el('p', { class: 'good' }, 'No differences: times, ids, paths and what only one protocol version has do not count.'));
    else fill(other.differs, el('p', { class: 'bad' }, 'Differences (- first, + here)'), el('pre', { tabindex: '0' }, ...diffLines(d.lines)));
  }
}
