// A small MCP server on standard input and output, without dependencies: its
// one tool fetches a path of the API that API_URL names.
const readline = require('node:readline');

const tools = [{
  name: 'fetch',
  description: 'Fetches a path of the API',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
}];

const text = (t, isError) => ({ content: [{ type: 'text', text: t }], ...(isError && { isError }) });

async function fetchPath({ path = '/' }) {
  const res = await fetch(new URL(path, process.env.API_URL));
  const body = await res.text();
  return res.ok ? text(body) : text(`the API answered ${res.status}: ${body}`, true);
}

async function handle(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'proxy', version: '1.0.0' },
      };
    case 'tools/list':
      return { tools };
    case 'tools/call':
      if (params.name === 'fetch') return fetchPath(params.arguments ?? {});
      throw Object.assign(new Error(`no tool ${params.name}`), { code: -32602 });
    case 'ping':
      return {};
    default:
      throw Object.assign(new Error(`no method ${method}`), { code: -32601 });
  }
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return; // a notification
  try {
    send({ id, result: await handle(method, params) });
  } catch (err) {
    if (method === 'tools/call' && err.code === undefined) {
      send({ id, result: text(`${err.message}: ${err.cause ?? ''}`, true) });
      return;
    }
    send({ id, error: { code: err.code ?? -32603, message: err.message } });
  }
});
