import { button, bytes, drawLater, el, fill, short, visible } from './dom.js';
import { post } from './net.js';

const rowHeight = 28; // see app.css

/** @param {any} r @param {string[]} words */
function matches(r, words) {
  return words.every((word) => {
    const [, key, value] = /^(method|status|violation):(.*)$/.exec(word) ?? [];
    const kinds = r.violations.map((/** @type {any} */ v) => v.kind);
    if (key === 'method') return (r.method ?? '').includes(value);
    if (key === 'status') return String(r.status ?? '').startsWith(value ?? '');
    if (key === 'violation') return value ? kinds.some((/** @type {string} */ k) => k.includes(value)) : kinds.length > 0;
    return [r.kind, r.method, r.name, r.id, r.text, r.status, ...kinds].join(' ').toLowerCase().includes(word.toLowerCase());
  });
}

/**
 * How a timeline is named in the page, how many rows it keeps, where the bytes of a row come from, and what a shown
 * row offers, and whether the traffic of the chosen server can be saved.
 * @typedef {{title: string, filter: string, most: number, load: (seq: number, from: number) => Promise<any>, offer?: (row: any) => Node|null, saves?: boolean}} Source
 */

/** @type {Source} */
const session = { title: 'Wire', filter: 'Filter', most: 20000, load: (seq, from) => post('frame', { seq, from }), saves: true };

/** The tab Wire: every message in the order of time. Only the rows that are seen are in the page. */
export class WirePanel {
  /** @param {HTMLElement} root @param {any} app @param {Source} [source] */
  constructor(root, app, source = session) {
    this.app = app;
    this.source = source;
    /** @type {any[]} */
    this.rows = [];
    /** @type {Map<number, any>} */
    this.bySeq = new Map();
    /** @type {any[]} */
    this.found = [];
    this.lost = 0;
    this.current = 0;
    this.pending = false;
    this.follow = false; // the next drawing goes to the end
    this.filter = el('input', { type: 'search', 'aria-label': source.filter, placeholder: 'method: status: violation: or text', oninput: () => this.refilter() });
    this.count = el('span', { class: 'faint', role: 'status' });
    this.body = el('tbody', {});
    const head = ['#', 'Direction', 'Method', 'Id', 'ms', 'Size', 'Violations'];
    const columns = ['col-n', 'col-dir', '', 'col-id', 'col-ms', 'col-size', ''];
    this.table = el('table', { 'aria-label': source.title }, el('thead', {}, el('tr', {}, ...head.map((h, i) => el('th', { scope: 'col', class: columns[i] }, h)))), this.body);
    this.scroller = el('div', { class: 'scroller', tabindex: '0', role: 'region', 'aria-label': 'Messages' }, this.table);
    this.scroller.addEventListener('scroll', () => this.later());
    this.detail = el('div', { role: 'region', 'aria-label': 'Message', hidden: true });
    this.fold = button('Hide', () => this.toggle(), { 'aria-expanded': 'true' });
    this.content = el('div', {}, this.scroller, this.detail);
    const save = source.saves ? button('Save as cassette', () => this.save(), { title: 'The traffic with the chosen server, as a file in the folder of --record' }) : null;
    root.append(el('div', { class: 'row' }, el('h2', {}, source.title), this.filter, this.count, save, this.fold), this.content);
    addEventListener('resize', () => this.later());
  }

  /** Writes what has passed between the page and the chosen server to a file. */
  async save() {
    const saved = await this.app.try(() => post('save', { server: this.app.chosen() }));
    if (saved) this.app.say('Saved as ' + saved.file + ' (tab Cassettes).');
  }

  /** Forgets all rows. */
  clear() {
    this.rows = [];
    this.found = [];
    this.bySeq.clear();
    this.lost = 0;
    this.current = 0;
    this.detail.hidden = true;
    this.scroller.scrollTop = 0;
    this.later();
  }

  toggle() {
    this.content.hidden = !this.content.hidden;
    this.fold.textContent = this.content.hidden ? 'Show' : 'Hide';
    this.fold.setAttribute('aria-expanded', String(!this.content.hidden));
    this.later();
  }

  /** @param {any[]} rows @param {number} lost */
  add(rows, lost) {
    const words = this.words();
    const follows = this.follow || this.atEnd();
    this.lost += lost;
    for (const r of rows) {
      r.violations ??= [];
      if (r.of && this.amend(r)) continue;
      this.rows.push(r);
      this.bySeq.set(r.seq, r);
      if (matches(r, words)) this.found.push(r);
    }
    if (this.rows.length > this.source.most) {
      for (const r of this.rows.splice(0, this.rows.length - this.source.most)) this.bySeq.delete(r.seq);
      const first = this.rows[0].seq;
      this.found = this.found.filter((r) => r.seq >= first);
    }
    this.follow = follows;
    this.later();
  }

