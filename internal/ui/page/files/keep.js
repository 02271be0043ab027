import { button, diffLines, el, fill, short, visible } from './dom.js';
import { post } from './net.js';

/** The drawer Keep as test: the assertions, the change of the file, the verdict. */
export class KeepDrawer {
  /** @param {any} app @param {string} id of the drawer in the page */
  constructor(app, id) {
    this.app = app;
    this.id = id;
    /** What the test is made of: {call}, or {recorded: {cassette, line}}. @type {any} */
    this.subject = null;
    this.asked = 0;
    this.proposed = Promise.resolve(); // the latest question for the test
    this.typing = 0;
    this.draft = null;
    /** Parts of the result that were clicked. @type {{at: string, text: string}[]} */
    this.parts = [];
    /** Texts of assertions that are not wanted. @type {Set<string>} */
    this.unwanted = new Set();
    this.insertion = -1;
    this.kept = { file: '', name: '' }; // the test of the insertion
    this.name = el('input', { type: 'text', id: id + '-name', autocomplete: 'off', oninput: () => this.proposeSoon() });
    this.file = el('select', { id: id + '-file', onchange: () => this.propose() });
    this.boxes = el('fieldset', {});
    this.notes = el('div', {});
    this.diff = el('pre', { role: 'region', 'aria-label': 'Diff', tabindex: '0' });
    this.insert = button('Insert', () => this.toInsert(), { class: 'main' });
    this.undo = button('Undo', () => this.toUndo());
    this.again = button('Run now', () => this.run());
    this.verdict = el('div', { role: 'status' });
    this.root = el(
      'div', { class: 'drawer', role: 'region', 'aria-label': 'Keep as test', hidden: true }, el('h3', {}, 'Keep as test'),
      el('div', { class: 'field' }, el('label', { for: id + '-name' }, 'Test name'), this.name),
      el('div', { class: 'field' }, el('label', { for: id + '-file' }, 'File'), this.file),
      this.boxes, this.notes, this.diff, el('div', { class: 'row stays' }, this.insert, this.undo, this.again), this.verdict,
    );
  }

  close() {
    this.root.hidden = true;
    this.subject = null;
  }

  /** @param {any} subject */
  open(subject) {
    this.subject = subject;
    this.draft = null;
    this.insert.disabled = true;
    this.insertion = -1;
    this.name.value = '';
    this.parts = [];
    this.unwanted = new Set();
    fill(this.file, ...this.app.state.files.map((/** @type {string} */ f, /** @type {number} */ i) => el('option', { value: i }, visible(f))));
    const made = this.app.state.calls.find((/** @type {any} */ c) => c.id === subject.call);
    this.file.value = String(this.app.state.servers.find((/** @type {any} */ s) => s.id === made?.server)?.file ?? 0);
    fill(this.boxes);
    fill(this.verdict);
    fill(this.notes);
    fill(this.diff);
    this.again.hidden = true;
    this.undo.disabled = true;
    this.root.hidden = false;
    this.root.scrollIntoView({ block: 'nearest' });
    return this.propose();
  }

  choice() {
    const leave = [...this.boxes.querySelectorAll('input')].flatMap((box, i) => (box.checked ? [] : [i]));
    return { ...this.subject, file: Number(this.file.value), name: this.name.value, leave, parts: this.parts };
  }

  /** Adds or removes what is expected of a part of the result. @param {any} subject @param {{at: string, text: string}} part */
  async expect(subject, part) {
    if (this.root.hidden || JSON.stringify(this.subject) !== JSON.stringify(subject)) await this.open(subject);
    if (this.insertion >= 0) {
      this.app.say('The test is inserted; Undo first to change what it expects.');
      return;
    }
    await this.proposed;
    if (!this.draft) return;
    const known = this.parts.findIndex((p) => p.at === part.at && p.text === part.text);
    if (known >= 0) {
      this.parts.splice(known, 1);
      await this.proposeAnew();
      this.app.say('This value is not expected any more.');
      return;
    }
    const before = /** @type {any} */ (this.draft).assertions.map((/** @type {any} */ a) => a.text);
    this.parts.push(part);
    await this.proposeAnew();
    const draft = /** @type {any} */ (this.draft);
    const chosen = draft?.assertions[draft.parts.at(-1)]?.text;
    if (chosen === undefined || before.includes(chosen)) this.parts.pop();
    if (chosen === undefined) {
      this.app.say('Nothing can be expected of this value: it changes, or it is secret.');
      return;
    }
    if (before.includes(chosen)) { // it was offered already: its tick box changes
      if (!this.unwanted.delete(chosen)) this.unwanted.add(chosen);
      await this.proposeAnew();
    }
    this.app.say((this.unwanted.has(chosen) ? 'Not expected any more: ' : 'Expected: ') + short(chosen, 200));
  }

  /** Asks for the test with other assertions: their tick boxes are made first, and say which of them are wanted. */
  async proposeAnew() {
    await this.propose();
    await this.propose();
  }

