// Which clients of the TypeScript SDKs get in:
//   node openings.mjs <servers.json
// The input is a list of {url} or {command: [...], env: {...}}; the output is a list of
// {one, two, auto, pin}: why the client of SDK 1, that of SDK 2, that of SDK 2 which asks
// server/discover first and that which accepts 2026-07-28 only do not get in, "" if they do.
import { readFileSync } from "node:fs";
import { Client as One } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OneStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OneHTTP } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as Two, StreamableHTTPClientTransport as TwoHTTP } from "@modelcontextprotocol/client";
import { StdioClientTransport as TwoStdio } from "@modelcontextprotocol/client/stdio";

console.debug = console.info = console.warn = () => {}; // remarks of the SDKs
const timeout = Number(process.env.OPENING_TIMEOUT ?? 1500);
const capabilities = { roots: { listChanged: true }, elicitation: {} };
const info = { name: "claude-code", version: "2.1.286" };

const make = {
  one: (s) => {
    const client = new One(info, { capabilities });
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [] }));
    return [client, s.url ? new OneHTTP(new URL(s.url)) : new OneStdio({ command: s.command[0], args: s.command.slice(1), env: { ...process.env, ...s.env }, stderr: "ignore" })];
  },
  two: (s) => newer(s, {}),
  auto: (s) => newer(s, { versionNegotiation: { mode: "auto" } }),
  pin: (s) => newer(s, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
};
const newer = (s, more) => {
  const client = new Two(info, { capabilities, ...more });
  client.setRequestHandler("roots/list", async () => ({ roots: [] }));
  return [client, s.url ? new TwoHTTP(new URL(s.url)) : new TwoStdio({ command: s.command[0], args: s.command.slice(1), env: { ...process.env, ...s.env }, stderr: "ignore" })];
};
const fate = async (kind, server) => {
  let client, transport;
  try {
    [client, transport] = make[kind](server);
    await client.connect(transport, { timeout });
    if (client.getServerCapabilities()?.tools) await client.listTools(undefined, { timeout });
    return "";
  } catch (e) {
    return e.message || "an error";
  } finally {
    await client?.close().catch(() => {});
  }
};
const servers = JSON.parse(readFileSync(0, "utf8"));
const kinds = process.env.OPENING_CLIENTS ? process.env.OPENING_CLIENTS.split(",") : Object.keys(make);
const out = servers.map(() => ({}));
const jobs = servers.flatMap((s, i) => kinds.map((kind) => async () => { out[i][kind] = await fate(kind, s); }));
const worker = async () => { for (let job; (job = jobs.shift()); ) await job(); };
await Promise.all(Array.from({ length: Number(process.env.OPENING_PARALLEL ?? 6) }, worker));
// exit would cut what the pipe has not taken yet.
process.stdout.write(JSON.stringify(out), () => process.exit(0));
