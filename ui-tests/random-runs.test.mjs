// Random runs of an agent, read by `readUIMessageStream` of the AI SDK: each chunk fits its schema,
// and the message that it folds is the transcript's.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, BowlineError, reduceEvents, requireApproval } from "@bowline/core";
import { ChatRuns, toUIMessageStream } from "@bowline/core/ui-stream";
import { readUIMessageStream, uiMessageChunkSchema } from "ai";
import fc from "fast-check";
import { checkGrammar } from "../packages/core/test/ui-stream/grammar.ts";

const RUNS = Number(process.env.BOWLINE_UI_RUNS ?? 1_000);

const text = fc.string({ minLength: 0, maxLength: 12, unit: "grapheme" });
const part = fc.oneof(
  fc.record({ type: fc.constant("text"), text }),
  fc.record({ type: fc.constant("thinking"), thinking: text }),
  fc.record({
    type: fc.constant("call"),
    tool: fc.constantFrom("work", "fail", "grow", "ask", "ask", "unknown"),
    say: text,
    isAllowed: fc.boolean(),
    isBroken: fc.boolean().map((isBroken) => isBroken),
  }),
  fc.record({ type: fc.constant("opaque") }),
);
const answer = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  /** Where the first try is withdrawn. */
  retractsFrom: fc.option(fc.nat(3), { nil: undefined }),
  ends: fc.oneof(
    { weight: 8, arbitrary: fc.constant("well") },
    { weight: 1, arbitrary: fc.constantFrom("error", "abort", "length") },
  ),
  /** Characters per delta. */
  step: fc.integer({ min: 1, max: 7 }),
});
const plan = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
  steering: fc.option(text, { nil: undefined }),
  followUp: fc.option(text, { nil: undefined }),
  isSequential: fc.boolean(),
  hasReasoning: fc.boolean(),
});

/** The events of one part, streamed. */
function* eventsOf(given, contentIndex, id, { step, attempt }) {
  const about = { attempt, contentIndex };
  const deltas = (type, all) => {
    const events = [];
    for (let at = 0; at < all.length; at += step)
      events.push({ type, ...about, delta: all.slice(at, at + step) });
    return events;
  };
  if (given.type === "text")
    yield* [
      { type: "text_start", ...about },
      ...deltas("text_delta", given.text),
      { type: "text_end", ...about, content: given.text },
    ];
  if (given.type === "thinking")
    yield* [
      { type: "thinking_start", ...about },
      ...deltas("thinking_delta", given.thinking),
      { type: "thinking_end", ...about, content: given.thinking },
    ];
  if (given.type === "opaque")
    yield {
      type: "opaque_end",
      ...about,
      part: { type: "opaque", protocol: "p", raw: { any: 1 } },
    };
  if (given.type === "call") {
    const args = { say: given.say, isAllowed: given.isAllowed };
    const argumentsText =
      given.isBroken && given.tool === "work" ? '{"say":' : JSON.stringify(args);
    const isBroken = argumentsText === '{"say":';
    yield { type: "toolcall_start", ...about, id, name: given.tool };
    yield* deltas("toolcall_delta", argumentsText);
    yield {
      type: "toolcall_end",
      ...about,
      toolCall: {
        type: "toolCall",
        id,
        name: given.tool,
        arguments: isBroken ? {} : args,
        argumentsText,
        ...(isBroken && { argumentsError: "The arguments are not JSON." }),
      },
    };
  }
}

