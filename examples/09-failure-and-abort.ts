// A run never rejects because of a model, a tool or the network. Its result reports the failure,
// and the transcript keeps all content.
import { Agent, BowlineError, defineTool } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const { model, streamFn } = createScriptedModel([
  {
    content: [],
    error: new BowlineError("overloaded", "Try later.", { status: 529, retryable: true }),
  },
  { content: [scriptedToolCall("forecast", {})] },
  "I could not find out.",
  { content: [scriptedToolCall("anchor", {})] },
]);

const parameters = { type: "object", properties: {} } as const;
const forecast = defineTool({
  name: "forecast",
  description: "The weather tomorrow",
  parameters,
  execute: () => {
    throw new Error("No reception."); // the model gets this as an error result
  },
});
const anchor = defineTool({
  name: "anchor",
  description: "Drops the anchor",
  parameters,
  execute: (_args, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("The chain was stopped.")));
      agent.abort(); // as if a person presses Escape
    }),
});

const agent = new Agent({ model, tools: [forecast, anchor], streamFn });

const failed = await agent.prompt("Will it blow?");
console.log(failed.reason, failed.error?.code, failed.error?.retryable);

const answered = await agent.prompt("And now?");
console.log(answered.reason, answered.tools[0]?.outcome, answered.text);

const aborted = await agent.prompt("Drop the anchor.");
console.log(aborted.reason, aborted.tools[0]?.outcome);

/* Prints:
error overloaded true
done failed I could not find out.
aborted stopped
*/
