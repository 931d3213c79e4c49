/** The types that `isEventOf` gives an event. Only the compiler reads this file. */
import { z } from "zod";
import { defineTool, isEventOf, type AgentEvent, type AgentTool } from "../../src/agent/index.ts";

const buy = defineTool({
  name: "buy",
  description: "",
  parameters: z.object({ euros: z.number() }),
  execute: ({ euros }) => ({ content: [], details: { receipt: `R${euros}` } }),
});

export function read(event: AgentEvent, any: AgentTool): void {
  if (isEventOf(buy, event) && event.type === "tool_execution_start") {
    event.args.euros satisfies unknown;
    // @ts-expect-error the model may have written anything
    event.args.euros.toFixed();
  }
  if (isEventOf(buy, event) && event.type === "approval_request") event.args.euros.toFixed();
  if (isEventOf(buy, event) && event.type === "tool_execution_end")
    event.result.details?.receipt satisfies string | undefined;
  // @ts-expect-error no event of a tool
  if (isEventOf(buy, event) && event.type === "turn_start") return;
  if (isEventOf(any, event)) event.toolCallId satisfies string;
}
