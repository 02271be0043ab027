import { el, visible } from './dom.js';

// One value in two views: the text of the JSON is the value, the fields change parts of it.
// Numbers keep their digits where the browser can do that.

const raw = /** @type {any} */ (JSON).rawJSON;

/** @param {string} text @returns {any} */
export function parse(text) {
  return JSON.parse(text, /** @type {any} */ ((/** @type {string} */ _, /** @type {any} */ value, /** @type {any} */ context) => (
    typeof value === 'number' && raw && context?.source ? raw(context.source) : value)));
}

/** @param {any} value */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !(raw && /** @type {any} */ (JSON).isRawJSON(value));

/** @param {string} text */
function isJSON(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * What is wrong with a value that was typed into a field; "" if its type fits. It can be sent all the same.
 * @param {any} schema @param {string} typed
 */
function misfit(schema, typed) {
  if (typed === '' || schema.type === 'string') return '';
  if (!isJSON(typed)) {
    const wanted = ['number', 'integer'].includes(schema.type) ? 'Not a number' : 'Not JSON';
    return wanted + ': it is sent as a text. You can send it, to see what the server says.';
  }
  const value = JSON.parse(typed);
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const wanted = [schema.type ?? []].flat().map((/** @type {string} */ t) => (t === 'integer' ? 'number' : t));
  if (wanted.length > 0 && !wanted.includes(kind)) return 'The tool wants ' + [schema.type].flat().join(' or ') + ', and this is ' + kind + '. You can send it, to see what the server says.';
  if (schema.type === 'integer' && !Number.isInteger(value)) return 'The tool wants a whole number. You can send it, to see what the server says.';
  return '';
}

/** @param {any} schema @returns {any[]|null} */
function choices(schema) {
  if (Array.isArray(schema.enum)) return schema.enum;
  const consts = (schema.oneOf ?? schema.anyOf ?? []).map((/** @type {any} */ s) => s?.const);
  return consts.length > 0 && consts.every((/** @type {any} */ c) => c !== undefined) ? consts : null;
}

/** The fields for an object schema, next to the text area that has the value. */
export class Form {
  /** @param {HTMLTextAreaElement} text @param {(schema: any, name: string) => string} label @param {() => void} changed */
  constructor(text, label, changed) {
    this.text = text;
    this.label = label;
    this.changed = changed;
    this.root = el('div', {});
    /** @type {Map<string, {schema: any, input: any, wrong: HTMLElement}>} */
    this.fields = new Map();
    text.addEventListener('input', () => { this.read(); changed(); });
  }

  /** @param {any} schema @param {string} prefix makes ids unique */
  draw(schema, prefix) {
    this.root.replaceChildren();
    this.fields.clear();
    const required = Array.isArray(schema?.required) ? schema.required : [];
    let n = 0;
    for (const [name, part] of Object.entries(isObject(schema?.properties) ? schema.properties : {})) {
      if (n++ >= 100) break; // the text has the rest
      const one = isObject(part) ? /** @type {any} */ (part) : {};
      const input = this.input(one, prefix + n);
      input.id = prefix + n;
      input.addEventListener('input', () => this.write(name, one, input));
      const note = [required.includes(name) ? 'required' : '', one.description ?? ''].filter(Boolean).join(': ');
      const about = note ? el('small', { id: prefix + n + '-about' }, visible(note)) : null;
      const wrong = el('small', { id: prefix + n + '-wrong', class: 'bad', role: 'status' });
      input.setAttribute('aria-describedby', about ? about.id + ' ' + wrong.id : wrong.id);
      this.root.append(el('div', { class: 'field' }, el('label', { for: input.id }, visible(this.label(one, name))), input, about, wrong));
      this.fields.set(name, { schema: one, input, wrong });
    }
    this.read();
  }

  /** @param {any} schema @param {string} id */
  input(schema, id) {
    const some = choices(schema) ?? (schema.type === 'boolean' ? [true, false] : null);
    if (some) return el('select', {}, el('option', { value: '' }, '(none)'), ...some.map((c) => el('option', { value: JSON.stringify(c) }, visible(typeof c === 'string' ? c : JSON.stringify(c)))));
    if (schema.type === 'string') return schema.maxLength === undefined || schema.maxLength <= 200 ? el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' }) : el('textarea', { spellcheck: 'false' });
    if (schema.type === 'number' || schema.type === 'integer') return el('input', { type: 'text', inputmode: 'decimal', autocomplete: 'off' });
    return el('textarea', { spellcheck: 'false', placeholder: 'JSON' });
  }

  /** Puts the value into the fields. */
  read() {
    let value = null;
    try {
      value = parse(this.text.value);
    } catch { /* the text stays as it is */ }
    const usable = isObject(value);
    for (const [name, { schema, input }] of this.fields) {
      input.disabled = !usable;
      if (!usable || document.activeElement === input) continue;
      input.value = this.shown(schema, Object.hasOwn(value, name) ? value[name] : undefined, input);
      this.judge(name);
    }
    return usable;
  }

  /** Says beside a field what does not fit. @param {string} name */
  judge(name) {
    const field = this.fields.get(name);
    if (!field) return;
    const why = field.input.tagName === 'SELECT' ? '' : misfit(field.schema, field.input.value);
    field.wrong.textContent = why;
    if (why) field.input.setAttribute('aria-invalid', 'true');
    else field.input.removeAttribute('aria-invalid');
  }

  /** @param {any} schema @param {any} value @param {any} input */
  shown(schema, value, input) {
    if (value === undefined) return '';
    if (input.tagName === 'SELECT') return JSON.stringify(value);
    if (typeof value === 'string' && (schema.type === 'string' || !isJSON(value))) return value; // what was typed
    return JSON.stringify(value);
  }

  /** Puts one field into the value; an empty one leaves the property out. @param {string} name @param {any} schema @param {any} input */
  write(name, schema, input) {
    const value = parse(this.text.value);
    /** @param {any} v */
    const set = (v) => Object.defineProperty(value, name, { value: v, enumerable: true, configurable: true, writable: true }); // also __proto__
    if (input.value === '') {
      delete value[name];
    } else if (schema.type === 'string' && input.tagName !== 'SELECT') {
      set(input.value);
    } else {
      try {
        set(parse(input.value));
      } catch {
        set(input.value); // sent as a text
      }
    }
    this.judge(name);
    this.text.value = JSON.stringify(value, null, 2);
    this.changed();
  }
}
