import { button, bytes, el, fill, link, save, visible } from './dom.js';
import { post } from './net.js';

const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'];
const sounds = ['audio/wav', 'audio/x-wav', 'audio/mpeg', 'audio/mp3', 'audio/ogg', 'audio/webm', 'audio/mp4'];

/** @param {HTMLElement} root @param {number} id @param {any} app @param {(() => void)|null} keep null: it is not kept */
export async function showResult(root, id, app, keep) {
  const r = await app.try(() => post('result', { call: id }));
  if (!r) return;
  const kept = r.keep && keep ? button('Keep as test', keep) : null;
  fill(
    root, el('h3', {}, 'Result'), summary(r), ...problems(r), ...(r.blocks ?? []).map((/** @type {any} */ b) => block(b)),
    r.json.size > 0 ? json(r.json, id, app) : null, r.blocks ? model(r) : null, el('div', { class: 'row' }, kept),
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

/** @param {any} b */
function block(b) {
  const head = [b.role, b.type === 'text' ? '' : b.type, b.name, b.mime].filter(Boolean).map((t) => visible(t)).join(' · ');
  const out = el('div', {}, head ? el('div', { class: 'faint' }, head) : null);
  if (b.uri) out.append(el('div', {}, link(b.uri)));
  if (b.text !== undefined) {
    out.append(el('pre', { tabindex: '0' }, visible(b.text)));
    if (b.size > b.text.length * 2) out.append(el('p', { class: 'faint' }, bytes(b.size) + ' in all; the JSON has the rest'));
  }
  if (b.bytes) out.append(media(b));
  return out;
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

/** @param {any} first @param {number} id @param {any} app */
function json(first, id, app) {
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
      out.append(el('details', {}, el('summary', {}, 'Tree'), tree(JSON.parse(first.text))));
    } catch { /* what is not JSON has no tree */ }
  }
  return out;
}

/** @param {any} value @returns {Node} */
function tree(value) {
  if (typeof value !== 'object' || value === null) return el('span', {}, visible(JSON.stringify(value)));
  const out = el('div', { class: 'tree' });
  for (const [key, v] of Object.entries(value).slice(0, 1000)) {
    if (typeof v !== 'object' || v === null) {
      out.append(el('div', {}, visible(key) + ': ', tree(v)));
      continue;
    }
    const d = el('details', {}, el('summary', {}, visible(key) + (Array.isArray(v) ? ' [' + v.length + ']' : ' {' + Object.keys(v).length + '}')));
    d.addEventListener('toggle', () => { if (d.open && d.childElementCount === 1) d.append(tree(v)); });
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
