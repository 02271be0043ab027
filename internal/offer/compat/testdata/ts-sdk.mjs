// Lets the client of the TypeScript SDK read lists of tools, as an oracle.
// Standard input: {"modules": [file, …], "lists": [{"pages": [text of a result, …], "results": [{"tool", "result"}, …]}, …]}.
// Standard output: one entry per list: {"list": null or the error of listTools or of the calls in results,
// "tools": {name: the reason why the tool can't be called, …}}.
import { pathToFileURL } from 'node:url';

let text = '';
for await (const chunk of process.stdin) text += chunk;
const { modules, lists } = JSON.parse(text);
const loaded = await Promise.all(modules.map((file) => import(pathToFileURL(file))));
const { Client, ReadBuffer } = Object.assign({}, ...loaded);
console.warn = () => {};
process.on('unhandledRejection', () => {}); // of a schema with $async, which the client does not await

// Wire is a transport to a server that answers from a list. Like the SDK's transports, it parses each message with the SDK.
class Wire {
  constructor(list) { Object.assign(this, { list, page: 0, buffer: new ReadBuffer(), unlisted: { isError: true, content: [] } }); }
  async start() {}
  async close() { this.onclose?.(); }
  async send(m) {
    if (m.id === undefined) return;
    const answers = {
      initialize: () => JSON.stringify({ protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
      'tools/list': () => this.list.pages[this.page++],
      'tools/call': () => JSON.stringify(this.list.results.find((r) => r.tool === m.params.name)?.result ?? this.unlisted),
    };
    const answer = answers[m.method] ? `"result":${answers[m.method]()}` : '"error":{"code":-32601,"message":"method not found"}';
    queueMicrotask(() => {
      this.buffer.append(Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(m.id)},${answer}}\n`));
      try {
        this.onmessage?.(this.buffer.readMessage());
      } catch (e) {
        this.onerror?.(e);
      }
    });
  }
}

const outcomes = [];
for (const list of lists) {
  const client = new Client({ name: 'oracle', version: '1' });
  const wire = new Wire(list);
  await client.connect(wire);
  const broken = new Promise((_, reject) => { client.onerror = reject; });
  const outcome = { list: null, tools: {} };
  const use = async () => {
    const names = new Set();
    for (let cursor, i = 0; i === 0 || (cursor !== undefined && i < list.pages.length); i++) {
      const page = await Promise.race([broken, client.listTools(i === 0 ? undefined : { cursor })]);
      for (const t of page.tools) names.add(t.name);
      cursor = page.nextCursor;
    }
    const unlisted = [...names].filter((name) => !list.results.some((r) => r.tool === name));
    for (const name of names) {
      await Promise.race([broken, client.callTool({ name, arguments: {} })]).catch((e) => {
        if (list.results.some((r) => r.tool === name)) throw e;
        if (e.message.includes('invalid outputSchema')) outcome.tools[name] = e.message.slice(0, 300);
      });
    }
    wire.unlisted = { content: [], structuredContent: {} };
    for (const name of unlisted) {
      await Promise.race([broken, client.callTool({ name, arguments: {} })]).catch((e) => {
        if (e.message.includes('call stack')) outcome.tools[name] = e.message.slice(0, 300);
      });
    }
  };
  await use().catch((e) => { outcome.list = String(e.message).slice(0, 300); });
  outcomes.push(outcome);
  await client.close();
}
process.stdout.write(JSON.stringify(outcomes));
