// Elements are made here, and nowhere from text: what a server sends is only ever a text node.

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; on… are listeners
 * @param {...(Node|string|null|undefined)} children
 * @returns {any}
 */
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? '' : String(value));
  }
  e.append(...children.filter((c) => c !== null && c !== undefined).map((c) => /** @type {Node|string} */ (c)));
  return e;
}

/** @param {Element} parent @param {...(Node|string|null)} children */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((c) => c !== null).map((c) => /** @type {Node|string} */ (c)));
}

/** The lines of a diff; what is added and removed is marked. @param {string[]} lines @returns {Node[]} */
export function diffLines(lines) {
  return lines.map((line, i) => {
    const text = visible(line) + (i + 1 < lines.length ? '\n' : '');
    if (line.startsWith('+')) return el('span', { class: 'good' }, text);
    if (line.startsWith('-')) return el('span', { class: 'bad' }, text);
    return document.createTextNode(text);
  });
}

// A click is lost if its element is replaced between press and release.
let pressed = 0; // when a pointer was pressed; 0 is not now
addEventListener('pointerdown', () => { pressed = Date.now(); }, true);
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => { pressed = 0; }, true);

/** Draws a list after a while, but not while a button of it is pressed. @param {() => void} draw @param {number} ms */
export function drawLater(draw, ms) {
  setTimeout(() => {
    const held = pressed !== 0 && Date.now() - pressed < 1000; // a release outside of the window may not be seen
    if (held) drawLater(draw, ms);
    else draw();
  }, ms);
}

// Characters that change the order of a text, or that cannot be seen.
const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]/g;

/** @param {unknown} text @returns {string} */
export function visible(text) {
  return String(text ?? '').replace(hidden, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** @param {unknown} text @param {number} most */
export function short(text, most) {
  const s = visible(text);
  return s.length > most ? s.slice(0, most) + '…' : s;
}

/** @param {string} name @param {() => void} act @param {Record<string, any>} [props] @returns {HTMLButtonElement} */
export function button(name, act, props = {}) {
  return el('button', { type: 'button', onclick: act, ...props }, name);
}

/** A link that is opened by a click only. @param {unknown} address @returns {Node} */
export function link(address) {
  const text = String(address ?? '');
  let url = null;
  try {
    url = new URL(text);
  } catch {
    return document.createTextNode(visible(text));
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return document.createTextNode(visible(text));
  return el('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, visible(text));
}

/** @param {number} n */
export function bytes(n) {
  if (n < 10000) return n + ' B';
  if (n < 10e6) return (n / 1024).toFixed(1) + ' KiB';
  return (n / 1048576).toFixed(1) + ' MiB';
}

/** @param {string} name @param {BlobPart[]} parts */
export function save(name, parts) {
  const address = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }));
  const a = el('a', { href: address, download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
