/** Decodes the bytes of a wire, whole and in every split. */
import assert from "node:assert/strict";
import { StreamDecoder } from "../../src/providers/decoder.ts";
import type { Protocol } from "../../src/providers/protocol.ts";
import { reduceEvents, type AssistantMessageEvent } from "../../src/llm/event.ts";
import type { AssistantMessage } from "../../src/llm/message.ts";
import type { Model } from "../../src/llm/model.ts";

export interface Decoded {
  readonly events: AssistantMessageEvent[];
  readonly message: AssistantMessage;
}

/** Decodes as the transport does: stops reading once the answer is complete or has failed. */
export function decode(
  protocol: Protocol,
  chunks: Iterable<Uint8Array>,
  toolNames: readonly string[] = [],
): Decoded {
  const decoder = new StreamDecoder(protocol, recordedModel(protocol.api), {
    timestamp: 0,
    toolNames,
  });
  const events: AssistantMessageEvent[] = [];
  for (const chunk of chunks) {
    events.push(...decoder.push(chunk));
    if (decoder.ended || decoder.failure !== undefined) break;
  }
  events.push(...decoder.end());
  if (decoder.failure !== undefined) events.push(...decoder.fail(decoder.failure));
  return { events, message: decoder.message };
}

/** The body split at these offsets, which must ascend. */
export function* cut(
  body: Uint8Array,
  offsets: readonly number[],
): Generator<Uint8Array, void, undefined> {
  let from = 0;
  for (const offset of offsets) {
    yield body.subarray(from, offset);
    from = offset;
  }
  yield body.subarray(from);
}

export function* byteByByte(body: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < body.length; at++) yield body.subarray(at, at + 1);
}

/** A small seeded generator (mulberry32): the same numbers from 0 to 1 on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function recordedModel(api: string): Model {
  return {
    id: "recorded",
    name: "recorded",
    api,
    provider: "recorded",
    baseUrl: "",
    reasoning: true,
    input: ["text"],
  };
}

/**
 * Decodes a body whole, split once at every offset, and byte by byte. All must agree, and so must
 * the reducer.
 */
export function decodeEveryWay(
  protocol: Protocol,
  body: string,
  toolNames: readonly string[] = [],
): Decoded {
  const bytes = new TextEncoder().encode(body);
  const whole = decode(protocol, [bytes], toolNames);
  const expected = JSON.stringify(whole.events);
  const same = (chunks: Iterable<Uint8Array>, how: string): void =>
    assert.equal(JSON.stringify(decode(protocol, chunks, toolNames).events), expected, how);
  for (let at = 1; at < bytes.length; at++) same(cut(bytes, [at]), `cut at ${at}`);
  same(byteByByte(bytes), "byte by byte");
  const recorded = JSON.parse(expected) as AssistantMessageEvent[];
  assert.deepEqual(reduceEvents(recorded), JSON.parse(JSON.stringify(whole.message)));
  assert.deepEqual(reduceEvents(whole.events), whole.message);
  return whole;
}
