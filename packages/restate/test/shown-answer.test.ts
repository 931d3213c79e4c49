/** The events that say again what an answer has said so far. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  applyEvent,
  type AssistantContent,
  type AssistantMessage,
  type AssistantMessageEvent,
} from "@bowline/core";
import { ShownAnswer } from "../src/run/shown-answer.ts";

const origin = { api: "scripted", provider: "scripted", model: "scripted", timestamp: 1 };
const about = { attempt: 1 };
const start: AssistantMessageEvent = { ...about, type: "start", ...origin };
const call = {
  type: "toolCall",
  id: "call_1",
  name: "look",
  arguments: { at: 12 },
  argumentsText: '{"at":12}',
  thoughtSignature: "seal",
} as const;
const error = {
  code: "connection_failed",
  message: "The connection was lost.",
  retryable: true,
} as const;
/** Two calls that stream at once, kinds of parts that come whole, and an answer that begins again. */
const events: readonly AssistantMessageEvent[] = [
  { ...about, type: "thinking_start", contentIndex: 0, field: "reasoning" },
  { ...about, type: "thinking_delta", contentIndex: 0, delta: "Hm" },
  { ...about, type: "thinking_delta", contentIndex: 0, delta: "." },
  {
    ...about,
    type: "thinking_end",
    contentIndex: 0,
    content: "Hm.",
    thinkingSignature: "seal",
    redacted: true,
  },
  { ...about, type: "text_start", contentIndex: 1 },
  { ...about, type: "text_delta", contentIndex: 1, delta: "It is " },
  { ...about, type: "text_delta", contentIndex: 1, delta: "two." },
  { ...about, type: "text_end", contentIndex: 1, content: "It is two.", textSignature: "seal" },
  {
    ...about,
    type: "opaque_end",
    contentIndex: 2,
    part: { type: "opaque", protocol: "p", raw: 1 },
  },
  { ...about, type: "part_end", contentIndex: 3, part: { type: "source", url: "https://a.b/c" } },
  { ...about, type: "toolcall_start", contentIndex: 4, id: "call_1", name: "look" },
  { ...about, type: "toolcall_start", contentIndex: 5, id: "call_2", name: "look" },
  { ...about, type: "toolcall_delta", contentIndex: 4, delta: '{"at":' },
  { ...about, type: "toolcall_delta", contentIndex: 5, delta: '{"at"' },
  { ...about, type: "toolcall_delta", contentIndex: 4, delta: "12}" },
  { ...about, type: "toolcall_end", contentIndex: 4, toolCall: call },
  { ...about, type: "toolcall_delta", contentIndex: 5, delta: ":13}" },
  { ...about, type: "toolcall_end", contentIndex: 5, toolCall: { ...call, id: "call_2" } },
  { ...about, type: "text_start", contentIndex: 6 },
  { ...about, type: "text_delta", contentIndex: 6, delta: "And" },
  { ...about, type: "message_retract", contentIndex: 1, error },
  { ...about, type: "text_start", contentIndex: 1 },
  { ...about, type: "text_delta", contentIndex: 1, delta: "Three." },
];

function fold(all: readonly AssistantMessageEvent[]): AssistantContent[] {
  let message: AssistantMessage | undefined;
  for (const event of [start, ...all]) message = applyEvent(message, structuredClone(event));
  return message?.content ?? [];
}

function shownAfter(all: readonly AssistantMessageEvent[]): ShownAnswer {
  const shown = new ShownAnswer();
  const message = applyEvent(undefined, start) as AssistantMessage;
  shown.add({ type: "message_start", runId: "r", seq: 0, message });
  for (const event of all)
    shown.add({
      type: "message_update",
      runId: "r",
      seq: 0,
      assistantMessageEvent: event,
      message,
    });
  return shown;
}

describe("an answer that another attempt shows", () => {
  it("is the same at each moment, and with all that follows", () => {
    for (let count = 0; count <= events.length; count++) {
      const again = shownAfter(events.slice(0, count)).events(1);
      assert.deepEqual(fold(again), fold(events.slice(0, count)), `after ${count} events`);
      const rest = events.slice(count);
      assert.deepEqual(fold([...again, ...rest]), fold(events), `with the rest from ${count}`);
    }
  });

  it("ends the parts that have ended, and no other", () => {
    for (let count = 0; count <= events.length; count++) {
      const all = [...shownAfter(events.slice(0, count)).events(1), ...events.slice(count)];
      const open = new Set<number>();
      for (const event of all) {
        if (!("contentIndex" in event)) continue;
        const { type, contentIndex } = event;
        if (type.endsWith("_start")) open.add(contentIndex);
        else if (type === "message_retract") open.clear();
        else if (type === "opaque_end" || type === "part_end") assert.ok(!open.has(contentIndex));
        else assert.ok(open.has(contentIndex), `${type} of ${contentIndex}, from ${count}`);
        if (type.endsWith("_end")) open.delete(contentIndex);
      }
    }
  });

  it("forgets the answer before", () => {
    const shown = shownAfter(events.slice(0, 3));
    const message = applyEvent(undefined, start) as AssistantMessage;
    shown.add({ type: "message_start", runId: "r", seq: 0, message });
    assert.deepEqual(shown.events(1), []);
  });
});
