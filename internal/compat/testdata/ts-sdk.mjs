// Lets the client of the TypeScript SDK read lists of tools, as an oracle.
// Standard input: {"modules": [file, …], "lists": [{"tools": [tool, …], "results": [{"tool", "result"}, …]}, …]}.
// Standard output: one entry per list, null or the error of listTools or of the calls.
import { pathToFileURL } from 'node:url';

let text = '';
for await (const chunk of process.stdin) text += chunk;
const { modules, lists } = JSON.parse(text);
const loaded = await Promise.all(modules.map((file) => import(pathToFileURL(file))));
const { Client, InMemoryTransport } = Object.assign({}, ...loaded);

const outcomes = [];
for (const { tools, results } of lists) {
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (m) => {
    if (m.id === undefined) return;
    const answers = {
      initialize: () => ({ protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
      'tools/list': () => ({ tools }),
      'tools/call': () => results.find((r) => r.tool === m.params.name).result,
    };
    const answer = answers[m.method];
    theirs.send({ jsonrpc: '2.0', id: m.id, ...(answer ? { result: answer() } : { error: { code: -32601, message: 'method not found' } }) });
  };
  await theirs.start();
  const client = new Client({ name: 'oracle', version: '1' });
  await client.connect(mine);
  const use = async () => {
    await client.listTools();
    for (const r of results) await client.callTool({ name: r.tool, arguments: {} });
  };
  outcomes.push(await use().then(() => null, (e) => String(e.message).slice(0, 300)));
  await client.close();
}
process.stdout.write(JSON.stringify(outcomes));
