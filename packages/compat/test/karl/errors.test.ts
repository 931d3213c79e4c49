/** The answer that karl's loop and runner keep after a failed run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  agentLoop,
  AgentLoopError,
  runTask,
  type KarlTool,
  type Message,
  type ToolDefinition,
} from "../../src/karl/index.ts";
import { BowlineError, isBowlineError, messageText } from "@bowline/core";
import { createScriptedModel, scriptedToolCall, type ScriptedStep } from "@bowline/core/testing";

const base = { model: "m", baseUrl: "", apiKey: "" } as const;
const tool: KarlTool & ToolDefinition = {
  name: "a",
  description: "Runs.",
  parameters: { type: "object", properties: { at: { type: "string" } } },
  execute: async () => ({ content: [{ type: "text", text: "ran" }] }),
};
const asks = (text?: string): ScriptedStep => ({
  content: [
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    scriptedToolCall("a", {}),
  ],
});

interface LoopOptions {
  readonly maxToolRounds?: number;
  readonly signal?: AbortSignal;
  readonly onMessage?: (message: Message) => void;
}

/** The error that the loop throws. */
async function errorOf(script: readonly ScriptedStep[], options: LoopOptions = {}): Promise<Error> {
  const { streamFn } = createScriptedModel(script);
  const config = { ...base, apiFormat: "openai", streamFn, ...options } as const;
  try {
    for await (const _ of agentLoop("", "Go", [tool], config));
  } catch (error) {
    return error as Error;
  }
  return assert.fail("nothing was thrown");
}

describe("karl's error", () => {
  // Requirements: K35
  it("on an abort is an AbortError with its code", async () => {
    const error = await errorOf(["Never"], { signal: AbortSignal.abort() });
    assert.deepEqual([error.name, isBowlineError(error) && error.code], ["AbortError", "aborted"]);
  });

  // Requirements: K35
  it("from a server is not an AbortError", async () => {
    const error = await errorOf([{ error: new BowlineError("server_error", "Boom") }]);
    assert.equal(error.name, "BowlineError");
  });

  // Requirements: K34, X16
  it("on the limit of rounds contains the last answer with text", async () => {
    const error = await errorOf([asks("I look."), asks("I look again."), asks()], {
      maxToolRounds: 2,
    });
    assert.ok(error instanceof AgentLoopError && error.code === "budget_exceeded");
    assert.equal(error.answer?.content, "I look again.");
    assert.equal(error.answer.tool_calls?.length, 1);
  });

  // Requirements: K34, X16
  it("contains the last answer when none has text, and no answer when there was none", async () => {
    const silent = await errorOf([asks(), asks()], { maxToolRounds: 1 });
    assert.ok(silent instanceof AgentLoopError);
    assert.deepEqual([silent.answer?.content, silent.answer?.tool_calls?.length], ["", 1]);
    const none = await errorOf([{ error: new BowlineError("server_error", "Boom") }]);
    assert.ok(none instanceof AgentLoopError && !("answer" in none));
  });

  // Requirements: K34
  it("does not contain a truncated answer", async () => {
    const content = [{ type: "text", text: "Hel" } as const];
    const error = new BowlineError("server_error", "Boom");
    const thrown = await errorOf([asks("I look."), { content, error }]);
    assert.ok(thrown instanceof AgentLoopError);
    assert.equal(thrown.answer?.content, "I look.");
  });
});

describe("karl's task result", () => {
  const run = (script: readonly ScriptedStep[], signal?: AbortSignal) =>
    runTask({
      ...base,
      task: "Go",
      providerType: "openai",
      tools: [tool],
      maxToolRounds: 1,
      retry: { delayMs: 0 },
      streamFn: createScriptedModel(script).streamFn,
      ...(signal && { signal }),
    });

  // Requirements: K34, X16
  it("contains the last answer, also at the limit of rounds", async () => {
    const used = await run([asks("I look."), asks()]);
    assert.deepEqual([used.status, used.result], ["error", "The rounds for tools are used up."]);
    assert.equal(used.answer?.content, "I look.");
    const done = await run([asks("I look."), "Done."]);
    assert.deepEqual(
      [done.status, done.answer],
      ["success", { role: "assistant", content: "Done." }],
    );
  });

  // Requirements: K6, X16
  it("contains the answer of an earlier attempt", async () => {
    const error = new BowlineError("overloaded", "Overloaded", { retryable: true });
    const { answer } = await run([asks("I look."), { error }, { error }, { error }]);
    assert.equal(answer?.content, "I look.");
  });

  // Requirements: K35
  it("on an abort contains an AbortError", async () => {
    const { status, error } = await run(["Never"], AbortSignal.abort());
    assert.deepEqual([status, error?.name], ["error", "AbortError"]);
  });
});

// Requirements: K29, X5
it("karl's model is shown its own text when its arguments are invalid JSON", async () => {
  const history: Message[] = [];
  const argumentsText = '{"at": "a';
  const broken = { ...scriptedToolCall("a", {}), argumentsText };
  const model = createScriptedModel([{ content: [broken] }, "Sorry."]);
  const config = { ...base, apiFormat: "openai", streamFn: model.streamFn } as const;
  const onMessage = (message: Message): void => void history.push(message);
  for await (const _ of agentLoop("", "Go", [tool], { ...config, onMessage }));
  assert.ok(messageText(history[1] as Message).endsWith(` You wrote: ${argumentsText}`));
  const shown = model.calls[1]?.context.messages.at(-1);
  assert.ok(shown?.role === "toolResult" && messageText(shown).endsWith(argumentsText));
});
