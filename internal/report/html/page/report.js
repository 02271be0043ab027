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
        return (t.firstElementChild.textContent + ' ' + (t.getAttribute('data-k') || '')).toLowerCase();
      });
    }
    return words;
  }

  function apply() {
    var q = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    var any = Object.keys(want).length > 0, n = 0;
    var text = q.length ? index() : null;
    tests.forEach(function (t, i) {
      var ok = !any || want[t.getAttribute('data-s')] || (want.flaky && t.hasAttribute('data-f'));
      if (ok && text) { ok = q.every(function (w) { return text[i].indexOf(w) >= 0; }); }
      if (t.hidden === !!ok) { t.hidden = !ok; }
      if (ok) { n++; }
    });
    suites.forEach(function (s) { s.hidden = !s.querySelector('.t:not([hidden])'); });
    shown.textContent = n === tests.length ? '' : n + ' of ' + tests.length + ' shown';
    empty.hidden = n > 0;
  }

  if (tools) {
    tools.hidden = false;
    var timer = 0;
    search.addEventListener('input', function () { clearTimeout(timer); timer = setTimeout(apply, 60); });
    chips.forEach(function (c) {
      c.addEventListener('click', function () {
        var key = c.getAttribute('data-w'), on = c.getAttribute('aria-pressed') !== 'true';
        c.setAttribute('aria-pressed', on ? 'true' : 'false');
        if (on) { want[key] = true; } else { delete want[key]; }
        apply();
      });
    });
    $('#openall').addEventListener('click', function (e) {
      var close = e.target.getAttribute('data-on') === '1';
      tests.forEach(function (t) { if (!t.hidden) { t.open = !close; } });
      e.target.setAttribute('data-on', close ? '' : '1');
      e.target.textContent = close ? 'Expand' : 'Collapse';
    });
  }

  document.addEventListener('keydown', function (e) {
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && search) { e.preventDefault(); search.focus(); }
    if (e.key === 'Escape' && e.target === search) { search.value = ''; apply(); search.blur(); }
  });

  // A link to a test opens it, and makes it visible when it was filtered out.
  function reveal() {
    var t = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (t && t.classList.contains('t')) { t.hidden = false; t.open = true; t.scrollIntoView(); }
  }
  window.addEventListener('hashchange', reveal);
  reveal();

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
