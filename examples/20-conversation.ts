// A chat page of your own on a gateway: history and events fold into one conversation, which any
// framework can draw.
import { Agent, defineTool } from "@bowline/core";
import { createMemoryStore } from "@bowline/core/session";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";
import { GatewayClient, type EventFrame, type RunEvent } from "bowline/client";
import {
  newConversation,
  runsOf,
  withEvent,
  withHistory,
  type RunView,
} from "bowline/conversation";
import { startGateway } from "bowline/gateway";

const tide = defineTool({
  name: "tide",
  description: "The next high water",
  parameters: { type: "object", properties: { port: { type: "string" } }, required: ["port"] },
  execute: ({ port }) => `${port}: 14:10`,
});
const { model, streamFn } = createScriptedModel([
  { content: [scriptedToolCall("tide", { port: "Oban" })] },
  "At 14:10.",
]);
const token = "a long secret of yours";
const agents = (): Agent => new Agent({ model, streamFn, tools: [tide] });
const gateway = await startGateway({ port: 0, token, agents, store: createMemoryStore() });

const sessionKey = "ann";
const client = new GatewayClient({ url: gateway.url, token });
const approvals = new Map<string, string>(); // the call of each approval, for the answers' events
let conversation = newConversation(sessionKey);
client.onEvent((frame: EventFrame) => {
  if (!("runId" in frame.data) || frame.data.sessionKey !== sessionKey) return;
  if (frame.event === "exec.approval_request")
    approvals.set(frame.data.approvalId, frame.data.toolCallId);
  conversation = withEvent(conversation, frame as RunEvent, approvals); // then draw it again
});

/** A page draws elements instead of lines. */
function show({ blocks, state }: RunView): string[] {
  const lines = blocks.map((block) =>
    block.type === "tool_call"
      ? `${block.name} (${block.state}): ${block.output}`
      : `${block.type}: ${block.text}`,
  );
  return [...lines, state];
}

conversation = withHistory(conversation, await client.request("chat.history", { sessionKey }));
const run = await client.send({ sessionKey, message: "When is high water in Oban?" });
await run.result();
console.log(runsOf(conversation).flatMap(show).join("\n"));

// After a reload the history has what the events had.
const reloaded = await client.request("chat.history", { sessionKey });
const again = withHistory(newConversation(sessionKey), reloaded);
console.log(runsOf(again).flatMap(show).length);
client.close();
await gateway.close();

/* Prints:
user: When is high water in Oban?
tide (done): Oban: 14:10
text: At 14:10.
final
4
*/
