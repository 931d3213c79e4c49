/** A tool call of the model, on the chat wire. */
import { streamed, type Handler } from "../../../../test/support/loopback.ts";

export function calls(name: string, args: object): Handler {
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };
  return streamed(
    { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] },
    "[DONE]",
  );
}
