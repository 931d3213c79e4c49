/** Bytes to events, a message and back, beside a bare "split lines and JSON.parse" on the same bytes. 10,000 deltas an answer. */
import { bench, do_not_optimize, group, summary } from "mitata";
import { reduceEvents, type AssistantMessageEvent } from "../packages/core/src/llm/event.ts";
import { anthropicMessages } from "../packages/core/src/providers/anthropic-messages/index.ts";
import { createStreamDecoder } from "../packages/core/src/providers/decoder.ts";
import { googleGenerate } from "../packages/core/src/providers/google-generate/index.ts";
import { openaiChat } from "../packages/core/src/providers/openai-chat/index.ts";
import { openaiResponses } from "../packages/core/src/providers/openai-responses/index.ts";
import type { Protocol } from "../packages/core/src/providers/protocol.ts";
import { getModel } from "../packages/core/src/providers/vendors.ts";
import { chatBody, generateBody, messagesBody, parseOnly, rechunk, responsesBody } from "./bodies.ts";

const DELTAS = 10_000;

function decode(protocol: Protocol, chunks: readonly Uint8Array[]): AssistantMessageEvent[] {
  const decoder = createStreamDecoder(protocol, getModel("openai", "m"), { timestamp: 1 });
  const events: AssistantMessageEvent[] = [];
  for (const chunk of chunks) for (const event of decoder.push(chunk)) events.push(event);
  events.push(...decoder.end());
  if (decoder.failure !== undefined) throw decoder.failure;
  return events;
}

for (const [protocol, body] of [
  [openaiChat, chatBody(DELTAS)],
  [anthropicMessages, messagesBody(DELTAS)],
  [openaiResponses, responsesBody(DELTAS)],
  [googleGenerate, generateBody(DELTAS)],
] as const) {
  for (const [how, chunks] of [
    ["an event a chunk", body],
    ["16 KiB chunks", rechunk(body, 16_384)],
  ] as const) {
    group(`${protocol.api}, ${DELTAS} deltas, ${how}`, () => {
      summary(() => {
        bench("split lines and JSON.parse", () => do_not_optimize(parseOnly(chunks))).baseline(true);
        bench("decode to events and a message", () => do_not_optimize(decode(protocol, chunks)));
      });
    });
  }
}

group(`the reducer, ${DELTAS} deltas`, () => {
  const recorded = JSON.parse(JSON.stringify(decode(openaiChat, chatBody(DELTAS)))) as AssistantMessageEvent[];
  bench("fold recorded events to a message", () => do_not_optimize(reduceEvents(recorded)));
});
