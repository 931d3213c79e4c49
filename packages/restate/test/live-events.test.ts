/** What the next attempt shows of steps that it takes over in the same process. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  applyEvent,
  type AgentEvent,
  type AssistantMessage,
  type AssistantMessageEvent,
  type StreamFn,
} from "@bowline/core";
import { until } from "../../../test/support/until.ts";
import { PATIENCE_MS } from "../../../test/support/within.ts";
import { Adoptions, type StepOwner } from "../src/run/adoptions.ts";
import { calls, shapeOf, testRun, type TestRun } from "./support.ts";

const origin = { api: "scripted", provider: "scripted", model: "scripted", timestamp: 1 };
const answer: AssistantMessage = {
  role: "assistant",
  ...origin,
  content: [
    { type: "thinking", thinking: "One and one." },
    { type: "text", text: "It is two, I think." },
  ],
  usage: {},
  stopReason: "stop",
};

const about = { attempt: 1 };
/** The events of the answer, by word. */
const words: readonly (readonly AssistantMessageEvent[])[] = [
  [
    { ...about, type: "thinking_start", contentIndex: 0 },
    { ...about, type: "thinking_delta", contentIndex: 0, delta: "One and " },
  ],
  [{ ...about, type: "thinking_delta", contentIndex: 0, delta: "one." }],
  [
    { ...about, type: "thinking_end", contentIndex: 0, content: "One and one." },
    { ...about, type: "text_start", contentIndex: 1 },
    { ...about, type: "text_delta", contentIndex: 1, delta: "It is " },
  ],
  [{ ...about, type: "text_delta", contentIndex: 1, delta: "two, " }],
  [{ ...about, type: "text_delta", contentIndex: 1, delta: "I think." }],
];

/**
 * An answer whose words come when they are released, several at a time. As in a decoder, the live
 * message of an event has all that came with it.
 */
function createSlowModel(atOnce = 1): {
  readonly streamFn: StreamFn;
  readonly release: () => void;
} {
  let gate = Promise.withResolvers<void>();
  async function* stream(): AsyncGenerator<AssistantMessageEvent> {
    const start: AssistantMessageEvent = { ...about, type: "start", ...origin };
    const live = applyEvent(undefined, start);
    yield start;
    for (let from = 0; from < words.length; from += atOnce) {
      await gate.promise;
      gate = Promise.withResolvers();
      const piece = words.slice(from, from + atOnce).flat();
      for (const event of piece) applyEvent(live, event);
      for (const event of piece) yield { ...event, ...(live && { partial: live }) };
    }
    yield { ...about, type: "text_end", contentIndex: 1, content: "It is two, I think." };
    yield { ...about, type: "done", reason: "stop", message: answer };
  }
  const streamFn = (() => stream()) as unknown as StreamFn;
  return { streamFn, release: () => gate.resolve() };
}

/** Counts the attempts that began a step or took it over. */
class CountedAdoptions extends Adoptions {
  count = 0;

  constructor() {
    super(PATIENCE_MS);
  }

  override run<T>(key: string, owner: StepOwner, work: () => Promise<T>): Promise<T> {
    const running = super.run(key, owner, work);
    this.count++;
    return running;
  }
}

function eventsOf({ events }: TestRun, attempt: number): AgentEvent[] {
  return events.filter(({ source }) => source.attempt === attempt).map(({ event }) => event);
}

/** What the updates of an attempt say of its answer. */
function saidIn(test: TestRun, attempt: number, type: "text_delta" | "thinking_delta"): string {
  return eventsOf(test, attempt)
    .flatMap((event) => (event.type === "message_update" ? [event.assistantMessageEvent] : []))
    .flatMap((update) => (update.type === type ? [update.delta] : []))
    .join("");
}

function assertNumbered(test: TestRun, attempt: number): void {
  const own = test.events.filter(({ source }) => source.attempt === attempt);
  assert.deepEqual(
    own.map(({ event, source }) => [event.seq, source.number]),
    own.map((_, index) => [index, index]),
  );
}

describe("the next attempt in the same process", () => {
  for (const atOnce of [1, 2, 3])
    it(`shows an answer that it takes over from its beginning, ${atOnce} word(s) in a piece`, async () => {
      const pieces = Math.ceil(words.length / atOnce);
      for (let before = 0; before < pieces; before++) {
        const { streamFn, release } = createSlowModel(atOnce);
        const adoptions = new CountedAdoptions();
        const test = testRun({ answers: [], agent: { streamFn }, adoptions });
        const say = async (): Promise<void> => {
          const count = test.events.length;
          release();
          await until(() => test.events.length > count);
        };
        void test.attempt();
        await until(() => adoptions.count === 1);
        for (let piece = 0; piece < before; piece++) await say();
        test.engine.kill();
        const second = test.attempt();
        await until(() => adoptions.count === 2);
        for (let piece = before; piece < pieces; piece++) await say();
        await second;
        assert.deepEqual(shapeOf(test.store), ["user", "assistant"]);
        assert.equal(saidIn(test, 2, "thinking_delta"), "One and one.");
        assert.equal(saidIn(test, 2, "text_delta"), "It is two, I think.");
        const kinds = eventsOf(test, 2).map(({ type }) => type);
        assert.equal(kinds.filter((kind) => kind === "message_start").length, 2, kinds.join());
        assertNumbered(test, 2);
      }
    });

  it("shows it again when the attempt after it takes it over", async () => {
    const { streamFn, release } = createSlowModel();
    const adoptions = new CountedAdoptions();
    const test = testRun({ answers: [], agent: { streamFn }, adoptions });
    let last: Promise<unknown> | undefined;
    for (let word = 0; word < 5; word++) {
      test.engine.kill();
      last = test.attempt();
      await until(() => adoptions.count === word + 1);
      const before = test.events.length;
      release();
      await until(() => test.events.length > before);
    }
    await last;
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((attempt) => saidIn(test, attempt, "text_delta")),
      ["", "", "It is ", "It is two, ", "It is two, I think."],
    );
    for (const attempt of [1, 2, 3, 4, 5]) assertNumbered(test, attempt);
  });

  it("shows the progress of a tool that it takes over", async () => {
    const adoptions = new CountedAdoptions();
    const gate = Promise.withResolvers<void>();
    const test = testRun({
      adoptions,
      answers: [calls("never"), "ok"],
      tools: {
        never: {
          async execute(_id, _args, _signal, onUpdate) {
            await gate.promise;
            onUpdate?.({ content: [{ type: "text", text: "half" }] });
            return { content: [{ type: "text", text: "whole" }] };
          },
        },
      },
    });
    void test.attempt();
    await until(() => adoptions.count === 2);
    test.engine.kill();
    const second = test.attempt();
    await until(() => adoptions.count === 3);
    gate.resolve();
    await second;
    const kinds = eventsOf(test, 2).map(({ type }) => type);
    const at = kinds.indexOf("tool_execution_update");
    assert.deepEqual(kinds.slice(at - 1, at + 2), [
      "tool_execution_start",
      "tool_execution_update",
      "tool_execution_end",
    ]);
    assertNumbered(test, 2);
  });
});