/** A stream function that plays the answers. Ids of calls repeat from answer to answer. */
function playing({ answers }, abort) {
  let next = 0;
  return async function* streamFn() {
    const { parts, retractsFrom, ends, step } = answers[next++] ?? {
      parts: [{ type: "text", text: "end" }],
      ends: "well",
      step: 3,
    };
    const origin = { api: "a", provider: "p", model: "m", timestamp: 0 };
    const error = { code: "overloaded", message: "secret", retryable: true };
    const all = [];
    const play = function* (events) {
      for (const event of events) {
        all.push(structuredClone(event));
        yield event;
      }
    };
    yield* play([{ type: "start", attempt: 1, ...origin }]);
    const write = function* (from, attempt) {
      for (const [index, given] of parts.entries())
        if (index >= from) yield* play(eventsOf(given, index, `c${index}`, { step, attempt }));
    };
    yield* write(0, 1);
    if (retractsFrom !== undefined && retractsFrom <= parts.length) {
      yield* play([{ type: "message_retract", attempt: 1, contentIndex: retractsFrom, error }]);
      yield* write(retractsFrom, 2);
    }
    if (ends === "abort") abort();
    const message = reduceEvents(all);
    const hasCalls = parts.some(({ type }) => type === "call");
    if (ends === "error" || ends === "abort") {
      const code = ends === "abort" ? "aborted" : "server_error";
      const why = {
        stopReason: ends === "abort" ? "aborted" : "error",
        errorMessage: "secret",
        error: { code, message: "secret", retryable: false },
      };
      yield { type: "error", attempt: 1, reason: why.stopReason, error: { ...message, ...why } };
    } else {
      const reason = ends === "length" ? "length" : hasCalls ? "toolUse" : "stop";
      yield { type: "done", attempt: 1, reason, message: { ...message, stopReason: reason } };
    }
  };
}

const parameters = { type: "object", properties: { say: { type: "string" } } };
const tools = [
  { name: "work", execute: async (_id, { say }) => `did ${say}` },
  {
    name: "fail",
    execute: async () => {
      throw new Error("secret");
    },
  },
  {
    name: "grow",
    execute: async (_id, { say }, _signal, update) => {
      update({ content: [{ type: "text", text: "half" }], details: undefined });
      await null;
      return `grew ${say}`;
    },
  },
  { name: "ask", needsApproval: true, execute: async (_id, { say }) => `allowed ${say}` },
].map((tool) => ({ ...tool, label: tool.name, description: tool.name, parameters }));

function agentFor(given) {
  const agent = new Agent({
    model: {
      id: "m",
      name: "m",
      api: "a",
      provider: "p",
      baseUrl: "",
      reasoning: true,
      input: ["text"],
    },
    tools: tools.map(({ execute, ...tool }) => ({
      ...tool,
      execute: async (...call) => {
        const result = await execute(...call);
        return typeof result === "string" ? { content: [{ type: "text", text: result }] } : result;
      },
    })),
    streamFn: playing(given, () => agent.abort()),
    toolExecution: given.isSequential ? "sequential" : "parallel",
    beforeToolCall: requireApproval({ needed: () => false, timeoutMs: 0 }),
    abortGraceMs: 50,
    budget: { maxTurns: 12 },
  });
  const say = (content) => ({ role: "user", content, timestamp: 0 });
  if (given.steering !== undefined) agent.steer(say(given.steering));
  if (given.followUp !== undefined) agent.followUp(say(given.followUp));
  return agent;
}

/** What the page must show of a transcript. */
function expected(messages, { hasReasoning }) {
  const results = new Map();
  const steps = [];
  let last;
  // The page has the messages before the first answer.
  for (const message of messages.slice(messages.findIndex(({ role }) => role === "assistant"))) {
    if (message.role === "assistant") {
      last = [];
      for (const [index, given] of message.content.entries()) {
        if (given.type === "text" && given.text !== "") last.push(["text", given.text]);
        if (given.type === "thinking" && given.thinking !== "" && hasReasoning)
          last.push(["reasoning", given.thinking]);
        if (given.type === "toolCall") {
          const call = [
            "tool",
            given.name,
            given.argumentsError ? given.argumentsText : given.arguments,
            "?",
          ];
          results.set(given.id, call);
          last.push(call);
        }
        assert.ok(index >= 0);
      }
      steps.push(last);
    } else if (message.role === "toolResult") {
      const call = results.get(message.toolCallId);
      const said = message.content.map(({ text: one }) => one).join("\n");
      call[3] = !message.isError ? said : said.startsWith("Denied") ? "denied" : "error";
    } else steps.push([["steering", message.content]]);
  }
  return steps.filter((step) => step.length > 0);
}