  /** Adds violations to the row that they were found in later. @param {any} r */
  amend(r) {
    const row = this.bySeq.get(r.of);
    if (!row) return false;
    row.violations.push(...r.violations);
    for (const w of r.withdrawn ?? []) {
      const i = row.violations.findIndex((/** @type {any} */ v) => v.kind === w.kind);
      if (i >= 0) row.violations.splice(i, 1);
    }
    return true;
  }

  words() { return this.filter.value.split(/\s+/).filter(Boolean); }

  refilter() {
    const words = this.words();
    this.found = this.rows.filter((r) => matches(r, words));
    this.scroller.scrollTop = 0;
    this.later();
  }

  atEnd() { return this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - 2 * rowHeight; }

  later() {
    if (this.pending) return;
    this.pending = true;
    drawLater(() => { this.pending = false; this.render(); }, 16);
  }

  render() {
    if (this.follow) {
      this.follow = false;
      this.space(this.found.length);
      this.scroller.scrollTop = this.scroller.scrollHeight;
    }
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 10);
    const to = Math.min(this.found.length, from + Math.ceil((this.scroller.clientHeight || 400) / rowHeight) + 20);
    const focused = document.activeElement?.getAttribute('data-seq');
    fill(this.body, this.gap(from), ...this.found.slice(from, to).map((r) => this.row(r)), this.gap(this.found.length - to));
    if (focused) this.body.querySelector(`[data-seq="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    this.table.setAttribute('aria-rowcount', String(this.found.length + 1));
    const shown = this.found.length === this.rows.length ? this.rows.length + ' rows' : this.found.length + ' of ' + this.rows.length + ' rows';
    this.count.textContent = shown + (this.lost ? ', ' + this.lost + ' were too fast to be shown' : '');
  }

  /** @param {number} n */
  space(n) { fill(this.body, this.gap(n)); }

  /** @param {number} n */
  gap(n) {
    if (n <= 0) return null;
    const tr = el('tr', { 'aria-hidden': 'true' }, el('td', { colspan: '7' }));
    tr.firstElementChild.style.height = n * rowHeight + 'px';
    return tr;
  }

  /** @param {any} r */
  row(r) {
    const direction = r.out ? '→ server' : r.kind === 'stderr' ? 'stderr' : r.kind === 'http' ? 'HTTP ' + r.status : r.kind === 'end' ? 'end' : '← server';
    const what = [r.method, r.name].filter(Boolean).join(' ') || (r.kind === 'no message' || r.text ? r.text ?? '' : '');
    const badges = r.violations.map((/** @type {any} */ v) => el('span', { class: v.tolerated ? 'badge tolerated' : 'badge', title: visible(v.message) }, v.kind));
    const tr = el(
      'tr', { class: 'frame', 'aria-current': r.seq === this.current ? 'true' : null, onclick: () => this.open(r) },
      el('td', { class: 'col-n' }, button(String(r.seq), () => {}, { 'data-seq': r.seq, 'aria-label': 'Show message ' + r.seq })),
      el('td', { class: 'col-dir' }, direction), el('td', {}, short((r.kind === 'response' ? 'response ' : '') + what, 200)), el('td', { class: 'col-id' }, short(r.id ?? '', 40)),
      el('td', { class: 'col-ms' }, r.ms === undefined ? '' : r.ms.toFixed(1)), el('td', { class: 'col-size' }, bytes(r.bytes)), el('td', {}, ...badges),
    );
    return tr;
  }

  /** Shows the bytes of a row. @param {any} r */
  async open(r) {
    this.current = r.seq;
    this.later();
    const d = await this.app.try(() => this.source.load(r.seq, 0));
    if (!d || this.current !== r.seq) return;
    this.detail.hidden = false;
    const raw = el('pre', { tabindex: '0', role: 'region', 'aria-label': 'Raw bytes' }, visible(d.raw.text));
    let next = d.raw.next;
    const more = button('Show more', async () => {
      const p = await this.app.try(() => this.source.load(r.seq, next));
      if (!p) return;
      raw.append(visible(p.raw.text));
      next = p.raw.next;
      more.hidden = next >= p.raw.size;
    });
    more.hidden = next >= d.raw.size;
    fill(
      this.detail, el('h3', {}, 'Message ' + r.seq + ', ' + new Date(r.at).toISOString()), this.source.offer?.(r) ?? null,
      ...d.violations.map((/** @type {any} */ v) => el('p', {}, el('span', { class: 'badge' }, v.kind), ' ' + visible(v.message) + ' ', el('small', { class: 'faint' }, visible(v.rule)))),
      el('h3', {}, 'Raw bytes'), raw, more, d.parsed ? el('details', {}, el('summary', {}, 'Parsed'), el('pre', { tabindex: '0' }, visible(d.parsed))) : null,
      d.command ? el('div', {}, el('h3', {}, 'As a command'), el('pre', { tabindex: '0' }, visible(d.command)), button('Copy command', () => { navigator.clipboard?.writeText(d.command); this.app.say('Copied.'); })) : null,
    );
  }
}
