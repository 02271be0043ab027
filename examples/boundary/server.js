// A stand-in for an MCP server behind OAuth: what it answers before any session. `node server.js PORT` serves HTTP; without a port it is a server over
// stdio that refuses to start without API_TOKEN.
const http = require('http');
const [port] = process.argv.slice(2);
const tools = { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] };
const reply = (m) => {
  if (m.method === 'initialize') return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } } };
  if (m.method === 'tools/list') return { result: tools };
  if (m.method === 'tools/call' && m.params.name === 'whoami') return { result: { content: [{ type: 'text', text: 'ada' }] } };
  return { error: { code: -32601, message: 'Method not found' } };
};
if (!port) {
  if (!process.env.API_TOKEN) {
    console.error('API_TOKEN is not set');
    process.exit(3);
  }
  const lines = require('readline').createInterface({ input: process.stdin });
  lines.on('line', (l) => {
    const m = JSON.parse(l);
    if (m.id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id: m.id, ...reply(m) }));
  });
  return;
}
const own = `http://127.0.0.1:${port}`;
http.createServer((req, res) => {
  const end = (status, headers, body) => res.writeHead(status, headers).end(body && JSON.stringify(body));
  const cors = { 'Access-Control-Allow-Origin': own, 'Access-Control-Allow-Methods': 'POST', 'Access-Control-Allow-Headers': 'Authorization, Content-Type' };
  if (req.url === '/.well-known/oauth-protected-resource') return end(200, { 'Content-Type': 'application/json' }, { resource: `${own}/mcp`, authorization_servers: [`${own}/login`] });
  if (req.headers.host !== `127.0.0.1:${port}` || (req.headers.origin && req.headers.origin !== own)) return end(403);
  if (req.url !== '/mcp') return end(404);
  if (req.method === 'OPTIONS') return end(204, cors);
  if (req.method !== 'POST') return end(405, { Allow: 'POST' });
  if (req.headers.authorization !== 'Bearer zebra-token-1') return end(401, { 'WWW-Authenticate': `Bearer resource_metadata="${own}/.well-known/oauth-protected-resource"` });
  let body = '';
  req.on('data', (b) => (body += b)).on('end', () => {
    const m = JSON.parse(body);
    if (m.id === undefined) return end(202);
    return end(200, { 'Content-Type': 'application/json' }, { jsonrpc: '2.0', id: m.id, ...reply(m) });
  });
}).listen(port, '127.0.0.1');
