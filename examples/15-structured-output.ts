// An answer that is a value: typed and checked by a schema, and requested again if it does not fit.
import { Agent, defineTool, messageText } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { z } from "zod";

const berth = z.object({ harbour: z.string(), metres: z.number().positive(), free: z.boolean() });

// No server enforces the schema for this model. It returns its answer with the tool `final_answer`,
// which the run adds.
const { model, streamFn } = createScriptedModel([
  { content: [scriptedToolCall("look_up", { harbour: "Horten" })] },
  { content: [scriptedToolCall("final_answer", { harbour: "Horten", metres: -12 })] },
  { content: [scriptedToolCall("final_answer", { harbour: "Horten", metres: "12", free: true })] },
  "I think so.",
  "Yes.",
  "Really.",
]);

const lookUp = defineTool({
  name: "look_up",
  description: "The berths of a harbour",
  parameters: z.object({ harbour: z.string() }),
  execute: ({ harbour }) => `${harbour}: one of 12 m, free`,
});

const agent = new Agent({ model, tools: [lookUp], streamFn });
agent.subscribe((event) => {
  if (event.type === "message_end" && event.message.role === "toolResult")
    console.log(messageText(event.message));
});

const { reason, output } = await agent.prompt("Is there a berth in Horten?", { output: berth });
console.log(reason, output, output?.metres.toFixed(1)); // `output` has the schema's type

// After three answers that do not fit, the run fails.
const failed = await agent.prompt("And in Moss?", { output: berth });
console.log(failed.reason, failed.error?.code, failed.output);

/* Prints:
Horten: one of 12 m, free
Invalid arguments for tool "final_answer":
  - metres: Too small: expected number to be >0
  - free: Invalid input: expected boolean, received undefined
Accepted.
done { harbour: 'Horten', metres: 12, free: true } 12.0
error invalid_output undefined
*/
