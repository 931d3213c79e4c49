// The events of a run. A terminal, a page or a log shows an agent by listening to its events.
import { Agent, defineTool } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

// The examples need no key: this model follows a script. With a real model, set `model:
// getModel("openai", "gpt-5-mini")` and omit `streamFn`.
const { model, streamFn } = createScriptedModel([
  { content: [scriptedToolCall("measure", { rope: "main sheet" })] },
  "It is nine metres long.",
]);

const measure = defineTool({
  name: "measure",
  description: "Measures a rope",
  parameters: { type: "object", properties: { rope: { type: "string" } }, required: ["rope"] },
  execute: async ({ rope }, run) => {
    run.update("unrolling it");
    return `${rope}: 9 m`;
  },
});

const agent = new Agent({ model, tools: [measure], streamFn });

agent.subscribe((event) => {
  if (event.type === "message_update") {
    if (event.assistantMessageEvent.type === "text_delta")
      console.log(`  "${event.assistantMessageEvent.delta}"`);
  } else if (event.type === "message_end") {
    console.log(event.type, event.message.role);
  } else if (event.type !== "message_start") {
    console.log(event.type);
  }
});

const run = await agent.prompt("How long is the main sheet?");
console.log(run.reason, run.turns);

/* Prints:
agent_start
turn_start
message_end user
message_end assistant
tool_execution_start
tool_execution_update
tool_execution_end
message_end toolResult
turn_end
turn_start
  "It is ni"
  "ne metre"
  "s long."
message_end assistant
turn_end
agent_end
done 2
*/
