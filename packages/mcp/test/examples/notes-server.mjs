// The server of the page's programs: one tool, in plain JSON-RPC over its standard streams.
import { createInterface } from "node:readline";

const notes = [];
const inputSchema = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
};
const tools = [{ name: "add_note", description: "Keeps a note.", inputSchema }];

const results = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: { text } }) => ({
    content: [{ type: "text", text: `Kept. Notes: ${notes.push(text)}` }],
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method]?.(params);
  const error = { code: -32601, message: "Method not found" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
});
