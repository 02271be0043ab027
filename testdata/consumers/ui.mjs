// Drives the page of `mcptest ui` in a real Chromium, by accessible names only. Standard input:
// {"chromium", "axe": bool, "shots", "steps": [{"name", "address", "dir", "steps": …}]}; standard output: [{"name", "problems", "facts"}].
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import puppeteer from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const job = JSON.parse(readFileSync(0, 'utf8'));
const patience = Number(process.env.MCPTEST_PATIENCE ?? 60000); // milliseconds
const browser = await puppeteer.launch({ timeout: patience, protocolTimeout: 2 * patience, executablePath: job.chromium, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
const out = [];
setTimeout(() => { browser.process().kill('SIGKILL'); process.stderr.write('timed out after: ' + JSON.stringify(out)); process.exit(1); }, 500000).unref();

// One element by its role and name, as a person finds it.
const aria = (page, role, name) => page.waitForSelector(`aria/${name}[role="${role}"]`, { timeout: patience, visible: true });
// Clicks an element. A list that is drawn anew between the look and the click has other elements.
async function click(page, role, name) {
  for (let tries = 0; ; tries++) {
    const found = await aria(page, role, name);
    try {
      return await found.click();
    } catch (e) {
      if (tries === 5 || !/detached|not clickable/.test(String(e))) throw e;
    }
  }
}
async function type(page, role, name, text) {
  const e = await aria(page, role, name);
  await e.focus(); // not a click: the page may move under the pointer while lists are read
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.press('Backspace');
  await e.type(text);
}
const textOf = async (page, role, name) => (await aria(page, role, name)).evaluate((e) => e.textContent);
const waitText = (page, text) => page.waitForFunction((t) => document.body.innerText.includes(t), { timeout: patience, polling: 50 }, text);
const waitEnabled = async (page, role, name) => {
  const e = await aria(page, role, name);
  await page.waitForFunction((n) => !n.disabled, { timeout: patience, polling: 50 }, e);
  return e;
};
// Clicks the button of a list that begins with a name. A list that is drawn anew before the click has other buttons.
async function clickInList(page, list, name) {
  for (let tries = 0; ; tries++) {
    const found = await page.waitForFunction((l, n) => [...document.querySelectorAll(l)].find((b) => b.textContent.startsWith(n + ' ')), { timeout: patience, polling: 50 }, list, name);
    try {
      return await found.asElement().click();
    } catch (e) {
      if (tries === 5 || !/detached|not clickable/.test(String(e))) throw e;
    }
  }
}
// Chooses an item of a list. The page may move under the pointer while lists are read: then a person clicks again.
async function item(page, name) {
  for (let tries = 1; ; tries++) {
    await clickInList(page, 'ul[aria-label] button', name);
    try {
      await page.waitForFunction((n) => document.querySelector('#panel-Call h2')?.textContent.startsWith(n), { timeout: 10000, polling: 50 }, name);
      return;
    } catch (e) {
      if (tries === 3) throw new Error(`${name} was clicked three times, and the page shows ${await page.$eval('#panel-Call h2', (h) => h.textContent)}: ${e}`);
    }
  }
}
const badges = (page) => page.$$eval('table[aria-label=Wire] tbody tr', (rows) => rows.flatMap((r) => [...r.querySelectorAll('.badge')].map((b) => b.textContent)));

// Whether a person sees an element without scrolling.
const inView = async (page, role, name) => (await aria(page, role, name)).evaluate((e) => {
  const r = e.getBoundingClientRect();
  return e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2));
});

async function open(address, bad, { width = 1280, height = 900, theme = 'light' } = {}) {
  const page = await browser.newPage();
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  page.on('console', (m) => { if (!/40[019]|409/.test(m.text())) bad(`console: ${m.text()}`); });
  page.on('pageerror', (e) => bad(`script: ${e.message}`));
  page.on('dialog', async (d) => { bad(`a dialog: ${d.message()}`); await d.dismiss(); });
  page.on('request', (r) => { if (!r.url().startsWith(new URL(address).origin) && !r.url().startsWith('data:') && !r.url().startsWith('blob:')) bad(`asks for ${r.url()}`); });
  await page.evaluateOnNewDocument(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((e) => Math.round(e.duration)))).observe({ type: 'longtask', buffered: true });
    document.addEventListener('securitypolicyviolation', (e) => { window.violated = (window.violated ?? '') + ' ' + e.violatedDirective; });
  });
  await page.goto(address, { waitUntil: 'load', timeout: patience });
  return page;
}

async function audit(page, bad, what) {
  // axe is put in by the browser's debugger, which the policy of the page does not forbid.
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
  for (const v of found.violations) bad(`accessibility, ${what}: ${v.id} (${v.impact}): ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')}`);
}

