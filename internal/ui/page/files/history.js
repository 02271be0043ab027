import { button, el, fill, short, visible } from './dom.js';
import { post } from './net.js';

/** @type {Record<string, [string, string, string]>} */
const marks = { pass: ['✓', 'good', 'passed'], fail: ['✗', 'bad', 'failed'], error: ['!', 'bad', 'error'], inconclusive: ['?', 'warn', 'inconclusive'], skip: ['–', 'faint', 'skipped'] };
const mostRows = 300;

/** The tab History: records of earlier runs, the tests in them, and what changed between two. */
export class HistoryPanel {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    this.app = app;
    /** @type {any} */
    this.past = { records: [], tests: [] };
    this.none = el('p', {}, 'There are no records yet: run tests in the tab Tests, or save one with ', el('code', {}, 'mcptest run -r json=run.json'), ' in this folder.');
    this.records = el('tbody', {});
    this.older = el('select', { id: 'older' });
    this.newer = el('select', { id: 'newer' });
    this.compared = el('pre', { role: 'region', 'aria-label': 'Comparison', tabindex: '0', hidden: true });
    this.filter = el('input', { type: 'search', 'aria-label': 'Filter of the history', placeholder: 'name of a test', oninput: () => this.renderTests() });
    this.tests = el('tbody', {});
    this.left = el('p', { class: 'faint', role: 'status' });
    /** @param {string} name @param {string[]} head @param {any} body */
    const table = (name, head, body) => el('table', { 'aria-label': name }, el('thead', {}, el('tr', {}, ...head.map((h) => el('th', { scope: 'col' }, h)))), body);
    this.some = el(
      'div', { hidden: true }, table('Records', ['Started', 'Record', 'Verdict', 'Seconds', 'Commit'], this.records),
      el('div', { class: 'row' }, el('label', { for: 'older' }, 'Older'), this.older, el('label', { for: 'newer' }, 'Newer'), this.newer, button('Compare', () => this.compare())),
      this.compared, el('div', { class: 'row' }, el('h3', {}, 'Tests, the latest run first'), this.filter), table('Tests of the records', ['Test', 'Runs', 'ms', ''], this.tests), this.left,
    );
    root.append(el('div', { class: 'row' }, el('h2', {}, 'History'), button('Read again', () => this.read())), this.none, this.some);
  }

  /** The tab is shown. */
  async read() {
    const past = await this.app.try(() => post('history', {}));
    if (!past) return;
    this.past = past;
    this.none.hidden = past.records.length > 0;
    this.some.hidden = past.records.length === 0;
    fill(this.records, ...past.records.map((/** @type {any} */ r) => this.record(r)));
    /** @param {any} r */
    const name = (r) => this.time(r) + ' ' + visible(r.name);
    for (const [choice, at] of /** @type {[any, number][]} */ ([[this.older, 1], [this.newer, 0]])) {
      fill(choice, ...past.records.map((/** @type {any} */ r) => el('option', { value: r.id }, name(r))));
      const chosen = past.records[Math.min(at, past.records.length - 1)];
      if (chosen) choice.value = String(chosen.id);
    }
    this.renderTests();
  }

  /** @param {any} r */
  time(r) { return new Date(r.started).toISOString().slice(0, 19).replace('T', ' '); }

  /** @param {any} r */
  record(r) {
    const bad = r.failed + r.errors + r.inconclusive > 0 || r.exit !== 0 || r.problem;
    const parts = [`${r.passed} passed`, `${r.failed} failed`];
    if (r.errors) parts.push(`${r.errors} errors`);
    if (r.inconclusive) parts.push(`${r.inconclusive} inconclusive`);
    if (r.skipped) parts.push(`${r.skipped} skipped`);
    return el(
      'tr', {}, el('td', {}, this.time(r)), el('td', {}, short(r.name, 200)),
      el('td', { class: bad ? 'bad' : 'good', title: visible(r.problem ?? '') }, parts.join(', ') + (r.problem ? ' · ' + short(r.problem, 80) : '')),
      el('td', {}, r.seconds.toFixed(1)), el('td', {}, visible((r.commit ?? '').slice(0, 8))),
    );
  }

  async compare() {
    const answer = await this.app.try(() => post('compare', { older: Number(this.older.value), newer: Number(this.newer.value) }));
    if (!answer) return;
    this.compared.hidden = false;
    this.compared.textContent = visible(answer.text);
  }

  renderTests() {
    const word = this.filter.value.trim().toLowerCase();
    const found = this.past.tests.filter((/** @type {any} */ t) => t.name.toLowerCase().includes(word));
    fill(this.tests, ...found.slice(0, mostRows).map((/** @type {any} */ t) => this.test(t)));
    const left = found.length - Math.min(found.length, mostRows);
    this.left.textContent = [left ? `${left} more tests fit the filter` : '', this.past.omitted ? `${this.past.omitted} older records or tests are left out` : ''].filter(Boolean).join('; ');
  }

  /** @param {any} t */
  test(t) {
    const runs = t.runs.map((/** @type {any} */ o) => (o ? marks[o.status] ?? ['·', 'faint', o.status] : ['·', 'faint', 'not in this run']));
    const times = t.runs.filter(Boolean).map((/** @type {any} */ o) => o.ms);
    const low = Math.min(...times);
    const high = Math.max(...times);
    return el(
      'tr', {}, el('td', { title: visible(t.file) }, short(t.name, 300)),
      el('td', { 'aria-label': runs.map((/** @type {string[]} */ m) => m[2]).join(', '), role: 'cell' }, ...runs.map((/** @type {string[]} */ m) => el('span', { class: m[1], 'aria-hidden': 'true' }, m[0]))),
      el('td', {}, low === high ? low.toFixed(1) : `${low.toFixed(1)} to ${high.toFixed(1)}`), el('td', { class: 'warn' }, t.flaky ? 'flaky: ' + visible(t.flaky) : ''),
    );
  }
}
