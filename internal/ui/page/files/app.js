import { button, el, visible } from './dom.js';
import { follow, hasToken, Problem } from './net.js';
import { AnswerPanel } from './answer.js';
import { CallPanel } from './call.js';
import { CassettesPanel } from './cassettes.js';
import { HistoryPanel } from './history.js';
import { ServerPanel } from './server.js';
import { TestsPanel } from './tests.js';
import { WirePanel } from './wire.js';

/** @typedef {{name: string, panel: HTMLElement, tab: HTMLButtonElement}} View */

const names = ['Server', 'Call', 'Answer', 'Wire', 'Tests', 'History', 'Cassettes'];
// Panels that are shown without the others.
const alone = ['Tests', 'History', 'Cassettes'];
/** @type {View[]} */
const views = [];
const main = /** @type {HTMLElement} */ (document.getElementById('main'));

/** @param {string} id @returns {HTMLElement} */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** What the panels share. */
export const app = {
  /** @type {any} */
  state: { servers: [], calls: [], asks: [], files: [], cassettes: [], protocols: [], problem: '', suites: '', run: { id: 0 } },
  /** Says something to the person. @param {string} text */
  say(text) { byId('said').textContent = visible(text); },
  /** Does something that can be refused. @param {() => Promise<any>} act */
  async try(act) {
    try {
      return await act();
    } catch (e) {
      if (!(e instanceof Problem)) throw e;
      app.say(e.message);
      return null;
    }
  },
  /** @param {string} name @param {boolean} [focus] */
  show(name, focus) {
    for (const v of views) {
      const current = v.name === name;
      v.tab.setAttribute('aria-selected', String(current));
      v.tab.tabIndex = current ? 0 : -1;
      v.panel.classList.toggle('current', current);
      if (current && focus) v.tab.focus();
    }
    main.classList.toggle('answering', name === 'Answer');
    main.classList.toggle('single', alone.includes(name));
    wire.render();
    if (name === 'Cassettes') cassettes.open();
    if (name === 'Tests') tests.open();
    if (name === 'History') past.read();
  },
  /** The number of the chosen server. */
  chosen() { return server.chosen; },
  /** @param {any} item */
  choose(item) {
    call.choose(item);
    if (matchMedia('(max-width: 900px)').matches) app.show('Call', true);
    else app.show('Call');
  },
};

for (const name of names) {
  const tab = button(name, () => app.show(name), { role: 'tab', id: 'tab-' + name, 'aria-controls': 'panel-' + name });
  byId('tabs').append(tab);
  views.push({ name, panel: byId('panel-' + name), tab });
}
byId('tabs').addEventListener('keydown', (e) => {
  const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
  const now = views.findIndex((v) => v.tab === document.activeElement);
  if (step && now >= 0) app.show(/** @type {View} */ (views[(now + step + views.length) % views.length]).name, true);
});

const server = new ServerPanel(byId('panel-Server'), app);
const call = new CallPanel(byId('panel-Call'), app);
const answer = new AnswerPanel(byId('panel-Answer'), app);
const wire = new WirePanel(byId('panel-Wire'), app);
const past = new HistoryPanel(byId('panel-History'), app);
const tests = new TestsPanel(byId('panel-Tests'), app);
const cassettes = new CassettesPanel(byId('panel-Cassettes'), app);

const keys = [
  ['?', 'this list'], ['1 to ' + names.length, 'the tabs ' + names.join(', ')], ['/', 'search the lists'], ['f', 'filter the wire'],
  ['Ctrl+Enter', 'Send, while you write arguments'], ['Esc', 'close a question'], ['← →', 'change the tab, on the tabs'],
];

function help() {
  const list = el('dl', {});
  for (const [name, text] of keys) list.append(el('dt', {}, el('kbd', {}, name)), el('dd', {}, text));
  const dialog = el('dialog', { 'aria-label': 'Keys' }, el('h2', {}, 'Keys'), list, button('Close', () => dialog.close()));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
byId('help').addEventListener('click', help);

document.addEventListener('keydown', (e) => {
  const at = /** @type {HTMLElement} */ (e.target);
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
  if (at.matches('input, textarea, select')) return;
  const n = /^[1-9]$/.test(e.key) && Number(e.key) <= names.length ? Number(e.key) - 1 : -1;
  if (e.key === '?') help();
  else if (n >= 0) app.show(/** @type {string} */ (names[n]), true);
  else if (e.key === '/') server.search.focus();
  else if (e.key === 'f') wire.filter.focus();
  else return;
  e.preventDefault();
});

/** @param {string} problem */
function banner(problem) {
  const shown = byId('banner');
  shown.hidden = problem === '';
  if (shown.textContent !== visible(problem)) shown.textContent = visible(problem);
}

/** @param {any} message */
function receive(message) {
  if (message.state) {
    app.state = { problem: '', ...message.state };
    server.update();
    call.update();
    answer.update();
    cassettes.update();
    tests.update();
  }
  if (message.rows) {
    wire.add(message.rows, message.lost);
    server.addRows(message.rows);
  }
}

app.show('Server');
if (hasToken()) {
  follow(receive, banner);
} else {
  banner('This page was opened without its token: open the whole address that mcptest ui printed in the terminal, with the part behind #.');
}
