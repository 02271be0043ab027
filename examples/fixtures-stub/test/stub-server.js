// A stub of the remote API: node stub-server.js PORT
const http = require('node:http');

const answers = {
  '/greeting': [200, 'hello from the stub'],
  '/private': [403, 'not for you'],
};

const server = http.createServer((req, res) => {
  const [status, text] = answers[req.url] ?? [404, 'no such path'];
  res.writeHead(status, { 'content-type': 'text/plain' });
  res.end(text);
});

server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
