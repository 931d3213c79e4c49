import { readFile } from "node:fs/promises";
import { Agent, getModel, messageText, requireApproval } from "@bowline/core";
import { connectMcp } from "@bowline/mcp";

const mcp = await connectMcp({
  servers: JSON.parse(await readFile("mcp.json", "utf8")), // another tool's file
  needsApproval: ({ server, tool }) => `${server} runs ${tool}`,
  onEvent: (event) => {
    if (event.type === "server_failed") console.log(event.server, event.error.code);
  },
});

const agent = new Agent({
  model: getModel("openrouter", "openai/gpt-5-mini"),
  getApiKey: () => process.env.OPENROUTER_API_KEY,
  tools: mcp.tools,
  beforeToolCall: requireApproval({ needed: () => false }), // asks only for calls that need it
});
agent.subscribe((event) => {
  if (event.type !== "approval_request") return;
  console.log(event.reason, event.args);
  agent.answer(event.approvalId, { decision: "allow", by: "Ann" });
});

const run = await agent.prompt("Note that the boat is moored.");
for (const message of run.messages)
  if (message.role === "toolResult") console.log(messageText(message));
await mcp.close();

/* Prints:
gone connection_failed
notes runs add_note { text: 'The boat is moored.' }
Kept. Notes: 1
*/
