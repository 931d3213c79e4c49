// The loop without the agent: no state but the context you pass, no listeners but your own `for
// await`. Use it when you keep the transcript yourself.
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
  // Runs after each turn; `true` ends the run, with nothing lost.
  shouldStopAfterTurn: ({ newMessages }) => newMessages.length === 3,
};

// Events come in order, and nobody waits for you; leaving the loop aborts the run.
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

// The caller's context was left alone: what is new is the stream's result. Here we keep it, and go
// on.
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
