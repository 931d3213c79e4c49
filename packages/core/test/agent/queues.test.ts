/** Queued messages are never lost: a message taken for a run that does not use it is returned. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import {
  Agent as AgentWithoutWire,
  agentLoop,
  type AgentEvent,
  type AgentLoopConfig,
  type AgentMessage,
} from "../../src/agent/index.ts";
import { Agent } from "../../src/index.ts";
import type { ErrorInfo } from "../../src/errors.ts";
import type { StandardSchema } from "../../src/schema.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { call, hello, rig, tool } from "../support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { deferred } from "../../../../test/support/deferred.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

const late: AgentMessage = { role: "user", content: "Late", timestamp: 1 };

interface Loop {
  readonly clock: ManualClock;
  readonly abort: AbortController;
  readonly events: AgentEvent[];
  readonly returned: { messages: readonly AgentMessage[]; kind: string }[];
  readonly over: Promise<void>;
}

/** A run of the loop over two answers, read to its end. */
function loop(config: Partial<AgentLoopConfig>): Loop {
  const { model, streamFn } = createScriptedModel(["One.", "Two."]);
  const clock = new ManualClock();
  const abort = new AbortController();
  const events: AgentEvent[] = [];
  const returned: Loop["returned"] = [];
  const whole: AgentLoopConfig = {
    model,
    clock,
    convertToLlm: () => [hello],
    hookTimeoutMs: 100,
    abortGraceMs: 20,
    returnMessages: (messages, kind) => void returned.push({ messages, kind }),
    ...config,
  };
  const stream = agentLoop(
    [hello],
    { systemPrompt: "", messages: [] },
    whole,
    abort.signal,
    streamFn,
  );
  const read = async (): Promise<void> => {
    for await (const event of stream) events.push(event);
  };
  return { clock, abort, events, returned, over: read() };
}

describe("a message that a queue's hook returns too late", () => {
  const kinds = { steering: "getSteeringMessages", followUp: "getFollowUpMessages" } as const;
  for (const [kind, hook] of Object.entries(kinds)) {
    it(`(${hook}) goes back to its queue after the hook's limit`, async () => {
      const { promise, resolve } = deferred<AgentMessage[]>();
      const { clock, events, returned, over } = loop({ [hook]: () => promise });
      await clock.advance(100);
      await over;
      const end = events.at(-1);
      assert.ok(end?.type === "agent_end");
      assert.equal(end.error?.code, "hook_failed");
      assert.match(end.error.message, new RegExp(`Reading the ${kind} queue failed`));
      resolve([late]);
      await settle();
      assert.deepEqual(returned, [{ messages: [late], kind }]);
    });

    it(`(${hook}) goes back to its queue after an abort's grace period, and the error says that the queue had not answered`, async () => {
      const { promise, resolve } = deferred<AgentMessage[]>();
      const { clock, abort, events, returned, over } = loop({ [hook]: () => promise });
      await clock.advance(10);
      abort.abort();
      await clock.advance(20);
      await over;
      const end = events.at(-1);
      assert.ok(end?.type === "agent_end" && end.reason === "aborted");
      assert.match(end.error?.message ?? "", new RegExp(`before the ${kind} queue had answered`));
      resolve([late]);
      await settle();
      assert.deepEqual(returned, [{ messages: [late], kind }]);
    });
  }

  it("is delivered, and not returned, when it arrives within the grace period", async () => {
    const { promise, resolve } = deferred<AgentMessage[]>();
    const { clock, abort, events, returned, over } = loop({ getFollowUpMessages: () => promise });
    await clock.advance(10);
    abort.abort();
    await clock.advance(10);
    resolve([late]);
    await clock.advance(10);
    await over;
    const end = events.at(-1);
    assert.ok(end?.type === "agent_end" && end.reason === "aborted");
    assert.deepEqual(texts(end.messages), ["user: Hello", "assistant: One.", "user: Late"]);
    assert.deepEqual(returned, []);
  });

  it("is ignored when it is empty or an error, or when returning it fails", async () => {
    const answers = [async () => [], () => Promise.reject(new Error("late")), async () => [late]];
    for (const answer of answers) {
      const { promise, resolve } = deferred();
      let asked = 0;
      const { clock, over } = loop({
        getFollowUpMessages: () => promise.then(answer),
        returnMessages: () => {
          asked++;
          throw new Error("no room");
        },
      });
      await clock.advance(100);
      await over;
      resolve();
      await settle();
      assert.equal(asked, answer === answers[2] ? 1 : 0);
    }
  });
});

