/**
 * Recorded answers of real servers, for tests. They are large and lie outside the repository:
 * BOWLINE_RECORDINGS says where.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { StreamDecoder } from "../src/providers/decoder.ts";
import type { Protocol } from "../src/providers/protocol.ts";
import { reduceEvents, type AssistantMessageEvent } from "../src/llm/event.ts";
import type { AssistantMessage } from "../src/llm/message.ts";
import type { Model } from "../src/llm/model.ts";

export interface Recording {
  readonly protocol: string;
  readonly file: string;
  readonly status: number;
  readonly body: Uint8Array;
}

const folder: string =
  process.env.BOWLINE_RECORDINGS ??
  resolve(import.meta.dirname, "../../..", "../shared/recordings");

/** Why there are no recordings; undefined when there are. */
export const missing: string | undefined = existsSync(join(folder, "index.json"))
  ? undefined
  : `no recordings in ${folder}: set BOWLINE_RECORDINGS to the folder that holds their index.json`;

/**
 * The recordings of one protocol, by name; none where the folder is absent. A file may hold several
 * answers in a row: it is there whole, as a body of which only the first answer counts, and each
 * further answer as a body of its own.
 */
export function loadRecordings(protocol: string): Recording[] {
  if (missing !== undefined) return [];
  const index = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")) as {
    readonly protocol: string;
    readonly file: string;
    readonly status: number;
  }[];
  return index
    .filter((entry) => entry.protocol === protocol)
    .flatMap(({ file, status }) => {
      const body = readFileSync(join(folder, protocol, file));
      const further = answersOf(body).slice(1);
      return [
        { protocol, file, status, body },
        ...further.map((answer, n) => ({
          protocol,
          file: `${file} #${n + 2}`,
          status,
          body: answer,
        })),
      ];
    })
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

function answersOf(body: Buffer): Buffer[] {
  const starts: number[] = [];
  for (const first of ["event: message_start\n", "event: response.created\n"]) {
    for (let at = 0; (at = body.indexOf(first, at)) !== -1; at++) starts.push(at);
  }
  return starts.map((start, n) => body.subarray(start, starts[n + 1]));
}

export interface Decoded {
  readonly events: AssistantMessageEvent[];
  readonly message: AssistantMessage;
}

/** Decodes as the transport does: nothing is read once the answer is complete or has failed. */
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

/** The body cut at these offsets, which must ascend. */
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

/** A small seeded generator (mulberry32): numbers from 0 to 1, the same on every machine. */
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
 * Decodes a body whole, at every single cut and byte by byte; all must agree, and so must the
 * reducer.
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
