// A small MCP server over standard streams, for the tests of the command. Its argument is a plan as
// JSON: `mark` is a file to append a line to at the start, `waitMs` delays the list of tools, `die`
// ends it at the first call, `noise` writes to standard error.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const plan = JSON.parse(process.argv[2] ?? "{}");
if (plan.mark) appendFileSync(plan.mark, `${process.pid}\n`);
if (plan.noise) console.error("NOISE ON STANDARD ERROR");

const tools = [
  {
    name: "note",
    description: "Keeps a note.",
    annotations: { readOnlyHint: true },
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
  { name: "show_environment", inputSchema: { type: "object" } },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: args }) => {
    if (plan.die) process.exit(3);
    const about = { cwd: process.cwd(), env: process.env };
    const text = name === "note" ? `Noted: ${args.text}` : JSON.stringify(about);
    return { content: [{ type: "text", text }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const send = () => {
    const message =
      answer === undefined
        ? { error: { code: -32601, message: `no ${method}` } }
        : { result: answer(params) };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);
  };
  if (method === "tools/list" && plan.waitMs) setTimeout(send, plan.waitMs);
  else send();
}
