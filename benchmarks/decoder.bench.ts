/**
 * Compares decoding bytes to events and to a message with a plain "split lines and JSON.parse" of
 * the same bytes. Each answer has 10,000 deltas. The two alternate, so that other load affects both
 * alike. The times are CPU times, and the ratio is that of the medians.
 */
import { bench, do_not_optimize, group } from "mitata";
import { reduceEvents, type AssistantMessageEvent } from "../packages/core/src/llm/event.ts";
import { anthropicMessages } from "../packages/core/src/providers/anthropic-messages/index.ts";
import { StreamDecoder } from "../packages/core/src/providers/decoder.ts";
import { googleGenerate } from "../packages/core/src/providers/google-generate/index.ts";
import { openaiChat } from "../packages/core/src/providers/openai-chat/index.ts";
import { openaiResponses } from "../packages/core/src/providers/openai-responses/index.ts";
import type { Protocol } from "../packages/core/src/providers/protocol.ts";
import { getModel } from "../packages/core/src/providers/vendors.ts";
import {
  callBody,
  chatBody,
  generateBody,
  messagesBody,
  parseOnly,
  rechunk,
  responsesBody,
} from "./bodies.ts";
import { median } from "./median.ts";

const DELTAS = 10_000;
const WARM_UP = 15;
const ROUNDS = 60;

function decode(protocol: Protocol, chunks: readonly Uint8Array[]): AssistantMessageEvent[] {
  const decoder = new StreamDecoder(protocol, getModel("openai", "m"), { timestamp: 1 });
  const events: AssistantMessageEvent[] = [];
  for (const chunk of chunks) for (const event of decoder.push(chunk)) events.push(event);
  events.push(...decoder.end());
  if (decoder.failure !== undefined) throw decoder.failure;
  return events;
}

/** Returns the CPU time in microseconds, including garbage collection. */
function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage();
  do_not_optimize(work());
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function compare(what: string, protocol: Protocol, chunks: readonly Uint8Array[]): void {
  const floors: number[] = [];
  const decodings: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const floor = cpuTime(() => parseOnly(chunks));
    const decoding = cpuTime(() => decode(protocol, chunks));
    if (round < 0) continue;
    floors.push(floor);
    decodings.push(decoding);
  }
  const [floor, decoding] = [median(floors), median(decodings)];
  const each = (time: number): string => `${(time / DELTAS).toFixed(2)} µs`;
  console.log(
    `${what.padEnd(44)} ${each(floor)}  ${each(decoding)}  ${(decoding / floor).toFixed(2)}`,
  );
}

console.log(`${`a delta of ${DELTAS}`.padEnd(44)} floor    decoder  ratio`);
for (const [what, protocol, body] of [
  ["openai-chat", openaiChat, chatBody(DELTAS)],
  ["openai-chat, arguments", openaiChat, callBody(DELTAS)],
  ["anthropic-messages", anthropicMessages, messagesBody(DELTAS)],
  ["openai-responses", openaiResponses, responsesBody(DELTAS)],
  ["google-generate", googleGenerate, generateBody(DELTAS)],
] as const) {
  compare(`${what}, an event a chunk`, protocol, body);
  compare(`${what}, 16 KiB chunks`, protocol, rechunk(body, 16_384));
}

group(`the reducer, ${DELTAS} deltas`, () => {
  const recorded = JSON.parse(
    JSON.stringify(decode(openaiChat, chatBody(DELTAS))),
  ) as AssistantMessageEvent[];
  bench("fold recorded events to a message", () => do_not_optimize(reduceEvents(recorded)));
});
