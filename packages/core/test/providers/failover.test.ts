import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError, type ErrorCode } from "../../src/errors.ts";
import { Agent } from "../../src/agent/index.ts";
import { messageText, type AssistantMessage } from "../../src/llm/message.ts";
import type {
  AssistantMessageStream,
  Model,
  StreamFn,
  StreamOptions,
} from "../../src/llm/model.ts";
import { createFailover, type FailoverOptions } from "../../src/providers/failover.ts";
import { streamOpenaiChat } from "../../src/providers/openai-chat/index.ts";
import { getModel } from "../../src/providers/vendors.ts";
import {
  createScriptedModel,
  scriptedToolCall,
  type ScriptedStep,
} from "../../src/testing/index.ts";
import { chatText, failing, loopback } from "../../../../test/support/loopback.ts";
import { call, short, tool } from "../support.ts";

/** Models by name, each with a script. */
function scripted(scripts: Record<string, ScriptedStep[]>): {
  streamFn: StreamFn;
  models: Model[];
  asked: { model: string; options: StreamOptions }[];
} {
  const asked: { model: string; options: StreamOptions }[] = [];
  const made = Object.entries(scripts).map(
    ([id, steps]) => [id, createScriptedModel(steps, { deltaLength: 1000 })] as const,
  );
  const models = made.map(([id, { model }]) => ({ ...model, id, provider: `vendor-${id}` }));
  const byId = new Map(made);
  const streamFn: StreamFn = (model, context, options) => {
    asked.push({ model: model.id, options });
    const script = byId.get(model.id);
    assert.ok(script !== undefined);
    return script.streamFn(model, context, options);
  };
  return { streamFn, models, asked };
}

async function run(
  scripts: Record<string, ScriptedStep[]>,
  extra: Partial<FailoverOptions> = {},
): Promise<{ events: string[]; asked: string[]; answer: string; keys: (string | undefined)[] }> {
  const { streamFn, models, asked } = scripted(scripts);
  const [first, ...rest] = models;
  assert.ok(first !== undefined);
  const agent = new Agent({
    initialState: { model: first, tools: [tool("a", () => "1")] },
    apiKey: "first-key",
    streamFn: createFailover({ streamFn, models: rest, ...extra }),
  });
  const events: string[] = [];
  agent.subscribe((event) => void events.push(short(event)));
  const { message } = await agent.prompt("Hi");
  const part = message?.content.at(-1);
  return {
    events,
    asked: asked.map(({ model }) => model),
    answer: part?.type === "text" ? part.text : (message?.error?.code ?? ""),
    keys: asked.map(({ options }) => options.apiKey),
  };
}

const fails = (code: ErrorCode): ScriptedStep => ({ error: new BowlineError(code, code) });

