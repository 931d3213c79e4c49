/** karl's runner around the loop: configuration, time limit, retries, hooks and the result. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import {
  runTask,
  type HookName,
  type KarlTool,
  type TaskEvent,
  type TaskOptions,
  type TaskResult,
} from "../../src/karl/index.ts";
import { BowlineError } from "@bowline/core";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedModel,
  type ScriptedStep,
} from "@bowline/core/testing";
import { chatText, failing, loopback, type Handler } from "../../../../test/support/loopback.ts";
import { code } from "../../../../test/support/error-code.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { strictServer } from "../../../../test/support/strict-server.ts";

const tool = (name: string, execute: () => Promise<string>): KarlTool => ({
  name,
  description: name,
  parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: await execute() }] }),
});
const asks = (name: string): ScriptedStep => ({
  content: [scriptedToolCall(name, {})],
  usage: { input: 5, output: 1 },
});
const says = (text: string): ScriptedStep => ({
  content: [{ type: "text", text }],
  usage: { input: 7, output: 2 },
});
const overloaded = new BowlineError("overloaded", "Overloaded", { status: 529, retryable: true });

interface Rig {
  readonly model: ScriptedModel;
  readonly clock: ManualClock;
  readonly events: TaskEvent[];
  readonly result: Promise<TaskResult>;
}

function start(script: readonly ScriptedStep[], options: Partial<TaskOptions> = {}): Rig {
  const model = createScriptedModel(script);
  const clock = new ManualClock();
  const events: TaskEvent[] = [];
  const base = { task: "Go", model: "m", baseUrl: "", apiKey: "", providerType: "openai" } as const;
  const onEvent = (event: TaskEvent): void => void events.push(event);
  const result = runTask({ ...base, streamFn: model.streamFn, clock, onEvent, ...options });
  return { model, clock, events, result };
}

const kinds = (events: readonly TaskEvent[]): string[] => events.map(({ type }) => type);

describe("karl's task", () => {
  // Requirements: K6, K57
  it("returns status, text, duration, tools used and tokens of all calls, and reports events", async () => {
    const slow = tool("slow", async () => {
      await rig.clock.advance(1500);
      return "ran";
    });
    const rig = start([asks("slow"), asks("slow"), says("Done.")], { tools: [slow] });
    const { status, result, durationMs, toolsUsed, tokens, task, error } = await rig.result;
    assert.deepEqual(
      { status, result, durationMs, toolsUsed, tokens, task, error },
      {
        status: "success",
        result: "Done.",
        durationMs: 3000,
        toolsUsed: ["slow"],
        tokens: { input: 17, output: 4, total: 21 },
        task: "Go",
        error: undefined,
      },
    );
    const ran = "tool_start tool_end";
    assert.equal(kinds(rig.events).join(" "), `task_start ${ran} ${ran} thinking task_complete`);
    assert.equal(
      rig.events.flatMap((event) => (event.type === "thinking" ? [event.delta] : [])).join(""),
      "Done.",
    );
  });

  for (const providerType of ["anthropic", "openrouter"]) {
    // Requirements: K6, K50
    it(`uses the format of ${providerType}, with model, address, key and limit of the run`, async () => {
      const api = providerType === "anthropic" ? "anthropic-messages" : "openai-chat";
      await using server = await strictServer(api, { text: "Hi." });
      const config = { model: "any-1", baseUrl: server.baseUrl, apiKey: "sk-1", maxTokens: 77 };
      const { status, result } = await runTask({
        ...config,
        task: "Go",
        systemPrompt: "Be brief.",
        providerType,
      });
      assert.deepEqual([status, result, server.problems], ["success", "Hi.", []]);
      const [body] = server.bodies();
      assert.deepEqual([body?.model, body?.max_tokens], ["any-1", 77]);
    });
  }

  // Requirements: K6, K46
  it("reads the token counts of both formats the same way", async () => {
    const tokens: unknown[] = [];
    for (const [providerType, api] of [
      ["anthropic", "anthropic-messages"],
      ["openai", "openai-chat"],
    ] as const) {
      await using server = await strictServer(api, { text: "Hi." });
      const run = await runTask({
        task: "Go",
        model: "m",
        baseUrl: server.baseUrl,
        apiKey: "k",
        providerType,
      });
      tokens.push(run.tokens);
    }
    const counts = { input: 10, output: 1, total: 11 };
    assert.deepEqual(tokens, [counts, counts]);
  });

  // Requirements: K6
  it("rejects when a listener throws, and aborts the model call", async () => {
    let asked: AbortSignal | undefined;
    const answers: ScriptedStep = (_context, { signal }) => {
      asked = signal;
      return "A long answer.";
    };
    const onEvent = ({ type }: TaskEvent): void => {
      if (type === "thinking") throw new Error("no");
    };
    await assert.rejects(start([answers], { onEvent }).result, { message: "no" });
    assert.equal(asked?.aborted, true);
  });

  for (const at of [
    "task_start",
    "hook_error",
    "tool_start",
    "tool_end",
    "thinking",
    "task_complete",
  ] as const) {
    // Requirements: K6
    it(`rejects with the listener's error at ${at}, and emits nothing more`, async () => {
      const told: TaskEvent["type"][] = [];
      const onEvent = ({ type }: TaskEvent): void => {
        told.push(type);
        if (type === at) throw "no error"; // oxlint-disable-line typescript/only-throw-error -- a listener may throw anything
      };
      const hooks = { "pre-tool": () => assert.fail("a hook that fails") };
      const { result } = start([asks("a"), says("Done.")], {
        tools: [tool("a", async () => "")],
        hooks,
        onEvent,
      });
      assert.equal(await result.catch((thrown: unknown) => thrown), "no error");
      assert.equal(told.at(-1), at);
    });
  }
});

describe("karl's retries", () => {
  // Requirements: K6
  it("happen twice, after 1 and 2 seconds, and continue from earlier rounds without repeating tools", async () => {
    let ran = 0;
    const a = tool("a", async () => String(++ran));
    const rig = start([asks("a"), { error: overloaded }, { error: overloaded }, says("Done.")], {
      tools: [a],
    });
    await settle();
    assert.equal(rig.model.calls.length, 2);
    await rig.clock.advance(999);
    assert.equal(rig.model.calls.length, 2);
    await rig.clock.advance(1);
    assert.equal(rig.model.calls.length, 3);
    await rig.clock.advance(2000);
    const { status, result, toolsUsed } = await rig.result;
    assert.deepEqual([status, result, toolsUsed, ran], ["success", "Done.", ["a"], 1]);
    const retries = rig.events.flatMap((event) =>
      event.type === "task_retry" ? [[event.attempt, event.delayMs]] : [],
    );
    assert.deepEqual(retries, [
      [1, 1000],
      [2, 2000],
    ]);
    assert.deepEqual(
      rig.model.calls.at(-1)?.context.messages.map(({ role }) => role),
      ["user", "assistant", "toolResult"],
    );
    assert.equal(rig.clock.pending, 0);
  });

  // Requirements: K6
  it("end with the third failure, whose message is the result", async () => {
    const rig = start([
      { error: overloaded },
      { error: overloaded },
      { error: overloaded },
      says("Never"),
    ]);
    await rig.clock.advance(10_000);
    const { status, result, error } = await rig.result;
    assert.deepEqual(
      [status, result, rig.model.calls.length],
      ["error", "API error 529: Overloaded", 3],
    );
    assert.ok(code("overloaded")(error));
    assert.deepEqual(kinds(rig.events), ["task_start", "task_retry", "task_retry", "task_error"]);
  });

  it("do not happen when the number of attempts is not a number", async () => {
    const rig = start([{ error: overloaded }, says("Never")], {
      retry: { attempts: Number("two") },
    });
    await rig.clock.advance(10_000);
    assert.equal((await rig.result).status, "error");
    assert.deepEqual(kinds(rig.events), ["task_start", "task_error"]);
  });

  // Requirements: K6
  it("follow a server's delay, and do not happen above the limit", async () => {
    const limited = (retryAfterMs: number): ScriptedStep => ({
      error: new BowlineError("rate_limited", "Slow down", {
        status: 429,
        retryable: true,
        retryAfterMs,
      }),
    });
    const rig = start([limited(7000), says("Done.")]);
    await rig.clock.advance(6999);
    assert.equal(rig.model.calls.length, 1);
    await rig.clock.advance(1);
    assert.equal((await rig.result).status, "success");
    const far = start([limited(60_001), says("Never")]);
    assert.equal((await far.result).status, "error");
  });

  // Requirements: K6, K42
  it("happen for the retryable statuses, over real sockets, and for no others", async () => {
    const retried: number[] = [];
    for (const status of [400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529]) {
      const requests: Handler[] = [failing(status, "no"), chatText("Done.")];
      await using server = await loopback(...requests);
      const base = {
        task: "Go",
        model: "m",
        baseUrl: server.baseUrl,
        apiKey: "",
        providerType: "openai",
      };
      const { result } = await runTask({ ...base, retry: { delayMs: 1 } });
      if (result === "Done.") retried.push(status);
      else assert.equal(result, `API error ${status}: no`);
    }
    assert.deepEqual(retried, [408, 429, 500, 502, 503, 504, 529]);
  });

  // Requirements: K6
  it("leave no listener on the caller's signal", async () => {
    const { signal } = new AbortController();
    const rig = start([{ error: overloaded }, says("Done.")], {
      signal,
      hooks: { "pre-task": () => {} },
    });
    await rig.clock.advance(1000);
    assert.equal((await rig.result).status, "success");
    assert.deepEqual([getEventListeners(signal, "abort").length, rig.clock.pending], [0, 0]);
  });

  // Requirements: K6
  it("end when the task is aborted during the wait", async () => {
    const abort = new AbortController();
    const rig = start([{ error: overloaded }, says("Never")], { signal: abort.signal });
    await settle();
    abort.abort();
    const { status, error } = await rig.result;
    assert.ok(status === "error" && code("aborted")(error));
    assert.deepEqual([rig.model.calls.length, rig.clock.pending], [1, 0]);
  });
});

describe("karl's time limit", () => {
  // Requirements: K6
  it("applies to one attempt, which is aborted and retried", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const hangs: ScriptedStep = (_context, { signal }) => {
      signals.push(signal);
      return new Promise((_, reject) =>
        signal?.addEventListener("abort", () => reject(new Error("stopped"))),
      );
    };
    const rig = start([hangs, says("Done.")], { timeoutMs: 5000 });
    await rig.clock.advance(5000 + 1000 + 1000); // plus the grace period of the abort, and the retry delay
    const { status, result } = await rig.result;
    assert.deepEqual([status, result, signals[0]?.aborted], ["success", "Done.", true]);
    const [retry] = rig.events.filter((event) => event.type === "task_retry");
    assert.ok(
      code("timeout")(retry?.error) && /took longer than 5000 ms/.test(retry?.error.message ?? ""),
    );
  });

  // Requirements: K6
  it("stops a tool that never ends", async () => {
    const a = tool("a", () => deferred<string>().promise);
    const rig = start([asks("a"), says("Never")], {
      tools: [a],
      timeoutMs: 5000,
      retry: { attempts: 1 },
    });
    await rig.clock.advance(60_000);
    const { status, error } = await rig.result;
    assert.ok(status === "error" && code("timeout")(error));
  });
});

describe("karl's hooks", () => {
  const all = (told: string[], fail?: HookName): NonNullable<TaskOptions["hooks"]> =>
    Object.fromEntries(
      (["pre-task", "post-task", "pre-tool", "post-tool", "on-error"] as const).map((name) => [
        name,
        async (context: object) => {
          await settle();
          told.push([name, ...Object.keys(context)].join(" "));
          if (name === fail) throw new Error(`${name} failed`);
          return { block: true };
        },
      ]),
    );

  // Requirements: K6
  it("get task, tools and errors in order, and cannot block", async () => {
    const told: string[] = [];
    const a = tool("a", async () => {
      told.push("a runs");
      return "ran";
    });
    const b = tool("b", () => Promise.reject(new Error("no")));
    await start([asks("a"), asks("b"), says("Done.")], { tools: [a, b], hooks: all(told) }).result;
    assert.deepEqual(told, [
      "pre-task task",
      "pre-tool task toolName args",
      "a runs",
      "post-tool task toolName args result",
      "pre-tool task toolName args",
      "post-tool task toolName args error",
      "post-task task result",
    ]);
    told.length = 0;
    const { status } = await start([{ error: new BowlineError("refusal", "No") }], {
      hooks: all(told),
    }).result;
    assert.deepEqual([status, ...told], ["error", "pre-task task", "on-error task error"]);
  });

  for (const name of ["pre-task", "post-task", "pre-tool", "post-tool"] as const) {
    // Requirements: K6
    it(`that fail are reported and not fatal: ${name}`, async () => {
      const a = tool("a", async () => "ran");
      const rig = start([asks("a"), says("Done.")], { tools: [a], hooks: all([], name) });
      assert.equal((await rig.result).status, "success");
      const errors = rig.events.filter((event) => event.type === "hook_error");
      assert.deepEqual(
        errors.map(({ hook, error }) => [hook, String(error)]),
        [[name, `Error: ${name} failed`]],
      );
      assert.equal(rig.model.calls[1]?.context.messages.at(-1)?.role, "toolResult");
    });
  }

  // Requirements: K6
  it("that throw synchronously, or while an error is reported, change nothing", async () => {
    const hooks = {
      "on-error": () => {
        throw new Error("also");
      },
    };
    const rig = start([{ error: new BowlineError("refusal", "No") }], { hooks });
    assert.deepEqual(
      [(await rig.result).result, ...kinds(rig.events)],
      ["No", "task_start", "hook_error", "task_error"],
    );
  });

  // Requirements: K6
  it("that never end are abandoned after half a minute", async () => {
    const rig = start([says("Done.")], { hooks: { "pre-task": () => deferred().promise } });
    await rig.clock.advance(29_999);
    assert.equal(rig.model.calls.length, 0);
    await rig.clock.advance(1);
    assert.equal((await rig.result).status, "success");
    assert.equal(rig.clock.pending, 0);
  });
});
