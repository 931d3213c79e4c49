/** The state of a conversation under an agent's events and a person's actions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEvent, AgentEventBody, AssistantMessage } from "@bowline/core";
import type { Block } from "../../src/chat/block.ts";
import { reduce } from "../../src/chat/reduce.ts";
import { initialState, type Action, type ChatState } from "../../src/chat/state.ts";

interface Played {
  readonly state: ChatState;
  readonly blocks: Block[];
}

type Given = Action | AgentEventBody;

function play(...given: Given[]): Played {
  let state = initialState();
  const blocks: Block[] = [];
  for (const [index, one] of given.entries()) {
    const action = isAction(one) ? one : asEvent(one);
    const step = reduce(state, action, 1000 * (index + 1));
    ({ state } = step);
    blocks.push(...step.blocks);
  }
  return { state, blocks };
}

const actions = new Set(["ready", "model", "past", "plan", "queue", "asked", "hint"]);

function isAction(one: Given): one is Action {
  return actions.has(one.type);
}

function asEvent(body: Given): Action {
  return { type: "event", event: { ...body, runId: "run", seq: 0 } as AgentEvent };
}

function answer(more: Partial<AssistantMessage>): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: "x",
    provider: "p",
    model: "m",
    usage: {},
    stopReason: "stop",
    timestamp: 500,
    ...more,
  };
}

const update = (assistantMessageEvent: object): AgentEventBody =>
  ({ type: "message_update", assistantMessageEvent, message: answer({}) }) as AgentEventBody;

const bash = { toolCallId: "c1", toolName: "bash", args: { command: "ls" } };

test("keeps no finished block", () => {
  const deltas = Array.from({ length: 500 }, () =>
    update({ type: "text_delta", contentIndex: 0, attempt: 1, delta: "a long piece of text " }),
  );
  const { state } = play({ type: "agent_start" }, { type: "turn_start" }, ...deltas);
  assert.ok(JSON.stringify(state).length < 2000);
});

test("bounds the output of a call that it keeps", () => {
  const { state } = play(
    { type: "agent_start" },
    { type: "tool_execution_start", ...bash },
    {
      type: "tool_execution_update",
      ...bash,
      partialResult: { content: [{ type: "text", text: "x".repeat(1_000_000) }] },
    },
  );
  assert.equal(state.calls[0]?.tail.length, 4000);
  assert.equal(state.calls[0]?.bytes, 1_000_000);
});

test("adds up known costs and remembers that one is unknown", () => {
  const { state } = play(
    { type: "message_end", message: answer({ usage: { input: 10, cost: { total: 0.25 } } }) },
    { type: "message_end", message: answer({ usage: { input: 20, output: 5 } }) },
  );
  assert.equal(state.cost, 0.25);
  assert.equal(state.isCostUnknown, true);
  assert.equal(state.requests, 2);
  assert.equal(state.contextTokens, 25);
});

test("gives a line for each request, with its seconds", () => {
  const { blocks } = play({ type: "message_end", message: answer({ usage: { input: 10 } }) });
  assert.deepEqual(blocks.at(-1), {
    type: "request",
    model: "p/m",
    usage: { input: 10, totalTokens: 10 },
    ms: 500,
  });
});

test("folds thinking to the number of its words", () => {
  const { state, blocks } = play(
    { type: "turn_start" },
    update({ type: "thinking_start", contentIndex: 0, attempt: 1 }),
    update({ type: "thinking_delta", contentIndex: 0, attempt: 1, delta: "one two th" }),
    update({ type: "thinking_delta", contentIndex: 0, attempt: 1, delta: "ree" }),
    update({ type: "thinking_end", contentIndex: 0, attempt: 1, content: "one two three" }),
  );
  assert.deepEqual(blocks, [{ type: "thought", words: 3 }]);
  assert.equal(state.answer?.thinking, "");
});

test("keeps the vendor's words, the number and the wait of a retry", () => {
  const error = {
    code: "server_error" as const,
    message: "fake failure 500",
    retryable: true,
    status: 500,
    requestId: "req_1",
  };
  const { state, blocks } = play(
    { type: "turn_start" },
    { type: "request_retry", attempt: 2, delayMs: 3000, error },
  );
  assert.deepEqual(blocks, [{ type: "retry", attempt: 2, delayMs: 3000, error }]);
  assert.equal(state.answer?.retry?.until, 5000);
});

test("names each call of the last answer that never began", () => {
  const message = answer({
    stopReason: "aborted",
    content: [
      { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } },
      { type: "toolCall", id: "c2", name: "read", arguments: { path: "a" } },
    ],
  });
  const { blocks, state } = play(
    { type: "agent_start" },
    { type: "tool_execution_start", ...bash },
    {
      type: "tool_execution_end",
      toolCallId: "c1",
      toolName: "bash",
      result: { content: [] },
      isError: true,
      outcome: "stopped",
      durationMs: 5000,
    },
    { type: "agent_end", messages: [message], reason: "aborted", usage: {} },
  );
  const tools = blocks.flatMap((block) =>
    block.type === "tool" ? [[block.name, block.outcome]] : [],
  );
  assert.deepEqual(tools, [
    ["bash", "stopped"],
    ["read", "not_started"],
  ]);
  assert.equal(state.phase, "idle");
  assert.equal(state.calls.length, 0);
});

test("forgets a question when it is answered, and starts the clock of its call anew", () => {
  const asked = {
    approvalId: "a1",
    toolCallId: "c1",
    toolName: "bash",
    args: bash.args,
    reason: "no rule",
    parts: [],
    suggestions: [],
    askedAt: 0,
  };
  const { state, blocks } = play(
    { type: "agent_start" },
    { type: "tool_execution_start", ...bash },
    { type: "asked", asked },
    { type: "approval_answer", approvalId: "a1", decision: "allow", by: "terminal" },
  );
  assert.equal(state.asked.length, 0);
  assert.equal(state.calls[0]?.startedAt, 4000);
  assert.deepEqual(blocks.at(-1), {
    type: "answered",
    toolName: "bash",
    decision: "allow",
    by: "terminal",
  });
});

test("shows a sub-agent's calls and requests, but not its text", () => {
  const parent = { parentRunId: "run", parentToolName: "agent" };
  const { state, blocks } = play(
    { type: "agent_start" },
    { ...update({ type: "text_delta", contentIndex: 0, attempt: 1, delta: "hidden" }), ...parent },
    { type: "tool_execution_start", ...bash, ...parent },
    { type: "message_end", message: answer({ usage: { input: 9 } }), ...parent },
  );
  assert.equal(state.calls[0]?.within, "agent");
  assert.deepEqual(
    blocks.map((block) => [block.type, "within" in block ? block.within : ""]),
    [["request", "agent"]],
  );
  assert.equal(state.contextTokens, undefined);
});

test("leaves a mode of the person alone when another session is opened", () => {
  const played = play(
    { type: "model", model: "p/m", contextWindow: 100 },
    { type: "plan", isOn: true },
    { type: "message_end", message: answer({ usage: { input: 9 } }) },
  );
  const { state } = reduce(played.state, { type: "reset" }, 0);
  assert.equal(state.isPlan, true);
  assert.equal(state.model, "p/m");
  assert.equal(state.requests, 0);
  assert.equal(state.contextTokens, undefined);
});
