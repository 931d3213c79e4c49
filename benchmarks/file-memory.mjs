// What a file of 30 MB costs while it is sent, beyond the message that holds it: the peak of the
// process's resident memory, and in brackets what is still referenced after the turn, in multiples
// of the file's base64. A row for each wire, and one for plain JSON.stringify with fetch, each in a
// process of its own. Later peaks contain what the allocator has not returned to the system yet, so
// compare them with the plain row. Linux only (/proc):
//   node --conditions=@bowline/source --expose-gc benchmarks/file-memory.mjs
import { fork, spawnSync } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const FILE_BYTES = 30_000_000;
const TURNS = 6;
const wires = {
  "openai-chat": "streamOpenaiChat",
  "openai-responses": "streamOpenaiResponses",
  "anthropic-messages": "streamAnthropicMessages",
  "google-generate": "streamGoogleGenerate",
};

if (process.argv[2] === "serve") serve();
else if (process.argv[2] === undefined) {
  console.log(`${FILE_BYTES / 1e6} MB: peak (and what stays) of each turn, times its base64`);
  for (const name of ["plain", ...Object.keys(wires)])
    spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), name], {
      stdio: "inherit",
    });
} else await measure(process.argv[2]);

/** Reads every body to its end and refuses it, so that no answer is measured. */
function serve() {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end('{"error":{"message":"Enough."}}');
    });
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}

async function measure(name) {
  const server = fork(fileURLToPath(import.meta.url), ["serve"]);
  const port = await new Promise((resolve) => server.once("message", resolve));
  const send = await sender(name, `http://127.0.0.1:${port}/v1`);
  const small = [{ role: "user", content: "Hi", timestamp: 0 }];
  await send(small); // loads and compiles what the first call needs
  const data = randomFillSync(Buffer.alloc(FILE_BYTES)).toString("base64");
  const part = { type: "file", data, mimeType: "application/pdf", name: "a.pdf" };
  const messages = [{ role: "user", content: [part], timestamp: 0 }];
  await settle();
  const base = memory("VmRSS");
  const held = referenced();
  const row = [];
  for (let turn = 0; turn < TURNS; turn++) {
    writeFileSync("/proc/self/clear_refs", "5"); // forgets the peak so far
    await send(messages);
    const peak = memory("VmHWM") - base;
    await settle();
    row.push([peak, referenced() - held].map((bytes) => (bytes / data.length).toFixed(1)));
    messages.push(...toolTurn(turn));
  }
  const cells = row.map(([peak, stays]) => `${peak} (${stays})`.padStart(12));
  console.log(name.padEnd(20), ...cells);
  server.kill();
}

async function sender(name, baseUrl) {
  if (name === "plain")
    return async (messages) => {
      const body = JSON.stringify({ model: "m", stream: true, messages });
      const headers = { "content-type": "application/json" };
      await (await fetch(baseUrl, { method: "POST", headers, body })).text();
    };
  const stream = (await import(`@bowline/core/${name}`))[wires[name]];
  const { getModel } = await import("@bowline/core");
  const model = getModel("custom", "gemini-3-pro", { baseUrl, api: name });
  const parameters = { type: "object", properties: {} };
  const tools = [{ name: "look", description: "Looks.", parameters }];
  return async (messages) => {
    const { error } = await stream(model, { messages, tools }, { maxRetries: 0 }).result();
    if (error?.status !== 400) throw new Error(JSON.stringify(error));
  };
}

function toolTurn(turn) {
  const id = `call_${turn}`;
  const call = { type: "toolCall", id, name: "look", arguments: {} };
  const origin = { api: "x", provider: "x", model: "x", usage: {}, timestamp: 0 };
  const said = { role: "assistant", content: [call], stopReason: "toolUse", ...origin };
  const content = [{ type: "text", text: "Seen." }];
  const result = { toolCallId: id, toolName: "look", content, isError: false, timestamp: 0 };
  return [said, { role: "toolResult", ...result }];
}

async function settle() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The live objects and buffers, in bytes. */
function referenced() {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A line of the process's memory, in bytes. */
function memory(field) {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(
    readFileSync("/proc/self/status", "utf8"),
  );
  return Number(line[1]) * 1024;
}
