(function () {
  'use strict';
  document.documentElement.classList.add('js');
  var filter = document.getElementById('filter'), broken = document.getElementById('broken');
  var indent = document.getElementById('indent'), shown = document.getElementById('shown');
  var rows = Array.prototype.slice.call(document.querySelectorAll('.m'));
  function pressed(button) { return button.getAttribute('aria-pressed') === 'true'; }
  function toggle(button) { button.setAttribute('aria-pressed', String(!pressed(button))); }

  function apply() {
    var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), n = 0;
    rows.forEach(function (row) {
      var text = row.getAttribute('data-w');
      var fits = words.every(function (word) { return text.indexOf(word) >= 0; });
      row.hidden = !fits || pressed(broken) && !row.classList.contains('bad');
      if (!row.hidden) { n++; }
    });
    shown.textContent = n + ' of ' + rows.length + ' rows';
  }

  // The bytes of an open row are indented, and put back. A text that is not JSON stays.
  var bytes = new WeakMap();
  function draw(row) {
    var pre = row.querySelector('pre');
    if (!pre || !row.open) { return; }
    if (!bytes.has(pre)) { bytes.set(pre, pre.textContent); }
    var raw = bytes.get(pre), text = raw;
    if (pressed(indent)) { text = indented(raw); }
    if (pre.textContent !== text) { pre.textContent = text; }
  }
  // Numbers and the order of members stay as they were sent, so JSON.parse is not used.
  function indented(raw) {
    var out = '', depth = 0, inText = false;
    if (!/^\s*[{[]/.test(raw)) { return raw; }
    for (var i = 0; i < raw.length; i++) {
      var c = raw[i];
      if (inText) {
        out += c;
        if (c === '\\') { out += raw[++i] || ''; } else if (c === '"') { inText = false; }
      } else if (c === '"') { inText = true; out += c; }
      else if (/\s/.test(c)) { continue; }
      else if (c === '{' || c === '[') { depth++; out += c + '\n' + ' '.repeat(2 * depth); }
      else if (c === '}' || c === ']') { depth = Math.max(0, depth - 1); out += '\n' + ' '.repeat(2 * depth) + c; }
      else if (c === ',') { out += c + '\n' + ' '.repeat(2 * depth); }
      else if (c === ':') { out += ': '; }
      else { out += c; }
    }
    return out.replace(/([{[])\n\s*([}\]])/g, '$1$2');
  }

  filter.addEventListener('input', apply);
  broken.addEventListener('click', function () { toggle(broken); apply(); });
  indent.addEventListener('click', function () { toggle(indent); rows.forEach(draw); });
  rows.forEach(function (row) { row.addEventListener('toggle', function () { draw(row); }); });
  apply();
}());
