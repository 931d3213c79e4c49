/** Reads server-sent events strictly, for acceptors, which must see what a lenient reader drops. */
import type { Doubt } from "./acceptors/verdict.ts";

export interface WireEvent {
  /** The `event:` field; undefined if there is none. */
  readonly name: string | undefined;
  readonly data: string;
  /** Whether the body ended before the empty line that ends an event. */
  readonly isCut: boolean;
}

const field = /^(data|event|id|retry)(?::|$) ?/;

/**
 * Yields the events that have data, one at a time, so that nothing after a wire's last event is
 * read. Doubts a line that is neither an SSE field nor a comment.
 */
export function* readEvents(body: Uint8Array, doubt: Doubt): Generator<WireEvent> {
  const text = new TextDecoder().decode(body); // drops a byte order mark
  let name: string | undefined;
  let data: string[] = [];
  for (const [line = "", ended = ""] of text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g).map(toLine)) {
    if (line === "") {
      const isCut = ended === "";
      if (data.length > 0) yield { name, data: data.join("\n"), isCut };
      [name, data] = [undefined, []];
      if (isCut) return;
      continue;
    }
    if (line.startsWith(":")) continue;
    const [prefix, key] = field.exec(line) ?? [];
    // The last line may be the start of a field name.
    if (prefix === undefined && ended === "" && isBeginning(line))
      return yield { name, data: data.join("\n"), isCut: true };
    if (prefix === undefined || key === undefined) {
      doubt("a line that is not a field of an event stream", "text");
      continue;
    }
    if (key === "data") data.push(line.slice(prefix.length));
    else if (key === "event") name = line.slice(prefix.length);
    if (ended === "") return yield { name, data: data.join("\n"), isCut: true };
  }
}

function toLine([, line = "", ended = ""]: RegExpMatchArray): [string, string] {
  return [line, ended];
}

function isBeginning(line: string): boolean {
  return ["data", "event", "id", "retry"].some((name) => name.startsWith(line));
}

/** Splits a body into its events as bytes, each with the empty line that ends it. */
export function splitEvents(body: Uint8Array): Uint8Array[] {
  const text = Buffer.from(body).toString("latin1");
  const events: Uint8Array[] = [];
  let start = 0;
  for (const { index, 0: gap } of text.matchAll(/(\r\n|\r(?!\n)|\n)(?:\r\n|\r(?!\n)|\n)+/g)) {
    events.push(body.subarray(start, index + gap.length));
    start = index + gap.length;
  }
  if (start < body.length) events.push(body.subarray(start));
  return events;
}
