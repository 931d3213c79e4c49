/** Failover after some output, and when the reader leaves. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BowlineError } from "../../src/errors.ts";
import type { AssistantMessageEvent } from "../../src/llm/event.ts";
import { messageText, type AssistantMessage } from "../../src/llm/message.ts";
import type { Model, StreamFn } from "../../src/llm/model.ts";
import { EventStream } from "../../src/llm/stream.ts";
import { MessageWriter } from "../../src/llm/writer.ts";
import { createFailover } from "../../src/providers/failover.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { settle } from "../../../../test/support/manual-clock.ts";

const script = createScriptedModel([]);
const one: Model = { ...script.model, id: "one", provider: "one" };
const two: Model = { ...script.model, id: "two", provider: "two" };
const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
const origin = { api: "scripted", provider: "one", model: "one", timestamp: 1 };

/** A failover whose first model is `answer`, and the models that it called. */
function failover(answer: StreamFn): {
  stream: () => ReturnType<ReturnType<typeof createFailover>>;
  asked: string[];
} {
  const asked: string[] = [];
  const streamFn: StreamFn = (model, ...rest) => {
    asked.push(model.id);
    if (model === one) return answer(model, ...rest);
    return createScriptedModel(["Two."]).streamFn(model, ...rest);
  };
  const stream = createFailover({ streamFn, models: [two] });
  return { stream: () => stream(one, context), asked };
}

/** Emits "Hel", and then does `rest`. */
function saysHel(rest: (writer: MessageWriter, signal: AbortSignal) => Promise<void>): StreamFn {
  return (_model, _context, { signal: given }) =>
    new EventStream<AssistantMessageEvent, AssistantMessage>(async (push, signal) => {
      const writer = new MessageWriter(origin);
      writer.append(writer.openText(), "Hel");
      push(writer.take());
      await settle();
      await rest(writer, signal);
      push(writer.take());
      return writer.message;
    }, given);
}

/** Begins to search, and fails after `events`. */
function searches(events: readonly AssistantMessageEvent[]): StreamFn {
  return (_model, _context, { signal: given }) =>
    new EventStream<AssistantMessageEvent, AssistantMessage>(async (push) => {
      const writer = new MessageWriter(origin);
      writer.progress("s1", "web_search", "started");
      push(writer.take());
      await settle();
      push(events);
      await settle();
      writer.fail(new BowlineError("server_error", "died"));
      push(writer.take());
      return writer.message;
    }, given);
}

describe("failover after the start of a search", () => {
  const error = { code: "server_error", message: "died", retryable: true } as const;
  const retract = { type: "message_retract", attempt: 1, contentIndex: 0, error } as const;
  for (const [what, events] of [
    ["withdraws it", []],
    ["does not withdraw it again", [retract]],
  ] as const)
    it(`calls the next model and ${what}`, async () => {
      const { stream, asked } = failover(searches(events));
      const types = (await Array.fromAsync(stream())).map(({ type }) => type);
      assert.deepEqual(asked, ["one", "two"]);
      const begun = ["start", "provider_tool", "message_retract", "model_failover"];
      assert.deepEqual(types.slice(0, 5), [...begun, "start"]);
      assert.equal(types.at(-1), "done");
    });

  it("ends with the failure if all models throw", async () => {
    const streamFn: StreamFn = () => {
      throw new BowlineError("overloaded", "Busy.");
    };
    const reading = createFailover({ streamFn, models: [two] })(one, context);
    const events = await Array.fromAsync(reading);
    assert.deepEqual(
      events.map((event) => (event.type === "error" ? event.error.error?.code : event.type)),
      ["model_failover", "overloaded"],
    );
  });
});

describe("failover after some output", () => {
  it("returns the failed answer with its partial content", async () => {
    const { stream, asked } = failover(
      saysHel(async (writer) => writer.fail(new BowlineError("server_error", "died"))),
    );
    const message = await stream().result();
    assert.deepEqual(
      [messageText(message), message.stopReason, message.error?.code, asked],
      ["Hel", "error", "server_error", ["one"]],
    );
  });

  it("rejects with the error of a broken stream, and tries no other model", async () => {
    const fault = new BowlineError("server_error", "broke");
    const { stream, asked } = failover(saysHel(() => Promise.reject(fault)));
    const reading = stream();
    const read = async (): Promise<void> => {
      for await (const event of reading) assert.notEqual(event.type, "error");
    };
    await assert.rejects(read(), fault);
    await assert.rejects(reading.result(), fault);
    assert.deepEqual(asked, ["one"]);
  });

  it("aborts the call when the reader leaves, and tries no other model", async () => {
    let heard: AbortSignal | undefined;
    const { stream, asked } = failover(
      saysHel(async (writer, signal) => {
        heard = signal;
        writer.fail(new BowlineError("connection_failed", "gone"));
      }),
    );
    const reading = stream();
    for await (const event of reading) if (event.type === "text_delta") break;
    await settle();
    assert.equal(heard?.aborted, true);
    assert.deepEqual(asked, ["one"]);
  });
});
