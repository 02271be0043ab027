(function () {
  'use strict';
  var root = document.documentElement;
  root.classList.add('js');
  var $ = function (s) { return document.querySelector(s); };
  var tests = Array.prototype.slice.call(document.querySelectorAll('.suite .t'));
  var suites = Array.prototype.slice.call(document.querySelectorAll('.suite'));
  var tools = $('.tools'), search = $('#search'), shown = $('#shown'), empty = $('#empty');
  var chips = Array.prototype.slice.call(document.querySelectorAll('.chips button'));
  var words = null, want = {};

  // The text of a test is read once, at the first search.
  function index() {
    if (!words) {
      words = tests.map(function (t) {
        return (t.firstElementChild.textContent + ' ' + (t.getAttribute('data-v') || '') + ' ' + tags(t).join(' ') + ' ' + (t.getAttribute('data-k') || '')).toLowerCase();
      });
    }
    return words;
  }

  // A select offers what the tests have, if there is a choice.
  function offer(id, values) {
    var select = $('#' + id), seen = {};
    values.forEach(function (v) { if (v) { seen[v] = true; } });
    var list = Object.keys(seen).sort();
    if (list.length < (id === 'tag' ? 1 : 2)) { return select; }
    list.forEach(function (v) { var o = document.createElement('option'); o.value = o.textContent = v; select.appendChild(o); });
    select.parentNode.hidden = false;
    return select;
  }
  function tags(t) { return (t.getAttribute('data-g') || '').split('\n').filter(Boolean); }

  function apply() {
    var q = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    var any = Object.keys(want).length > 0, n = 0;
    var text = q.length ? index() : null;
    tests.forEach(function (t, i) {
      var ok = !any || want[t.getAttribute('data-s')] || (want.flaky && t.hasAttribute('data-f'));
      if (ok && server.value) { ok = t.getAttribute('data-v') === server.value; }
      if (ok && tag.value) { ok = tags(t).indexOf(tag.value) >= 0; }
      if (ok && text) { ok = q.every(function (w) { return text[i].indexOf(w) >= 0; }); }
      if (t.hidden === !!ok) { t.hidden = !ok; }
      if (ok) { n++; }
    });
    suites.forEach(function (s) { s.hidden = !s.querySelector('.t:not([hidden])'); });
    shown.textContent = n === tests.length ? '' : n + ' of ' + tests.length + ' shown';
    empty.hidden = n > 0;
  }

  // The filters are kept in the fragment of the address: #q=…&status=…&server=…&tag=…
  function remember() {
    var parts = [];
    var add = function (k, v) { if (v) { parts.push(k + '=' + encodeURIComponent(v)); } };
    add('q', search.value.trim()); add('status', Object.keys(want).join(',')); add('server', server.value); add('tag', tag.value);
    try { history.replaceState(null, '', parts.length ? '#' + parts.join('&') : location.pathname + location.search); } catch (err) { /* filters work without it */ }
  }
  function change() { apply(); remember(); }
  function press(c, on) {
    c.setAttribute('aria-pressed', on ? 'true' : 'false');
    if (on) { want[c.getAttribute('data-w')] = true; } else { delete want[c.getAttribute('data-w')]; }
  }
  function recall() {
    if (location.hash.indexOf('=') < 0) { return false; }
    var has = {};
    location.hash.slice(1).split('&').forEach(function (p) {
      var at = p.indexOf('=');
      try { has[p.slice(0, at)] = decodeURIComponent(p.slice(at + 1)); } catch (err) { /* not ours */ }
    });
    search.value = has.q || ''; server.value = has.server || ''; tag.value = has.tag || '';
    if (server.selectedIndex < 0) { server.value = ''; }
    if (tag.selectedIndex < 0) { tag.value = ''; }
    var on = (has.status || '').split(',');
    chips.forEach(function (c) { press(c, on.indexOf(c.getAttribute('data-w')) >= 0); });
    apply();
    return true;
  }

  var server, tag;
  if (tools) {
    server = offer('server', tests.map(function (t) { return t.getAttribute('data-v'); }));
    tag = offer('tag', [].concat.apply([], tests.map(tags)));
    tools.hidden = false;
    var timer = 0;
    search.addEventListener('input', function () { clearTimeout(timer); timer = setTimeout(change, 60); });
    server.addEventListener('change', change);
    tag.addEventListener('change', change);
    chips.forEach(function (c) {
      c.addEventListener('click', function () { press(c, c.getAttribute('aria-pressed') !== 'true'); change(); });
    });
    $('#openall').addEventListener('click', function (e) {
      var close = e.target.getAttribute('data-on') === '1';
      tests.forEach(function (t) { if (!t.hidden) { t.open = !close; } });
      e.target.setAttribute('data-on', close ? '' : '1');
      e.target.textContent = close ? 'Expand' : 'Collapse';
    });
  }

  // Parts of a test become tabs when the test is first unfolded.
  var tabs = 0;
  function tabulate(box) {
    var parts = Array.prototype.filter.call(box.children, function (e) { return e.hasAttribute('data-tab'); });
    box.setAttribute('data-done', '');
    if (parts.length < 2) { return; }
    var list = document.createElement('div'), buttons = [];
    list.setAttribute('role', 'tablist'); list.className = 'tablist';
    function choose(i, focus) {
      parts.forEach(function (p, k) {
        p.hidden = k !== i;
        buttons[k].setAttribute('aria-selected', k === i ? 'true' : 'false');
        buttons[k].tabIndex = k === i ? 0 : -1;
      });
      if (focus) { buttons[i].focus(); }
    }
    parts.forEach(function (p, i) {
      var b = document.createElement('button'), id = 'tab' + (++tabs);
      b.type = 'button'; b.setAttribute('role', 'tab'); b.id = id; b.textContent = p.getAttribute('data-tab');
      p.id = p.id || id + 'p'; p.setAttribute('role', 'tabpanel'); p.setAttribute('aria-labelledby', id);
      b.setAttribute('aria-controls', p.id);
      b.addEventListener('click', function () { choose(i, false); });
      b.addEventListener('keydown', function (e) {
        var d = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
        if (d) { e.preventDefault(); choose((i + d + parts.length) % parts.length, true); }
      });
      buttons.push(b); list.appendChild(b);
    });
    box.insertBefore(list, box.firstChild);
    choose(parts.length - 1, false);
  }
  function tabsOf(t) { Array.prototype.forEach.call(t.querySelectorAll('.tabs:not([data-done])'), tabulate); }
  document.addEventListener('toggle', function (e) {
    if (e.target.open && e.target.classList.contains('t')) { tabsOf(e.target); }
  }, true);
  tests.forEach(function (t) { if (t.open) { tabsOf(t); } });

  document.addEventListener('keydown', function (e) {
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && search) { e.preventDefault(); search.focus(); }
    if (e.key === 'Escape' && e.target === search) { search.value = ''; change(); search.blur(); }
  });

  // A link to a test opens it, and makes it visible when it was filtered out.
  function reveal() {
    var t = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (t && t.classList.contains('t')) { t.hidden = false; t.open = true; t.scrollIntoView(); }
  }
  function follow() { if (!tools || !recall()) { reveal(); } }
  window.addEventListener('hashchange', follow);
  follow();

  document.addEventListener('click', function (e) {
    var b = e.target.closest && e.target.closest('button[data-copy]');
    if (!b) { return; }
    var code = b.previousElementSibling, text = code.textContent;
    var done = function () { b.textContent = 'Copied'; setTimeout(function () { b.textContent = 'Copy'; }, 1500); };
    var select = function () {
      var r = document.createRange(); r.selectNodeContents(code);
      var s = getSelection(); s.removeAllRanges(); s.addRange(r);
      try { if (document.execCommand('copy')) { done(); } } catch (err) { /* the text is selected at least */ }
    };
    if (navigator.clipboard) { navigator.clipboard.writeText(text).then(done, select); } else { select(); }
  });

  var theme = $('#theme');
  theme.addEventListener('click', function () {
    var dark = root.getAttribute('data-theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    root.setAttribute('data-theme', dark === 'dark' ? 'light' : 'dark');
  });
})();
