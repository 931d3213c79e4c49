/** Ids and names of tools as this wire takes them: letters, digits, `_` and `-`, and only so many (Q118, Q119, Q177). */

const MAX_ID = 64;
const MAX_NAME = 128;

/**
 * Ids of one request's calls and results. Two calls never share one, though a transcript may repeat ids in several turns (Q041).
 * Given in the order of the transcript, so that a longer transcript keeps the ids, and the cached prefix, of a shorter one.
 */
export class ToolIds {
  readonly #taken = new Set<string>();
  /** The last number tried behind a base, so that a repeated id costs the same each time. */
  readonly #numbers = new Map<string, number>();
  /** Calls that wait for their result: the transcript's id, then the wire's, oldest first. */
  readonly #waiting = new Map<string, string[]>();

  call(id: string): string {
    const wireId = this.#unique(id);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) this.#waiting.set(id, [wireId]);
    else waiting.push(wireId);
    return wireId;
  }

  /** The wire's id of the oldest call under this id that has no result yet. */
  result(id: string): string {
    return this.#waiting.get(id)?.shift() ?? this.#unique(id);
  }

  #unique(id: string): string {
    const base = clean(id, MAX_ID) || "call";
    let candidate = base;
    let number = this.#numbers.get(base) ?? 1;
    while (this.#taken.has(candidate)) {
      const suffix = `_${++number}`;
      candidate = base.slice(0, MAX_ID - suffix.length) + suffix;
    }
    this.#numbers.set(base, number);
    this.#taken.add(candidate);
    return candidate;
  }
}

/** A tool's name for the wire. A transcript holds names that a model made up; one bad name would spoil every later request. */
export function toWireName(name: string): string {
  return clean(name, MAX_NAME) || "unnamed";
}

/** The declared tool whose wire name this is, or the name as it stands. */
export function fromWireName(name: string, declared: readonly string[]): string {
  return declared.includes(name) ? name : (declared.find((candidate) => toWireName(candidate) === name) ?? name);
}

function clean(text: string, length: number): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, length);
}
