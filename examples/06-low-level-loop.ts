// The loop without the agent. Its only state is the context that you pass, and you read its events
// with `for await`. Use it to manage the transcript yourself.
import {
  agentLoop,
  agentLoopContinue,
  defineTool,
  type AgentContext,
  type AgentLoopConfig,
} from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

const script = createScriptedModel([
  { content: [scriptedToolCall("depth", {})] },
  { content: [scriptedToolCall("depth", {})] },
  "Four metres, twice.",
]);

const depth = defineTool({
  name: "depth",
  description: "Sounds the depth",
  parameters: { type: "object", properties: {} },
  execute: async () => "4 m",
});

const context: AgentContext = { systemPrompt: "Be brief.", messages: [], tools: [depth] };
const config: AgentLoopConfig = {
  model: script.model,
  convertToLlm: (messages) => messages,
  // Called after each turn. Returning `true` ends the run, and loses no message.
  shouldStopAfterTurn: ({ newMessages }) => newMessages.length === 3,
};

// Events arrive in order, and the run does not wait for the reader. Leaving the loop aborts the
// run.
const stream = agentLoop(
  [{ role: "user", content: "How deep is it?", timestamp: Date.now() }],
  context,
  config,
  undefined,
  script.streamFn,
);
for await (const event of stream) {
  if (event.type === "turn_end") console.log("turn", event.toolResults.length);
  if (event.type === "agent_end") console.log(event.reason);
}

// The loop does not change the caller's context. The stream's result contains the new messages.
// Here we add them and continue.
context.messages.push(...(await stream.result()));
for await (const event of agentLoopContinue(context, config, undefined, script.streamFn)) {
  if (event.type === "turn_end") console.log("turn", event.toolResults.length);
  if (event.type === "agent_end") console.log(event.reason, context.messages.length);
}

/* Prints:
turn 1
done
turn 1
turn 0
done 6
*/
