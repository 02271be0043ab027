"""A small MCP server over HTTP that keeps memory on demand: server.py PORT [KIB] [WHEN] [CACHE], as server.mjs."""
import json, random, sys, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, kib, when, cache = (sys.argv[1:] + ["0", "always", "0"][len(sys.argv) - 2:])[:4]
kept, entries = {}, {}


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if data:
            self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(405)

    def do_DELETE(self):
        if when == "vanish":
            kept.pop(self.headers["Mcp-Session-Id"], None)
        self.answer(200)

    def do_POST(self):
        m = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in m:
            return self.answer(202)
        reply = {"jsonrpc": "2.0", "id": m["id"]}
        if m["method"] == "initialize":
            session = str(uuid.uuid4())
            if int(kib):
                kept[session] = bytearray(int(kib) * 1024)
                kept[session][::512] = b"x" * len(kept[session][::512])
            if int(cache):
                key = random.randrange(int(cache) * 64)
                entries[key] = bytes([key % 256]) * 16384
            reply["result"] = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "leaky", "version": "1"}}
            return self.answer(200, reply, Mcp_Session_Id=session)
        if m["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": -32601, "message": "no"}
        self.answer(200, reply)


ThreadingHTTPServer(("127.0.0.1", int(port)), Server).serve_forever()
