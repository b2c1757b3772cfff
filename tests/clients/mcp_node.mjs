// Three ways to MCP from Node: the Vercel AI SDK, mcp-remote (for desktops that speak to programs only), and the inspector's command line.
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { createMCPClient } from "@ai-sdk/mcp";
import { ANSWER, QUESTION, check, places } from "./checks.mjs";

const { base, key } = places.plain;
const address = `${base.replace(/\/api\/public\/v1$/, "")}/mcp`;
const first = (found) => JSON.parse(found.content[0].text).results[0];

console.log(" with @ai-sdk/mcp");
const client = await createMCPClient({ transport: { type: "http", url: address, headers: { Authorization: `Bearer ${key}` } } });
const tools = await client.tools();
const call = (name, input) => tools[name].execute(input, { toolCallId: name, messages: [] });
const found = first(await call("search", { query: QUESTION }));
check("search", found.text.includes(ANSWER));
check("fetch", JSON.parse((await call("fetch", { id: found.id })).content[0].text).text.includes(ANSWER));
await client.close();

console.log(" with mcp-remote");
const remote = spawn("node_modules/.bin/mcp-remote", [address, "--transport", "http-only", "--header", "Authorization:${KEY}"], {
  env: { ...process.env, KEY: `Bearer ${key}` }, stdio: ["pipe", "pipe", "ignore"],
});
const lines = createInterface({ input: remote.stdout })[Symbol.asyncIterator]();
const send = (message) => remote.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = async (id, method, params) => {
  send({ id, method, params });
  for (;;) {
    const { value, done } = await lines.next();
    if (done) return {};
    const message = JSON.parse(value);
    if (message.id === id) return message.result ?? message;
  }
};
const hello = await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } });
check("initialize", hello.serverInfo?.name === "quire");
send({ method: "notifications/initialized" });
const hit = first(await ask(2, "tools/call", { name: "search", arguments: { query: QUESTION } }));
check("search", hit.text.includes(ANSWER));
const fetched = await ask(3, "tools/call", { name: "fetch", arguments: { id: hit.id } });
check("fetch", JSON.parse(fetched.content[0].text).text.includes(ANSWER));
remote.kill();

console.log(" with the inspector");
const inspect = (...words) => {
  const line = ["--cli", address, "--transport", "http", "--header", `Authorization: Bearer ${key}`, ...words];
  const ran = spawnSync("node_modules/.bin/mcp-inspector", line, { encoding: "utf8", timeout: 120_000 });
  if (ran.status !== 0) console.log(ran.stdout, ran.stderr);
  return ran.status === 0 ? JSON.parse(ran.stdout) : {};
};
check("tools", inspect("--method", "tools/list").tools?.some((tool) => tool.name === "search"));
const shown = first(inspect("--method", "tools/call", "--tool-name", "search", "--tool-arg", `query=${QUESTION}`));
check("search", shown.text.includes(ANSWER));
const read = inspect("--method", "tools/call", "--tool-name", "fetch", "--tool-arg", `id=${shown.id}`);
check("fetch", JSON.parse(read.content[0].text).text.includes(ANSWER));
