import { button, el, fill, short, visible } from './dom.js';
import { post } from './net.js';

const lists = [['tool', 'Tools'], ['resource', 'Resources'], ['resource-template', 'Resource templates'], ['prompt', 'Prompts']];
const mostShown = 150;

const mostLogged = 50;

/** @param {string} text a frame, or its beginning */
function logText(text) {
  try {
    const p = JSON.parse(text).params;
    return p.level + ': ' + (typeof p.data === 'string' ? p.data : JSON.stringify(p.data));
  } catch {
    return text;
  }
}

/** @param {any} item @param {string} kind */
function about(item, kind) {
  const notes = [item.title, item.tokens + ' tokens', kind === 'tool' && item.readOnly ? 'read-only' : '', item.findings ? item.findings + ' findings of check' : ''];
  return short(notes.filter(Boolean).join(' · '), 160);
}

/** The tab Server: servers, the connection, and what the chosen one offers. */
export class ServerPanel {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    this.app = app;
    this.chosen = 0;
    this.version = -1; // of the offer that is shown, or asked for
    this.checked = -1; // version of the offer whose findings are shown, or asked for
    this.drawn = -1; // version of the offer whose lists are on the page
    this.asked = 0; // how often an offer was asked for
    this.answered = 0; // the latest of these that was answered
    /** @type {any} */
    this.offer = null;
    this.stamp = '';
    this.factsStamp = '';
    this.problem = el('pre', { hidden: true, role: 'region', 'aria-label': 'Problems of the suite', tabindex: '0' });
    this.servers = el('ul', { class: 'items', 'aria-label': 'Servers' });
    this.connect = button('Connect', () => this.toConnect(), { class: 'main' });
    this.disconnect = button('Disconnect', () => this.app.try(() => post('disconnect', { server: this.chosen })));
    this.protocol = el('select', { id: 'protocol' });
    this.facts = el('div', {});
    this.search = el('input', { type: 'search', 'aria-label': 'Search', placeholder: 'Search these lists', oninput: () => this.renderLists() });
    this.listed = el('div', {});
    this.messages = el('ul', { 'aria-label': 'Log messages' });
    this.log = el('details', { hidden: true }, el('summary', {}, 'Log messages'), this.messages);
    root.append(
      el('h2', {}, 'Servers'), this.problem, this.servers,
      el('div', { class: 'row' }, this.connect, this.disconnect, el('label', { for: 'protocol', class: 'faint' }, 'Protocol'), this.protocol),
      this.facts, this.log, this.search, this.listed,
    );
  }

  server() { return this.app.state.servers.find((/** @type {any} */ s) => s.id === this.chosen) ?? this.app.state.servers[0]; }

  toConnect() {
    this.app.say('');
    return this.app.try(() => post('connect', { server: this.chosen, protocol: this.protocol.value }));
  }

  /** @param {number} id */
  choose(id) {
    this.chosen = id;
    this.forget();
    this.update();
  }

  update() {
    const { servers, problem, protocols } = this.app.state;
    this.problem.hidden = !problem;
    if (this.problem.textContent !== visible(problem)) this.problem.textContent = visible(problem);
    if (this.protocol.childElementCount === 0) this.protocol.append(el('option', { value: '' }, 'as configured'), ...protocols.map((/** @type {string} */ v) => el('option', { value: v }, v)));
    const s = this.server();
    const stamp = JSON.stringify([servers.map((/** @type {any} */ v) => [v.id, v.name, v.status]), this.chosen]);
    if (stamp !== this.stamp) {
      this.stamp = stamp;
      const at = document.activeElement?.getAttribute('data-server');
      fill(this.servers, ...servers.map((/** @type {any} */ v) => el('li', {}, el(
        'button', { type: 'button', 'data-server': v.id, 'aria-pressed': String(v.id === this.chosen), onclick: () => this.choose(v.id) },
        visible(v.name) + ' ', el('small', {}, v.transport + ', ' + v.status),
      ))));
      if (at) this.servers.querySelector(`[data-server="${CSS.escape(at)}"]`)?.focus();
    }
    const open = s && ['connected', 'connecting'].includes(s.status);
    this.connect.disabled = !s || open;
    this.connect.hidden = !s;
    this.disconnect.disabled = !s || !(open || s.call || s.layers.length > 0);
    this.protocol.disabled = open;
    this.renderFacts(s);
    if (s && s.listed && (s.offers !== this.version || s.checked !== this.checked)) this.load(s);
    if (s && !s.listed && this.offer) {
      this.forget();
      this.renderLists();
    }
  }

  /** Drops the offer that is shown. */
  forget() {
    this.offer = null;
    this.version = -1;
    this.drawn = -1;
  }

  /** Keeps the latest log messages of servers. @param {any[]} rows */
  addRows(rows) {
    const some = rows.filter((r) => r.method === 'notifications/message' && !r.out).slice(-10);
    if (some.length === 0) return;
    this.log.hidden = false;
    for (const r of some) this.messages.append(el('li', {}, short(logText(r.text ?? ''), 300)));
    while (this.messages.childElementCount > mostLogged) this.messages.firstElementChild?.remove();
  }

  /** @param {any} s */
  renderFacts(s) {
    if (!s) {
      fill(this.facts);
      return;
    }
    const stamp = JSON.stringify([s.id, s.status, s.reason, s.layers, s.who, s.changed, s.listed, s.unreadable]);
    if (stamp === this.factsStamp) return;
    this.factsStamp = stamp;
    const kind = s.status === 'connected' ? 'good' : s.status === 'failed' || s.status === 'ended' ? 'bad' : 'faint';
    fill(
      this.facts, el('p', { class: kind }, 'Status: ' + s.status + (s.status === 'connecting' ? ' …' : '')),
      s.who ? el('p', {}, visible(s.who)) : null, ...s.reason.map((/** @type {string} */ line) => el('p', {}, visible(line))),
      s.layers.length ? this.layers(s.layers) : null, s.status === 'connected' && !s.listed && !s.unreadable ? el('p', { class: 'faint' }, 'The lists are being read …') : null,
      s.unreadable ? el('div', { class: 'row' }, el('p', { class: 'bad' }, visible(s.unreadable)), button('Read again', () => this.refresh())) : null,
      s.changed ? el('div', { class: 'row' }, 'The server says that its lists have changed.', button('Read again', () => this.refresh())) : null,
    );
  }

  refresh() { return this.app.try(() => post('refresh', { server: this.chosen })); }

  /** @param {any[]} list */
  layers(list) {
    const out = el('ul', { 'aria-label': 'Layers' });
    for (const l of list) {
      out.append(el(
        'li', {}, el('strong', { class: l.state === 'fail' ? 'bad' : l.state === 'warn' ? 'warn' : 'good' }, l.state + ' '), visible(l.name) + ': ' + visible(l.message),
        ...l.details.map((/** @type {string} */ d) => el('div', { class: 'faint' }, visible(d))), l.hint ? el('div', {}, 'hint: ' + visible(l.hint)) : null,
      ));
    }
    return out;
  }

  /** @param {any} s */
  async load(s) {
    this.version = s.offers;
    this.checked = s.checked;
    const number = ++this.asked;
    const offer = await this.app.try(() => post('offer', { server: s.id }));
    if (!offer || s.id !== this.server().id || number < this.answered) return;
    this.answered = number;
    this.offer = offer;
    for (const [kind] of lists) {
      for (const item of offer[/** @type {string} */ (kind)] ?? []) item.text = (item.name + ' ' + (item.title ?? '') + ' ' + (item.description ?? '')).toLowerCase();
    }
    if (this.drawn === s.offers) { // only the findings are new: what a person is about to click stays
      this.renderNotes(offer);
      this.app.findingsRead?.(s);
      return;
    }
    this.drawn = s.offers;
    this.renderLists();
    this.app.listsRead?.(s, offer);
  }

  /** Writes what is said about each item that is on the page. @param {any} offer */
  renderNotes(offer) {
    for (const b of this.listed.querySelectorAll('[data-item]')) {
      const [, kind, i] = /^(.*?)(\d+)$/.exec(b.getAttribute('data-item') ?? '') ?? [];
      const item = offer[kind ?? '']?.[Number(i)];
      if (item) fill(/** @type {Element} */ (b.querySelector('small')), about(item, kind ?? ''));
    }
  }

  renderLists() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const parts = [];
    for (const [kind, title] of lists) {
      const all = this.offer?.[/** @type {string} */ (kind)] ?? [];
      const failed = this.offer?.failed?.[/** @type {string} */ (kind)];
      if (all.length === 0 && !failed) continue;
      parts.push(this.list(/** @type {string} */ (kind), /** @type {string} */ (title), all, words), failed ? el('p', { class: 'bad' }, visible(failed)) : null);
    }
    fill(this.listed, ...parts);
  }

  /** @param {string} kind @param {string} title @param {any[]} all @param {string[]} words */
  list(kind, title, all, words) {
    /** @type {number[]} */
    const found = [];
    all.forEach((item, i) => { if (words.every((w) => item.text.includes(w))) found.push(i); });
    const ul = el('ul', { class: 'items', 'aria-label': title });
    for (const i of found.slice(0, mostShown)) {
      const item = all[i];
      ul.append(el('li', {}, el(
        'button', { type: 'button', 'data-item': kind + i, onclick: () => this.open(kind, i, item) },
        short(item.name, 120) + ' ', el('small', {}, about(item, kind)),
      )));
    }
    const count = found.length === all.length ? String(all.length) : found.length + ' of ' + all.length;
    return el('div', {}, el('h3', {}, title + ' (' + count + ')'), ul, found.length > mostShown ? el('p', { class: 'faint' }, (found.length - mostShown) + ' more: search for them') : null);
  }

  /** @param {string} kind @param {number} i @param {any} item */
  open(kind, i, item) {
    for (const b of this.listed.querySelectorAll('[aria-current]')) b.removeAttribute('aria-current');
    this.listed.querySelector(`[data-item="${kind + i}"]`)?.setAttribute('aria-current', 'true');
    this.app.choose({ server: this.server().id, version: this.version, list: kind, item: i, name: item.name });
  }
}
