import { el, fill, button, visible } from './dom.js';
import { KeepDrawer } from './keep.js';
import { post } from './net.js';
import { WirePanel } from './wire.js';

/** The tab Cassettes: recorded traffic, of which calls can be kept. */
export class CassettesPanel {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    this.app = app;
    this.names = '';
    this.shown = -1; // the cassette whose rows are in the table
    this.choice = el('select', { id: 'cassette', onchange: () => this.show() });
    this.about = el('div', {});
    this.messages = el('div', {});
    this.keep = new KeepDrawer(app, 'recorded');
    this.wire = new WirePanel(this.messages, app, {
      title: 'Recorded messages', filter: 'Filter of the cassette', most: Infinity,
      load: (seq, from) => post('recorded', { cassette: this.shown, seq, from }),
      offer: (row) => this.offer(row),
    });
    this.none = el(
      'p', {}, 'No cassette was named when mcptest ui was started: ', el('code', {}, 'mcptest ui --cassette FILE'), '. ',
      el('code', {}, 'mcptest record -o FILE -- command'), ' records one while a client uses a server.',
    );
    this.some = el('div', { hidden: true }, el('div', { class: 'row' }, el('label', { for: 'cassette' }, 'Cassette'), this.choice), this.about, this.messages, this.keep.root);
    root.append(el('h2', {}, 'Cassettes'), this.none, this.some);
  }

  update() {
    /** @type {string[]} */
    const names = this.app.state.cassettes;
    if (this.names === names.join('\n')) return;
    this.names = names.join('\n');
    this.none.hidden = names.length > 0;
    this.some.hidden = names.length === 0;
    const chosen = this.choice.value;
    fill(this.choice, ...names.map((n, i) => el('option', { value: i }, visible(n))));
    if (chosen) this.choice.value = chosen; // a cassette that was saved is added at the end
    if (names.length && this.app.state.servers.length === 0 && !this.app.state.problem) this.app.show('Cassettes'); // there is nothing else
  }

  /** The tab is shown. */
  open() {
    if (this.shown < 0 && this.app.state.cassettes.length > 0) this.show();
    this.wire.later();
  }

  /** Reads the chosen cassette. */
  async show() {
    const cassette = Number(this.choice.value);
    this.shown = cassette;
    this.keep.close();
    this.wire.clear();
    fill(this.about, el('p', { class: 'faint' }, 'Reading …'));
    for (let after = 0; ;) {
      const part = await this.app.try(() => post('cassette', { cassette, after }));
      if (this.shown !== cassette) return;
      if (!part) {
        fill(this.about);
        this.shown = -1;
        return;
      }
      this.wire.add(part.rows, 0);
      this.wire.follow = false; // the beginning is shown
      if (after === 0) this.describe(part);
      after = part.last;
      if (after >= part.size) return;
    }
  }

  /** @param {any} part */
  describe(part) {
    fill(
      this.about, ...part.about.map((/** @type {string} */ line) => el('p', { class: 'faint' }, visible(line))),
      ...part.problems.map((/** @type {string} */ p) => el('p', {}, el('span', { class: 'badge' }, visible(p.split(':')[0])), visible(p.slice(p.indexOf(':') + 1)))),
    );
  }

  /** @param {any} row */
  offer(row) {
    if (!row.keep) return null;
    return button('Keep as test', () => this.keep.open({ recorded: { cassette: this.shown, line: row.line } }), { class: 'main' });
  }
}
