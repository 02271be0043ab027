// Opens HTML reports in a real Chromium and tries what a reader does. Standard
// input: {"chromium", "pages": [{"name", "file", "tests", "failed", "audit", "limitMs", "clickMs"}],
// "shots"}. Standard output: [{"name", "problems": [...], "ms", "clicks"}].
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const job = JSON.parse(readFileSync(0, 'utf8'));
// On a machine that does more than this everything takes longer.
const busy = () => Math.max(1, loadavg()[0] / availableParallelism());
const patience = 120000;
const browser = await puppeteer.launch({ timeout: patience, protocolTimeout: 2 * patience, executablePath: job.chromium, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
const out = [];
// Whatever hangs ends here, and the test says so.
setTimeout(() => { browser.process().kill('SIGKILL'); process.stderr.write('timed out after: ' + JSON.stringify(out.at(-1) ?? 'nothing')); process.exit(1); }, 560000).unref();

async function open(one, bad, { theme = 'light', js = true } = {}) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.setJavaScriptEnabled(js);
  page.on('console', (m) => bad(`console: ${m.text()}`));
  page.on('pageerror', (e) => bad(`script: ${e.message}`));
  page.on('dialog', async (d) => { bad(`a dialog: ${d.message()}`); await d.dismiss(); });
  page.on('request', (r) => { if (!r.url().startsWith('file:') || !r.isNavigationRequest()) bad(`asks for ${r.url()}`); });
  const from = performance.now();
  await page.goto(pathToFileURL(one.file).href, { waitUntil: 'load', timeout: patience });
  // Frames are only handed out to pages with scripts.
  if (js) await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, ms: performance.now() - from };
}

const shown = (page) => page.$$eval('#tests ~ .suite .t', (all) => all.filter((t) => t.checkVisibility()).length);

async function audit(page, bad, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], rules: { 'label-content-name-mismatch': { enabled: true } } }));
  for (const v of found.violations) bad(`accessibility, ${what}: ${v.id}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')}`);
}

