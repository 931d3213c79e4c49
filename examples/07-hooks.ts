// Hooks around tools. One can block a call before it runs. The other gets every result before the
// model does.
import { Agent, defineTool, messageText } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const { model, streamFn } = createScriptedModel([
  {
    content: [
      scriptedToolCall("read", { path: "log.md" }),
      scriptedToolCall("remove", { path: "log.md" }),
    ],
  },
  { content: [scriptedToolCall("finish", { path: "log.md" })] },
]);

const tools = ["read", "remove", "finish"].map((name) =>
  defineTool({
    name,
    description: `The tool ${name}`,
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    execute: async ({ path }) => `done with ${path}`,
  }),
);

const agent = new Agent({
  model,
  tools,
  streamFn,
  // Called after the arguments were checked, for one call at a time. It may ask a person: nothing
  // runs until it returns.
  beforeToolCall: async ({ toolCall }) =>
    toolCall.name === "remove" ? { block: true, reason: "Nothing is removed here." } : undefined,
  // Called before the result is emitted and recorded. `details` are for the program and are never
  // sent to the model. `terminate` skips the following model call.
  afterToolCall: async ({ toolCall }) => ({
    details: { audited: true },
    terminate: toolCall.name === "finish",
  }),
});

agent.subscribe((event) => {
  if (event.type !== "tool_execution_end") return;
  const { content, details } = event.result;
  console.log(`${event.toolName}: ${messageText({ content })}`, details);
});
const run = await agent.prompt("Tidy up.");
console.log(run.reason, run.turns);

/* Prints:
remove: Nothing is removed here. undefined
read: done with log.md { audited: true }
finish: done with log.md { audited: true }
done 2
*/
