// An agent with a scripted model drives the reference servers, over their standard streams and HTTP.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { connectMcp } from "@bowline/mcp";

const bin = (name) => join(import.meta.dirname, "node_modules/.bin", name);

export async function runServers() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "bowline-mcp-")));
  writeFileSync(join(folder, "note.txt"), "a note");
  const port = await freePort();
  const http = spawn(bin("mcp-server-everything"), ["streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  try {
    await listens(port);
    const mcp = await connectMcp({
      servers: {
        everything: { command: bin("mcp-server-everything"), args: ["stdio"] },
        remote: { type: "http", url: `http://127.0.0.1:${port}/mcp` },
        files: { command: bin("mcp-server-filesystem"), args: [folder] },
        memory: {
          command: bin("mcp-server-memory"),
          env: { MEMORY_FILE_PATH: join(folder, "memory.json") },
        },
      },
      needsApproval: false,
      onServerError: "throw",
    });
    for (const { name, tools, problems, protocolVersion } of mcp.servers) {
      assert.deepEqual(problems, []);
      console.log(`ok  ${name}: ${tools.length} tools, protocol ${protocolVersion}`);
    }
    for (const name of ["everything", "remote"]) await everything(mcp, name);
    await files(mcp, folder);
    await memory(mcp);
    await mcp.close();
    assert.deepEqual(mcp.tools, []);
  } finally {
    http.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function everything(mcp, server) {
  const call = caller(mcp, server);
  assert.equal((await call("echo", { message: "hello" })).text, "Echo: hello");
  assert.match((await call("get-sum", { a: 2, b: "3" })).text, /5/, "arguments are mended");
  const wrong = await call("get-sum", { a: "two" });
  assert.ok(wrong.isError && wrong.text.includes("b: is required"), wrong.text);
  const picture = await call("get-tiny-image", {});
  assert.ok(picture.content.some((part) => part.type === "image" && part.mimeType === "image/png"));
  const structured = await call("get-structured-content", { location: "Chicago" });
  assert.deepEqual(JSON.parse(structured.text), structured.details);
  const link = await call("get-resource-links", { count: 2 });
  assert.match(link.text, /\[resource demo:\/\/resource\//);
  const held = await call("get-resource-reference", { resourceType: "Text", resourceId: 1 });
  assert.match(held.text, /\[resource demo:\/\/resource\/dynamic\/text\/1\]\n/);
  const long = await call("trigger-long-running-operation", { duration: 0.4, steps: 2 });
  assert.match(long.text, /completed/);
  const resources = await mcp.resources(server);
  const [read] = await mcp.readResource(server, resources[0].uri);
  assert.equal(read.type, "text");
  const { messages } = await mcp.getPrompt(server, "args-prompt", { city: "Oslo" });
  assert.match(messages[0].content[0].text, /Oslo/);
  console.log(`ok  ${server}: calls, images, resources, prompts`);
}

async function files(mcp, folder) {
  const call = caller(mcp, "files");
  assert.match((await call("read_text_file", { path: join(folder, "note.txt") })).text, /a note/);
  const outside = await call("read_text_file", { path: "/etc/hostname" });
  assert.ok(outside.isError && outside.text.includes("outside"), outside.text);
  console.log("ok  files: reads within its folder, and fails outside");
}

async function memory(mcp) {
  const call = caller(mcp, "memory");
  const entity = { name: "Bowline", entityType: "knot", observations: ["holds"] };
  await call("create_entities", { entities: [entity] });
  assert.match((await call("search_nodes", { query: "Bowline" })).text, /holds/);
  console.log("ok  memory: keeps what it was told");
}

/** Calls a tool as an agent does: by a model's answer, with its arguments checked. */
function caller(mcp, server) {
  return async (tool, args) => {
    const step = { content: [scriptedToolCall(`${server}__${tool}`, args)], stopReason: "toolUse" };
    const { model, streamFn } = createScriptedModel([step, "done"]);
    const agent = new Agent({ model, streamFn, tools: mcp.tools });
    await agent.prompt("go");
    const result = agent.state.messages.find(({ role }) => role === "toolResult");
    const text = result.content.map((part) => part.text ?? "").join("\n");
    return { ...result, text };
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listens(port) {
  for (let left = 100; left > 0; left--) {
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`).catch(() => undefined);
    if (answer !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the server does not listen");
}
