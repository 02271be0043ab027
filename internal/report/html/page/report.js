(function () {
  'use strict';
  var root = document.documentElement;
  root.classList.add('js');
  var $ = function (s) { return document.querySelector(s); };
  var list = function (x) { return Array.prototype.slice.call(x); };
  var tools = $('.tools'), search = $('#search'), shown = $('#shown'), empty = $('#empty');
  var chips = list(document.querySelectorAll('.chips button'));
  var want = {}, page = 200, start = '<details class="t" id="';

  // A row is an element, or the markup of one that is made when it is shown first.
  var rows = [];
  var suites = list(document.querySelectorAll('.suite')).map(function (el) {
    var s = { el: el, list: el.querySelector('.list'), rows: [], extra: 0, more: document.createElement('button') };
    list(s.list.children).forEach(function (c) {
      if (c.tagName !== 'NOSCRIPT') { s.rows.push({ el: c }); return; }
      c.textContent.split(start).slice(1).forEach(function (h) { s.rows.push({ html: start + h }); });
    });
    s.more.type = 'button'; s.more.className = 'more'; s.more.hidden = true;
    s.more.addEventListener('click', function () { s.extra += page; apply(); });
    s.list.appendChild(s.more);
    rows = rows.concat(s.rows);
    return s;
  });
  function plain(html) {
    var of = { lt: '<', gt: '>', amp: '&', '#34': '"', '#39': "'", '#43': '+', '#10': '\n' };
    return html.replace(/&(#?\w+);/g, function (all, name) { return of[name] || all; });
  }
  function field(r, name) {
    if (r.el) { return r.el.getAttribute(name) || ''; }
    r.head = r.head || r.html.slice(0, r.html.indexOf('>'));
    var at = r.head.indexOf(' ' + name + '="'), from = at + name.length + 3;
    return at < 0 ? '' : plain(r.head.slice(from, r.head.indexOf('"', from)));
  }
  function words(r) {
    if (!r.words) {
      var title = r.el ? r.el.firstElementChild.textContent : plain(r.html.slice(0, r.html.indexOf('</summary>')).replace(/<[^>]*>/g, ' '));
      r.words = (title + ' ' + field(r, 'data-v') + ' ' + tags(r).join(' ') + ' ' + field(r, 'data-k')).toLowerCase();
    }
    return r.words;
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
  function tags(r) { return field(r, 'data-g').split('\n').filter(Boolean); }

  // Of the folded rows, the first are shown if there is a filter, and those of a suite
  // that were asked for.
  function apply() {
    var q = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    var any = Object.keys(want).length > 0, n = 0, hidden = 0;
    var free = any || q.length || server.value || tag.value ? page : 0;
    suites.forEach(function (s) {
      var last = null, extra = s.extra, seen = 0, rest = 0;
      s.rows.forEach(function (r) {
        var ok = r.keep || (!any || want[field(r, 'data-s')] || (want.flaky && field(r, 'data-f')) || (want.changed && field(r, 'data-c'))) &&
          (!server.value || field(r, 'data-v') === server.value) && (!tag.value || tags(r).indexOf(tag.value) >= 0) &&
          q.every(function (w) { return words(r).indexOf(w) >= 0; });
        if (ok) { n++; }
        if (ok && r.html && !r.keep) {
          if (free > 0) { free--; } else if (extra > 0) { extra--; } else { ok = false; rest++; }
        }
        if (ok && !r.el) {
          var box = document.createElement('template');
          box.innerHTML = r.html;
          r.el = s.list.insertBefore(box.content.firstElementChild, last ? last.nextSibling : s.list.firstChild);
        }
        if (r.el) {
          if (r.el.hidden === !!ok) { r.el.hidden = !ok; }
          last = r.el;
        }
        if (ok) { seen++; }
      });
      hidden += rest;
      s.el.hidden = !seen && !rest;
      s.more.hidden = !rest;
      s.more.textContent = 'Show ' + (rest > page ? page + ' of ' : '') + rest + (seen ? ' more' : '') + ' tests';
    });
    shown.textContent = n === rows.length ? '' : n + ' of ' + rows.length + (hidden ? ' found' : ' shown');
    empty.hidden = n > 0;
  }

  // The filters are kept in the fragment of the address: #q=…&status=…&server=…&tag=…
  function remember() {
    var parts = [];
    var add = function (k, v) { if (v) { parts.push(k + '=' + encodeURIComponent(v)); } };
    add('q', search.value.trim()); add('status', Object.keys(want).join(',')); add('server', server.value); add('tag', tag.value);
    try { history.replaceState(null, '', parts.length ? '#' + parts.join('&') : location.pathname + location.search); } catch (err) { /* filters work without it */ }
  }
  function change() { suites.forEach(function (s) { s.extra = 0; }); apply(); remember(); }
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
    server = offer('server', rows.map(function (r) { return field(r, 'data-v'); }));
    tag = offer('tag', [].concat.apply([], rows.map(tags)));
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
      rows.forEach(function (r) { if (r.el && !r.el.hidden) { r.el.open = !close; } });
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
  rows.forEach(function (r) { if (r.el && r.el.open) { tabsOf(r.el); } });

  document.addEventListener('keydown', function (e) {
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (e.key === '/' && !typing && !e.ctrlKey && !e.metaKey && search) { e.preventDefault(); search.focus(); }
    if (e.key === 'Escape' && e.target === search) { search.value = ''; change(); search.blur(); }
  });

  // A link to a test opens it, and makes it visible when it was filtered out.
  function reveal() {
    var id = location.hash.slice(1), r = rows.filter(function (r) { return field(r, 'id') === id; })[0];
    if (id && r) { r.keep = true; apply(); r.keep = false; r.el.open = true; r.el.scrollIntoView(); }
  }
  function follow() { if (!tools || !recall()) { reveal(); } }
  window.addEventListener('hashchange', follow);
  if (tools) { apply(); }
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
