import { button, el, fill, short, visible } from './dom.js';
import { Form } from './form.js';
import { KeepDrawer } from './keep.js';
import { post } from './net.js';
import { showResult } from './result.js';
import { BesidePanel } from './beside.js';

/** The tab Call: one tool, resource or prompt, its arguments, and the result. */
export class CallPanel {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    this.app = app;
    app.listsRead = (/** @type {any} */ s, /** @type {any} */ offer) => this.listsRead(s, offer);
    app.findingsRead = (/** @type {any} */ s) => this.findingsRead(s);
    /** @type {any} */
    this.item = null;
    this.drawn = ''; // item and schema whose fields are on the page
    /** @type {any} */
    this.definition = null;
    /** Arguments that were written, by tool. @type {Map<string, string>} */
    this.values = new Map();
    this.call = 0; // that is shown
    this.shown = ''; // call and outcome in the region Result
    this.title = el('h2', {}, 'Choose a tool, resource or prompt');
    this.about = el('div', {});
    this.text = el('textarea', { id: 'arguments', spellcheck: 'false' });
    this.meta = el('textarea', { id: 'meta', spellcheck: 'false', placeholder: '{}' });
    this.form = new Form(this.text, (_, name) => name, () => this.edited());
    this.wrong = el('p', { class: 'bad', role: 'alert' });
    this.send = button('Send', () => this.toSend(), { class: 'main' });
    this.cancel = button('Cancel', () => this.app.try(() => post('cancel', { call: this.call })));
    this.running = el('div', { role: 'status' });
    this.result = el('div', { role: 'region', 'aria-label': 'Result' });
    this.keep = new KeepDrawer(app, 'test');
    this.beside = new BesidePanel(app, (about, where) => this.ask(about, where));
    this.body = el(
      'div', { hidden: true }, this.about, this.form.root, el('label', { for: 'arguments' }, 'Arguments (JSON)'), this.text,
      el('details', {}, el('summary', {}, 'More'), el('label', { for: 'meta' }, '_meta (JSON)'), this.meta),
      this.wrong, el('div', { class: 'row stays' }, this.send, this.cancel), this.running,
      el('div', { class: 'columns' }, this.result, this.beside.columns), this.keep.root, this.beside.root,
    );
    root.append(this.title, this.body);
    root.addEventListener('keydown', (e) => { if (e.ctrlKey && e.key === 'Enter' && !this.send.disabled) this.toSend(); });
  }

  key() { return this.item.server + ' ' + this.item.list + ' ' + this.item.name; }

  /** @param {any} item */
  async choose(item) {
    this.item = item;
    if (this.filled !== this.key()) this.definition = null; // nothing is sent or kept in mind until it is there: the fields are those of another item
    fill(this.title, short(item.name, 200));
    this.update();
    const d = await this.app.try(() => post('definition', { server: item.server, version: item.version, list: item.list, item: item.item }));
    if (!d || this.item !== item) return;
    const resource = item.list === 'resource';
    if (this.filled !== this.key()) {
      const last = this.app.state.calls.findLast((/** @type {any} */ c) => !c.beside && c.server === item.server && c.name === item.name && c.kind === this.kind());
      const text = this.values.get(this.key()) ?? await this.lastArguments(last) ?? JSON.stringify(this.begin(d), null, 2);
      if (this.item !== item) return;
      this.filled = this.key();
      this.text.value = text;
      this.showCall(last?.id ?? 0);
    }
    this.definition = d;
    this.body.hidden = false;
    this.wrong.textContent = '';
    this.text.parentElement?.classList.toggle('faint', false);
    this.text.hidden = resource;
    this.text.previousElementSibling.hidden = resource;
    const schema = this.schema(d.definition);
    const drawn = this.key() + JSON.stringify(schema);
    if (drawn !== this.drawn) { // lists that were read again leave the fields in which a person types
      this.drawn = drawn;
      this.form.draw(schema, 'field-');
    }
    this.renderAbout(d);
    this.edited();
    this.update();
  }

  /** The arguments of an earlier call, if nothing in them was masked. @param {any} call */
  async lastArguments(call) {
    const r = call && await this.app.try(() => post('result', { call: call.id }));
    const text = r ? JSON.stringify(r.arguments ?? {}, null, 2) : null;
    return text === null || text.includes('[redacted]') ? null : text;
  }

  kind() { return { tool: 'tool', prompt: 'prompt' }[/** @type {'tool'} */ (this.item.list)] ?? 'resource'; }

  /** @param {any} d */
  begin(d) { return this.item.list === 'tool' ? d.sample : {}; }

  /** What the arguments of an item are. @param {any} def */
  schema(def) {
    if (this.item.list === 'tool') return def.inputSchema;
    /** @type {Record<string, any>} */
    const properties = {};
    const names = this.item.list === 'prompt' ? (def.arguments ?? []) : [...String(def.uriTemplate ?? '').matchAll(/\{\+?([^}]*)\}/g)].map((m) => ({ name: m[1], required: true }));
    for (const a of names) properties[a.name] = { type: 'string', description: a.description };
    return { properties, required: names.filter((/** @type {any} */ a) => a.required).map((/** @type {any} */ a) => a.name) };
  }

  /** @param {any} d */
  renderAbout(d) {
    const def = d.definition;
    const unfolded = [...this.about.querySelectorAll('details[open] > summary')].map((e) => e.textContent);
    fill(
      this.about, def.description ? el('p', {}, short(def.description, 2000)) : null,
      el('p', { class: 'faint' }, d.tokens + ' tokens (estimate)' + (d.objection ? ' · it ' + visible(d.objection.replace(/^tool .*? (?=does|declares)/, '')) + ', so each call is asked about' : '')),
      d.findings.length ? el('details', {}, el('summary', {}, 'Findings of check (' + d.findings.length + ')'),
        el('p', { class: 'faint' }, 'mcptest check predicts which clients and directories accept a server. Its findings are about this definition; calls work all the same.'), ...d.findings.map((/** @type {any} */ f) => el('p', { class: f.level === 'error' ? 'bad' : 'warn' }, visible(`${f.level} (${f.profile}): ${f.message}`)))) : null,
      el('details', {}, el('summary', {}, 'Definition'), el('pre', { tabindex: '0' }, visible(d.text))),
    );
    for (const summary of this.about.querySelectorAll('summary')) summary.parentElement.open = unfolded.includes(summary.textContent);
  }

  /** The findings about the definitions of a server have come. @param {any} s */
  async findingsRead(s) {
    const { item } = this;
    if (!item || !this.definition || item.server !== s.id || item.version !== s.offers) return;
    const d = await this.app.try(() => post('definition', { server: item.server, version: item.version, list: item.list, item: item.item }));
    if (!d || this.item !== item) return;
    this.definition = d;
    this.renderAbout(d);
  }

  /** The arguments as JSON text, null if they are none. */
  args() {
    if (this.item.list === 'resource') return '{}';
    try {
      const v = JSON.parse(this.text.value || '{}');
      return typeof v === 'object' && v !== null && !Array.isArray(v) ? this.text.value || '{}' : null;
    } catch {
      return null;
    }
  }

  edited() {
    if (!this.definition) return;
    this.values.set(this.key(), this.text.value);
    this.wrong.textContent = this.args() === null ? 'The arguments are not a JSON object; the text is kept, the fields are off.' : '';
    this.update();
  }

  async toSend() {
    const args = this.args();
    if (args === null) return;
    const i = this.item;
    const key = this.key();
    const where = { server: i.server, version: i.version, list: i.list, item: i.item };
    /** @type {Record<string, string>} */
    const raw = { arguments: args };
    if (this.meta.value.trim()) raw.meta = this.meta.value;
    this.app.say('');
    this.send.disabled = true;
    let answer = await this.app.try(() => post('call', where, raw));
    if (answer?.confirm) {
      if (await this.ask(answer)) answer = await this.app.try(() => post('call', { ...where, confirm: answer.confirm }, raw));
      else answer = null;
    }
    if (answer?.call && this.key() === key) {
      this.showCall(answer.call);
      this.wrong.scrollIntoView({ block: 'start' }); // the result appears below it
    }
    this.update();
  }

  /** Asks before a tool is called that may change something. @param {any} about @param {string} [where] @returns {Promise<boolean>} */
  ask(about, where) {
    const what = short(this.item.name, 200) + (where ? ' on ' + visible(where) : '') + '?';
    return new Promise((done) => {
      let yes = false;
      const cancel = button('Cancel', () => dialog.close(), { autofocus: true });
      const dialog = el(
        'dialog', { 'aria-label': 'Call ' + what }, el('h2', {}, 'Call ' + what), el('p', {}, visible(about.why) + ': it may change something. It is called once, with these arguments:'),
        el('pre', { tabindex: '0' }, visible(about.arguments)), el('div', { class: 'row' }, button('Send', () => { yes = true; dialog.close(); }, { class: 'main' }), cancel),
      );
      dialog.setAttribute('role', 'dialog');
      dialog.addEventListener('close', () => { dialog.remove(); done(yes); });
      document.body.append(dialog);
      dialog.showModal();
    });
  }

  /** @param {number} id */
  showCall(id) {
    this.call = id;
    this.shown = '';
    this.keep.close();
    this.beside.close();
    if (!id) fill(this.result);
    this.update();
  }

  update() {
    const { servers, calls } = this.app.state;
    const s = this.item && servers.find((/** @type {any} */ v) => v.id === this.item.server);
    const c = calls.find((/** @type {any} */ v) => v.id === this.call);
    const busy = c && !c.done;
    this.send.disabled = !s || !this.definition || s.status !== 'connected' || s.call !== 0 || this.args() === null;
    this.cancel.disabled = !busy;
    this.renderRunning(s, c);
    this.beside.update();
    if (c && c.done && this.shown !== c.id + c.outcome) {
      this.shown = c.id + c.outcome;
      showResult(this.result, c.id, this.app, { open: () => this.keep.open({ call: c.id }), expect: (/** @type {any} */ part) => this.keep.expect({ call: c.id }, part) });
      this.beside.open(c);
    }
  }

  /** @param {any} s @param {any} c */
  renderRunning(s, c) {
    if (!c || c.done) {
      fill(this.running, s && s.status !== 'connected' ? el('p', { class: 'faint' }, 'Not connected: ' + s.status) : null);
      this.progressOf = 0;
      return;
    }
    if (this.progressOf !== c.id) {
      this.progressOf = c.id;
      this.bar = el('progress', { 'aria-label': 'Progress' });
      this.note = el('span', {});
      fill(this.running, el('p', {}, 'Running … ', this.bar, ' ', this.note));
      fill(this.result);
    }
    const p = c.progress;
    if (!p) return;
    if (typeof p.total === 'number' && p.total > 0) {
      this.bar.max = p.total;
      this.bar.value = Number(p.progress);
    }
    this.note.textContent = short(p.message ?? '', 200);
  }

  /** After a reload the latest call is shown again. @param {any} s @param {any} offer */
  listsRead(s, offer) {
    if (this.item && this.item.server === s.id) { // the lists were read again
      const i = (offer[this.item.list] ?? []).findIndex((/** @type {any} */ v) => v.name === this.item.name);
      if (i >= 0) this.choose({ ...this.item, version: offer.version, item: i });
      return;
    }
    const last = this.app.state.calls.findLast((/** @type {any} */ c) => !c.beside && c.server === s.id);
    if (this.item || !last) return;
    const list = last.kind;
    const i = (offer[list] ?? []).findIndex((/** @type {any} */ v) => v.name === last.name);
    if (i >= 0) this.choose({ server: s.id, version: offer.version, list, item: i, name: last.name });
  }
}
