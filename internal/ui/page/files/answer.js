import { button, el, fill, link, visible } from './dom.js';
import { Form } from './form.js';
import { post } from './net.js';

const examples = /** @type {Record<string, any>} */ ({
  'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: '' }, model: 'a person', stopReason: 'endTurn' },
  'roots/list': { roots: [] },
});

/** What a request is for, and what the buttons do. @type {Record<string, string[]>} */
const meaning = {
  'elicitation/create': [
    'The server asks you for input.', 'Accept sends what the fields say. Decline says that you refuse. Dismiss says that you closed the question without an answer.',
  ],
  'sampling/createMessage': [
    'The server asks for the answer of a language model. The page has none, so you write the answer in its place.',
    'Accept sends the text below as the answer of the model. Decline refuses the request with an error.',
  ],
  'roots/list': [
    'The server asks which folders of this machine it may work with. That is no error: many servers ask right after Connect, because the page declares that it answers such requests.',
    'Accept sends the list below; an empty one says that there are no folders. Decline refuses with an error, and most servers then work without folders.',
  ],
};

/** The tab Answer: what servers ask, the oldest first. */
export class AnswerPanel {
  /** @param {HTMLElement} root @param {any} app */
  constructor(root, app) {
    this.app = app;
    /** @type {Map<number, HTMLElement>} */
    this.shown = new Map();
    this.said = false; // that a server asks
    this.none = el('p', { class: 'faint' }, 'No server asks anything now.');
    this.list = el('div', {});
    root.append(el('h2', {}, 'Requests of servers'), this.none, this.list);
  }

  update() {
    const asks = this.app.state.asks;
    for (const [id, node] of this.shown) {
      if (asks.some((/** @type {any} */ a) => a.id === id)) continue;
      node.remove();
      this.shown.delete(id);
    }
    for (const a of asks) {
      if (this.shown.has(a.id)) continue;
      const node = this.draw(a);
      this.shown.set(a.id, node);
      this.list.append(node);
      this.said = true;
      this.app.say('A server asks: ' + a.method + (a.params?.message ? ': ' + a.params.message : '') + (a.call ? ' (tab Answer)' : ': a question and no error, see the tab Answer. No call waits for it.'));
    }
    if (asks.length === 0 && this.said) this.app.say('');
    this.said &&= asks.length > 0;
    this.none.hidden = asks.length > 0;
    const tab = document.getElementById('tab-Answer');
    if (tab) tab.title = asks.length ? asks.length + ' waiting' : '';
    tab?.classList.toggle('asked', asks.length > 0);
  }

  /** @param {any} a */
  draw(a) {
    const server = this.app.state.servers.find((/** @type {any} */ s) => s.id === a.server)?.name ?? '';
    const p = a.params ?? {};
    const out = el('div', { class: 'ask', role: 'group', 'aria-label': a.method + ' ' + a.id }, el('h3', {}, visible(server) + ' asks: ' + a.method), this.explain(a), p.message ? el('p', {}, visible(p.message)) : null);
    if (a.method === 'elicitation/create') this.form(out, a, p);
    else this.free(out, a, p);
    return out;
  }

  /** What the request is for, and what the buttons do. @param {any} a */
  explain(a) {
    const call = this.app.state.calls.find((/** @type {any} */ c) => c.id === a.call);
    const waits = call ? visible(call.name) + ' waits for the answer.' : 'No call waits for the answer.';
    return el('div', { class: 'faint' }, ...(meaning[a.method] ?? []).map((line) => el('p', {}, line)), el('p', {}, waits));
  }

  /** @param {any} a @param {string} action @param {string} [value] */
  reply(a, action, value) {
    return this.app.try(() => post('answer', { ask: a.id, action }, value === undefined ? {} : { value }));
  }

  /** @param {HTMLElement} out @param {any} a @param {any} p */
  form(out, a, p) {
    const text = el('textarea', { id: 'answer-' + a.id, spellcheck: 'false' });
    /** @type {Record<string, any>} */
    const value = {};
    for (const [name, part] of Object.entries(p.requestedSchema?.properties ?? {})) {
      const d = /** @type {any} */ (part)?.default;
      if (d !== undefined) value[name] = d;
    }
    text.value = JSON.stringify(value, null, 2);
    if (p.mode === 'url') {
      out.append(el('p', {}, 'The address is opened only by you: ', link(p.url)));
    } else {
      const form = new Form(text, (schema, name) => schema.title || name, () => {});
      form.draw(p.requestedSchema ?? {}, 'answer-' + a.id + '-');
      out.append(form.root, el('details', {}, el('summary', {}, 'The same as JSON'), el('label', { for: text.id }, 'Content (JSON)'), text));
    }
    out.append(el(
      'div', { class: 'row' }, button('Accept', () => this.accept(a, p.mode === 'url' ? undefined : text.value), { class: 'main' }),
      button('Decline', () => this.reply(a, 'decline')), button('Dismiss', () => this.reply(a, 'cancel')),
    ));
  }

  /** @param {HTMLElement} out @param {any} a @param {any} p */
  free(out, a, p) {
    const text = el('textarea', { id: 'answer-' + a.id, spellcheck: 'false' });
    text.value = JSON.stringify(examples[a.method] ?? {}, null, 2);
    out.append(
      el('details', { open: true }, el('summary', {}, 'The request'), el('pre', { tabindex: '0' }, visible(JSON.stringify(p, null, 2)))),
      el('label', { for: text.id }, 'Answer'), text,
      el('div', { class: 'row' }, button('Accept', () => this.accept(a, text.value), { class: 'main' }), button('Decline', () => this.reply(a, 'decline'))),
    );
  }

  /** @param {any} a @param {string} [value] */
  accept(a, value) {
    if (value !== undefined) {
      let v = null;
      try {
        v = JSON.parse(value);
      } catch { /* said below */ }
      if (typeof v !== 'object' || v === null || Array.isArray(v)) {
        this.app.say('The answer is not a JSON object, so it was not sent.');
        return;
      }
    }
    return this.reply(a, 'accept', value);
  }
}
