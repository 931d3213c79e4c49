import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BowlineError } from "../../src/errors.ts";
import { applyEvent, reduceEvents, type AssistantMessageEvent } from "../../src/llm/event.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import { EventStream } from "../../src/llm/stream.ts";
import { parseToolArguments } from "../../src/llm/tool-arguments.ts";
import { MessageWriter } from "../../src/llm/writer.ts";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { sweep } from "../../../../test/support/sweep.ts";

const origin = { api: "a", provider: "p", model: "m", timestamp: 1 };

type Action =
  | { readonly do: "open"; readonly kind: "text" | "thinking" | "toolCall" }
  | { readonly do: "append"; readonly part: number; readonly text: string }
  | { readonly do: "close"; readonly part: number }
  | { readonly do: "opaque" };

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("\ud83d", "\ude00", '{"a":', "1}", "", "{}"),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    do: fc.constant("open" as const),
    kind: fc.constantFrom("text" as const, "thinking" as const, "toolCall" as const),
  }),
  fc.record({ do: fc.constant("append" as const), part: fc.nat(5), text: anyText }),
  fc.record({ do: fc.constant("close" as const), part: fc.nat(5) }),
  fc.record({ do: fc.constant("opaque" as const) }),
);

function perform(writer: MessageWriter, actions: readonly Action[]): void {
  const kinds: string[] = [];
  for (const step of actions) {
    if (step.do === "open") {
      if (step.kind === "text") kinds[writer.openText()] = "text";
      else if (step.kind === "thinking") kinds[writer.openThinking("reasoning")] = "thinking";
      else kinds[writer.openToolCall("id", "name")] = "toolCall";
    } else if (step.do === "append") writer.append(step.part, step.text);
    else if (step.do === "opaque") writer.opaque({ type: "opaque", protocol: "a", raw: { x: 1 } });
    else if (kinds[step.part] === "text") writer.close(step.part, { textSignature: "sig" });
    else if (kinds[step.part] === "thinking")
      writer.close(step.part, { thinkingSignature: "sig", redacted: true });
    else if (kinds[step.part] === "toolCall") writer.close(step.part, { thoughtSignature: "sig" });
  }
}

describe("the message writer and the reducer", () => {
  it("agree: replayed events give the stored message, byte for byte", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), fc.boolean(), (actions, ok) => {
        const writer = new MessageWriter(origin);
        perform(writer, actions);
        writer.describe({ responseId: "r", rawStopReason: "x", usage: { input: 1, output: 2 } });
        if (ok) writer.done("stop");
        else writer.fail(new BowlineError("timeout", "late", { retryable: true }));
        const events = writer.take();
        const recorded = JSON.parse(JSON.stringify(events)) as AssistantMessageEvent[];
        assert.equal(JSON.stringify(reduceEvents(recorded)), JSON.stringify(writer.message));
        const folded = reduceEvents(recorded.slice(0, -1));
        assert.equal(
          JSON.stringify(folded?.content),
          JSON.stringify(writer.message.content),
          "content comes from the parts' own events",
        );
        assert.equal(events[0]?.type, "start");
        assert.equal(events.filter(({ type }) => type === "done" || type === "error").length, 1);
      }),
      { numRuns: sweep({ long: 1000, short: 250 }) },
    );
  });

  it("agree after every batch, for parts of any length and order", () => {
    const writer = new MessageWriter(origin);
    const parts = [writer.openText(), writer.openThinking(), writer.openToolCall("id", "name")];
    let folded: AssistantMessage | undefined;
    for (let n = 0; n < 900; n++) {
      writer.append(parts[n % 3] as number, n % 50 === 0 ? "long ".repeat(700) : `word ${n} 😀`);
      if (n % 7 !== 0) continue;
      for (const event of writer.take())
        folded = applyEvent(folded, JSON.parse(JSON.stringify(event)));
      assert.deepEqual(folded?.content, writer.message.content);
    }
    assert.ok(writer.message.content.every((part) => JSON.stringify(part).length > 15_000));
  });

  it("cost the same for each delta, regardless of the length of the text", () => {
    const writer = new MessageWriter(origin);
    const index = writer.openText();
    const from = cpuMs();
    for (let n = 0; n < 200_000; n++) {
      writer.append(index, "0123456789");
      writer.take();
    }
    assert.ok(cpuMs() - from < 5000);
    const [part] = writer.message.content;
    assert.equal(part?.type === "text" && part.text.length, 2_000_000);
  });

  // Q091
  it("never emit half a surrogate pair that the next delta completes", () => {
    const writer = new MessageWriter(origin);
    const index = writer.openText();
    for (const half of ["a\ud83d", "\ude00b"]) writer.append(index, half);
    writer.close(index);
    const deltas = writer
      .take()
      .flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    assert.deepEqual(deltas, ["a", "😀b"]);
  });

  it("emit nothing after the end", () => {
    const writer = new MessageWriter(origin);
    writer.done("stop");
    writer.take();
    writer.append(writer.openText(), "late");
    writer.fail(new BowlineError("timeout", "late"));
    assert.deepEqual(
      [writer.take(), writer.message.stopReason, writer.message.content],
      [[], "stop", []],
    );
  });

  it("say in each event in which attempt at the call it was written", () => {
    for (const attempt of [1, 3]) {
      const writer = new MessageWriter(origin, attempt);
      writer.append(writer.openText(), "Hi");
      writer.done("stop");
      assert.deepEqual(
        writer.take().map((event) => [event.type, event.attempt]),
        ["start", "text_start", "text_delta", "text_end", "done"].map((type) => [type, attempt]),
      );
    }
  });

  it("keep the live message out of JSON, spreads and clones", () => {
    const writer = new MessageWriter(origin);
    writer.append(writer.openText(), "Hi");
    for (const event of writer.take()) {
      assert.equal(event.partial, writer.message);
      assert.equal("partial" in { ...event }, false);
      assert.equal("partial" in structuredClone(event), false);
      assert.equal(JSON.stringify(event).includes("partial"), false);
    }
  });
});

