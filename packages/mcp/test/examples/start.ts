import { Agent, getModel } from "@bowline/core";
import { connectMcp } from "@bowline/mcp";

const mcp = await connectMcp({
  servers: { notes: { command: "node", args: ["notes-server.mjs"] } },
  needsApproval: false, // this server may do what the model says
});
for (const { name, status, tools, error } of mcp.servers)
  console.log(name, status, tools, error?.message ?? "");

const agent = new Agent({
  model: getModel("openrouter", "openai/gpt-5-mini"),
  getApiKey: () => process.env.OPENROUTER_API_KEY,
  tools: mcp.tools,
});
mcp.onToolsChanged((tools) => (agent.state.tools = tools));

const run = await agent.prompt("Note that the boat is moored.");
console.log(run.text);
await mcp.close();

/* Prints:
notes ready [ 'notes__add_note' ]
Noted.
*/
