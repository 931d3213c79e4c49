/**
 * The effects port. Ports and tools that are instances of a class have inherited methods, which
 * need their object as `this`.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createMemoryEffects,
  defineTool,
  requireApproval,
  type AgentTool,
  type AgentToolResult,
  type Effects,
} from "../../src/agent/index.ts";
import { systemClock, type Clock } from "../../src/clock.ts";
import type { ToolResultMessage, UserContent } from "../../src/llm/message.ts";
import type { StreamFn } from "../../src/llm/model.ts";
import { createFailover, type FailoverOptions } from "../../src/providers/failover.ts";
import { attachSession, createMemoryStore, createSession } from "../../src/session/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { call, hello, rig, tool } from "../support.ts";
import { code } from "../../../../test/support/error-code.ts";
import { settle } from "../../../../test/support/manual-clock.ts";
import { texts } from "../../../../test/support/message-texts.ts";

describe("concurrent waits under one name", () => {
  it("all resolve with its answer and are then removed", async () => {
    const memory = createMemoryEffects();
    const heard: unknown[] = [];
    for (const name of ["a", "a", "b"])
      void memory.waitFor(name).then((value) => heard.push(value));
    assert.deepEqual(
      [memory.answer("a", 1), memory.answer("a", 2), memory.answer("b", 3)],
      [true, false, true],
    );
    await settle();
    assert.deepEqual(heard, [1, 1, 3]);
  });

  it("end one by one: aborting one leaves the others pending", async () => {
    const memory = createMemoryEffects();
    const leaving = new AbortController();
    const left = assert.rejects(memory.waitFor("a", leaving.signal), code("aborted"));
    const stays = memory.waitFor("a");
    leaving.abort();
    await left;
    assert.equal(memory.answer("a", 1), true);
    assert.equal(await stays, 1);
    await assert.rejects(memory.waitFor("a", leaving.signal), code("aborted"));
    assert.equal(memory.answer("a", 2), false);
  });
});

/** Records in a private field which methods were called. */
class Ports implements Pick<Effects, "step" | "recorded" | "waitFor"> {
  readonly #asked: string[] = [];

  step<T>(name: string, fn: () => Promise<T>): Promise<T> {
    this.#asked.push(name);
    return fn();
  }

  recorded(name: string): undefined {
    this.#asked.push(`recorded ${name}`);
  }

  async waitFor<T>(): Promise<T> {
    this.#asked.push("waits");
    return { decision: "allow" } as T;
  }

  get asked(): readonly string[] {
    return this.#asked;
  }
}

class Counter implements AgentTool {
  #count = 0;
  readonly parameters = { type: "object", properties: {} };

  get name(): string {
    return "a";
  }

  get description(): string {
    return "Counts.";
  }

  prepareArguments(raw: unknown): unknown {
    this.#count += 10;
    return raw;
  }

  execute(): AgentToolResult {
    return { content: [{ type: "text", text: String(++this.#count) }] };
  }
}

class SlowClock implements Clock {
  #now = 0;

  now(): number {
    return ++this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    return this.#now > 0 ? systemClock.setTimer(ms, fire) : () => {};
  }
}

it("an agent accepts undefined effects", async () => {
  for (const isKept of [false, true]) {
    const { agent } = rig(["Done."], [], { effects: null as never });
    if (isKept) await attachSession(agent, await createSession(createMemoryStore()));
    assert.equal((await agent.prompt("Go")).reason, "done");
  }
});

describe("an instance of a class", () => {
  for (const isKept of [false, true])
    it(`can be the effects, the clock and a tool of an agent${isKept ? " with a session" : ""}`, async () => {
      const effects = new Ports();
      const options = { effects, clock: new SlowClock(), beforeToolCall: requireApproval() };
      const { agent } = rig([call("a"), "Done."], [new Counter()], options);
      agent.subscribe((event) => {
        // The agent has no pending wait: the port answers by itself.
        if (event.type === "approval_request")
          assert.ok(!agent.answer(event.approvalId, { decision: "deny" }));
      });
      if (isKept) await attachSession(agent, await createSession(createMemoryStore()));
      const { messages } = await agent.prompt("Go");
      assert.deepEqual(texts(messages).slice(2), ["toolResult: 11", "assistant: Done."]);
      assert.deepEqual(effects.asked, [
        "model:0",
        "recorded tool:1:a",
        "waits",
        "tool:1:a",
        "model:1",
      ]);
    });

  it("can be the result of a tool, with accessors", async () => {
    class Report {
      readonly #found = "No such berth";

      get content(): UserContent[] {
        return [{ type: "text", text: this.#found }];
      }

      get isError(): boolean {
        return true;
      }

      get details(): string {
        return this.#found;
      }
    }
    const { agent } = rig(
      [call("a"), "Done."],
      [{ ...tool("a", () => ""), execute: () => new Report() }],
    );
    const { messages, tools } = await agent.prompt("Go");
    const { content, details, isError } = messages[2] as ToolResultMessage;
    assert.deepEqual(content, [{ type: "text", text: "No such berth" }]);
    assert.deepEqual([details, isError, tools[0]?.outcome], ["No such berth", true, "failed"]);
  });

  it("can be the definition of a tool, also when its data are fields", async () => {
    class Definition {
      readonly #greeting = "Hello";
      readonly name = "greet";
      readonly description = "Greets.";
      readonly parameters = { type: "object", properties: {} };

      prepareArguments(): object {
        return { greeting: this.#greeting };
      }

      execute(): string {
        return this.#greeting;
      }
    }
    const greet = defineTool(new Definition());
    assert.deepEqual(greet.prepareArguments?.({}), { greeting: "Hello" });
    assert.deepEqual(await greet.execute("1", {}), { content: [{ type: "text", text: "Hello" }] });
  });

  it("can be the options of a failover", async () => {
    const { model, streamFn, calls } = createScriptedModel(["Fine."]);
    class Vault implements FailoverOptions {
      readonly #key = "its-own";
      readonly streamFn: StreamFn = streamFn;
      readonly models = [];

      getApiKey(): string {
        return this.#key;
      }
    }
    const { stopReason } = await createFailover(new Vault())(model, { messages: [hello] }).result();
    assert.deepEqual([stopReason, calls[0]?.options.apiKey], ["stop", "its-own"]);
  });
});