const overflows = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const unharmed = async (page, bad) => {
  if (await page.evaluate(() => window.hacked)) bad('a script of the server ran');
  const violated = await page.evaluate(() => window.violated);
  if (violated) bad(`the policy was violated: ${violated}`);
};
async function shot(page, name) {
  if (job.shots) writeFileSync(`${job.shots}/${name}.png`, await page.screenshot());
}

const flows = {
  // Connect, call get-sum, see 5 and the frames, keep the call: it passes.
  async sum({ address }, bad) {
    const page = await open(address, bad);
    if (await page.evaluate(() => location.hash)) bad('the token is in the address');
    await click(page, 'button', 'Connect');
    await item(page, 'get-sum');
    await aria(page, 'textbox', 'a');
    if (!await inView(page, 'button', 'Send')) bad('Send is not in view');
    // What does not fit its type is said, and can be sent.
    await type(page, 'textbox', 'a', 'abc');
    await waitText(page, 'Not a number: it is sent as a text.');
    await waitEnabled(page, 'button', 'Send');
    await type(page, 'textbox', 'a', '2');
    await page.waitForFunction(() => !document.body.innerText.includes('Not a number'), { timeout: patience });
    await type(page, 'textbox', 'b', '3');
    const value = await (await aria(page, 'textbox', 'Arguments (JSON)')).evaluate((e) => e.value);
    if (JSON.stringify(JSON.parse(value)) !== '{"a":2,"b":3}') bad(`the arguments are ${value}`);
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'The sum of 2 and 3 is 5.');
    if (!(await textOf(page, 'region', 'Result')).includes('5')) bad('the result is not in its region');
    await click(page, 'tab', 'Wire');
    await page.waitForFunction(() => document.querySelector('table[aria-label=Wire]').innerText.includes('tools/call'), { timeout: patience });
    await type(page, 'searchbox', 'Filter', 'method:tools/call');
    await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Wire] tr.frame').length === 2, { timeout: patience });
    await page.$eval('table[aria-label=Wire] tr.frame', (tr) => tr.click());
    if (!(await textOf(page, 'region', 'Raw bytes')).includes('"get-sum"')) bad('the bytes of a row are not shown');
    await waitText(page, 'mcptest call get-sum');
    if ((await badges(page)).length) bad('a correct server has badges');
    await click(page, 'button', 'Save as cassette');
    await waitText(page, 'cassettes are written only to a folder that the command line names');
    await click(page, 'tab', 'Call');
    await click(page, 'button', 'Keep as test');
    await page.waitForFunction(() => document.querySelector('[aria-label=Diff]').textContent.includes('get-sum'), { timeout: patience });
    await waitText(page, 'does not exist yet: Insert creates it.');
    await aria(page, 'checkbox', 'text is exactly "The sum of 2 and 3 is 5."');
    const unmarked = await page.$eval('[aria-label=Diff]', (e) => e.textContent.split('\n').filter((line) => !/^(@@ new file|\+)/.test(line)));
    if (unmarked.length) bad(`lines of a new file that are not marked as added: ${unmarked}`);
    if (!await inView(page, 'button', 'Insert')) bad('Insert is not in view');
    await shot(page, 'keep');
    // One click inserts, also right after the name was typed.
    await type(page, 'textbox', 'Test name', 'two and three');
    const from = Date.now();
    await (await waitEnabled(page, 'button', 'Insert')).click();
    await waitText(page, 'Inserted as "two and three"');
    await waitText(page, 'mcptest run mcptest.yaml');
    await page.waitForFunction(() => [...document.querySelectorAll('[role=status] p')].some((p) => p.textContent === 'passed'), { timeout: patience });
    const verdict = Date.now() - from;
    await click(page, 'button', 'Undo');
    await waitText(page, 'Undone');
    await page.waitForFunction(() => document.querySelector('[aria-label=Diff]').textContent.includes('get-sum'), { timeout: patience });
    await (await waitEnabled(page, 'button', 'Insert')).click();
    await page.waitForFunction(() => [...document.querySelectorAll('[role=status] p')].some((p) => p.textContent === 'passed'), { timeout: patience });
    await click(page, 'tab', 'Tests');
    await page.waitForFunction(() => document.querySelector('table[aria-label=Tests] tbody').textContent.includes('passed'), { timeout: patience });
    await click(page, 'button', 'two and three');
    if (!(await textOf(page, 'region', 'What the run says')).includes('1 passed')) bad('the report of a kept test is not shown');
    // The server asks for roots after Connect, which the page explains.
    await click(page, 'tab', 'Answer');
    await waitText(page, 'which folders of this machine it may work with. That is no error');
    await audit(page, bad, 'a question');
    await shot(page, 'roots');
    await click(page, 'button', 'Decline');
    await waitText(page, 'No server asks anything now.');
    // A reload keeps the token, and shows the last call.
    await page.reload({ waitUntil: 'load' });
    await waitText(page, 'The sum of 2 and 3 is 5.');
    await audit(page, bad, 'light');
    await shot(page, 'sum');
    return { verdictMS: verdict };
  },

  // Badges, hostile text, a question before a call, an answer by hand, a crash.
  async counting({ address }, bad) {
    const page = await open(address, bad, { theme: 'dark' });
    await click(page, 'button', 'Connect');
    await item(page, 'bad');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'done bad');
    await click(page, 'tab', 'Wire');
    await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Wire] .badge').length === 2, { timeout: patience });
    const got = (await badges(page)).sort().join(' ');
    if (got !== 'stray-output unknown-id') bad(`badges: ${got}`);
    for (const name of ['hostile', 'image']) {
      await item(page, name);
      await (await waitEnabled(page, 'button', 'Send')).click();
      await waitText(page, name === 'hostile' ? 'reversed' : 'the server returned a result');
    }
    await page.waitForSelector('img.shown', { timeout: patience });
    await click(page, 'tab', 'Wire');
    await page.waitForFunction(() => { const s = document.querySelector('#panel-Wire .scroller'); return s.scrollTop + s.clientHeight >= s.scrollHeight - 30; }, { timeout: patience });
    await click(page, 'tab', 'Call');
    if (await page.$('a[href^="javascript"]')) bad('a link runs a script');
    await item(page, 'hostile');
    await waitText(page, '\\u202e reversed'); // a character that changes the order of text is escaped
    await unharmed(page, bad);
    await item(page, '<img');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'error -32000');
    if (await page.$('#panel-Call img:not(.shown), #panel-Server img')) bad('markup of the server became an element');
    const wide = await overflows(page);
    if (wide > 0) bad(`a name or description makes the page ${wide} px too wide`);
    await unharmed(page, bad);
    await item(page, 'write');
    await (await waitEnabled(page, 'button', 'Send')).click();
    const dialog = await page.waitForSelector('dialog[open]', { timeout: patience });
    if (!(await dialog.evaluate((d) => d.innerText)).includes('does not declare readOnlyHint')) bad('the question does not say why');
    await shot(page, 'question');
    await audit(page, bad, 'the question');
    await (await dialog.$('aria/Cancel[role="button"]')).click();
    await page.waitForFunction(() => !document.querySelector('dialog[open]'), { timeout: patience });
    await (await waitEnabled(page, 'button', 'Send')).click();
    const again = await page.waitForSelector('dialog[open]', { timeout: patience });
    await (await again.$('aria/Send[role="button"]')).click();
    await waitText(page, 'done write');
    await item(page, 'ask');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'A server asks: elicitation/create');
    await click(page, 'tab', 'Answer');
    await waitText(page, 'Which <b>color</b>?');
    await type(page, 'textbox', 'Color', 'green');
    await audit(page, bad, 'dark');
    await shot(page, 'answer');
    await click(page, 'button', 'Accept');
    await click(page, 'tab', 'Call');
    await waitText(page, 'green');
    await click(page, 'button', 'Keep as test');
    await page.waitForFunction(() => document.querySelector('[aria-label=Diff]').textContent.includes('respond: {elicitation: {action: accept, content: {color: green}}}'), { timeout: patience });
    await (await waitEnabled(page, 'button', 'Insert')).click();
    await page.waitForFunction(() => [...document.querySelectorAll('[role=status] p')].some((p) => p.textContent === 'passed'), { timeout: patience });
    await item(page, 'crash');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'the database is gone');
    await waitText(page, 'Status: ended');
    await (await waitEnabled(page, 'button', 'Connect')).click();
    await waitText(page, 'Status: connected');
    await unharmed(page, bad);
    return {};
  },

  // The messages of a cassette with their violations; a recorded call becomes a test, which is run by a click only.
  async cassette({ address }, bad) {
    const page = await open(address, bad, { theme: 'dark' });
    await click(page, 'tab', 'Cassettes');
    const table = 'table[aria-label="Recorded messages"]';
    await page.waitForFunction((t) => document.querySelectorAll(t + ' tr.frame').length === 14, { timeout: patience }, table);
    const got = await page.$$eval(table + ' .badge', (list) => list.map((b) => b.textContent));
    if (got.join(' ') !== 'stray-output unknown-id bad-jsonrpc') bad(`badges: ${got}`);
    await type(page, 'searchbox', 'Filter of the cassette', 'violation:');
    await page.waitForFunction((t) => document.querySelectorAll(t + ' tr.frame').length === 3, { timeout: patience }, table);
    await type(page, 'searchbox', 'Filter of the cassette', 'method:tools/call');
    await page.waitForFunction((t) => document.querySelectorAll(t + ' tr.frame').length === 5, { timeout: patience }, table);
    await page.$eval(table + ' tr.frame', (tr) => tr.click());
    if (!(await textOf(page, 'region', 'Raw bytes')).includes('"done read"') && !(await textOf(page, 'region', 'Raw bytes')).includes('"name":"read"')) bad('the bytes of a row are not shown');
    await audit(page, bad, 'the cassette');
    await shot(page, 'cassette');
    await click(page, 'button', 'Keep as test');
    await page.waitForFunction(() => document.querySelector('#panel-Cassettes [aria-label=Diff]').textContent.includes('done read'), { timeout: patience });
    await (await waitEnabled(page, 'button', 'Insert')).click();
    await waitText(page, 'The test was not run, because that calls read.');
    await click(page, 'button', 'Run now (calls read)');
    await page.waitForFunction(() => [...document.querySelectorAll('[role=status] p')].some((p) => p.textContent === 'passed'), { timeout: patience });
    await unharmed(page, bad);
    return {};
  },

  // The tests of the suite: a question, counters, the report of a failure, one test again, the filter, a saved suite.
  async tests({ address }, bad) {
    const page = await open(address, bad);
    await click(page, 'tab', 'Tests');
    await waitText(page, '6 tests');
    await (await waitEnabled(page, 'button', 'Run all')).click();
    const dialog = await page.waitForSelector('dialog[open]', { timeout: patience });
    if (!(await dialog.evaluate((d) => d.innerText)).includes('write of c')) bad('the question does not name the tools');
    await audit(page, bad, 'the question of a run');
    let held = null; // the first question for outcomes
    await page.setRequestInterception(true);
    page.on('request', (r) => { if (r.url().endsWith('/api/outcomes') && !held) held = r; else r.continue(); });
    await (await dialog.$('aria/Run[role="button"]')).click();
    await waitText(page, 'Run 1: 4 passed, 1 failed, 0 errors, 0 inconclusive, 1 skipped');
    // A redraw between press and release does not swallow the click.
    const pressed = await aria(page, 'button', 'reads more');
    await pressed.hover();
    await page.mouse.down();
    await page.evaluate(() => new Promise((done) => { dispatchEvent(new Event('resize')); setTimeout(done, 200); }));
    if (!await pressed.evaluate((b) => b.isConnected)) bad('a button was replaced while it was pressed');
    await page.mouse.up();
    // A report that is opened before its outcome has come is completed.
    await page.waitForFunction(() => document.querySelector('#panel-Tests [aria-label=Report] h3')?.textContent === 'reads more', { timeout: patience });
    if (await page.$('[aria-label="What the run says"]')) bad('a report is there before its outcome');
    held.continue();
    if (!(await textOf(page, 'region', 'What the run says')).includes('expected "other", got "done read"')) bad('the report of a failure is not shown');
    if (!(await page.$('a[href^="vscode://file/"]'))) bad('no link opens the test in an editor');
    await audit(page, bad, 'the tab Tests');
    await shot(page, 'tests');
    await type(page, 'searchbox', 'Filter of the tests', 'tag:quick');
    await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Tests] tr.frame').length === 1, { timeout: patience });
    await click(page, 'checkbox', 'Select all that are shown');
    await (await waitEnabled(page, 'button', 'Run selected')).click();
    await (await (await page.waitForSelector('dialog[open]', { timeout: patience })).$('aria/Run[role="button"]')).click();
    await waitText(page, 'Run 2: 1 passed, 0 failed');
    await click(page, 'tab', 'History');
    await page.waitForFunction(() => document.querySelectorAll('table[aria-label=Records] tbody tr').length === 2, { timeout: patience });
    await click(page, 'button', 'Compare');
    await page.waitForFunction(() => document.querySelector('[aria-label=Comparison]').textContent.includes('reads more'), { timeout: patience });
    await audit(page, bad, 'the tab History');
    await shot(page, 'history');
    await unharmed(page, bad);
    return {};
  },

  // The picture of the page: a call, its result, and the test that is made of it. It returns the text that is seen.
  async picture({ address }, bad) {
    const page = await open(address, bad, { height: 1000 });
    await click(page, 'button', 'Connect');
    await item(page, 'find_slot');
    await type(page, 'textbox', 'date', '2026-03-09');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, '"zone":"UTC"');
    await waitText(page, 'Findings of check (4)');
    await click(page, 'button', 'Keep as test');
    await page.waitForFunction(() => document.querySelector('[aria-label=Diff]').textContent.includes('find_slot'), { timeout: patience });
    await page.$eval('#panel-Call [aria-label=Result]', (e) => e.scrollIntoView({ block: 'start' }));
    await page.$eval('#panel-Wire .scroller', (e) => { e.scrollTop = 0; });
    await page.waitForFunction(() => document.querySelector('table[aria-label=Wire] [data-seq="1"]'), { timeout: patience, polling: 50 });
    await page.evaluate(() => document.activeElement.blur());
    await shot(page, 'ui');
    return { text: await page.$eval('#panel-Call', (e) => e.innerText) };
  },

  // A click on a value of the result expects it, and a second click no longer; so does a selected text.
  async clicked({ address }, bad) {
    const page = await open(address, bad);
    await click(page, 'button', 'Connect');
    await item(page, 'list_events');
    await type(page, 'textbox', 'date', '2026-03-09');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, '"title":"Stand-up"');
    // What is unfolded is made then.
    const unfold = (/** @type {string} */ begin) => page.waitForFunction((b) => {
      const d = [...document.querySelectorAll('#panel-Call [aria-label=Result] details:not([open])')].find((e) => e.querySelector('summary').textContent.startsWith(b));
      if (d) d.open = true;
      return d;
    }, { timeout: patience, polling: 50 }, begin);
    const expects = (/** @type {string} */ line, yes = true) => page.waitForFunction((l, y) => {
      const shown = document.querySelector('[aria-label=Diff]').textContent.includes(l);
      return shown === y;
    }, { timeout: patience, polling: 50 }, line, yes);
    for (const part of ['JSON', 'Tree', 'structuredContent', 'events', '0']) await unfold(part);
    const result = '#panel-Call [aria-label=Result] ';
    const press = async (/** @type {string} */ name) => {
      await page.waitForFunction((within, n) => {
        const found = [...document.querySelectorAll(within + 'button.value')].filter((b) => b.checkVisibility()).findLast((b) => b.textContent === n);
        found?.click();
        return found;
      }, { timeout: patience, polling: 50 }, result, name);
    };
    await press('"Stand-up"');
    await expects('events[0].title', false);
    await press('"Stand-up"');
    await expects('events[0].title');
    await press('Expect these members');
    await expects('required: [id, title]');
    await press('Expect these members');
    await expects('required: [id, title]', false);
    await press('Expect these members');
    await expects('required: [id, title]');
    await page.$eval(result + 'pre', (pre) => {
      const at = pre.textContent.indexOf('Review');
      getSelection().setBaseAndExtent(pre.firstChild, at, pre.firstChild, at + 'Review'.length);
    });
    await click(page, 'button', 'Expect the selected text');
    await expects('{target: text, matcher: {contains: Review}}');
    await audit(page, bad, 'what was clicked');
    await shot(page, 'clicked');
    await (await waitEnabled(page, 'button', 'Insert')).click();
    await waitText(page, '1 passed');
    await click(page, 'button', 'Undo');
    await waitText(page, 'the file is what it was');
    return {};
  },

  // Everything of a server is a payload: no script runs, the policy is not violated, links are inert.
  async hostile({ address }, bad) {
    const page = await open(address, bad);
    await clickInList(page, 'ul[aria-label=Servers] button', 'o');
    await (await waitEnabled(page, 'button', 'Connect')).click();
    await waitText(page, 'Status: failed');
    await waitText(page, 'fail ');
    await unharmed(page, bad);
    await clickInList(page, 'ul[aria-label=Servers] button', 'h');
    await (await waitEnabled(page, 'button', 'Connect')).click();
    const tools = 'ul[aria-label=Tools] button';
    await page.waitForFunction((t) => document.querySelectorAll(t).length === 41, { timeout: patience, polling: 50 }, tools);
    await waitText(page, 'findings of check');
    const strange = await page.evaluate(async (list) => {
      const found = [];
      const until = async (ok) => { while (!ok()) await new Promise((done) => setTimeout(done, 20)); };
      const send = [...document.querySelectorAll('#panel-Call button')].find((b) => b.textContent === 'Send');
      const result = document.querySelector('#panel-Call [aria-label=Result]');
      for (let i = 0; i < 41; i++) {
        document.querySelectorAll(list)[i].click();
        await until(() => send.disabled);
        await until(() => !send.disabled);
        result.replaceChildren();
        send.click();
        await until(() => result.querySelector('h3'));
        for (const d of result.querySelectorAll('details')) d.open = true;
        for (const e of document.querySelectorAll('main script, main iframe, main object, main embed, main svg, main form, main link, main base, main meta, main style, main img:not(.shown)')) found.push(i + ' ' + e.tagName);
        for (const a of document.querySelectorAll('a[href]')) if (!/^https?:/.test(a.href)) found.push(i + ' ' + a.href.slice(0, 80));
        for (const img of document.querySelectorAll('img')) if (!img.src.startsWith('data:image/')) found.push(i + ' ' + img.src.slice(0, 80));
        if (/[\u202e\u2066\u200b\u001b\u0000]/.test(document.body.innerText)) found.push(i + ' a character that is not escaped');
      }
      return found;
    }, tools);
    if (strange.length) bad(`of payloads: ${strange}`);
    const wide = await overflows(page);
    if (wide > 0) bad(`a payload makes the page ${wide} px too wide`);
    await type(page, 'textbox', '__proto__', 'mine');
    const value = await (await aria(page, 'textbox', 'Arguments (JSON)')).evaluate((e) => e.value);
    if (!value.includes('"__proto__": "mine"')) bad(`a field called __proto__ is lost: ${value}`);
    if (await page.evaluate(() => location.hash + document.title !== 'mcptest ui')) bad('the address or the title was changed');
    await unharmed(page, bad);
    await shot(page, 'hostile');
    return {};
  },

  // A login: its token is in no part of the page.
  async login({ address }, bad) {
    const page = await open(address, bad);
    page.on('console', (m) => { if (m.text().includes('canary-')) bad(`the console has the token: ${m.text()}`); });
    await (await waitEnabled(page, 'button', 'Connect')).click();
    await waitText(page, 'Status: connected');
    await page.waitForSelector('ul[aria-label=Tools] button', { timeout: patience });
    await click(page, 'tab', 'Wire');
    await page.waitForFunction(() => document.querySelector('table[aria-label=Wire] [data-seq="1"]'), { timeout: patience, polling: 50 });
    await page.$eval('table[aria-label=Wire] tr.frame', (tr) => tr.click());
    await aria(page, 'region', 'Raw bytes');
    const everything = await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]) + location.href);
    if (everything.includes('canary-')) bad('the page has the token of a login');
    return {};
  },

  // The same call with another protocol version: two columns, and what differs.
  async also({ address }, bad) {
    const page = await open(address, bad);
    await click(page, 'button', 'Connect');
    await item(page, 'get-sum');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'The sum of');
    const ticked = await page.$$eval('.places input:checked', (list) => list.map((b) => b.labels[0].textContent));
    if (ticked.join() !== 'server, 2025-06-18') bad(`ticked at first: ${ticked}`);
    await click(page, 'checkbox', 'server, 2025-03-26');
    await (await waitEnabled(page, 'button', 'Also on')).click();
    for (const version of ['2025-06-18', '2025-03-26']) { // the tools of another version are not known, so each call is asked about
      const dialog = await page.waitForSelector(`dialog[open][aria-label$="on server, ${version}?"]`, { timeout: patience });
      await (await dialog.$('aria/Send[role="button"]')).click();
    }
    for (const version of ['2025-06-18', '2025-03-26']) {
      await page.waitForFunction((v) => document.querySelector(`[aria-label="Differences on server, ${v}"]`)?.textContent.startsWith('No differences:'), { timeout: patience, polling: 50 }, version);
      if (!(await textOf(page, 'region', `Result on server, ${version}`)).includes('The sum of')) bad('the other result is not shown');
    }
    const tops = await page.$$eval('.columns [aria-label^="Result"]', (list) => list.map((e) => Math.round(e.getBoundingClientRect().left)));
    if (new Set(tops).size < 2) bad(`the results are not side by side: ${tops}`);
    await audit(page, bad, 'Also on');
    await shot(page, 'also');
    return {};
  },

  // 390 px in both themes: nothing is wider than the screen; the keyboard reaches everything.
  async narrow({ address }, bad) {
    for (const theme of ['light', 'dark']) {
      const page = await open(address, bad, { width: 390, height: 800, theme });
      for (const name of ['Server', 'Call', 'Answer', 'Wire', 'Tests', 'History', 'Cassettes']) {
        await click(page, 'tab', name);
        const over = await overflows(page);
        if (over > 0) bad(`${name} at 390 px, ${theme}: ${over} px too wide`);
        await audit(page, bad, `${name} at 390 px, ${theme}`);
        await shot(page, `narrow-${name}-${theme}`);
      }
      await page.close();
    }
    return {};
  },

  // Only the keyboard: connect, call, keep.
  async keyboard({ address }, bad) {
    const page = await open(address, bad);
    const focusOn = async (role, name) => {
      for (let i = 0; i < 200; i++) {
        const at = await page.evaluate(() => {
          const e = document.activeElement;
          return [e.getAttribute('role') ?? e.tagName.toLowerCase(), e.getAttribute('aria-label') ?? (e.labels?.[0]?.textContent || e.textContent), e.disabled];
        });
        if (at[0] === role && at[1].startsWith(name)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab does not reach ${role} ${name}`);
    };
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]', { timeout: patience });
    await page.keyboard.press('Escape');
    await waitEnabled(page, 'button', 'Connect');
    await focusOn('button', 'Connect');
    await page.keyboard.press('Enter');
    await waitText(page, 'Status: connected');
    await page.waitForSelector('ul[aria-label=Tools] button', { timeout: patience });
    await page.keyboard.press('1');
    await page.keyboard.press('/');
    await page.keyboard.type('get-sum');
    await focusOn('button', 'get-sum');
    await page.keyboard.press('Enter');
    await aria(page, 'textbox', 'a');
    await focusOn('input', 'a');
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('20');
    await focusOn('button', 'Send');
    await page.keyboard.press('Enter');
    await waitText(page, 'The sum of 20 and');
    await aria(page, 'button', 'Keep as test');
    await focusOn('button', 'Keep as test');
    await page.keyboard.press('Enter');
    await waitEnabled(page, 'button', 'Insert');
    await focusOn('button', 'Insert');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => [...document.querySelectorAll('[role=status] p')].some((p) => p.textContent === 'passed'), { timeout: patience });
    return {};
  },

  // A flood and a result of 10 MB: no long task, and the page says what it left out.
  async load({ address }, bad) {
    const page = await open(address, bad);
    await click(page, 'button', 'Connect');
    await item(page, 'flood');
    await page.evaluate(() => { window.tasks.length = 0; });
    for (let i = 0; i < 4; i++) {
      await (await waitEnabled(page, 'button', 'Send')).click();
      await waitText(page, `${3000 * (i + 1)}`.slice(0, 0) || 'done flood');
      await new Promise((done) => setTimeout(done, 1000));
    }
    const flood = await page.evaluate(() => window.tasks);
    const rows = await page.evaluate(() => document.querySelector('#panel-Wire [role=status]').textContent);
    await page.evaluate(() => { window.tasks.length = 0; });
    await item(page, 'big');
    const from = Date.now();
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'JSON (10.0 MiB)');
    const big = Date.now() - from;
    const tasks = await page.evaluate(() => window.tasks);
    const heap = (await page.metrics()).JSHeapUsedSize;
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    return { floodTasks: flood, rows, bigMS: big, bigTasks: tasks, heapMB: Math.round(heap / 1048576), paintMS: Math.round(paint ?? -1) };
  },

  // Servers that never answer or write garbage, a reload during a call, a second tab.
  async rough({ address }, bad) {
    const page = await open(address, bad);
    const server = (name) => clickInList(page, 'ul[aria-label=Servers] button', name);
    await server('mute');
    await (await waitEnabled(page, 'button', 'Connect')).click();
    await waitText(page, 'Status: connecting');
    await (await waitEnabled(page, 'button', 'Disconnect')).click();
    await waitText(page, 'Status: not connected');
    await server('junk');
    await (await waitEnabled(page, 'button', 'Connect')).click();
    await waitText(page, 'Status: failed');
    await waitText(page, 'fail handshake');
    await server('c');
    await (await waitEnabled(page, 'button', 'Connect')).click();
    await item(page, 'slow');
    await (await waitEnabled(page, 'button', 'Send')).click();
    await waitText(page, 'Running');
    await page.reload({ waitUntil: 'load' });
    await waitText(page, 'done slow');
    const second = await open(address, bad);
    await waitText(second, 'Status: connected');
    await item(second, 'read');
    await (await waitEnabled(second, 'button', 'Send')).click();
    await waitText(second, 'done read');
    // While the definition of another tool is on its way, its call would have the arguments of this one.
    await second.setRequestInterception(true);
    let held = null;
    second.on('request', (r) => { if (r.url().endsWith('/definition') && !held) held = r; else r.continue(); });
    await clickInList(second, 'ul[aria-label] button', 'bad');
    await second.waitForFunction(() => document.querySelector('#panel-Call h2').textContent === 'bad', { timeout: patience });
    if (!await (await aria(second, 'button', 'Send')).evaluate((b) => b.disabled)) bad('a tool can be called with the arguments of another one');
    held.continue();
    await (await waitEnabled(second, 'button', 'Send')).click();
    await waitText(second, 'done bad');
    return {};
  },

  // A page of another origin tries to connect to the server, with every kind of request a page
  // can make, even with the token. The caller counts at the server.
  async attack({ address }, bad) {
    const { origin } = new URL(address);
    const token = address.slice(-64);
    const { createServer } = await import('node:http');
    const evil = createServer((_, w) => { w.setHeader('Content-Type', 'text/html'); w.end('<!doctype html><title>evil</title>'); });
    await new Promise((done) => evil.listen(0, '127.0.0.1', done));
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${evil.address().port}/`);
    const got = await page.evaluate(async (origin, token) => {
      const out = [];
      const body = '{"server":0,"protocol":"auto"}';
      const say = (name, answered) => out.push([name, answered]);
      for (const mode of ['cors', 'no-cors']) {
        for (const type of ['application/json', 'text/plain']) {
          for (const auth of [true, false]) {
            const headers = { 'Content-Type': type, ...(auth ? { Authorization: 'Bearer ' + token } : {}) };
            await fetch(origin + '/api/connect', { method: 'POST', mode, body, headers, credentials: 'include' }).then((r) => say(`fetch ${mode} ${type} ${auth}`, r.type !== 'opaque' && r.ok), () => {});
          }
        }
      }
      navigator.sendBeacon(origin + '/api/connect', new Blob([body], { type: 'text/plain' }));
      await new Promise((done) => { const s = new EventSource(origin + '/api/feed'); s.onopen = () => { say('EventSource', true); done(); }; s.onerror = () => { s.close(); done(); }; });
      await new Promise((done) => { const s = new WebSocket(origin.replace('http', 'ws') + '/api/feed'); s.onopen = () => { say('WebSocket', true); done(); }; s.onerror = () => done(); });
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: origin + '/api/connect', enctype: 'text/plain', target: 'frame' });
      const input = document.createElement('input');
      Object.assign(input, { name: body.slice(0, -1) + ',"x":"', value: '"}' });
      const frame = document.createElement('iframe');
      frame.name = 'frame';
      form.append(input);
      document.body.append(frame, form);
      form.submit();
      const framed = document.createElement('iframe');
      framed.src = origin + '/#token=' + token;
      document.body.append(framed);
      const script = document.createElement('script');
      script.src = origin + '/api/state?token=' + token;
      document.body.append(script);
      const opened = window.open(origin + '/?server=0&connect=1&call=1#token=' + token + '&connect=1');
      await new Promise((done) => setTimeout(done, 1500));
      let seen = '';
      try { seen = opened?.document?.body?.innerText ?? ''; } catch { /* as it should be */ }
      say('reads the page', seen !== '');
      return out.filter(([, answered]) => answered).map(([name]) => name);
    }, origin, token);
    if (got.length) bad(`a foreign page got an answer: ${got}`);
    const frames = page.frames().filter((f) => f.url().startsWith(origin));
    for (const f of frames) if (await f.evaluate(() => document.querySelector('#tabs') !== null).catch(() => false)) bad('the page was shown in a frame');
    evil.close();
    return {};
  },

  // A name of the internet that points to this machine: the page is not even served.
  async rebinding({ address }, bad) {
    const { port } = new URL(address);
    const own = await puppeteer.launch({ executablePath: job.chromium, headless: true, args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP evil.example 127.0.0.1'] });
    try {
      const page = await own.newPage();
      const answer = await page.goto(`http://evil.example:${port}/`);
      if (answer.status() !== 403) bad(`GET / under another name: ${answer.status()}`);
      const status = await page.evaluate((token) => fetch('/api/connect', { method: 'POST', body: '{"server":0}', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + token } }).then((r) => r.status), address.slice(-64));
      if (status !== 403) bad(`a request under another name: ${status}`);
    } finally {
      await own.close();
    }
    return {};
  },

  // Without its token the page says what to do.
  async tokenless({ address }, bad) {
    const page = await open(address.replace(/#.*/, ''), bad);
    await waitText(page, 'without its token');
    const wrong = await open(address.replace(/[0-9a-f]{64}$/, '0'.repeat(64)), bad);
    await waitText(wrong, 'the token is missing or wrong');
    return {};
  },
};

for (const one of job.flows) {
  const problems = [];
  let facts = {};
  try {
    facts = await flows[one.name](one, (p) => problems.push(p));
  } catch (e) {
    const where = String(e.stack ?? '').split('\n').filter((line) => line.includes('ui.mjs')).join('\n');
    problems.push(`${String(e).slice(0, 300)}\n${where}`);
    const pages = await browser.pages();
    const last = pages.at(-1);
    problems.push('the page says: ' + (await last.evaluate(() => document.body.innerText).catch(() => '?')).slice(0, 1500));
    await shot(last, 'failed-' + one.name).catch(() => {});
  }
  for (const p of (await browser.pages()).slice(1)) await p.close();
  out.push({ name: one.name, problems, facts });
}
await browser.close();
process.stdout.write(JSON.stringify(out));
