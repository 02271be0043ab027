// A small MCP server over HTTP that keeps memory on demand: node server.mjs PORT [KIB] [WHEN] [CACHE]
//   KIB    KiB kept for each session (0)
//   WHEN   always, or vanish: until the session is ended with DELETE
//   CACHE  MiB of a cache that fills, and is then reused
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';

const [port, kib = 0, when = 'always', cache = 0] = process.argv.slice(2);
const kept = new Map(), entries = new Map();
createServer((req, res) => {
  const id = req.headers['mcp-session-id'];
  if (req.method === 'DELETE') {
    if (when === 'vanish') kept.delete(id);
    return res.writeHead(200).end();
  }
  if (req.method !== 'POST') return res.writeHead(405).end();
  let body = '';
  req.on('data', (c) => { body += c; });
  req.on('end', () => {
    const m = JSON.parse(body);
    const send = (result, headers = {}) => res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ jsonrpc: '2.0', id: m.id, result }));
    if (m.id === undefined) return res.writeHead(202).end();
    if (m.method === 'initialize') {
      const session = randomUUID();
      if (Number(kib)) kept.set(session, Array.from({ length: kib * 128 }, (_, i) => i + 0.5));
      if (Number(cache)) {
        const key = Math.floor(Math.random() * cache * 64);
        entries.set(key, Buffer.alloc(16384, key % 256));
      }
      return send({ protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'leaky', version: '1' } }, { 'mcp-session-id': session });
    }
    if (m.method === 'ping') return send({});
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'no' } }));
  });
}).listen(Number(port), '127.0.0.1');
