/**
 * Messages of the bus: a head as a line of JSON, then a body. A message that is too large for the bus
 * is sent in parts.
 */

const NEWLINE = 10;
/** Reserved for the head and its part numbers. */
const HEAD_BYTES = 8 * 1024;
/** The most parts of one message. */
const MAX_PARTS = 64;
/** The most messages of which parts are missing, and the most bytes of their parts. */
const MAX_OPEN = 8;

export type Head = readonly (string | number)[];

export interface Parcel {
  readonly head: Head;
  readonly body: string;
}

interface Part {
  readonly head: Head;
  readonly part: number;
  readonly parts: number;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Returns the payloads of a message, or undefined if it would have too many. `head` has at most 8,000
 * bytes.
 */
export function toPayloads(head: Head, body: string, maxPayload: number): Uint8Array[] | undefined {
  // Most bodies fit by far: no character has more than three bytes in UTF-8.
  if (body.length * 3 + HEAD_BYTES <= maxPayload)
    return [encoder.encode(`${JSON.stringify(head)}\n${body}`)];
  const bytes = encoder.encode(body);
  const room = maxPayload - HEAD_BYTES;
  const parts = Math.max(1, Math.ceil(bytes.length / room));
  if (room <= 0 || parts > MAX_PARTS) return undefined;
  return Array.from({ length: parts }, (_, part) => {
    const slice = bytes.subarray(part * room, (part + 1) * room);
    const line = encoder.encode(`${JSON.stringify([...head, { part, parts }])}\n`);
    const payload = new Uint8Array(line.length + slice.length);
    payload.set(line);
    payload.set(slice, line.length);
    return payload;
  });
}

/** Joins the parts of messages. Parts may be lost, repeated and mixed with those of other messages. */
export class Parcels {
  readonly #maxBytes: number;
  /** The parts so far, by head. The oldest is dropped above a limit. */
  readonly #open = new Map<string, Part[]>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the message that this payload completes. Returns undefined for anything else. */
  take(payload: Uint8Array): Parcel | undefined {
    const part = parse(payload);
    if (part === undefined) return undefined;
    const { head, parts, bytes } = part;
    if (parts === 1) return { head, body: decoder.decode(bytes) };
    const name = JSON.stringify(head);
    const all = (this.#open.get(name) ?? []).filter((other) => other.parts === parts);
    if (!all.some((other) => other.part === part.part)) all.push(part);
    this.#open.delete(name);
    if (all.length === parts) return { head, body: join(all) };
    if (all.reduce((sum, other) => sum + other.bytes.length, 0) > this.#maxBytes) return undefined;
    this.#open.set(name, all);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    return undefined;
  }
}

function join(parts: readonly Part[]): string {
  const whole = Buffer.concat(parts.toSorted((a, b) => a.part - b.part).map(({ bytes }) => bytes));
  return decoder.decode(whole);
}

/** Returns undefined for a payload that is not one of ours. */
function parse(payload: Uint8Array): Part | undefined {
  const end = payload.indexOf(NEWLINE);
  if (end < 0 || end > HEAD_BYTES) return undefined;
  let line: unknown;
  try {
    line = JSON.parse(decoder.decode(payload.subarray(0, end)));
  } catch {
    return undefined;
  }
  if (!Array.isArray(line)) return undefined;
  const last: unknown = line.at(-1);
  const { part, parts } = typeof last === "object" && last !== null ? toSplit(last) : whole;
  const head: unknown[] = parts === 1 ? line : line.slice(0, -1);
  const isHead = head.every((item) => typeof item === "string" || typeof item === "number");
  if (!isHead || !(part >= 0 && part < parts && parts <= MAX_PARTS)) return undefined;
  return { head, part, parts, bytes: payload.subarray(end + 1) };
}

const whole = { part: 0, parts: 1 };

function toSplit(value: object): { readonly part: number; readonly parts: number } {
  const { part, parts } = value as Readonly<Record<string, unknown>>;
  const fits = Number.isSafeInteger(part) && Number.isSafeInteger(parts) && Number(parts) > 0;
  return fits ? { part: Number(part), parts: Number(parts) } : { part: -1, parts: 0 };
}
