import { button, bytes, el, fill, link, save, visible } from './dom.js';
import { post } from './net.js';

const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'];
const sounds = ['audio/wav', 'audio/x-wav', 'audio/mpeg', 'audio/mp3', 'audio/ogg', 'audio/webm', 'audio/mp4'];

/**
 * What a result does for a test: open the drawer, and expect a part of the result.
 * @typedef {{open: () => void, expect: (part: {at: string, text: string}) => void}} Keep
 */

/** @param {HTMLElement} root @param {number} id @param {any} app @param {Keep|null} keep null: it is not kept */
export async function showResult(root, id, app, keep) {
  const r = await app.try(() => post('result', { call: id }));
  if (!r) return;
  const kept = r.keep && keep ? button('Keep as test', keep.open) : null;
  fill(
    root, el('h3', {}, 'Result'), summary(r), ...problems(r), ...(r.blocks ?? []).map((/** @type {any} */ b) => block(b, r.keep ? keep : null)),
    r.json.size > 0 ? json(r.json, id, app, r.keep ? keep : null) : null, r.blocks ? model(r) : null, el('div', { class: 'row' }, kept),
  );
  root.scrollIntoView({ block: 'nearest' });
}

/** @param {any} r */
function summary(r) {
  const words = /** @type {Record<string, string>} */ ({ result: 'the server returned a result', refused: 'the tool returned an error (isError)', error: 'the server refused the request', 'no response': 'there is no response' });
  const good = r.call.outcome === 'result';
  return el('p', { class: good ? 'good' : 'bad' }, (words[r.call.outcome] ?? r.call.outcome) + (r.ms === undefined ? '' : ' after ' + r.ms.toFixed(1) + ' ms'));
}

/** @param {any} r */
function problems(r) {
  const out = [];
  if (r.cause) out.push(el('p', { class: 'bad' }, visible(r.cause)));
  if (r.detail.length) out.push(el('pre', { tabindex: '0' }, visible(r.detail.join('\n'))));
  if (r.error) out.push(el('p', { class: 'bad' }, 'error ' + r.error.code + ': ' + visible(r.error.message)));
  for (const v of r.violations ?? []) {
    out.push(el('p', {}, el('span', { class: v.tolerated ? 'badge tolerated' : 'badge' }, v.kind), ' ' + visible(v.message), el('small', { class: 'faint' }, ' ' + visible(v.rule))));
  }
  for (const w of r.warnings) out.push(el('p', { class: 'warn' }, 'warning: ' + visible(w)));
  return out;
}

/** @param {any} b @param {Keep|null} keep */
function block(b, keep) {
  const head = [b.role, b.type === 'text' ? '' : b.type, b.name, b.mime].filter(Boolean).map((t) => visible(t)).join(' · ');
  const out = el('div', {}, head ? el('div', { class: 'faint' }, head) : null);
  if (b.uri) out.append(el('div', {}, link(b.uri)));
  if (b.text !== undefined) {
    const shown = el('pre', { tabindex: '0' }, visible(b.text));
    out.append(shown);
    if (keep && b.at) out.append(selection(shown, b.at, keep));
    if (b.size > b.text.length * 2) out.append(el('p', { class: 'faint' }, bytes(b.size) + ' in all; the JSON has the rest'));
  }
  if (b.bytes) out.append(media(b));
  return out;
}

/** A button for the text that is selected. @param {HTMLElement} shown @param {string} at @param {Keep} keep */
function selection(shown, at, keep) {
  const expect = button('Expect the selected text', () => {
    const selected = getSelection();
    if (selected?.anchorNode && shown.contains(selected.anchorNode)) keep.expect({ at, text: String(selected) });
  });
  expect.onmousedown = (e) => e.preventDefault(); // which would end the selection
  const update = () => {
    if (!shown.isConnected) {
      document.removeEventListener('selectionchange', update);
      return;
    }
    const selected = getSelection();
    expect.hidden = !selected || selected.isCollapsed || !shown.contains(selected.anchorNode) || !shown.contains(selected.focusNode);
  };
  expect.hidden = true;
  document.addEventListener('selectionchange', update);
  return expect;
}

