/**
 * A stream that never pauses and ignores its signal: an abort still settles after one grace period.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { Agent, type AgentEvent, type AgentOptions } from "../../src/agent/index.ts";
import type { Clock } from "../../src/clock.ts";
import { reduceEvents, type AssistantMessageEvent } from "../../src/llm/event.ts";
import { createScriptedModel } from "../../src/testing/index.ts";

const GRACE_MS = 1000;
/** Twice the time for which a run may block the event loop. */
const SLOT_MS = 60;
const origin = { api: "scripted", provider: "scripted", model: "scripted", timestamp: 1 };

/** Each call of now() takes a millisecond. Due timers fire in yield(). */
class BusyClock implements Clock {
  #now = 0;
  #timers: { at: number; fire: () => void }[] = [];

  now(): number {
    return ++this.#now;
  }

  setTimer(ms: number, fire: () => void): () => void {
    const timer = { at: this.#now + ms, fire };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  get pending(): number {
    return this.#timers.length;
  }

  async yield(): Promise<void> {
    await nextTick();
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { fire } of due) fire();
    await nextTick();
  }
}

async function* babble(): AsyncGenerator<AssistantMessageEvent> {
  yield { type: "start", attempt: 1, ...origin };
  yield { type: "text_start", attempt: 1, contentIndex: 0 };
  for (;;) yield { type: "text_delta", attempt: 1, contentIndex: 0, delta: "on " };
}

const listeners: Record<string, (event: AgentEvent) => unknown> = {
  "that answer at once": () => undefined,
  "that answer later": () => Promise.resolve(),
};
const ends: Record<string, { options: AgentOptions; reason: string }> = {
  "an abort": { options: {}, reason: "aborted" },
  "a limit on time": { options: { budget: { maxTimeMs: 300 } }, reason: "budget" },
};

describe("a stream that never pauses and ignores its signal is given up after one grace period", () => {
  for (const [how, listen] of Object.entries(listeners))
    for (const [why, { options, reason }] of Object.entries(ends))
      it(`after ${why}, with listeners ${how}`, async () => {
        const clock = new BusyClock();
        const { model } = createScriptedModel([]);
        const agent = new Agent({
          initialState: { model },
          clock,
          streamFn: babble,
          abortGraceMs: GRACE_MS,
          ...options,
        });
        const updates: AssistantMessageEvent[] = [];
        let stopped = 0;
        agent.subscribe((event) => {
          if (event.type === "message_update") updates.push(event.assistantMessageEvent);
          return listen(event);
        });
        const run = agent.prompt("Hi");
        agent.signal?.addEventListener("abort", () => (stopped = clock.now()));
        if (reason === "aborted") clock.setTimer(300, () => agent.abort());
        else stopped = 300;
        const { message, ...result } = await run;
        const took = clock.now() - stopped;
        assert.equal(result.reason, reason);
        assert.ok(took >= GRACE_MS && took <= GRACE_MS + SLOT_MS, `settled after ${took} ms`);
        assert.deepEqual(
          message?.content,
          reduceEvents([{ type: "start", attempt: 1, ...origin }, ...updates])?.content,
        );
        assert.equal(clock.pending, 0);
      });
});
