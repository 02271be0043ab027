// Lets the client of the TypeScript SDK read lists of tools, as an oracle.
// Standard input: {"sdk": folder of the package, "lists": [[tool, …], …]}.
// Standard output: one entry per list, null or the error of listTools.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

let text = '';
for await (const chunk of process.stdin) text += chunk;
const { sdk, lists } = JSON.parse(text);
const load = (name) => import(pathToFileURL(join(sdk, 'dist/esm', name)));
const { Client } = await load('client/index.js');
const { InMemoryTransport } = await load('inMemory.js');

const outcomes = [];
for (const tools of lists) {
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (m) => {
    if (m.id === undefined) return;
    const result = m.method === 'initialize'
      ? { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
      : { tools };
    theirs.send({ jsonrpc: '2.0', id: m.id, result });
  };
  await theirs.start();
  const client = new Client({ name: 'oracle', version: '1' });
  await client.connect(mine);
  outcomes.push(await client.listTools().then(() => null, (e) => String(e.message).slice(0, 300)));
  await client.close();
}
process.stdout.write(JSON.stringify(outcomes));
