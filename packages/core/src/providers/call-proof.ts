/**
 * Whether the calls of an answer may run. A call runs on proof: it was opened once, it got
 * arguments of its own or was said to have none, it was closed, and nothing in the stream
 * contradicted it. Every wire reports here what it sees, and none decides for itself.
 */
import { BowlineError } from "../errors.ts";
import { shorten, toText } from "../json-value.ts";
import type { AssistantContent } from "../llm/message.ts";

/** One call as its wire has it. The wire keeps it up to date until the answer ends. */
export interface SeenCall {
  /** The server's own id; empty where it gave none. */
  readonly wireId: string;
  /** What else tells it apart on its wire, such as an index; undefined where nothing does. */
  readonly place: string | number | undefined;
  /** Its place in the message, once it has one. */
  readonly contentIndex: number | undefined;
  /** Whether arguments came for it, or the server said that there are none. */
  readonly hasArguments: boolean;
  /** Whether the server closed it, or gave it whole. */
  readonly isClosed: boolean;
}

/** More than a model makes, and few enough for a program to answer each of them. */
const MAX_CALLS = 32_768;
/** How much is quoted of what a server sent. */
const MAX_QUOTE_LENGTH = 200;

export class CallProof {
  readonly #calls: SeenCall[] = [];
  #contradiction: string | undefined;
  #suspicion: string | undefined;

  get count(): number {
    return this.#calls.length;
  }

  /** Throws `stream_corrupt` for more calls than an answer may have. */
  add(call: SeenCall): void {
    if (this.#calls.length === MAX_CALLS)
      throw new BowlineError("stream_corrupt", `The answer has more than ${MAX_CALLS} tool calls.`);
    this.#calls.push(call);
  }

  /** What in the stream contradicts the rest of it, so that nobody knows what the answer is. */
  get contradiction(): string | undefined {
    return this.#contradiction;
  }

  /** Notes a contradiction, with what the server sent. */
  contradict(what: string, quoted = ""): void {
    this.#contradiction ??= withQuote(what, quoted);
  }

  /** Notes what leaves the text of an answer readable, and proves no call. */
  suspect(what: string, quoted = ""): void {
    this.#suspicion ??= withQuote(what, quoted);
  }

  /** Why no call of the answer may run, or undefined. */
  doubt(content: readonly AssistantContent[]): string | undefined {
    if (this.#suspicion !== undefined) return this.#suspicion;
    if (this.#calls.some(({ isClosed }) => !isClosed)) return "the stream left one open";
    if (this.#calls.some(({ hasArguments }) => !hasArguments))
      return "the stream gave one no arguments";
    return this.#hasRepetition(content) ? "the stream gave one twice" : undefined;
  }

  /**
   * Whether a call came twice. Equal calls of one tool are told apart by different ids and places.
   * Nor may a call share both with another, or one of them with one that has nothing: that is the
   * same call, begun again.
   */
  #hasRepetition(content: readonly AssistantContent[]): boolean {
    if (this.#calls.length < 2) return false;
    const seen = new Set<string>();
    return this.#calls.some(({ wireId, place, contentIndex = -1 }) => {
      const call = content[contentIndex];
      if (call?.type !== "toolCall") return false;
      const { name, argumentsError, argumentsText: text = "" } = call;
      const args = argumentsError === undefined ? toText(call.arguments) : text;
      const identities: [string, isEmpty: boolean][] = [];
      if (wireId !== "") identities.push([`id ${wireId}`, args === "{}"]);
      if (place !== undefined) identities.push([`place ${place}`, text === ""]);
      if (identities.length === 0) identities.push(["none", false]);
      const both = `both ${toText([wireId, place])}`;
      if (identities.length > 1 && seen.size === seen.add(both).size) return true;
      return identities.some(([identity, isEmpty]) => {
        const key = `${name} ${identity} `;
        const isRepeated =
          seen.has(key + args) || seen.has(`${key}empty`) || (isEmpty && seen.has(key));
        if (identity !== "none") seen.add(key);
        seen.add(isEmpty ? `${key}empty` : key + args);
        return isRepeated;
      });
    });
  }
}

function withQuote(what: string, quoted: string): string {
  return `${what}${quoted && `: ${shorten(quoted, MAX_QUOTE_LENGTH)}`}`;
}
