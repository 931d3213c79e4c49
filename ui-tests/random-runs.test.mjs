// Random runs of an agent, read by `readUIMessageStream` of the AI SDK: each chunk fits its schema,
// and the message that it folds is the transcript's.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ChatRuns, toUIMessageStream } from "@bowline/core/ui-stream";
import { readUIMessageStream, uiMessageChunkSchema } from "ai";
import fc from "fast-check";
import { checkGrammar } from "../packages/core/test/ui-stream/grammar.ts";
import {
  agentFor,
  answerByPlan,
  plans,
  secret,
} from "../packages/core/test/ui-stream/random-run.ts";

const RUNS = Number(process.env.BOWLINE_UI_RUNS ?? 1_000);

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

/** Ends responses that wait for approval after a moment. */
const clock = {
  now: () => Date.now(),
  setTimer: (ms, fire) => {
    const timer = setTimeout(() => fire(), Math.min(ms, 10));
    return () => clearTimeout(timer);
  },
};

describe(`the AI SDK, reading ${RUNS} random runs`, () => {
  it("folds a stream to the transcript while approvals are answered by the program", async () => {
    const seen = {};
    const property = fc.asyncProperty(plans, async (given) => {
      const agent = agentFor(given);
      answerByPlan(agent);
      const run = agent.stream("go");
      const chunks = await Array.fromAsync(
        toUIMessageStream(run, { reasoning: given.hasReasoning }),
      );
      for (const { type, preliminary = false } of chunks) {
        const name = preliminary ? "progress" : type;
        seen[name] = (seen[name] ?? 0) + 1;
      }
      const errors = [];
      const message = await fold(await checked(chunks), undefined, errors);
      const { reason, messages } = await run.result();
      assert.deepEqual(shown(message), expected(messages, given));
      assert.ok(!JSON.stringify(chunks).includes(secret));
      assertErrors(errors, reason);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: false });
    console.log(`    chunks: ${JSON.stringify(seen)}`);
  });

  it("folds the responses of a chat to the transcript while the page answers approvals", async () => {
    let answers = 0;
    const property = fc.asyncProperty(plans, async (given) => {
      const agent = agentFor(given);
      const chats = new ChatRuns({ reasoning: given.hasReasoning, clock });
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
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 4), endOnFailure: false });
    console.log(`    approvals answered: ${answers}`);
  });
});

function chunksIn(sse) {
  const data = sse.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  return data.map((frame) => JSON.parse(frame.slice(6)));
}
