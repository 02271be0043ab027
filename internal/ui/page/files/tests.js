import { button, drawLater, el, fill, short, visible } from './dom.js';
import { post } from './net.js';

const rowHeight = 36; // see app.css
/** @type {Record<string, string>} */
const words = { pass: 'passed', fail: 'failed', error: 'error', inconclusive: 'inconclusive', skip: 'skipped' };
const broken = ['fail', 'error', 'inconclusive'];

/**
 * Whether a test fits the words of the filter: text of the name, !text, re:REGEXP, tag:TAG.
 * @param {any} test @param {string} filter @returns {boolean}
 */
function fits(test, filter) {
  if (!filter) return true;
  if (filter.startsWith('!')) return !fits(test, filter.slice(1));
  if (filter.startsWith('tag:')) return test.tags.includes(filter.slice(4));
  if (filter.startsWith('re:')) {
    try {
      return new RegExp(filter.slice(3)).test(test.name);
    } catch {
      return false;
    }
  }
  return test.name.includes(filter);
}

/** The tab Tests: the tests of the suites, a run of them, and what it says. */
export class TestsPanel {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    this.app = app;
    app.ranKept = (/** @type {any} */ test, /** @type {any} */ outcome) => this.ranKept(test, outcome);
    this.opened = false;
    /** How tests ended that were run after Insert, by file and name. @type {Map<string, any>} */
    this.kept = new Map();
    /** @type {any} */
    this.list = { version: '', files: [], tests: [] };
    /** How tests ended, by their number. @type {Map<number, any>} */
    this.ended = new Map();
    this.run = 0; // whose outcomes these are
    this.read = 0; // outcomes of the run
    this.reading = false;
    /** @type {Set<number>} */
    this.chosen = new Set();
    /** Rows that are shown: files and tests. @type {any[]} */
    this.rows = [];
    this.reported = -1;
    this.asked = 0;
    this.watched = ''; // what is run again when the suites change
    this.filter = el('input', { type: 'search', 'aria-label': 'Filter of the tests', placeholder: 'name, !name, re:…, tag:…', oninput: () => this.arrange() });
    this.runAll = button('Run all', () => this.start({ all: true, tests: [] }), { class: 'main' });
    this.runFailed = button('Run failed', () => this.start({ all: false, tests: this.failed() }));
    this.runSelected = button('Run selected', () => this.start({ all: false, tests: [...this.chosen] }));
    this.stop = button('Stop', () => this.app.try(() => post('tests-stop', {})));
    this.failFast = el('input', { type: 'checkbox', id: 'fail-fast' });
    this.watch = el('input', { type: 'checkbox', id: 'watch-tests' });
    this.counters = el('p', { role: 'status' });
    this.problem = el('pre', { hidden: true });
    this.body = el('tbody', {});
    this.all = el('input', { type: 'checkbox', 'aria-label': 'Select all that are shown', onchange: () => this.selectShown() });
    const head = el('tr', {}, el('th', { class: 'col-n', scope: 'col' }, this.all), ...['Test', 'Verdict', 'ms', 'Line'].map((h, i) => el('th', { scope: 'col', class: i ? 'col-ms' : '' }, h)));
    this.table = el('table', { 'aria-label': 'Tests' }, el('thead', {}, head), this.body);
    this.scroller = el('div', { class: 'scroller', tabindex: '0', role: 'region', 'aria-label': 'List of tests', onscroll: () => this.later() }, this.table);
    this.report = el('div', { role: 'region', 'aria-label': 'Report', hidden: true });
    root.append(
      el('div', { class: 'row' }, el('h2', {}, 'Tests'), this.runAll, this.runFailed, this.runSelected, this.stop),
      el('div', { class: 'row' }, this.filter, el('span', { class: 'check' }, this.failFast, el('label', { for: 'fail-fast' }, 'Stop at the first failure')),
        el('span', { class: 'check' }, this.watch, el('label', { for: 'watch-tests' }, 'Run again when a suite is saved'))),
      this.counters, this.problem, this.scroller, this.report,
    );
    addEventListener('resize', () => this.later());
  }

  /** The tab is shown. */
  open() {
    this.opened = true;
    this.update();
    this.later();
  }

  update() {
    const { suites, run } = this.app.state;
    if (!this.opened) return;
    if (this.list.version !== suites && this.asked !== suites) this.readList();
    if (run.id !== this.run) {
      this.run = run.id;
      this.read = 0;
    }
    const sum = run.passed + run.failed + run.errors + run.inconclusive + run.skipped;
    const isOver = run.id !== 0 && !run.going;
    const parts = [`${run.passed} passed`, `${run.failed} failed`, `${run.errors} errors`, `${run.inconclusive} inconclusive`, `${run.skipped} skipped`];
    if (run.going) parts.push(`${run.running} running`, `${run.queued} queued`);
    if (isOver && run.queued > 0) parts.push(`${run.queued} not run`);
    this.counters.textContent = run.id === 0 ? this.list.tests.length + (this.list.tests.length === 1 ? ' test' : ' tests') : `${run.going ? 'Running' : 'Run'} ${run.id}: ${parts.join(', ')}, ${run.seconds.toFixed(1)} s`;
    this.problem.hidden = !(run.problem || this.list.problem);
    this.problem.textContent = visible(run.problem || this.list.problem);
    for (const b of [this.runAll, this.runFailed, this.runSelected]) b.disabled = run.going || this.list.tests.length === 0;
    this.runFailed.disabled ||= this.failed().length === 0;
    this.runSelected.disabled ||= this.chosen.size === 0;
    this.stop.disabled = !run.going;
    if (sum > this.read || run.id !== 0 && this.read === 0) this.readOutcomes();
  }

  failed() { return [...this.ended].filter(([, o]) => broken.includes(o.status)).map(([n]) => n); }

  /** Reads the tests of the suites. Verdicts stay with the tests of the same name and file. */
  async readList() {
    this.asked = this.app.state.suites;
    const list = await this.app.try(() => post('tests', {}));
    if (!list) return;
    /** @param {any} l @param {any} t */
    const key = (l, t) => l.files[t.file] + ' ' + t.name;
    const before = new Map(this.list.tests.map((/** @type {any} */ t, /** @type {number} */ i) => [key(this.list, t), i]));
    const ended = new Map();
    const chosen = new Set();
    list.tests.forEach((/** @type {any} */ t, /** @type {number} */ i) => {
      const old = before.get(key(list, t));
      if (old === undefined) return;
      if (this.ended.has(old)) ended.set(i, { ...this.ended.get(old), old: true });
      if (this.chosen.has(old)) chosen.add(i);
    });
    const first = this.list.version === '';
    list.tests.forEach((/** @type {any} */ t, /** @type {number} */ i) => {
      const outcome = this.kept.get(key(list, t));
      if (outcome && (!ended.has(i) || ended.get(i).old)) ended.set(i, outcome);
    });
    this.list = list;
    this.ended = ended;
    this.chosen = chosen;
    this.arrange();
    this.update();
    if (!first && this.watch.checked) this.runAgain();
  }

  /** A test was run after its insertion; outcome is null if the insertion was undone. @param {{file: string, name: string}} test @param {any} outcome */
  ranKept(test, outcome) {
    const key = test.file + ' ' + test.name;
    this.kept.delete(key);
    if (!outcome) return;
    this.kept.set(key, outcome);
    this.list.tests.forEach((/** @type {any} */ t, /** @type {number} */ i) => {
      if (this.list.files[t.file] + ' ' + t.name === key) this.ended.set(i, outcome);
    });
    this.later();
    this.update();
  }

  /** After a suite was saved: what may change something is asked about by a click only. */
  async runAgain() {
    const tests = this.failed();
    const answer = await this.app.try(() => post('tests-run', { version: this.list.version, all: tests.length === 0, tests, failFast: this.failFast.checked }));
    if (answer?.confirm) this.app.say('A suite was saved. Its tests may change something, so they run by a click only.');
  }

  async readOutcomes() {
    if (this.reading) return;
    this.reading = true;
    const { run, read } = this;
    const part = await this.app.try(() => post('outcomes', { run, after: read }));
    this.reading = false;
    if (!part || run !== this.run) return;
    if (read === 0) for (const o of this.ended.values()) o.old = true;
    this.read = read + part.outcomes.length;
    for (const o of part.outcomes) this.ended.set(o.test, o);
    this.later();
    this.update();
    if (part.outcomes.some((/** @type {any} */ o) => o.test === this.reported)) this.show(this.reported);
  }

  /** Makes the rows of the tests that fit the filter. */
  arrange() {
    const filter = this.filter.value.trim();
    this.rows = [];
    let file = -1;
    this.list.tests.forEach((/** @type {any} */ t, /** @type {number} */ i) => {
      if (!fits(t, filter)) return;
      if (t.file !== file) this.rows.push({ file: (file = t.file) });
      this.rows.push({ test: i });
    });
    this.later();
  }

  selectShown() {
    for (const r of this.rows) if (r.test !== undefined) this.select(r.test, this.all.checked);
    this.later();
    this.update();
  }

  /** @param {number} test @param {boolean} yes */
  select(test, yes) {
    if (yes) this.chosen.add(test);
    else this.chosen.delete(test);
  }

  later() {
    if (this.pending) return;
    this.pending = true;
    drawLater(() => { this.pending = false; this.render(); }, 30);
  }

  render() {
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 10);
    const to = Math.min(this.rows.length, from + Math.ceil((this.scroller.clientHeight || 400) / rowHeight) + 20);
    const focused = document.activeElement?.id;
    fill(this.body, this.gap(from), ...this.rows.slice(from, to).map((r) => (r.test === undefined ? this.fileRow(r.file) : this.testRow(r.test))), this.gap(this.rows.length - to));
    if (focused?.startsWith('test-')) document.getElementById(focused)?.focus({ preventScroll: true });
    this.table.setAttribute('aria-rowcount', String(this.rows.length + 1));
  }

  /** @param {number} n */
  gap(n) {
    if (n <= 0) return null;
    const tr = el('tr', { 'aria-hidden': 'true' }, el('td', { colspan: '5' }));
    tr.firstElementChild.style.height = n * rowHeight + 'px';
    return tr;
  }

  /** @param {number} file */
  fileRow(file) {
    const tests = this.rows.filter((r) => r.test !== undefined && this.list.tests[r.test].file === file).map((r) => r.test);
    const box = el('input', { type: 'checkbox', id: 'test-file-' + file, 'aria-label': 'Select ' + visible(this.list.files[file]), onchange: () => { tests.forEach((t) => this.select(t, box.checked)); this.later(); this.update(); } });
    box.checked = tests.length > 0 && tests.every((t) => this.chosen.has(t));
    return el('tr', { class: 'file' }, el('td', { class: 'col-n' }, box), el('td', { colspan: '4' }, short(this.list.files[file], 300)));
  }

  /** @param {number} n */
  testRow(n) {
    const t = this.list.tests[n];
    const o = this.ended.get(n);
    const box = el('input', { type: 'checkbox', id: 'test-' + n, 'aria-label': 'Select ' + short(t.name, 200), onchange: () => { this.select(n, box.checked); this.update(); } });
    box.checked = this.chosen.has(n);
    const verdict = o ? el('span', { class: o.old ? 'faint' : o.status === 'pass' ? 'good' : o.status === 'skip' ? 'warn' : 'bad' }, (words[o.status] ?? o.status) + (o.old ? ' (before)' : '')) : '';
    return el(
      'tr', { class: 'frame', 'aria-current': n === this.reported ? 'true' : null }, el('td', { class: 'col-n' }, box),
      el('td', {}, button(short(t.name, 300), () => this.show(n), { id: 'test-show-' + n, title: visible([t.server, t.call, ...t.tags].filter(Boolean).join(' · ')) })),
      el('td', { class: 'col-ms' }, verdict), el('td', { class: 'col-ms' }, o?.ms === undefined ? '' : o.ms.toFixed(1)), el('td', { class: 'col-ms' }, String(t.line)),
    );
  }

  /** Shows what the run says about a test. @param {number} n */
  async show(n) {
    this.reported = n;
    this.later();
    const t = this.list.tests[n];
    const o = this.ended.get(n);
    const one = button('Run this test', () => this.start({ all: false, tests: [n] }));
    this.report.hidden = false;
    fill(this.report, el('h3', {}, short(t.name, 300)), el('div', { class: 'row' }, one, el('code', {}, visible(this.list.files[t.file] + ':' + t.line))));
    if (o?.text) {
      this.report.append(el('p', { class: 'faint' }, 'It was run after Insert.'), el('pre', { tabindex: '0', role: 'region', 'aria-label': 'What the run says' }, visible(o.text)));
      return;
    }
    if (!o || o.old) return;
    const r = await this.app.try(() => post('test', { run: this.run, test: n }));
    if (!r || this.reported !== n) return;
    fill(
      this.report, el('h3', {}, short(t.name, 300)),
      el('div', { class: 'row' }, one, el('code', {}, visible(r.place)), r.editor ? el('a', { href: r.editor }, 'Open in editor') : null),
      el('pre', { tabindex: '0', role: 'region', 'aria-label': 'What the run says' }, visible(r.text)),
      ...r.exchanges.flatMap((/** @type {any} */ x, /** @type {number} */ i) => [
        el('h3', {}, 'Exchange ' + (i + 1)), el('pre', { tabindex: '0' }, '→ ' + visible(x.request)), el('pre', { tabindex: '0' }, '← ' + visible(x.response)),
      ]),
    );
    this.report.scrollIntoView({ block: 'nearest' });
  }

  /** @param {any} selection */
  async start(selection) {
    const wanted = { version: this.list.version, failFast: this.failFast.checked, ...selection };
    this.app.say('');
    const answer = await this.app.try(() => post('tests-run', wanted));
    if (!answer?.confirm) return;
    if (await this.ask(answer.calls)) await this.app.try(() => post('tests-run', { ...wanted, confirm: answer.confirm }));
  }

  /** Asks before tests run that may change something. @param {string[]} calls @returns {Promise<boolean>} */
  ask(calls) {
    return new Promise((done) => {
      let yes = false;
      const dialog = el(
        'dialog', { 'aria-label': 'Run these tests?' }, el('h2', {}, 'Run these tests?'), el('p', {}, 'They may change something: the hooks of the suites run, and the tests call'),
        el('ul', {}, ...calls.map((c) => el('li', {}, visible(c)))),
        el('div', { class: 'row' }, button('Run', () => { yes = true; dialog.close(); }, { class: 'main' }), button('Cancel', () => dialog.close(), { autofocus: true })),
      );
      dialog.setAttribute('role', 'dialog');
      dialog.addEventListener('close', () => { dialog.remove(); done(yes); });
      document.body.append(dialog);
      dialog.showModal();
    });
  }
}