describe("an agent's queues", () => {
  for (const [answer, what] of [
    ['{"n":1}', "the message that a run for an output was about to take"],
    ['{"m":1}', "no correction that a run for an output was about to send"],
  ] as const) {
    it(`keep ${what} when its schema's check took too long`, async () => {
      const clock = new ManualClock();
      const { model, streamFn } = createScriptedModel([answer, "Two."]);
      const checked = deferred();
      const schema = z.object({ n: z.number() });
      const slow = {
        "~standard": {
          ...schema["~standard"],
          validate: async (value: unknown) => {
            await checked.promise;
            return schema["~standard"].validate(value);
          },
        },
      } as StandardSchema;
      const agent = new Agent({
        initialState: { model: { ...model, compat: { structuredOutput: "json_schema" } } },
        streamFn,
        clock,
        hookTimeoutMs: 100,
      });
      agent.followUp(late);
      const run = agent.prompt("One", { output: slow });
      await clock.advance(100);
      assert.equal((await run).error?.code, "hook_failed");
      checked.resolve();
      await settle();
      assert.equal(agent.hasQueuedMessages(), true);
      await agent.continue();
      assert.deepEqual(texts(agent.state.messages).slice(-2), ["user: Late", "assistant: Two."]);
      assert.equal(agent.hasQueuedMessages(), false);
    });
  }

  for (const width of [0, Number.NaN, -1])
    for (const queue of ["steer", "followUp"] as const)
      it(`lose nothing (${queue}) when maxParallelTools is set to ${width} during the run, which ends with the error`, async () => {
        const { agent, script } = rig(["One.", "Two."]);
        agent.subscribe(({ type }) => {
          if (type !== "turn_end") return;
          agent[queue](late);
          agent.maxParallelTools = width;
        });
        const { reason, error } = await agent.prompt("Hi");
        assert.deepEqual(
          [reason, error?.code, script.calls.length],
          ["error", "invalid_argument", 1],
        );
        assert.deepEqual(texts(agent.state.messages), [
          "user: Hi",
          "assistant: One.",
          "user: Late",
        ]);
      });

  it("keep what `continue` was about to take when no run can start: no stream function, or an invalid schema", async () => {
    const { model, streamFn } = createScriptedModel(["One.", "Two."]);
    const agent = new Agent({ initialState: { model }, streamFn });
    await agent.prompt("Hi");
    agent.followUp(late);
    await assert.rejects(agent.continue({ output: { type: "string" } }), code("invalid_argument"));
    const noDefault = new AgentWithoutWire({
      initialState: { model, messages: agent.state.messages },
    });
    noDefault.steer(late);
    await assert.rejects(noDefault.continue(), code("invalid_argument"));
    assert.deepEqual([agent.hasQueuedMessages(), noDefault.hasQueuedMessages()], [true, true]);
  });

  it("that throw in hasSteeringMessages end the run, and every call has a result", async () => {
    const { model, streamFn } = createScriptedModel([call("a"), "never"]);
    const config = {
      model,
      convertToLlm: (messages: AgentMessage[]) => messages,
      skipToolsOnSteering: true,
      hasSteeringMessages: () => assert.fail("boom"),
    };
    const context = { systemPrompt: "", messages: [], tools: [tool("a", () => "A")] };
    const stream = agentLoop([hello], context, config, undefined, streamFn);
    let error: ErrorInfo | undefined;
    for await (const event of stream) if (event.type === "agent_end") ({ error } = event);
    assert.deepEqual([error?.code, error?.message.includes("boom")], ["hook_failed", true]);
    assert.deepEqual(texts(await stream.result()), [
      "user: Hello",
      "assistant: toolCall",
      "toolResult: A",
    ]);
  });

  it("get returned messages back in their place, before those queued meanwhile", async () => {
    const { agent } = rig(["One.", "Two.", "Three."]);
    await agent.prompt("Hi");
    agent.budget = { maxTurns: 0 };
    agent.followUp(late);
    const leave = agent.subscribe(({ type }) => {
      if (type === "agent_end") agent.followUp({ ...hello, content: "Later" });
    });
    assert.equal((await agent.continue()).reason, "budget");
    leave();
    delete agent.budget;
    await agent.continue();
    const [, , ...heard] = texts(agent.state.messages);
    assert.deepEqual(heard, ["user: Late", "assistant: Two.", "user: Later", "assistant: Three."]);
  });

  it("do not get back messages that were cleared while the run ended", async () => {
    const { agent } = rig(["One."]);
    await agent.prompt("Hi");
    agent.budget = { maxTurns: 0 };
    agent.followUp(late);
    assert.equal((await agent.continue()).reason, "budget");
    assert.equal(agent.hasQueuedMessages(), true);
    agent.subscribe(({ type }) => {
      if (type === "agent_end") agent.clearAllQueues();
    });
    assert.equal((await agent.continue()).reason, "budget");
    assert.equal(agent.hasQueuedMessages(), false);
  });

  it("lose the one message that `unqueue` removes, and keep the others in their order", async () => {
    const { agent } = rig(["One.", "Two.", "Three."]);
    const second = said("second");
    for (const message of [said("first"), second, said("third")]) agent.followUp(message);
    assert.equal(agent.unqueue(second), true);
    assert.equal(agent.unqueue(second), false);
    await agent.prompt("Hi");
    assert.deepEqual(users(agent), ["Hi", "first", "third"]);
  });

  it("refuse to remove a message that a run has taken", async () => {
    const { agent } = rig(["One.", "Two."]);
    const message = said("taken");
    const answers: boolean[] = [];
    agent.subscribe((event) => {
      if (event.type === "message_start" && event.message === message)
        answers.push(agent.unqueue(message));
    });
    agent.followUp(message);
    await agent.prompt("Hi");
    assert.deepEqual(answers, [false]);
    assert.deepEqual(users(agent), ["Hi", "taken"]);
  });

  it("put a message in front of another, or first if that one was taken", async () => {
    const { agent } = rig(["One.", "Two.", "Three.", "Four.", "Five."]);
    const [last, taken] = [said("last"), said("taken")];
    agent.followUp(last);
    agent.followUp(said("before"), { before: last });
    agent.subscribe((event) => {
      if (event.type === "message_start" && event.message === taken)
        agent.followUp(said("in its place"), { before: taken });
    });
    agent.followUp(taken, { before: said("unknown") });
    await agent.prompt("Hi");
    assert.deepEqual(users(agent), ["Hi", "taken", "in its place", "before", "last"]);
  });
});

function said(content: string): AgentMessage {
  return { role: "user", content, timestamp: 1 };
}

/** The texts of the user's messages. */
function users(agent: AgentWithoutWire): string[] {
  return texts(agent.state.messages)
    .filter((text) => text.startsWith("user: "))
    .map((text) => text.slice("user: ".length));
}
