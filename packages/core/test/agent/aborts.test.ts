/** The error and reason of an abort, and hooks and listeners that end a run. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { createLlmFilter, requireApproval, runAgentLoop } from "../../src/agent/index.ts";
import { BowlineError } from "../../src/errors.ts";
import { attachSession, createMemoryStore, createSession } from "../../src/session/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { call, hello, rig, tool, type Rig } from "../support.ts";
import { collect } from "../session/support.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const waiting = tool(
  "a",
  (signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
);

describe("an abort", () => {
  it("puts the message's own error text in the state", async () => {
    for (const reason of [undefined, "The user left."]) {
      const { agent } = rig(["A long answer."], [], {
        streamFn: (_model, _context, { signal }) => {
          const partial = { ...answer, content: [] };
          return {
            async *[Symbol.asyncIterator]() {
              yield { type: "start" as const, attempt: 1, ...answer };
              agent.abort(reason);
              await Promise.resolve();
              assert.equal(signal?.aborted, true);
              const error = {
                ...partial,
                stopReason: "aborted" as const,
                errorMessage: "Request was aborted",
              };
              yield { type: "error" as const, attempt: 1, reason: "aborted" as const, error };
            },
          };
        },
      });
      await agent.prompt("Hi");
      const last = agent.state.messages.at(-1);
      assert.ok(last?.role === "assistant");
      assert.equal(agent.state.errorMessage, last.errorMessage);
      const words =
        reason === undefined ? "Request was aborted" : "The run was aborted: The user left.";
      assert.equal(last.errorMessage, words);
    }
  });

  it("passes its reason to the result, the tools and the session", async () => {
    for (const reason of ["The user left.", new Error("Shutting down.")]) {
      let seen: unknown;
      const watching = tool("a", async (signal) => {
        setTimeout(() => agent.abort(reason));
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        seen = signal.reason;
        return "";
      });
      const { agent } = rig([call("a")], [watching]);
      const session = await createSession(createMemoryStore());
      await attachSession(agent, session);
      const { error, reason: end } = await agent.prompt("Hi");
      const text = typeof reason === "string" ? reason : reason.message;
      assert.deepEqual(
        [end, error?.message, error?.cause],
        ["aborted", `The run was aborted: ${text}`, reason],
      );
      assert.ok(seen instanceof BowlineError && seen.cause === reason);
      assert.equal(agent.state.errorMessage, error?.message);
      const abort = (await collect(session.entries())).find(({ type }) => type === "abort");
      assert.equal(
        (abort as { reason?: string }).reason,
        typeof reason === "string" ? reason : undefined,
      );
    }
  });

  it("is not listened for after the run, because its signal may outlive many runs", async () => {
    const { signal } = new AbortController();
    const { model, streamFn } = createScriptedModel(["Hello."]);
    const context = { systemPrompt: "", messages: [] };
    const config = { model, convertToLlm: createLlmFilter() };
    const during: number[] = [];
    const emit = (): void => void during.push(getEventListeners(signal, "abort").length);
    await runAgentLoop([hello], context, config, emit, signal, streamFn);
    assert.ok(during.every((count) => count > 0));
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });

  it("without a reason adds no reason to the error text", async () => {
    const { agent } = rig([call("a")], [waiting]);
    agent.subscribe(
      ({ type }) => void (type === "tool_execution_start" && setTimeout(() => agent.abort())),
    );
    const { error } = await agent.prompt("Hi");
    assert.deepEqual([error?.message, error?.cause], ["The run was aborted.", undefined]);
  });
});

describe("a call that has not started when the run is aborted", () => {
  it("says so, and not that anyone denied it", async () => {
    const asks: Rig["agent"]["beforeToolCall"][] = [
      requireApproval(),
      () => new Promise(() => {}), // a hook that never answers
    ];
    for (const beforeToolCall of asks) {
      const ran: string[] = [];
      const run = tool("a", () => (ran.push("a"), ""));
      const { agent } = rig([call("a")], [run], { beforeToolCall, abortGraceMs: 10 });
      agent.subscribe(
        ({ type }) => void (type === "tool_execution_start" && setTimeout(() => agent.abort(), 5)),
      );
      const { tools, messages } = await agent.prompt("Hi");
      assert.deepEqual([tools[0]?.outcome, ran], ["not_started", []]);
      assert.match(
        texts(messages)[2] ?? "",
        /^toolResult: Not run: (?:the run ended before an answer|The run was aborted)\.$/,
      );
    }
  });
});

describe("a call that a hook blocks", () => {
  it("ends the run only when the hook sets terminate and so does every other result of the answer", async () => {
    for (const terminate of [true, false]) {
      const { agent, script } = rig([call("a"), "Done."], [tool("a", () => "1")], {
        beforeToolCall: () => ({ block: true, reason: "Not now.", terminate }),
      });
      const { messages, reason } = await agent.prompt("Hi");
      assert.deepEqual([reason, script.calls.length], ["done", terminate ? 1 : 2]);
      assert.equal(texts(messages)[2], "toolResult: Not now.");
    }
  });
});

it("shouldStopAfterTurn learns of an abort through its signal", async () => {
  const { agent } = rig(["Hi"], [], {
    shouldStopAfterTurn: (_, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve(false));
        agent.abort();
      }),
  });
  assert.equal((await agent.prompt("Hi")).reason, "aborted");
});

it("a listener that throws a revoked proxy ends the run with listener_failed", async () => {
  const { agent } = rig(["Hi"]);
  agent.subscribe(() => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    throw proxy; // oxlint-disable-line typescript/only-throw-error -- the case
  });
  const { error } = await agent.prompt("Hi");
  assert.deepEqual(
    [error?.code, /unknown error/.test(error?.message ?? "")],
    ["listener_failed", true],
  );
});

it("arguments that are nested too deeply are refused, and a session records the answer", async () => {
  for (const depth of [900, 100_000]) {
    const argumentsText = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    const deep = { type: "toolCall" as const, id: "c", name: "a", arguments: {}, argumentsText };
    const { agent } = rig([{ content: [deep] }, "Done."], [tool("a", () => "1")]);
    const session = await createSession(createMemoryStore());
    await attachSession(agent, session);
    const { reason, messages } = await agent.prompt("Hi");
    assert.equal(reason, "done");
    const [, , result = ""] = texts(messages);
    assert.match(result, depth > 1000 ? /nested deeper than 1000 levels/ : /toolResult: 1/);
  }
});

const answer = {
  role: "assistant" as const,
  api: "scripted",
  provider: "scripted",
  model: "scripted",
  usage: {},
  timestamp: 1,
};