describe("failover", () => {
  it("treats a throw, or a stream that ends without output, as a failure", async () => {
    const { streamFn, models } = scripted({ a: [], b: ["B.", "B."] });
    const [first, second] = models as [Model, Model];
    const broken = (fault: () => AssistantMessageStream): StreamFn => {
      return (model, ...rest) => (model === first ? fault() : streamFn(model, ...rest));
    };
    const ended = async function* (): AsyncGenerator<never> {};
    const result = async (
      fault: () => AssistantMessageStream,
      given: readonly Model[],
    ): Promise<AssistantMessage> =>
      createFailover({ streamFn: broken(fault), models: given })(first, { messages: [] }).result();
    const overloaded = (): never => {
      throw new BowlineError("overloaded", "Too many.");
    };
    assert.equal(messageText(await result(ended, [second])), "B.");
    assert.equal(messageText(await result(overloaded, [second])), "B.");
    assert.equal((await result(ended, [])).error?.code, "stream_truncated");
    const failed = await result(() => assert.fail("a fault of its own"), [second]);
    assert.deepEqual([failed.error?.code, failed.model], ["stream_function_failed", first.id]);
    const getApiKey = (): never => assert.fail("no vault");
    const keyless = createFailover({ streamFn, models: [second], getApiKey });
    assert.equal(
      (await keyless(first, { messages: [] }).result()).error?.code,
      "stream_function_failed",
    );
  });

  it("tries the next model after a final failure, and emits one event", async () => {
    const { events, asked, answer } = await run({
      one: [fails("quota_exceeded")],
      two: ["Hello."],
    });
    assert.deepEqual([asked, answer], [["one", "two"], "Hello."]);
    assert.deepEqual(events.slice(4, 6), ["model_failover", "message_start:assistant"]);
    assert.equal(events.filter((event) => event === "model_failover").length, 1);
  });

  it("continues after a nested failover whose models all failed", async () => {
    const { streamFn, models } = scripted({
      one: [fails("overloaded")],
      two: [fails("overloaded")],
      three: ["Hello."],
    });
    const [one, two, three] = models as [Model, Model, Model];
    const inner = createFailover({ streamFn, models: [two] });
    const message = await createFailover({ streamFn: inner, models: [three] })(one, {
      messages: [],
    }).result();
    assert.deepEqual([message.stopReason, message.provider], ["stop", three.provider]);
  });

  it("tries one model after the other until one answers", async () => {
    const failed = [fails("overloaded")];
    const { asked, answer, events } = await run({
      one: failed,
      two: failed,
      three: ["Hello."],
      four: ["never"],
    });
    assert.deepEqual([asked, answer], [["one", "two", "three"], "Hello."]);
    assert.equal(events.filter((event) => event === "model_failover").length, 2);
  });

  it("returns the last failure when every model fails", async () => {
    const { asked, answer, events } = await run({
      one: [fails("overloaded")],
      two: [fails("not_found")],
    });
    assert.deepEqual(
      [asked, answer, events.at(-1)],
      [["one", "two"], "not_found", "agent_end:error"],
    );
  });

  it("does not continue after output, or after an error that every model would give", async () => {
    const partial: ScriptedStep = {
      content: [{ type: "text", text: "Hel" }],
      error: new BowlineError("server_error", "died"),
    };
    assert.deepEqual((await run({ one: [partial], two: ["never"] })).asked, ["one"]);
    for (const code of ["refusal", "invalid_request", "context_overflow", "aborted"] as const) {
      assert.deepEqual((await run({ one: [fails(code)], two: ["never"] })).asked, ["one"], code);
    }
    assert.deepEqual(
      (
        await run(
          { one: [fails("context_overflow")], two: ["Hi."] },
          { kinds: ["context_overflow"] },
        )
      ).asked,
      ["one", "two"],
    );
  });

  it("starts each call with the agent's model, which a listener may replace by the one that answered", async () => {
    for (const stays of [false, true]) {
      const { streamFn, models, asked } = scripted({
        a: Array(2).fill(fails("overloaded")),
        b: [call("a"), "Done."],
      });
      const [first, ...rest] = models as [Model, ...Model[]];
      const agent = new Agent({
        initialState: { model: first, tools: [tool("a", () => "1")] },
        streamFn: createFailover({ streamFn, models: rest }),
      });
      agent.subscribe((event) => {
        const next =
          event.type === "model_failover" && rest.find(({ id }) => id === event.to.model);
        if (stays && next) agent.state.model = next;
      });
      assert.equal((await agent.prompt("Hi")).reason, "done");
      assert.equal(asked.map(({ model }) => model).join(" "), stays ? "a b b" : "a b a b");
    }
  });

  // Requirements: X22
  it("does not send one vendor's key to another", async () => {
    const { keys } = await run({ one: [fails("quota_exceeded")], two: ["Hello."] });
    assert.deepEqual(keys, ["first-key", undefined]);
    const own = await run(
      { one: [fails("quota_exceeded")], two: ["Hello."] },
      { getApiKey: (provider) => `key of ${provider}` },
    );
    assert.deepEqual(own.keys, ["key of vendor-one", "key of vendor-two"]);
  });

  it("carries calls and results over during a tool loop, without signatures", async () => {
    const signed = { type: "thinking" as const, thinking: "hm", thinkingSignature: "SIG" };
    await using broken = await loopback(failing(402, { error: { message: "no credit" } }));
    await using works = await loopback(chatText("Done."));
    const first = createScriptedModel([{ content: [signed, scriptedToolCall("a", {}, "call/1")] }]);
    const one = getModel("one", "m", { baseUrl: broken.baseUrl });
    const two = getModel("two", "m", { baseUrl: works.baseUrl });
    let calls = 0;
    const streamFn: StreamFn = (model, context, options) =>
      calls++ === 0
        ? first.streamFn(model, context, options)
        : streamOpenaiChat(model, context, { ...options, maxRetries: 0 });
    const agent = new Agent({
      initialState: { model: one, tools: [tool("a", () => "1")] },
      streamFn: createFailover({ streamFn, models: [two] }),
    });
    const { message, reason } = await agent.prompt("Hi");
    assert.deepEqual([reason, message?.provider], ["done", "two"]);
    const sent = JSON.parse(works.requests[0]?.body ?? "{}") as {
      messages: { role: string; tool_call_id?: string }[];
    };
    assert.deepEqual(
      sent.messages.map(({ role }) => role),
      ["user", "assistant", "tool"],
    );
    assert.equal(sent.messages[2]?.tool_call_id, "call_1");
    assert.equal(works.requests[0]?.body.includes("SIG"), false);
  });
});
