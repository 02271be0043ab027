// What a client of a TypeScript SDK gets from a server, as JSON:
//   node client.mjs 1|2|REVISION stdio COMMAND ARGUMENT…
//   node client.mjs 1|2|REVISION http URL      REVISION: SDK 2, with this protocol version
const [version, transport, ...target] = process.argv.slice(2);
const sdk = version === "1" ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
const from = (one, two) => import(version === "1" ? `${sdk}/${one}.js` : sdk + two);
const { Client } = await from("index", "");
const { StdioClientTransport } = await from("stdio", "/stdio");
const { StreamableHTTPClientTransport } = await from("streamableHttp", "");

const client = new Client({ name: "consumer", version: "1" }, { capabilities: {}, ...(version > "2" && { versionNegotiation: { mode: { pin: version } } }) });
await client.connect(transport === "stdio" ? new StdioClientTransport({ command: target[0], args: target.slice(1) }) : new StreamableHTTPClientTransport(new URL(target[0])));
const got = [["server", client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]];
const step = async (name, ask) => {
  try {
    got.push([name, await ask()]);
  } catch (e) {
    got.push([name, "error", e.code ?? null, e.message]);
  }
};
await step("tools", () => client.listTools());
await step("resources", () => client.listResources());
await step("templates", () => client.listResourceTemplates());
await step("prompts", () => client.listPrompts());
const calls = [
  ["echo", { message: "hi" }], ["get-sum", { a: 2, b: 3 }], ["get-sum", { a: "x" }], ["get-tiny-image", {}],
  ["get-structured-content", { location: "New York" }], ["get-resource-links", { count: 2 }], ["no-such-tool", {}], ["echo", { message: "hi" }],
];
for (const [name, args] of calls) await step(name, () => client.callTool({ name, arguments: args }));
await step("read", () => client.readResource({ uri: "demo://resource/static/document/architecture.md" }));
await step("read nothing", () => client.readResource({ uri: "demo://nothing" }));
await step("prompt", () => client.getPrompt({ name: "args-prompt", arguments: { city: "Rome" } }));
await step("complete", () => client.complete({ ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "E" } }));
await client.close();
console.log(JSON.stringify(got, null, 1));
process.exit(0);
