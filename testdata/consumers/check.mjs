// Reads reports with parsers that are not ours and says what is wrong with
// them. Standard input: [{"format", "file", "want": {"total", "failed", ...}}].
// Standard output: [{"file", "problems": [...]}].
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse as parseJUnit } from 'junit2json';
import trp from 'test-results-parser';
import { Parser as TapParser } from 'tap-parser';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { HtmlValidate } from 'html-validate';

const require = createRequire(import.meta.url);

// What docs.gitlab.com ("Code Quality report format") asks of a report.
const codeQuality = {
  type: 'array',
  items: {
    type: 'object',
    required: ['description', 'check_name', 'fingerprint', 'severity', 'location'],
    additionalProperties: false,
    properties: {
      description: { type: 'string', minLength: 1 },
      check_name: { type: 'string', minLength: 1 },
      fingerprint: { type: 'string', minLength: 1 },
      severity: { enum: ['info', 'minor', 'major', 'critical', 'blocker'] },
      location: {
        type: 'object',
        required: ['path', 'lines'],
        additionalProperties: false,
        properties: {
          path: { type: 'string', minLength: 1, not: { pattern: '^\\.?/' } }, // of the repository
          lines: { type: 'object', required: ['begin'], additionalProperties: false, properties: { begin: { type: 'integer', minimum: 1 } } },
        },
      },
    },
  },
};

// To compile a schema takes longer than to read all reports with it.
const validators = new Map();
const compiled = (name, compile) => {
  if (!validators.has(name)) validators.set(name, compile());
  return validators.get(name);
};

