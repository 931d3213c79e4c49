/**
 * How each TypeScript block of seed 002 becomes a program: the code before it defines missing
 * names, the code after it shows its effect. The block's text is read from the seed. It is
 * unchanged except for the import specifier, unless `edit` explains why.
 */
import assert from "node:assert/strict";
import { chatText, failing } from "../../../../test/support/loopback.ts";
import {
  calls,
  partsOf,
  proxySays,
  says,
  saysAndFallsSilent,
} from "../../../../test/support/seeds/answers.ts";
import type { BlockProgram } from "../../../../test/support/seeds/block-suite.ts";

const model = `getModel("anthropic", "claude-sonnet-4-20250514")`;

/** The agent that many blocks use, and a tool. */
const agent = `import { Agent, getModel, type AgentMessage, type AgentTool } from "@bowline/core";
const look: AgentTool = {
  name: "look",
  label: "Look",
  description: "Looks.",
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: "A rope." }] }),
};
const agent = new Agent({ initialState: { model: ${model}, tools: [look] } });
const roles = () => agent.state.messages.map((message) => message.role).join(" ");
`;

/** Inserts a statement before the line that begins with `line`. */
const before =
  (line: string, statement: string) =>
  (block: string): string => {
    assert.equal(block.split(`\n${line}`).length, 2, `one line begins with ${line}`);
    return block.replace(`\n${line}`, () => `\n${statement}\n${line}`);
  };

const notification = `declare module "@bowline/core" {
  interface CustomAgentMessages {
    notification: { role: "notification"; text: string; timestamp: number };
  }
}
`;

