/**
 * Programs from the TypeScript blocks of seed 000. Its types, integration and adapter are user
 * code. Its loop is an implementation: it is run, not type-checked, and our loop must give the same
 * events, requests and messages.
 */
import assert from "node:assert/strict";
import { chatText, streamed } from "../../../../test/support/loopback.ts";
import type { BlockProgram, SentRequest } from "../../../../test/support/seeds/block-suite.ts";

const face = "@bowline/compat/karl";

const config = `{
  model: "openai/gpt-4o",
  baseUrl: "https://openrouter.ai/api/v1",
  apiKey: "sk-test",
  apiFormat: "openai",
  maxTokens: 50,
}`;

const printAll = `for (;;) {
  const { value, done } = await events.next();
  console.log(JSON.stringify(value));
  if (done) break;
}
`;

/**
 * A valid call, a failing one and one of an unknown tool, in pieces and without usage, because our
 * loop sums usage and the seed's does not.
 */
const calls = streamed(
  { choices: [{ index: 0, delta: { content: "Let me " } }] },
  { choices: [{ index: 0, delta: { content: "look." } }] },
  ...["look", "look", "jump"].flatMap((name, index) => [
    {
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [{ index, id: `call_${index}`, function: { name, arguments: "" } }],
          },
        },
      ],
    },
    {
      choices: [
        { index: 0, delta: { tool_calls: [{ index, function: { arguments: '{"at":' } }] } },
      ],
    },
    {
      choices: [
        { index: 0, delta: { tool_calls: [{ index, function: { arguments: `${index}}` } }] } },
      ],
    },
  ]),
  { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  "[DONE]",
);
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const answer = streamed(
  { choices: [{ index: 0, delta: { content: "A rope." }, finish_reason: "stop" }] },
  { choices: [], usage },
  "[DONE]",
);

const run = `
const look: ToolDefinition = {
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "number" } } },
  execute: async ({ at }) => {
    if (at > 0) throw new Error("too dark");
    return { content: [{ type: "text", text: "a rope" }, { type: "text", text: "and a cleat" }] };
  },
};
const config: AgentLoopConfig = ${config};
const events = agentLoop("Be brief.", "Look.", [look], config);
${printAll}`;

const lines = (...values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

const toolCall = (name: string, index: number): object => ({
  id: `call_${index}`,
  type: "function",
  function: { name, arguments: `{"at":${index}}` },
});
const toolCalls = ["look", "look", "jump"].map(toolCall);
const text = (content: string): object => ({ type: "text", text: content });
const executed = (at: number, result: object, isError: boolean): object[] => [
  { type: "tool_execution_start", toolName: "look", args: { at } },
  { type: "tool_execution_end", toolName: "look", result, isError },
];
const total = { input: 3, output: 2, total: 5 };
const last = { role: "assistant", content: "A rope." };

const printed = lines(
  { type: "stream_start" },
  { type: "text_delta", delta: "Let me " },
  { type: "text_delta", delta: "look." },
  ...toolCalls.flatMap((made) => [
    { type: "tool_call_start", toolCall: made },
    { type: "tool_call_end", toolCall: made },
  ]),
  { type: "text_end", text: "Let me look." },
  {
    type: "message_end",
    message: { role: "assistant", content: "Let me look.", tool_calls: toolCalls },
  },
  ...executed(0, { content: [text("a rope"), text("and a cleat")] }, false),
  ...executed(1, { content: [text("Error: too dark")], isError: true }, true),
  { type: "stream_start" },
  { type: "text_delta", delta: "A rope." },
  { type: "text_end", text: "A rope." },
  { type: "message_end", message: last, usage: total },
  { type: "turn_end", usage: total },
  last,
);

const greeted = { role: "assistant", content: "Hello." };
const greeting = lines(
  { type: "stream_start" },
  { type: "text_delta", delta: "Hello." },
  { type: "text_end", text: "Hello." },
  { type: "message_end", message: greeted },
  { type: "turn_end" },
  greeted,
);

const asks = (requests: readonly SentRequest[]): void => {
  assert.deepEqual(
    [requests[0]?.headers["x-host"], requests[0]?.url],
    ["openrouter.ai", "/api/v1/chat/completions"],
  );
  assert.equal(requests[0]?.headers.authorization, "Bearer sk-test");
  const result = (index: number, content: string): object => ({
    role: "tool",
    tool_call_id: `call_${index}`,
    content,
  });
  assert.deepEqual(requests[1]?.body, {
    model: "openai/gpt-4o",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Look." },
      { role: "assistant", content: "Let me look.", tool_calls: toolCalls },
      result(0, "a rope\nand a cleat"),
      result(1, "Error: too dark"),
      result(2, 'Error: Tool "jump" not found'),
    ],
    tools: [
      {
        type: "function",
        function: {
          name: "look",
          description: "Looks.",
          parameters: { type: "object", properties: { at: { type: "number" } } },
        },
      },
    ],
    max_tokens: 50,
    stream: true,
    stream_options: { include_usage: true },
  });
};