const checks = {
  async junit(text, file, want, bad) {
    const one = await parseJUnit(text);
    const cases = (one.testsuite ?? []).flatMap((s) => {
      const inner = s.testcase ?? [];
      if ((s.tests ?? 0) !== inner.length) bad(`suite ${s.name}: tests="${s.tests}", and ${inner.length} are there`);
      return inner;
    });
    const total = want.total + want.runLevel;
    if (cases.length !== total || one.tests !== total) bad(`junit2json counts ${cases.length} and reads tests="${one.tests}", want ${total}`);
    const red = cases.filter((c) => c.failure || c.error).length;
    if (red !== want.failed + want.errored + want.runLevel) bad(`junit2json sees ${red} that did not pass`);
    const two = trp.parse({ type: 'junit', files: [file] });
    // It leaves skipped tests out of its total.
    if (two.total !== total - want.skipped) bad(`test-results-parser counts ${two.total}, want ${total - want.skipped}`);
    if (two.failed + two.errors !== red) bad(`test-results-parser sees ${two.failed} + ${two.errors} that did not pass, want ${red}`);
    if (two.skipped !== want.skipped) bad(`test-results-parser sees ${two.skipped} skipped, want ${want.skipped}`);
  },

  async tap(text, _file, want, bad) {
    const result = await new Promise((done) => {
      const p = new TapParser({ strict: true }, done);
      p.on('extra', (line) => bad(`not TAP: ${JSON.stringify(line)}`));
      p.end(text);
    });
    const why = result.bailout || '';
    if (why !== want.bail) bad(`bails out with ${JSON.stringify(why)}, want ${JSON.stringify(want.bail)}`);
    if (want.bail && !text.trimEnd().endsWith(`Bail out! ${want.bail}`)) bad('something follows Bail out!');
    for (const f of result.failures) if (f.tapError) bad(`TAP error: ${f.tapError}`);
    const total = want.total + want.runLevel;
    if (result.count !== total) bad(`tap-parser counts ${result.count}, want ${total}`);
    if (result.fail !== want.failed + want.errored + want.runLevel) bad(`tap-parser sees ${result.fail} that failed`);
    if (result.skip !== want.skipped && total > 0) bad(`tap-parser sees ${result.skip} skipped, want ${want.skipped}`);
    if (total > 0 && result.ok !== (result.fail === 0 && !want.bail)) bad('verdict and counts differ');
  },

  md(text, _file, _want, bad) {
    const ours = new Set(['<details><summary>Details</summary>', '<details><summary>All tests</summary>', '<details><summary>Drafts of tests</summary>', '<details><summary>Requests to upstreams</summary>', '</details>']);
    const plain = new Set(['root', 'heading', 'paragraph', 'text', 'inlineCode', 'code', 'html', 'table', 'tableRow', 'tableCell', 'list', 'listItem', 'break', 'blockquote', 'strong']);
    const walk = (n) => {
      if (!plain.has(n.type)) bad(`a ${n.type}: ${JSON.stringify(n).slice(0, 200)}`);
      if (n.type === 'html' && !ours.has(n.value.trim())) bad(`HTML: ${n.value.slice(0, 200)}`);
      if (n.type === 'heading' && n.depth < 2) bad('a heading of the first level');
      if (n.type === 'text' && /[<>@`\x1b]|https?:/.test(n.value)) bad(`text outside code: ${n.value.slice(0, 200)}`);
      if (n.type === 'table') for (const r of n.children) if (r.children.length !== n.children[0].children.length) bad('a row has other cells than its head');
      for (const c of n.children ?? []) walk(c);
    };
    walk(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  },

  sarif(text, _file, want, bad) {
    const log = JSON.parse(text);
    const valid = compiled('sarif', () => {
      const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
      addFormats(ajv);
      const schema = structuredClone(require('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'));
      delete schema.$schema;
      delete schema.id; // the name of $id in the draft it is written in
      return ajv.compile(schema);
    });
    if (!valid(log)) for (const e of valid.errors.slice(0, 5)) bad(`schema: ${e.instancePath} ${e.message}`);
    const run = log.runs[0];
    if (run.results.length < want.failed + want.errored + want.runLevel) bad(`${run.results.length} results for ${want.failed + want.errored + want.runLevel} failures`);
    for (const r of run.results) if (run.tool.driver.rules[r.ruleIndex]?.id !== r.ruleId) bad(`rule ${r.ruleIndex} is not ${r.ruleId}`);
  },

  gitlab(text, _file, want, bad) {
    const list = JSON.parse(text);
    const valid = new Ajv({ allErrors: true }).compile(codeQuality);
    if (!valid(list)) for (const e of valid.errors.slice(0, 5)) bad(`schema: ${e.instancePath} ${e.message}`);
    const wrong = list.filter((e) => e.severity !== 'info'); // warnings are only told
    if (wrong.length !== want.failed + want.errored + want.runLevel) bad(`${wrong.length} entries`);
    if (list.length - wrong.length > 200) bad(`${list.length - wrong.length} entries of the severity info`);
    if (new Set(list.map((e) => e.fingerprint)).size !== list.length) bad('a fingerprint twice');
  },

  // Reads what the runner reads: "::name key=value,key=value::text" at the
  // beginning of a line, %25 %0D %0A decoded, %3A %2C besides in values
  // (docs.github.com, "Workflow commands for GitHub Actions").
  github(text, _file, want, bad) {
    const decode = (s) => s.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%25', '%');
    let errors = 0;
    for (const line of text.trimEnd().split('\n')) {
      if (/[\x00-\x08\x0b-\x1f]/.test(line)) bad(`a control character: ${JSON.stringify(line.slice(0, 100))}`);
      if (!line.trimStart().startsWith('::')) {
        if (/##\[|::[a-z-]+::/.test(line)) bad(`a command inside a line: ${line.slice(0, 100)}`);
        continue;
      }
      const m = /^::([a-z-]+)(?: ([^:]*))?::(.*)$/.exec(line);
      if (!m) { bad(`no command: ${line.slice(0, 100)}`); continue; }
      const [, name, props, data] = m;
      if (!['error', 'warning', 'notice'].includes(name)) bad(`the command ${name}`);
      if (name === 'error') errors++;
      if (!decode(data).trim()) bad('an annotation without a text');
      if (/%(?!25|0D|0A)/.test(data)) bad(`an escape that nobody decodes: ${data.slice(0, 100)}`);
      const given = new Map();
      for (const p of props ? props.split(',') : []) {
        const at = p.indexOf('=');
        if (at < 1) bad(`the property ${p}`);
        const key = p.slice(0, at);
        if (given.has(key)) bad(`${key} twice`);
        given.set(key, decode(p.slice(at + 1)));
      }
      for (const [key, value] of given) {
        if (!['title', 'file', 'line', 'endLine', 'col', 'endColumn'].includes(key)) bad(`the property ${key}`);
        if (['line', 'endLine', 'col', 'endColumn'].includes(key) && !/^[1-9][0-9]*$/.test(value)) bad(`${key}=${value}`);
        if (key === 'file' && (value.startsWith('/') || value.startsWith('./'))) bad(`file=${value}`);
      }
      if (given.has('line') && !given.has('file')) bad('a line without a file');
    }
    if (errors !== Math.min(50, want.failed + want.errored + want.runLevel)) bad(`${errors} errors`);
  },

  otlp(text, _file, _want, bad) {
    const root = require('@opentelemetry/otlp-transformer/build/src/generated/root.js');
    const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
    const given = JSON.parse(text);
    const message = Request.fromObject(given);
    const wrong = Request.verify(message);
    if (wrong) bad(`protobuf: ${wrong}`);
    // What the message definition does not know is lost on this way.
    const back = Request.toObject(Request.decode(Request.encode(message).finish()), { longs: String, bytes: String, enums: Number });
    const tidy = (v) => JSON.parse(JSON.stringify(v, (k, x) => (x === '' || x === 0 || (Array.isArray(x) && !x.length) || (k === 'status' && !Object.keys(x).length) ? undefined : x)));
    if (!isDeepStrictEqual(tidy(back), tidy(given))) bad('protobuf reads something else than was written');
    const spans = given.resourceSpans[0].scopeSpans[0].spans;
    const ids = new Set(spans.map((s) => s.spanId));
    if (ids.size !== spans.length) bad('a span id twice');
    for (const s of spans) {
      if (!/^[0-9a-f]{32}$/.test(s.traceId) || !/^[0-9a-f]{16}$/.test(s.spanId)) bad(`ids ${s.traceId} ${s.spanId}`);
      if (s.parentSpanId && !ids.has(s.parentSpanId)) bad(`no parent ${s.parentSpanId}`);
      if (BigInt(s.endTimeUnixNano) < BigInt(s.startTimeUnixNano)) bad('ends before it starts');
    }
    if (spans.filter((s) => !s.parentSpanId).length !== 1) bad('not one root');
  },

  async html(text, file, _want, bad) {
    const v = new HtmlValidate({ extends: ['html-validate:recommended', 'html-validate:a11y'], rules: { 'long-title': 'off', 'no-trailing-whitespace': 'off', 'require-sri': 'off', 'prefer-native-element': 'off' } });
    const report = await v.validateString(text, file);
    for (const r of report.results) for (const m of r.messages.slice(0, 10)) bad(`${m.line}:${m.column} ${m.ruleId}: ${m.message}`);
  },

  // The record and its log, by the schema that mcptest publishes.
  json(text, _file, want, bad) {
    const valid = compiled(want.schema, () => {
      const ajv = new Ajv2020({ strict: true, allErrors: true });
      addFormats(ajv);
      return ajv.compile(JSON.parse(readFileSync(want.schema, 'utf8')));
    });
    if (!valid(JSON.parse(text))) for (const e of valid.errors.slice(0, 5)) bad(`schema: ${e.instancePath} ${e.message}`);
  },

  ndjson(text, _file, _want, bad) {
    for (const line of text.trimEnd().split('\n')) if (typeof JSON.parse(line).event !== 'string') bad('a line without an event');
  },
};

const out = [];
for (const { format, file, want } of JSON.parse(readFileSync(0, 'utf8'))) {
  const problems = [];
  try {
    await checks[format](readFileSync(file, 'utf8'), file, want, (p) => problems.push(p));
  } catch (e) {
    problems.push(`cannot be read: ${e.stack}`);
  }
  out.push({ file, problems });
}
process.stdout.write(JSON.stringify(out));