describe("tool arguments", () => {
  it("are parsed strictly: any JSON round-trips, and truncated JSON is never completed", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, at) => {
        const text = JSON.stringify(value);
        assert.deepEqual(parseToolArguments(text), { arguments: JSON.parse(text) });
        const cut = text.slice(0, at % text.length);
        if (cut.trim() !== "") assert.notEqual(parseToolArguments(cut).error, undefined);
      }),
    );
  });

  it("are an empty object if empty or null, and an error if not one object", () => {
    for (const none of [" ", "null"]) assert.deepEqual(parseToolArguments(none), { arguments: {} });
    for (const text of ["[1]", "5", '"null"', '"x"', '{"a":1}{"b":2}', '{"a":1} trailing']) {
      assert.notEqual(parseToolArguments(text).error, undefined, text);
    }
  });

  // Q052
  it("may contain raw control characters, and backslashes before other characters", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("\t", "\n", "\r", "\u0001", '"', "\\", "é", " ", "a") }),
        (x) => {
          const text = `{\n\t"x":"${x.replace(/["\\]/g, "\\$&")}"}`;
          assert.deepEqual(parseToolArguments(text), { arguments: { x } });
        },
      ),
    );
    assert.deepEqual(parseToolArguments(String.raw`{"x":"C:\Temp\New\Users\é"}`), {
      arguments: { x: String.raw`C:\Temp\New\Users\é` },
    });
  });

  it("that are truncated, or end in long white space, are rejected in linear time", () => {
    // Quadratic work would take minutes; the limit only has to distinguish the two.
    const page = '<a href=\\"x\\">y</a>'.repeat(50_000);
    const spaces = " ".repeat(500_000);
    const from = cpuMs();
    for (const text of [
      `{"page":"${page}`,
      `{"page":"\t${page}`,
      `{"x":1${spaces}`,
      `{"x":1}${spaces}.`,
    ])
      assert.notEqual(parseToolArguments(text).error, undefined);
    assert.equal(
      parseToolArguments(`{"page":"\t${page}${"a".repeat(9_000_000)}"}`).error,
      undefined,
    );
    assert.ok(cpuMs() - from < 5000);
  });

  // Q051
  it("are unwrapped once if encoded twice", () => {
    assert.deepEqual(parseToolArguments(JSON.stringify('{"a":1}')), { arguments: { a: 1 } });
  });
});