/** The programs, in the order of the seed. */
export const agentPrograms: readonly Omit<BlockProgram, "blocks">[] = [
  {
    // Requirements: P9, P37, P39
    title: "the smallest agent prints the streamed text",
    answers: [says("Hel", "lo", " there.")],
    prints: "Hello there.",
    asks: ([request]) => {
      assert.deepEqual(
        [request?.headers["x-host"], request?.url],
        ["api.anthropic.com", "/v1/messages"],
      );
      assert.equal(request?.body.model, "claude-sonnet-4-20250514");
      assert.match(JSON.stringify(request?.body.system), /helpful/);
      assert.match(JSON.stringify(request?.body.messages), /^\[\{"role":"user","content":.*Hello!/);
    },
  },
  {
    // Requirements: P17, P35
    title: "a low-level loop stops gracefully after the turn",
    before: `import { agentLoop, getModel, type AgentContext, type AgentMessage, type Message } from "@bowline/core";
const model = ${model};
const convertToLlm = (messages: AgentMessage[]): Message[] => messages;
const prompts: AgentMessage[] = [{ role: "user", content: "Look.", timestamp: 1 }];
const context: AgentContext = {
  systemPrompt: "",
  messages: [],
  tools: [
    {
      name: "look",
      description: "Looks.",
      parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [{ type: "text", text: "A rope." }] }),
    },
  ],
};
let asked = "";
const shouldCompactBeforeNextTurn = (messages: AgentMessage[]) => {
  asked = messages.map((message) => message.role).join(" ");
  return true;
};
`,
    after: `for await (const { type } of stream) if (/^(?:turn|agent)_/.test(type)) console.log(type);
console.log(asked);`,
    answers: [calls(["look", {}])],
    prints: "agent_start\nturn_start\nturn_end\nagent_end\nuser assistant toolResult\n",
  },
  {
    // Requirements: P26
    title: "after an error `continue` retries without a new message",
    before: `${agent}
const failed = await agent.prompt("Hi");
console.log(failed.reason, roles());
agent.state.messages.pop(); // the failed answer
`,
    after: `console.log(roles());`,
    answers: [
      failing(400, { error: { type: "invalid_request_error", message: "Not now." } }),
      says("Now."),
    ],
    prints: "error user assistant\nuser assistant\n",
    asks: ([first, second]) => assert.deepEqual(second?.body.messages, first?.body.messages),
  },
  {
    title:
      // Requirements: P19, P20, P40, P41
      "every option is accepted, with the block's types in place of values",
    before: `import { Agent, getModel, streamByProtocol, streamProxy, type AgentMessage, type AgentTool, type Message, type Model } from "@bowline/core";
const isLlm = (message: AgentMessage): message is Message => true;
const pruneOldMessages = (messages: AgentMessage[]) => messages.slice(-9);
const refreshToken = async () => "fresh";
`,
    edit: (block) =>
      block
        .replace(/initialState: \{(.*?)\n {2}\},/s, "initialState: {} as {$1\n  },") // types in place of values
        .replace("filter(...)", "filter(isLlm)"),
    unedited: /error TS1\d\d\d/,
    after: `const tool = (name: string): AgentTool => ({
  name,
  description: name,
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: "ran" }], details: { by: name } }),
});
console.log((await agent.prompt("Hi")).error?.message.split(":")[0]);
agent.reset();
agent.streamFn = streamByProtocol;
agent.state.model = ${model};
agent.state.thinkingLevel = "medium";
agent.state.tools = ["bash", "read", "notify_done"].map(tool);
const run = await agent.prompt("Go");
for (const message of run.messages) {
  if (message.role === "toolResult") console.log(message.toolName, message.isError, JSON.stringify(message.details));
}
console.log(run.reason, agent.steeringMode, agent.followUpMode);
`,
    answers: [calls(["bash", {}], ["read", {}]), calls(["notify_done", {}])],
    prints: `streamProxy needs authToken
bash true undefined
read false {"by":"read","audited":true}
notify_done false {"by":"notify_done"}
done one-at-a-time one-at-a-time
`,
    asks: (requests) => {
      assert.equal(requests[0]?.headers["x-api-key"], "fresh");
      assert.equal(requests[0]?.body.thinking?.budget_tokens, 1024);
    },
  },
  {
    // Requirements: P21
    title: "the state has the shape of the block, and its last four fields are read-only",
    before: `import { Agent, type AgentMessage, type AgentState as Ours, type AgentTool, type Model, type ThinkingLevel } from "@bowline/core";
`,
    after: `const theirs: AgentState = new Agent().state;
const ours: Ours = theirs;
export function refused(state: Ours): void {
  // @ts-expect-error read-only
  state.isStreaming = true;
  // @ts-expect-error read-only
  state.streamingMessage = undefined;
  // @ts-expect-error read-only
  state.pendingToolCalls = new Set();
  // @ts-expect-error read-only
  state.errorMessage = "";
}
console.log(JSON.stringify(ours), ours.pendingToolCalls.size);
`,
    prints: `{"systemPrompt":"","model":{"id":"unknown","name":"unknown","api":"unknown","provider":"unknown","baseUrl":"","reasoning":false,"input":["text"]},"thinkingLevel":"off","isStreaming":false,"pendingToolCalls":{},"tools":[],"messages":[]} 0
`,
  },
  {
    title:
      // Requirements: P25, P26, P41
      "a prompt is a text, a text with images, or a message, and `continue` needs no prompt",
    before: `${agent}const base64Data = "aGk=";
`,
    edit: before(
      "// Continue from",
      "agent.state.messages.pop(); // it must end with a user's message",
    ),
    after: `console.log(roles());`,
    answers: [says("One."), says("Two."), says("Three."), says("Four.")],
    prints: "user assistant user assistant user assistant\n",
    asks: (requests) => {
      const bodies = requests.map(({ body }) => JSON.stringify(body.messages.at(-1)));
      assert.match(bodies[1] ?? "", /"media_type":"image\/jpeg","data":"aGk="/);
      assert.deepEqual(requests[3]?.body.messages, requests[2]?.body.messages);
    },
  },
  {
    title:
      // Requirements: P21, P22, P24, P27
      "the state and the hooks can be assigned, arrays are copied, and `reset` clears the messages",
    before: `${agent}const myTool = look;
const message: AgentMessage = { role: "user", content: "pushed", timestamp: 2 };
const newMessages: AgentMessage[] = [{ role: "user", content: "assigned", timestamp: 1 }];
`,
    edit: before(
      "agent.reset();",
      `console.log(newMessages.length, roles(), agent.state.systemPrompt, agent.state.model.provider, agent.state.thinkingLevel);`,
    ),
    after: `console.log(agent.state.messages.length, agent.state.tools.length, agent.state.systemPrompt);
await agent.prompt("Hi");`,
    answers: [chatText("Hello.")],
    prints: "1 user user New prompt openai medium\n0 1 New prompt\n",
    asks: ([request]) =>
      assert.deepEqual(
        [request?.headers["x-host"], request?.body.model],
        ["api.openai.com", "gpt-4o"],
      ),
  },
  {
    // Requirements: P20, P24
    title: "session and thinking budgets can be assigned, and reach the model",
    before: agent,
    after: `agent.state.thinkingLevel = "high";
await agent.prompt("Hi");
console.log(agent.sessionId);`,
    answers: [says("Hello.")],
    prints: "session-123\n",
    asks: ([request]) => assert.equal(request?.body.thinking?.budget_tokens, 2048),
  },
  {
    // Requirements: P27
    title: "`abort` cancels the run, and `waitForIdle` waits for its end",
    before: `${agent}const run = agent.prompt("Hi");
await new Promise<void>((resolve) => agent.subscribe(({ type }) => type === "message_update" && resolve()));
`,
    after: `console.log(agent.state.isStreaming, (await run).reason, roles());`,
    answers: [saysAndFallsSilent("Well")],
    prints: "false aborted user assistant\n",
  },
  {
    // Requirements: P27, P28
    title: "an awaited listener of agent_end is part of the run, until it unsubscribes",
    before: `${agent}const flushSessionState = async (signal: AbortSignal) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  console.log("flushed", signal.aborted);
};
`,
    edit: before("unsubscribe();", `await agent.prompt("Hi");\nconsole.log("settled");`),
    after: `await agent.prompt("Again");
console.log("quiet");`,
    answers: [says("Hello."), says("Hello again.")],
    prints: "flushed false\nsettled\nquiet\n",
  },
  {
    title:
      // Requirements: P20, P29, P30
      "steering arrives after the tools, a follow-up when the agent would stop, and queues can be cleared",
    before: `${agent}let open = () => {};
const gate = new Promise<void>((resolve) => (open = resolve));
agent.state.tools = [{ ...look, execute: async () => (await gate, { content: [] }) }];
const run = agent.prompt("Go");
await new Promise<void>((resolve) => agent.subscribe(({ type }) => type === "tool_execution_start" && resolve()));
`,
    edit: before(
      "agent.clearSteeringQueue();",
      `open();
for (const { role, content } of (await run).messages) console.log(role, role === "user" ? String(content).split(" ")[0] : "");
for (const content of ["a", "b"]) agent.steer({ role: "user", content, timestamp: 1 });
agent.followUp({ role: "user", content: "c", timestamp: 1 });`,
    ),
    after: `console.log(steeringMode, followUpMode, agent.hasQueuedMessages());`,
    answers: [calls(["look", {}]), says("Stopped."), says("A summary.")],
    prints: `user Go
assistant 
toolResult 
user Stop!
assistant 
user Also
assistant 
one-at-a-time one-at-a-time false
`,
  },
  {
    // Requirements: P2, P42, P43
    title: "a custom message is declared by merging, and then valid",
    before: `import type { AgentMessage } from "@bowline/core";
`,
    after: `// @ts-expect-error its text is declared
export const refused: AgentMessage = { role: "notification", timestamp: 1 };
console.log(msg.role, msg.text);
`,
    prints: "notification Info\n",
  },
  {
    // Requirements: P2, P3, P43
    title: "`convertToLlm` hides a custom message from the model",
    before: `import { Agent, getModel } from "@bowline/core";
${notification}`,
    after: `agent.state.model = ${model};
agent.state.messages = [{ role: "notification", text: "Info", timestamp: 1 }];
await agent.prompt("Hi");
console.log(agent.state.messages.map(({ role }) => role).join(" "));`,
    answers: [says("Hello.")],
    prints: "notification user assistant\n",
    asks: ([request]) => assert.doesNotMatch(JSON.stringify(request?.body), /Info|notification/),
  },
  {
    title:
      // Requirements: P31, P33, P42
      "a tool with a TypeBox schema reads a file, streams its progress and gives details",
    before: `import fs from "node:fs/promises";
${agent}await fs.writeFile("notes.txt", "Buy rope.");
agent.subscribe((event) => {
  if (event.type === "tool_execution_update") console.log(event.toolCallId, JSON.stringify(event.partialResult));
});
`,
    after: `for (const message of (await agent.prompt("Read it.")).messages) {
  if (message.role === "toolResult") console.log(JSON.stringify([message.content, message.details, message.isError]));
}`,
    answers: [calls(["read_file", { path: "notes.txt" }]), says("Buy rope, it says.")],
    prints: `call_0 {"content":[{"type":"text","text":"Reading..."}],"details":{}}
[[{"type":"text","text":"Buy rope."}],{"path":"notes.txt","size":9},false]
`,
    asks: ([request]) =>
      assert.partialDeepStrictEqual(request?.body.tools?.[0], {
        name: "read_file",
        input_schema: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
        },
      }),
  },
  {
    // Requirements: P32, P41
    title: "a tool that throws is an error to the model",
    before: `import fs from "node:fs";
import { Type } from "typebox";
${agent}const find: AgentTool = {
  name: "find",
  description: "Finds a file.",
  parameters: Type.Object({ path: Type.String() }),
`,
    after: `};
agent.state.tools = [find];
for (const message of (await agent.prompt("Find them.")).messages) {
  if (message.role === "toolResult") console.log(message.isError, JSON.stringify(message.content).includes("nowhere"));
}`,
    answers: [
      calls(["find", { path: "nowhere" }], ["find", { path: "main.ts" }]),
      says("One of them."),
    ],
    prints: `true true
false false
`,
    asks: (requests) => {
      assert.deepEqual(
        partsOf(requests[1]!.body, 2).map((result) => result.is_error === true),
        [true, false],
      );
    },
  },
  {
    // Requirements: P34
    title: "an agent behind a proxy calls the proxy with its token",
    after: `import { getModel, messageText } from "@bowline/core";
agent.state.model = ${model};
const { message } = await agent.prompt("Hi");
console.log(message && messageText(message));`,
    answers: [proxySays("Hello by proxy.")],
    prints: "Hello by proxy.\n",
    asks: ([request]) => {
      assert.deepEqual(
        [request?.headers["x-host"], request?.url],
        ["your-server.com", "/api/stream"],
      );
      assert.equal(request?.headers.authorization, "Bearer ...");
      assert.deepEqual(Object.keys(request?.body ?? {}), ["model", "context", "options"]);
    },
  },
  {
    title:
      // Requirements: P1, P5, P6, P35, P42
      "the low-level loop prints its event types, from a prompt and from a context",
    before: `import { getModel, type AgentContext, type AgentLoopConfig } from "@bowline/core";
`,
    edit: (block) =>
      before(
        "for await (const event of agentLoopContinue",
        "context.messages.push(userMessage); // it must not be empty",
      )(
        block.replace(/(const userMessage = \{.*\});/, "$1 as const;"), // or its role is any string
      ),
    unedited: /^[^\n]*error TS2322: Type '\{ role: string;[^\n]*$/,
    answers: [chatText("Hello."), chatText("Hello again.")],
    prints: `agent_start
turn_start
message_start
message_end
message_start
message_update
message_update
message_update
message_end
turn_end
agent_end
agent_start
turn_start
message_start
message_update
message_update
message_update
message_end
turn_end
agent_end
`,
    asks: (requests) => assert.deepEqual(requests[0]?.body, requests[1]?.body),
  },
];