async function use(one, page, bad) {
  const all = await shown(page);
  if (all !== one.tests) bad(`${all} tests are shown, want ${one.tests}`);
  if (!one.failed) return;
  await page.click('.chips button[data-w=fail]');
  if ((await shown(page)) !== one.failed) bad(`the filter shows ${await shown(page)}, want ${one.failed}`);
  if ((await page.$eval('#shown', (e) => e.textContent)) !== (one.failed === one.tests ? '' : `${one.failed} of ${one.tests} shown`)) bad('the count of what is shown is wrong');
  await page.click('.chips button[data-w=fail]');
  await page.keyboard.press('/');
  if ((await page.evaluate(() => document.activeElement.id)) !== 'search') bad('/ does not lead to the search');
  await page.keyboard.type('no such test at all');
  await page.waitForFunction(() => document.querySelector('#empty').checkVisibility(), { timeout: 20000 }).catch(() => bad('the search does not say that nothing is left'));
  if ((await shown(page)) !== 0) bad('the search hides nothing');
  await page.keyboard.press('Escape');
  if ((await shown(page)) !== one.tests) bad('Escape does not end the search');
  // Filters are in the fragment, and a page opened with one shows it.
  await page.click('.chips button[data-w=fail]');
  if (!(await page.evaluate(() => location.hash)).includes('status=fail')) bad('the filter is not in the address');
  await page.evaluate(() => { location.hash = '#q=no+such+test'; });
  await page.waitForFunction(() => document.querySelector('#search').value !== '', { timeout: 20000 }).catch(() => bad('the address does not set the filter'));
  await page.evaluate(() => { location.hash = '#status='; });
  await page.waitForFunction((n) => [...document.querySelectorAll('.suite .t')].filter((t) => t.checkVisibility()).length === n, { timeout: 20000 }, one.tests).catch(() => bad('an empty filter does not show all tests'));
  const servers = await page.$$eval('#server option', (all) => all.map((o) => o.value).filter(Boolean));
  if (servers.length) {
    await page.select('#server', servers[0]);
    const want = await page.$$eval('.suite .t', (all, name) => all.filter((t) => t.dataset.v === name).length, servers[0]);
    if ((await shown(page)) !== want) bad(`the server filter shows ${await shown(page)}, expected ${want}`);
    await page.select('#server', '');
  }
  // The parts of an unfolded test are tabs, of which one is shown.
  for (const n of await page.$$eval('.t[open] .tabs', (all) => all.filter((b) => b.querySelectorAll(':scope > [data-tab]').length > 1).map((b) => b.querySelectorAll(':scope > [role=tabpanel]:not([hidden])').length))) {
    if (n !== 1) bad(`${n} tabs are shown at once`);
  }
  // A link from the list of failures opens its test.
  if (await page.$('.why a[href^="#t"]')) {
    await page.$eval('.why a[href^="#t"]', (a) => a.click());
    if (!(await page.evaluate(() => document.querySelector(location.hash)?.open))) bad('a failure link does not open its test');
  }
  // Each failure can be seen in the bar, also on a phone, and a command breaks between its words.
  await page.setViewport({ width: 390, height: 844 });
  const narrow = await page.$$eval('.ratio .fail, .ratio .error', (all) => Math.min(...all.map((r) => r.getBoundingClientRect().width)));
  if (narrow < 3) bad(`a failure has ${narrow} pixels in the bar`);
  const broken = await page.$$eval('.cmd span', (all) => all.filter((w) => w.checkVisibility() && w.getClientRects()[0].height > 30 && w.textContent.length < 25).map((w) => w.textContent));
  if (broken.length) bad(`a command breaks in the words ${broken.slice(0, 3)}`);
  await page.setViewport({ width: 1280, height: 900 });
  // A test is folded and unfolded by the keyboard.
  const before = await page.$eval('.t', (t) => { t.querySelector('summary').focus(); return t.open; });
  await page.keyboard.press('Enter');
  if ((await page.$eval('.t', (t) => t.open)) === before) bad('Enter does not unfold a test');
  if (await page.$('.t .cmd button')) {
    const copied = await page.evaluate(() => new Promise((done) => { // the word stands for a second and a half
      const b = document.querySelector('.t .cmd button');
      new MutationObserver(() => { if (b.textContent === 'Copied') done(true); }).observe(b, { childList: true, characterData: true, subtree: true });
      setTimeout(() => done(false), 20000);
      b.click();
    }));
    if (!copied) bad('Copy does not copy');
  }
  const theme = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.$eval('#theme', (b) => b.click());
  if ((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === theme) bad('the theme does not change');
}

// useMany tries a page whose rows are made on demand: first some failures, the others
// by a click, a search or a link.
async function useMany(one, page, bad) {
  const state = () => page.evaluate(() => ({
    rows: [...document.querySelectorAll('.suite .t')].filter((t) => t.checkVisibility()).map((t) => t.dataset.s),
    said: document.querySelector('#shown').textContent,
  }));
  // The time from a click until what it shows is painted; the best of three.
  const click = async (what, selector) => {
    let best = Infinity;
    for (let n = 0; n < 3 && best > one.clickMs; n++) {
      best = Math.min(best, await page.evaluate((css) => new Promise((done) => {
        const from = performance.now();
        [...document.querySelectorAll(css)].find((b) => b.checkVisibility()).click();
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));
      }), selector));
    }
    clicks.push(`${what} ${Math.round(best)} ms`);
    if (best > one.clickMs * busy()) bad(`${what} took ${Math.round(best)} ms`);
  };
  const clicks = [];
  const expect = async (what, want, ok, said = '') => {
    const now = await state();
    if (now.rows.length !== want || !now.rows.every(ok) || now.said !== said) bad(`${what}: ${now.rows.length} rows of ${[...new Set(now.rows)]}, "${now.said}"`);
  };
  const listed = Math.min(one.failed, 100), passed = one.tests - one.failed;
  const top = await page.$eval('.suite .t', (t) => ({ open: t.open, s: t.dataset.s }));
  top.y = await page.$eval('.why li, .suite .t', (first) => first.getBoundingClientRect().top);
  if (top.s !== 'fail' || !top.open || top.y > 900) bad(`the first row is ${JSON.stringify(top)}`);
  await expect('at first', listed, (s) => s === 'fail');
  await click('passed', '.chips button[data-w=pass]');
  await expect('the filter of passed tests', 200, (s) => s === 'pass', `${passed} of ${one.tests} found`);
  const hostile = await page.evaluate(() => [document.images.length, document.querySelector('#t7 b')?.textContent]);
  if (hostile[0] !== 0 || hostile[1] !== '</noscript><img src=x onerror=alert(7)>') bad(`hostile text in a row made later: ${hostile}`);
  await click('more', '.more');
  if ((await state()).rows.length < 400) bad('the button shows no more tests');
  await click('passed off', '.chips button[data-w=pass]');
  await page.evaluate(() => { location.hash = '#q='; });
  await page.type('#search', `case ${one.tests - 1}`);
  const found = `1 of ${one.tests} shown`; // a slow page also searches for what is half typed
  await page.waitForFunction((text) => document.querySelector('#shown').textContent === text, { timeout: 20000 }, found).catch(() => {});
  await expect('the search', 1, (s) => s === 'pass', found);
  await page.evaluate((n) => { location.hash = '#t' + n; }, one.tests - 2);
  await page.waitForFunction((n) => document.querySelector('#t' + n)?.open, { timeout: 20000 }, one.tests - 2).catch(() => bad('a link does not make its row'));
  return clicks.join(', ');
}