  /** Asks for the test while its name is typed. */
  proposeSoon() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.propose(), 250);
  }

  /** Asks for the test as it would be written. */
  propose() {
    clearTimeout(this.typing);
    this.typing = 0;
    this.proposed = this.ask();
    return this.proposed;
  }

  async ask() {
    const asked = ++this.asked;
    const choice = this.choice();
    let draft = null;
    try {
      draft = await post('draft', choice);
    } catch (e) {
      if (asked !== this.asked) return;
      this.draft = null;
      this.insert.disabled = true;
      fill(this.notes, el('p', { class: 'bad' }, visible(/** @type {Error} */ (e).message)));
      return;
    }
    if (asked !== this.asked) return;
    this.draft = draft;
    this.name.placeholder = draft.name;
    this.drawBoxes(draft.assertions);
    fill(this.notes, ...draft.notes.map((/** @type {string} */ n) => el('p', { class: 'warn' }, visible(n))), this.empty(draft) ? el('p', { class: 'warn' }, 'The test expects nothing of the result: it passes with every one.') : null,
      draft.creates && this.insertion < 0 ? el('p', {}, visible(this.app.state.files[this.choice().file]) + ' does not exist yet: Insert creates it.') : null);
    fill(this.diff, ...diffLines(draft.diff));
    this.insert.disabled = this.insertion >= 0;
  }

  /** Makes a tick box for each assertion, unless they are there. @param {any[]} assertions */
  drawBoxes(assertions) {
    const boxes = [...this.boxes.querySelectorAll('input')];
    const same = boxes.length === assertions.length && boxes.every((b, i) => b.value === assertions[i].text && b.checked !== this.unwanted.has(b.value));
    if (same) return;
    const focused = document.activeElement?.id;
    fill(this.boxes, el('legend', {}, 'What the test expects'), ...assertions.map((a, i) => {
      const box = el('input', { type: 'checkbox', id: this.id + '-expect-' + i, onchange: () => this.want(a.text, box.checked) });
      box.value = a.text;
      box.checked = !this.unwanted.has(a.text);
      return el(
        'div', { class: 'check' }, box,
        el('label', { for: box.id }, short(a.sentence, 300), a.note ? el('small', { class: 'faint' }, ' ' + visible(a.note)) : null),
      );
    }));
    if (focused?.startsWith(this.id + '-expect-')) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  /** @param {string} text @param {boolean} yes */
  want(text, yes) {
    if (yes) this.unwanted.delete(text);
    else this.unwanted.add(text);
    this.propose();
  }

  /** Whether no assertion is left of those that were offered. @param {any} draft */
  empty(draft) { return draft.assertions.length > 0 && this.choice().leave.length === draft.assertions.length; }

  async toInsert() {
    if (this.typing) this.propose();
    await this.proposed; // what is inserted is what is shown
    if (!this.draft || this.insertion >= 0) return;
    this.insert.disabled = true;
    const done = await this.app.try(() => post('insert', { ...this.choice(), shown: /** @type {any} */ (this.draft).shown }));
    if (!done) {
      await this.propose(); // the file may have changed
      return;
    }
    this.insertion = done.insertion;
    this.undo.disabled = false;
    this.app.say('Inserted as "' + done.name + '" in ' + done.place);
    const [file] = done.place.split(/:(?=\d+$)/);
    this.kept = { file, name: done.name };
    const notes = /** @type {any} */ (this.draft).notes;
    fill(this.notes, ...notes.map((/** @type {string} */ n) => el('p', { class: 'warn' }, visible(n))), el('p', { class: 'good' }, 'Written to ' + visible(done.place) + '. Without this page it is run by: ', el('code', {}, 'mcptest run ' + visible(file))));
    if (done.runs) {
      await this.run();
      return;
    }
    this.again.textContent = 'Run now (calls ' + visible(done.tool) + (this.subject.recorded ? ')' : ' again)');
    this.again.hidden = false;
    fill(this.verdict, el('p', {}, 'Inserted. The test was not run, because that calls ' + visible(done.tool) + '.'));
  }

  async run() {
    fill(this.verdict, el('p', {}, 'Running the test …'));
    this.again.disabled = true;
    let shown = [];
    try {
      const { kept } = this;
      const v = await post('run', { insertion: this.insertion });
      this.app.ranKept?.(kept, { status: v.passed ? 'pass' : 'fail', text: v.text });
      shown = [el('p', { class: v.passed ? 'good' : 'bad' }, v.passed ? 'passed' : 'failed'), el('pre', { tabindex: '0', 'aria-label': 'Report', role: 'region' }, visible(v.text))];
    } catch (e) {
      shown = [el('p', { class: 'bad' }, visible(/** @type {Error} */ (e).message))];
    }
    this.again.disabled = false;
    fill(this.verdict, ...shown);
    this.verdict.scrollIntoView({ block: 'nearest' });
  }

  async toUndo() {
    const done = await this.app.try(() => post('undo', { insertion: this.insertion }));
    if (!done) return;
    this.app.ranKept?.(this.kept, null);
    this.insertion = -1;
    this.undo.disabled = true;
    this.again.hidden = true;
    fill(this.verdict, el('p', {}, 'Undone: the file is what it was.'));
    await this.propose();
  }
}
