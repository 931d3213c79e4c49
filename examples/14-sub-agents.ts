// Agents as tools of another agent: two helpers run in parallel and share one budget, and the
// caller answers an approval of a helper.
import {
  Agent,
  createAgentTool,
  createBudget,
  defineTool,
  messageText,
  requireApproval,
} from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

// Each agent has a model of its own, and here each model follows a script.
const skipper = createScriptedModel([
  {
    content: [
      scriptedToolCall("ask_forecaster", { prompt: "How is the wind on Sunday?" }),
      scriptedToolCall("ask_purser", { prompt: "Buy 30 m of rope." }),
    ],
  },
  "Sunday is calm, and the rope is bought.",
]);
const forecaster = createScriptedModel(["South-west 2, no rain."]);
const purser = createScriptedModel([
  { content: [scriptedToolCall("buy", { item: "rope, 30 m", euros: 54 })] },
  "Done.",
]);

const buy = defineTool({
  name: "buy",
  description: "Buys something",
  parameters: {
    type: "object",
    properties: { item: { type: "string" }, euros: { type: "number" } },
    required: ["item", "euros"],
  },
  execute: ({ item, euros }) => `Bought ${item} for ${euros} EUR.`,
});

const askForecaster = createAgentTool({
  name: "ask_forecaster",
  description: "Asks somebody who knows the weather",
  createAgent: () => new Agent({ model: forecaster.model, streamFn: forecaster.streamFn }),
});
const askPurser = createAgentTool({
  name: "ask_purser",
  description: "Asks somebody who buys things",
  createAgent: () =>
    new Agent({
      model: purser.model,
      tools: [buy],
      streamFn: purser.streamFn,
      budget: { maxTurns: 5 }, // its own limit, in addition to the shared one
      beforeToolCall: requireApproval({
        needed: ({ args }) =>
          (args as { euros: number }).euros > 50 && "It costs more than 50 EUR.",
      }),
    }),
});

const budget = createBudget({ maxTurns: 20, maxTimeMs: 600_000 });
const agent = new Agent({
  model: skipper.model,
  tools: [askForecaster, askPurser],
  streamFn: skipper.streamFn,
  budget,
});

// Events of a helper's run have a `parentRunId`. They arrive between the events of the calling run.
agent.subscribe((event) => {
  if (event.type === "approval_request") {
    console.log(`${event.toolName}? ${event.reason}`);
    // Answers as a person would, a moment later.
    setTimeout(() => agent.answer(event.approvalId, { decision: "allow", by: "Ann" }), 10);
  }
  if (event.type === "approval_answer") console.log(`${event.by} says ${event.decision}`);
  if (event.type === "agent_end" && event.parentRunId === undefined) console.log(event.reason);
});

const run = await agent.prompt("Get the boat ready for Sunday.");
for (const message of run.messages)
  if (message.role === "toolResult") console.log(`${message.toolName}: ${messageText(message)}`);
console.log(run.text);
console.log(`${run.turns} model calls of its own, ${budget.used.turns} in all`);

/* Prints:
buy? It costs more than 50 EUR.
Ann says allow
done
ask_forecaster: South-west 2, no rain.
ask_purser: Done.
Sunday is calm, and the rope is bought.
2 model calls of its own, 5 in all
*/