async function harmless(page, bad) {
  const found = await page.evaluate(() => ({
    scripts: document.scripts.length,
    alien: [...document.querySelectorAll('img,iframe,object,embed,form,link,base,video,audio')].map((e) => e.outerHTML.slice(0, 80)),
    links: [...document.querySelectorAll('a')].filter((a) => !/^#[a-z0-9]+$/.test(a.getAttribute('href')) && !(a.className === 'job' && /^https:\/\//.test(a.href) && /noreferrer/.test(a.rel))).map((a) => a.outerHTML.slice(0, 80)),
    handlers: [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name) || a.name === 'style')).length,
    csp: document.querySelector('meta[http-equiv]').content,
  }));
  if (found.scripts !== 1) bad(`${found.scripts} scripts`);
  for (const e of [...found.alien, ...found.links]) bad(`live markup: ${e}`);
  if (found.handlers) bad('inline handlers or styles');
  if (!/^default-src 'none'; style-src 'sha256-[^' ]+'; script-src 'sha256-[^' ]+'; base-uri 'none'; form-action 'none'$/.test(found.csp)) bad(`policy: ${found.csp}`);
}

for (const one of job.pages) {
  const problems = [];
  const bad = (p) => problems.push(p);
  let ms = 0;
  try {
    let first = await open(one, bad);
    // A busy machine gets another chance; a slow page does not get faster.
    for (let n = 0; one.limitMs && first.ms > one.limitMs * busy() && n < 2; n++) {
      await first.page.close();
      first = await open(one, bad);
    }
    ms = first.ms;
    if (one.limitMs && ms > one.limitMs * busy()) bad(`opened in ${Math.round(ms)} ms, limit ${Math.round(one.limitMs * busy())}`);
    await harmless(first.page, bad);
    if (one.audit) await audit(first.page, bad, 'light');
    if (job.shots) await first.page.screenshot({ path: `${job.shots}/${one.name}-light.png`, fullPage: !one.limitMs });
    const clicks = one.clickMs ? await useMany(one, first.page, bad) : await use(one, first.page, bad);
    if (!one.limitMs) {
      await first.page.setViewport({ width: 390, height: 844 });
      if (one.audit) await audit(first.page, bad, 'phone');
      if (await first.page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) bad('the page is wider than a phone');
      if (job.shots) await first.page.screenshot({ path: `${job.shots}/${one.name}-phone.png`, fullPage: true });
    }
    await first.page.close();
    if (one.limitMs) {
      const still = await open(one, bad, { js: false });
      const rows = await still.page.$$eval('.suite .t', (all) => all.length);
      if (rows !== one.tests) bad(`${rows} tests without JavaScript`);
      await still.page.close();
      out.push({ name: one.name, problems, ms, clicks });
      continue;
    }
    const dark = await open(one, bad, { theme: 'dark' });
    if (one.audit) await audit(dark.page, bad, 'dark');
    if (job.shots) await dark.page.screenshot({ path: `${job.shots}/${one.name}-dark.png`, fullPage: true });
    await dark.page.close();
    const still = await open(one, bad, { js: false });
    if ((await shown(still.page)) !== one.tests) bad('tests are missing without JavaScript');
    if (await still.page.$eval('.tools', (t) => t.checkVisibility())) bad('controls that need JavaScript are shown without it');
    await still.page.close();
  } catch (e) {
    bad(e.stack);
  }
  out.push({ name: one.name, problems, ms });
}
await browser.close();
process.stdout.write(JSON.stringify(out));
