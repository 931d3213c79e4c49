// A server over its standard streams, in plain JSON-RPC, that misbehaves as it is told: each tool is a
// fault. The first argument is JSON: what it does before a tool is called.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const plan = JSON.parse(process.argv[2] ?? "{}");
const { start, list, tools: extra = [], noise } = plan;
const object = { type: "object", properties: {} };
const tool = (name, inputSchema = object, more = {}) => ({
  name,
  description: name,
  inputSchema,
  ...more,
});
let tools = [
  tool("echo", { type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
  ...[
    "die",
    "never",
    "cancelled",
    "lists",
    "wrong-id",
    "noise",
    "flood",
    "stderr",
    "too-long",
    "env",
    "change",
    "progress",
    "spawn",
    "stuck",
    "sample",
  ].map((name) => tool(name)),
  tool("huge", { type: "object", properties: { length: { type: "integer" } } }),
  tool("reply", { type: "object", properties: { result: { type: "object" } } }),
  tool(
    "structured",
    { type: "object", properties: { value: {} } },
    {
      outputSchema: {
        type: "object",
        properties: { value: { type: "number" } },
        required: ["value"],
      },
    },
  ),
  ...extra,
];
let cancelled = 0;
let lists = 0;
/** Answers the call that waits for what this program was asked. */
let waiting;

if (noise) process.stdout.write('Welcome!\n{"half": \n\n');
if (start === "fails") {
  process.stderr.write("no such database, token tok-1234567890\n");
  process.exit(3);
}
if (start === "fails-long") {
  process.stderr.write(`token ${"x".repeat(988)}tok-1234567890 ${"y".repeat(994)}\n`);
  process.exit(3);
}
if (start === "ignores-end") process.on("SIGTERM", () => {});
else createInterface({ input: process.stdin }).on("close", () => process.exit(0));

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });

createInterface({ input: process.stdin }).on("line", (line) => {
  if (start === "silent") return;
  const message = JSON.parse(line);
  if (message.method === "notifications/cancelled") cancelled += 1;
  if (message.id === "ask-1" && message.method === undefined)
    return waiting(text(JSON.stringify(message.result ?? message.error)));
  if (message.id === undefined || message.method === undefined) return;
  const answer = (result) => send({ id: message.id, result });
  switch (message.method) {
    case "initialize":
      return answer({
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "test", version: "1" },
        instructions: "x".repeat(10_000),
      });
    case "tools/list": {
      if (list === "never") return;
      if (list === "endless") {
        const page = Number(message.params?.cursor ?? 0);
        return answer({ tools: [tool(`page-${page}`)], nextCursor: String(page + 1) });
      }
      lists += 1;
      if (list === "restless") setImmediate(send, { method: "notifications/tools/list_changed" });
      return answer({ tools });
    }
    case "resources/read": {
      const told = `no rights for ${process.env.MY_TOKEN}`;
      return send({ id: message.id, error: { code: -32000, message: told, data: { told } } });
    }
    case "tools/call":
      return call(message, answer);
    default:
      if (start === "strict") process.exit(1);
      return send({ id: message.id, error: { code: -32601, message: "Method not found" } });
  }
});

function call({ id, params }, answer) {
  const { name, arguments: args = {}, _meta } = params;
  switch (name) {
    case "echo":
      return answer(text(args.text));
    case "die":
      process.stderr.write("out of memory\n", () => process.exit(7));
      return;
    case "never":
      return;
    case "cancelled":
      return answer(text(String(cancelled)));
    case "lists":
      return answer(text(String(lists)));
    case "wrong-id":
      return send({ id: 9999, result: text("for another") });
    case "noise":
      process.stdout.write("debug: calling\n[1,2\n");
      return answer(text("quiet"));
    case "flood":
      for (let at = 0; at < 5_000; at++)
        send({ method: "notifications/message", params: { level: "info", data: `line ${at}` } });
      for (let at = 0; at < 200; at++) send({ method: "notifications/tools/list_changed" });
      for (let at = 0; at < 200; at++) send({ id: 100_000 + at, result: {} });
      return answer(text("dry"));
    case "stderr":
      process.stderr.write("e".repeat(5_000_000) + "END\n", () => answer(text("said")));
      return;
    case "huge":
      return answer(text("h".repeat(args.length)));
    case "too-long":
      process.stdout.write("x".repeat(40_000_000));
      return;
    case "env":
      return answer(text(JSON.stringify(process.env)));
    case "change":
      tools = tools.filter((one) => one.name !== "added");
      if (args.add !== false) tools.push(tool("added"));
      send({ method: "notifications/tools/list_changed" });
      return answer(text("changed"));
    case "progress":
      for (let at = 1; at <= 500; at++)
        send({
          method: "notifications/progress",
          params: {
            progressToken: _meta.progressToken,
            progress: at,
            total: 500,
            message: "m".repeat(2_000),
          },
        });
      setTimeout(() => answer(text("finished")), 50);
      return;
    case "spawn": {
      const child = spawn("sleep", ["1000"], { stdio: "ignore" });
      return answer(text(String(child.pid)));
    }
    case "sample": {
      waiting = answer;
      const messages = [{ role: "user", content: { type: "text", text: "Say hi." } }];
      const asked = { messages, maxTokens: 10 };
      return send({ id: "ask-1", method: "sampling/createMessage", params: asked });
    }
    case "stuck":
      for (;;);
    case "reply":
      return answer(args.result);
    case "structured":
      return answer({ content: [], structuredContent: { value: args.value } });
    default:
      return send({ id, error: { code: -32602, message: `unknown tool ${name}` } });
  }
}