export const karlPrograms: readonly BlockProgram[] = [
  {
    title: "its loop, run unchanged, yields these events, requests and messages",
    blocks: [1, 2, 3],
    unchecked: true,
    after: run,
    answers: [calls, answer],
    prints: printed,
    asks,
  },
  {
    title:
      // Requirements: K8, K9, K10, K11, K12, K13, K14, K15, K17, K59
      "our loop accepts and returns its types, with the same events, requests and messages",
    blocks: [1],
    before: `import { agentLoop } from "${face}";
import type * as karl from "${face}";
`,
    after: `
export const given: [karl.AgentLoopConfig, karl.ToolDefinition, karl.Message] = {} as [AgentLoopConfig, ToolDefinition, Message];
export const gives: [Message, ToolResult, TokenUsage] = {} as [karl.Message, karl.ToolResult, karl.TokenUsage];
export const tells: AgentEvent = {} as karl.AgentEvent;
${run}`,
    answers: [calls, answer],
    prints: printed,
    asks,
  },
  {
    // Requirements: K49
    title: "a runner works after changing only its import",
    blocks: [4],
    edit: (block) => block.slice(block.indexOf("// After")), // without the code it replaces
    after: `const events = agentLoop("", "Hi", [], ${config});
${printAll}`,
    answers: [chatText("Hello.")],
    prints: greeting,
  },
  {
    // Requirements: K50
    title: "its configuration can be built from a runner's parameters",
    blocks: [5],
    before: `import { agentLoop, type AgentLoopConfig } from "${face}";
interface Params { model: string; baseUrl?: string; apiKey: string; providerType: string; maxTokens?: number }
const params: Params = { model: "m", baseUrl: "https://openrouter.ai/api/v1", apiKey: "sk-test", providerType: "openrouter" };
const controller: AbortController | undefined = new AbortController();
`,
    after: `const events = agentLoop("", "Hi", [], config);
${printAll}`,
    answers: [chatText("Hello.")],
    prints: greeting,
  },
  {
    // Requirements: K51
    title: "its adapter turns a runner's tool into a definition",
    blocks: [6],
    before: `import { Type } from "typebox";
import { agentLoop, type KarlTool, type ToolDefinition } from "${face}";
`,
    after: `const tool: KarlTool = {
  name: "look",
  description: "Looks.",
  parameters: Type.Object({ at: Type.Number() }),
  execute: async (id, { at }) => ({ content: [{ type: "text", text: "[" + id + "] " + at }] }),
};
for await (const event of agentLoop("", "Look.", [adaptTool(tool)], ${config})) {
  if (event.type === "tool_execution_end") console.log(JSON.stringify(event));
}
`,
    answers: [calls, answer],
    prints: lines(
      ...["[] 0", "[] 1"].map((content) => ({
        type: "tool_execution_end",
        toolName: "look",
        result: { content: [text(content)], isError: false },
        isError: false,
      })),
    ),
  },
];