/** @param {any} b */
function media(b) {
  const mime = String(b.mime ?? '').toLowerCase();
  if (b.data === undefined) return el('p', { class: 'faint' }, bytes(b.bytes) + ' of data, which are not shown here');
  if (!/^[A-Za-z0-9+/=\s]*$/.test(b.data)) return el('p', { class: 'warn' }, 'the data is not Base64');
  const address = 'data:' + mime + ';base64,' + b.data;
  if (images.includes(mime)) return el('img', { class: 'shown', src: address, alt: 'the image of the result (' + mime + ')' });
  if (sounds.includes(mime)) return el('audio', { controls: true, src: address });
  return el('p', { class: 'faint' }, bytes(b.bytes) + ' of ' + visible(b.mime ?? 'unknown type'));
}

/** @param {any} first @param {number} id @param {any} app @param {Keep|null} keep */
function json(first, id, app, keep) {
  const shown = el('pre', { tabindex: '0' }, visible(first.text));
  const out = el('details', {}, el('summary', {}, 'JSON (' + bytes(first.size) + ')'), shown);
  let next = first.next;
  const left = () => 'Show more (' + bytes(first.size - next) + ' left)';
  const more = button(left(), async () => {
    const p = await app.try(() => post('text', { call: id, from: next }));
    if (!p) return;
    shown.append(visible(p.text));
    next = p.next;
    more.hidden = next >= first.size;
    more.textContent = left();
  });
  more.hidden = next >= first.size;
  const all = button('Save', async () => {
    const parts = [first.text];
    for (let at = first.next; at < first.size;) {
      const p = await app.try(() => post('text', { call: id, from: at }));
      if (!p || p.next <= at) return;
      parts.push(p.text);
      at = p.next;
    }
    save('result.json', parts);
  });
  out.append(el('div', { class: 'row' }, more, all));
  if (first.next >= first.size) {
    try {
      out.append(el('details', {}, el('summary', {}, 'Tree'), tree(JSON.parse(first.text), '', keep)));
    } catch { /* what is not JSON has no tree */ }
  }
  return out;
}

/** @param {any} value @param {string} at its JSON pointer @param {Keep|null} keep @returns {Node} */
function tree(value, at, keep) {
  if (typeof value !== 'object' || value === null) {
    const text = visible(JSON.stringify(value));
    return keep ? button(text, () => keep.expect({ at, text: '' }), { class: 'value', title: 'Expect this value, or no longer' }) : el('span', {}, text);
  }
  const out = el('div', { class: 'tree' });
  if (keep && at) {
    const what = Array.isArray(value) ? 'Expect this length' : 'Expect these members';
    out.append(button(what, () => keep.expect({ at, text: '' }), { class: 'value' }));
  }
  for (const [key, v] of Object.entries(value).slice(0, 1000)) {
    const below = at + '/' + key.replaceAll('~', '~0').replaceAll('/', '~1');
    if (typeof v !== 'object' || v === null) {
      out.append(el('div', {}, visible(key) + ': ', tree(v, below, keep)));
      continue;
    }
    const d = el('details', {}, el('summary', {}, visible(key) + (Array.isArray(v) ? ' [' + v.length + ']' : ' {' + Object.keys(v).length + '}')));
    d.addEventListener('toggle', () => { if (d.open && d.childElementCount === 1) d.append(tree(v, below, keep)); });
    out.append(d);
  }
  return out;
}

/** @param {any} r */
function model(r) {
  const text = (r.blocks ?? []).filter((/** @type {any} */ b) => b.text !== undefined).map((/** @type {any} */ b) => b.text).join('\n');
  return el(
    'details', {}, el('summary', {}, 'As a model gets it (about ' + r.tokens + ' tokens)'), el('pre', { tabindex: '0' }, visible(text || '(no text)')),
    ...r.findings.map((/** @type {any} */ f) => el('p', { class: 'warn' }, visible(f.profile + ': ' + f.message))),
  );
}