/** The same of a folded message. */
function shown({ parts }) {
  const steps = [[]];
  for (const one of parts) {
    if (one.type === "step-start") steps.push([]);
    else if (one.type === "steering-message") steps.push([["steering", one.parts[0].text]], []);
    else if (one.type === "dynamic-tool") {
      const ends = {
        "output-available": one.output,
        "output-error": "error",
        "output-denied": "denied",
      };
      assert.notEqual(one.preliminary, true);
      steps.at(-1).push(["tool", one.toolName, one.input, ends[one.state] ?? one.state]);
    } else steps.at(-1).push([one.type, one.text]);
  }
  return steps.filter((step) => step.length > 0);
}

async function fold(stream, message, errors) {
  let last = message;
  for await (const next of readUIMessageStream({
    stream,
    message,
    onError: (error) => errors.push(error.message),
  }))
    last = next;
  return last;
}

/** Checks each chunk by the AI SDK's schema and the response by our grammar. */
async function checked(chunks, known) {
  checkGrammar(chunks, known);
  const { validate } = uiMessageChunkSchema();
  for (const chunk of chunks) {
    const result = await validate(chunk);
    assert.ok(result.success, JSON.stringify(chunk));
  }
  return ReadableStream.from(chunks);
}

function assertErrors(errors, reason) {
  assert.deepEqual(errors, reason === "error" ? [errors[0]] : []);
  if (reason === "error") assert.match(errors[0], /^The answer failed \(\w+\)\.$/);
}

describe(`the AI SDK, reading ${RUNS} random runs`, () => {
  it("folds a stream to the transcript while approvals are answered by the program", async () => {
    const seen = {};
    const property = fc.asyncProperty(plan, async (given) => {
      const agent = agentFor(given);
      agent.subscribe((event) => {
        if (event.type === "approval_request")
          agent.answer(event.approvalId, { decision: event.args.isAllowed ? "allow" : "deny" });
      });
      const run = agent.stream("go");
      const chunks = await Array.fromAsync(
        toUIMessageStream(run, { reasoning: given.hasReasoning }),
      );
      for (const { type } of chunks) seen[type] = (seen[type] ?? 0) + 1;
      const errors = [];
      const message = await fold(await checked(chunks), undefined, errors);
      const { reason, messages } = await run.result();
      assert.deepEqual(shown(message), expected(messages, given));
      assert.ok(!JSON.stringify(chunks).includes("secret"));
      assertErrors(errors, reason);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: false });
    console.log(`    chunks: ${JSON.stringify(seen)}`);
  });

  it("folds the responses of a chat to the transcript while the page answers approvals", async () => {
    let answers = 0;
    const property = fc.asyncProperty(plan, async (given) => {
      const agent = agentFor(given);
      const chats = new ChatRuns({ reasoning: given.hasReasoning });
      const open = () => ({ agent });
      const messages = [{ id: "u", role: "user", parts: [{ type: "text", text: "go" }] }];
      const errors = [];
      let message;
      for (let body = { id: "c", trigger: "submit-message", messages }; body;) {
        const response = await chats.post(body, open);
        assert.equal(response.status, 200, await (response.status === 200 ? "" : response.text()));
        const chunks = chunksIn(await response.text());
        const known = message?.parts.flatMap(({ toolCallId = [] }) => toolCallId);
        message = await fold(await checked(chunks, known), message, errors);
        body = undefined;
        const asking = message.parts.filter(({ state }) => state === "approval-requested");
        if (asking.length > 0) {
          answers += 1;
          for (const one of asking) {
            one.state = "approval-responded";
            one.approval.approved = one.input.isAllowed;
          }
          body = {
            id: "c",
            trigger: "submit-message",
            messageId: message.id,
            messages: [messages[0], message],
          };
        }
      }
      await agent.waitForIdle();
      assert.deepEqual(shown(message), expected(agent.state.messages, given));
    });
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 10), endOnFailure: false });
    console.log(`    approvals answered: ${answers}`);
  });
});

function chunksIn(sse) {
  const data = sse.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  return data.map((frame) => JSON.parse(frame.slice(6)));
}