describe("an event stream", () => {
  it("delivers all events to a late reader, and its result without a reader", async () => {
    const stream = new EventStream<number, string>(async (push) => {
      push([1, 2]);
      await Promise.resolve();
      push([3]);
      return "end";
    });
    assert.equal(await stream.result(), "end");
    const seen: number[] = [];
    for await (const value of stream) seen.push(value);
    assert.deepEqual(seen, [1, 2, 3]);
  });

  it("has one reader", async () => {
    const stream = new EventStream<number, void>(async () => {});
    for await (const _ of stream) assert.fail("no events");
    await assert.rejects(async () => {
      for await (const _ of stream) assert.fail("no events");
    }, /one reader/);
  });

  it("passes a producer's failure only to its reader", async () => {
    const stream = new EventStream<number, void>(async (push) => {
      push([1]);
      throw new Error("boom");
    });
    const seen: number[] = [];
    await assert.rejects(async () => {
      for await (const value of stream) seen.push(value);
    }, /boom/);
    assert.deepEqual(seen, [1]);
  });

  it("notifies its producer when the reader leaves", async () => {
    let left = false;
    const stream = new EventStream<number, void>(async (push, signal) => {
      push([1]);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      left = true;
    });
    for await (const _ of stream) break;
    await stream.result();
    assert.equal(left, true);
  });

  for (const [name, readerOf] of Object.entries({
    events: (stream: EventStream<number, void>) => stream[Symbol.asyncIterator](),
    batches: (stream: EventStream<number, void>) => stream.batches(),
  })) {
    it(
      `aborts its producer when a reader of ${name} is closed during a pending read`,
      { timeout: 60_000 },
      async () => {
        const stream = new EventStream<number, void>(
          (_push, signal) =>
            new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
        );
        const reader = readerOf(stream);
        const next = reader.next();
        assert.deepEqual(await reader.return(), { done: true, value: undefined });
        assert.deepEqual(await next, { done: true, value: undefined });
        await stream.result();
      },
    );

    it(
      `aborts its producer when the reader of ${name} returns before it reads`,
      { timeout: 60_000 },
      async () => {
        const stream = new EventStream<number, void>(
          (_push, signal) =>
            new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
        );
        await readerOf(stream).return();
        await stream.result();
      },
    );

    it(`does not abort its producer when a second reader of ${name} returns`, async () => {
      let aborted = false;
      const stream = new EventStream<number, void>(async (push, signal) => {
        signal.addEventListener("abort", () => (aborted = true));
        push([1]);
        await new Promise((resolve) => setImmediate(resolve));
        push([2]);
      });
      const first = stream.batches();
      assert.deepEqual(await first.next(), { done: false, value: [1] });
      await readerOf(stream).return();
      assert.deepEqual(await first.next(), { done: false, value: [2] });
      assert.equal(aborted, false);
    });
  }

  it("behaves like a generator: concurrent reads are answered in order, and none after a return", async () => {
    const batch = fc.array(fc.nat(9), { minLength: 1, maxLength: 4 });
    const step = fc.record({ batch, isLate: fc.boolean() });
    const calls = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant("return" as const)),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 5 }),
        fc.boolean(),
        calls,
        async (steps, fails, asked) => {
          const stream = (): EventStream<number, void> =>
            new EventStream(async (push) => {
              for (const { batch: values, isLate } of steps) {
                if (isLate) await new Promise((resolve) => setImmediate(resolve));
                push(values);
              }
              if (fails) throw new Error("boom");
            });
          async function* batches(): AsyncGenerator<number[], void, undefined> {
            for (const { batch: values, isLate } of steps) {
              if (isLate) await new Promise((resolve) => setImmediate(resolve));
              yield values;
            }
            if (fails) throw new Error("boom");
          }
          async function* oneByOne(): AsyncGenerator<number, void, undefined> {
            for await (const values of batches()) yield* values;
          }
          const iterator = stream()[Symbol.asyncIterator]();
          assert.equal(iterator[Symbol.asyncIterator](), iterator);
          assert.deepEqual(await outcomes(iterator, asked), await outcomes(oneByOne(), asked));
          assert.deepEqual(
            await outcomes(stream().batches(), asked),
            await outcomes(batches(), asked),
          );
        },
      ),
    );
  });
});

/**
 * The outcomes of groups of concurrent `next` calls and of `return` calls, one group after the
 * other.
 */
async function outcomes(
  iterator: AsyncIterator<unknown, void>,
  calls: readonly (number | "return")[],
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const call of calls) {
    const asked =
      call === "return" ? iterator.return?.() : Array.from({ length: call }, () => iterator.next());
    assert.ok(asked);
    for (const outcome of await Promise.allSettled([asked].flat())) {
      found.push(outcome.status === "fulfilled" ? outcome.value : String(outcome.reason));
    }
  }
  return found;
}
