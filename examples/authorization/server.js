// A stand-in for an MCP server behind OAuth: tokens have scopes, and each tool needs one. `node server.js PORT HOLE`; a HOLE that is the name of a tool
// forgets the check of that tool.
const http = require('http');
const [port, hole] = process.argv.slice(2);
const scopes = { 'viewer-token-1': ['read'], 'editor-token-1': ['read', 'write'], 'admin-token-1': ['read', 'write', 'admin'] };
const needs = { list_notes: 'read', add_note: 'write', remove_note: 'admin' };
const own = `http://127.0.0.1:${port}`;
const about = `resource_metadata="${own}/.well-known/oauth-protected-resource"`;
const tools = Object.keys(needs).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } }));
const reply = (m) => {
  if (m.method === 'initialize') return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } } };
  if (m.method === 'tools/list') return { result: { tools } };
  if (m.method === 'tools/call' && needs[m.params.name]) return { result: { content: [{ type: 'text', text: `${m.params.name}: done` }] } };
  return { error: { code: -32601, message: 'Method not found' } };
};
http.createServer((req, res) => {
  const end = (status, headers, body) => res.writeHead(status, headers).end(body && JSON.stringify(body));
  if (req.url === '/.well-known/oauth-protected-resource') return end(200, { 'Content-Type': 'application/json' }, { resource: `${own}/mcp`, authorization_servers: [`${own}/login`] });
  if (req.method !== 'POST') return end(405, { Allow: 'POST' });
  const granted = scopes[(req.headers.authorization || '').replace(/^Bearer /, '')];
  if (!granted) return end(401, { 'WWW-Authenticate': `Bearer ${about}` });
  let body = '';
  req.on('data', (b) => (body += b)).on('end', () => {
    const m = JSON.parse(body);
    const scope = m.method === 'tools/call' && needs[m.params.name];
    if (scope && !granted.includes(scope) && m.params.name !== hole) {
      return end(403, { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}", ${about}` });
    }
    if (m.id === undefined) return end(202);
    return end(200, { 'Content-Type': 'application/json' }, { jsonrpc: '2.0', id: m.id, ...reply(m) });
  });
}).listen(port, '127.0.0.1');
