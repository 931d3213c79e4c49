// A conversation that is longer than the model's window. Old messages are summarised in requests;
// the transcript keeps all of them.
import { Agent, createCompaction, defineTool, messageText, type Context } from "@bowline/core";
import { createScriptedModel, scriptedToolCall } from "@bowline/core/testing";

// The examples need no key: this model reads a logbook page by page, and writes a summary on
// request.
let page = 0;
const answer = ({ messages }: Context) => {
  const asked = messages.at(-1);
  if (asked !== undefined && messageText(asked).includes("Write a summary"))
    return `Goal: the log. Read up to page ${page}.`;
  if (++page > 12) return "Twelve days at sea, no loss.";
  return { content: [scriptedToolCall("read_page", { page }, `call_${page}`)] };
};
const script = createScriptedModel(Array.from({ length: 20 }, () => answer));

const readPage = defineTool({
  name: "read_page",
  description: "Reads a page of the logbook",
  parameters: { type: "object", properties: { page: { type: "number" } }, required: ["page"] },
  execute: async ({ page: number }) => `Day ${number}. ${"Wind south-west, all well. ".repeat(40)}`,
});

const compaction = createCompaction({
  onCompaction: (event) => {
    if (event.type === "compaction_start") return;
    const { outcome, tokensBefore, tokensAfter, firstKeptIndex } = event;
    console.log(
      `${outcome}: ${tokensBefore} tokens became ${tokensAfter}; sent from message ${firstKeptIndex} on`,
    );
  },
});

const agent = new Agent({
  model: { ...script.model, contextWindow: 2400 },
  tools: [readPage],
  transformContext: compaction.transformContext,
  streamFn: compaction.wrap(script.streamFn), // with a real model: compaction.wrap(streamByProtocol)
});

const run = await agent.prompt("Read the logbook and tell me how it went.");
console.log(run.reason, run.text);
console.log(
  `${agent.state.messages.length} messages kept, ${script.calls.at(-1)?.context.messages.length} sent at the end`,
);
console.log(compaction.state?.summary);

/* Prints:
summarized: 2017 tokens became 901; sent from message 9 on
summarized: 2045 tokens became 902; sent from message 17 on
done Twelve days at sea, no loss.
26 messages kept, 10 sent at the end
Goal: the log. Read up to page 11.
*/
