// What the clients of the TypeScript SDKs do with results of the handshake:
//   node handshakes.mjs <handshakes.json
// The input is a list of {stateless, result}; the output is a list of {one, two}: why the
// client of SDK 1 and that of SDK 2 do not connect, "" if they do.
import { readFileSync } from "node:fs";
import { Client as One } from "@modelcontextprotocol/sdk/client/index.js";
import { Client as Two } from "@modelcontextprotocol/client";

console.debug = console.info = console.warn = () => {}; // remarks of the SDKs

// Server answers the requests of one client without a process.
class Server {
  constructor({ stateless, result }) {
    this.hello = stateless ? "server/discover" : "initialize";
    this.result = result;
    this.list = { tools: [], ...(stateless && { resultType: "complete", ttlMs: 0, cacheScope: "private" }) };
  }
  async start() {}
  async send({ id, method }) {
    if (id === undefined) return;
    const results = { [this.hello]: this.result, "tools/list": this.list, ping: {} };
    const answer = method in results ? { result: results[method] } : { error: { code: -32601, message: "method not found" } };
    queueMicrotask(() => this.onmessage?.({ jsonrpc: "2.0", id, ...answer }));
  }
  async close() {
    this.onclose?.();
  }
}

// Every answer is there at once, so a client that still waits then has ignored it.
const ignored = new Promise((_, fail) => setTimeout(() => fail(new Error("it waits for another response")), 3000));
const fate = async (client, handshake) => {
  try {
    await Promise.race([client.connect(new Server(handshake)), ignored]);
    await Promise.race([client.listTools(), ignored]);
    return "";
  } catch (e) {
    return e.message || "an error";
  }
};
ignored.catch(() => {});
const about = { name: "a", version: "1" };
const all = JSON.parse(readFileSync(0, "utf8"));
const fates = await Promise.all(all.map(async (h) => ({
  one: h.stateless ? "" : await fate(new One(about), h),
  two: await fate(new Two(about, { versionNegotiation: { mode: "auto" } }), h),
})));
process.stdout.write(JSON.stringify(fates), () => process.exit(0));
