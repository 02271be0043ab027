import { button, el, fill, visible } from './dom.js';
import { post } from './net.js';
import { showResult } from './result.js';

/** *Also on*: the same call on another server, or with another protocol version, and what differs. */
export class BesidePanel {
  /** @param {any} app @param {(about: any) => Promise<boolean>} ask */
  constructor(app, ask) {
    this.app = app;
    this.ask = ask;
    /** @type {any} */
    this.first = null; // the call that is made again
    this.call = 0; // the other one
    this.shown = 0; // the other one whose result is shown
    this.where = el('select', { 'aria-label': 'Another server or protocol version' });
    this.send = button('Also on', () => this.toSend());
    this.name = el('h3', {});
    this.differs = el('div', { role: 'region', 'aria-label': 'Differences' });
    this.result = el('div', { role: 'region', 'aria-label': 'Other result' });
    this.other = el('div', { class: 'drawer', hidden: true }, this.name, this.differs, this.result);
    this.root = el('div', { hidden: true }, el('div', { class: 'row' }, this.send, this.where), this.other);
  }

  close() {
    this.root.hidden = true;
    this.other.hidden = true;
    this.first = null;
    this.call = 0;
  }

  /** @param {any} call that has ended */
  open(call) {
    this.first = call;
    this.root.hidden = false;
    const { servers, protocols } = this.app.state;
    const places = [];
    for (const s of servers) {
      const same = s.id === call.server;
      if (!same) places.push([s.id, '', s.name]);
      for (const p of protocols) if (p !== 'auto') places.push([s.id, p, s.name + ', ' + p]);
    }
    fill(this.where, ...places.map(([server, protocol, name]) => el('option', { value: server + ' ' + protocol }, visible(name))));
  }

  async toSend() {
    const [server, protocol] = this.where.value.split(' ');
    const wanted = { call: this.first.id, server: Number(server), protocol: protocol ?? '' };
    const name = this.where.selectedOptions[0]?.textContent ?? '';
    this.app.say('');
    this.send.disabled = true;
    let answer = await this.app.try(() => post('also-on', wanted));
    if (answer?.confirm) answer = await this.ask(answer) ? await this.app.try(() => post('also-on', { ...wanted, confirm: answer.confirm })) : null;
    this.send.disabled = false;
    if (!answer?.call) return;
    this.call = answer.call;
    this.shown = 0;
    this.other.hidden = false;
    this.name.textContent = 'Also on ' + visible(name);
    fill(this.differs, el('p', {}, 'Running …'));
    fill(this.result);
    this.update();
  }

  update() {
    const c = this.app.state.calls.find((/** @type {any} */ v) => v.id === this.call);
    if (!c || !c.done || this.shown === c.id || !this.first) return;
    this.shown = c.id;
    this.show(c);
  }

  /** @param {any} c */
  async show(c) {
    const { first } = this;
    await showResult(this.result, c.id, this.app, null);
    this.other.scrollIntoView({ block: 'nearest' });
    if (c.outcome === 'no response' || first.outcome === 'no response') {
      fill(this.differs, el('p', { class: 'bad' }, 'One of them got no response, so nothing is compared.'));
      return;
    }
    const d = await this.app.try(() => post('differences', { first: first.id, other: c.id }));
    if (!d || this.call !== c.id) return;
    if (d.lines.length === 0) fill(this.differs, el('p', { class: 'good' }, 'No differences: times, ids, paths and what only one protocol version has do not count.'));
    else fill(this.differs, el('p', { class: 'bad' }, 'Differences (- first, + other)'), el('pre', { tabindex: '0' }, visible(d.lines.join('\n'))));
  }
}
