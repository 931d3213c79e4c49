/**
 * Decides whether the tool calls of an answer may run. A call must be opened once, have arguments
 * or be declared to have none, and be closed, and nothing in the stream may contradict it. Wires
 * only report what they see.
 */
import { BowlineError } from "../errors.ts";
import { shorten, toText } from "../json-value.ts";
import type { AssistantContent } from "../llm/message.ts";

/** One tool call as its wire reports it. The wire updates it until the answer ends. */
export interface SeenCall {
  /** The server's id, or "" if it sent none. */
  readonly wireId: string;
  /** What else identifies the call on its wire, such as an index; undefined if nothing does. */
  readonly place: string | number | undefined;
  /** Its index in the message, once it has one. */
  readonly contentIndex: number | undefined;
  /** Whether arguments arrived, or the server said that there are none. */
  readonly hasArguments: boolean;
  /** Whether the server closed the call, or sent it whole. */
  readonly isClosed: boolean;
}

/** More calls than a model makes, and few enough that a program can answer each. */
const MAX_CALLS = 32_768;
/** How many characters of a server's text an error quotes. */
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

  /** The first contradiction in the stream. Such an answer cannot be trusted at all. */
  get contradiction(): string | undefined {
    return this.#contradiction;
  }

  /** Records a contradiction, with the text that the server sent. */
  contradict(what: string, quoted = ""): void {
    this.#contradiction ??= withQuote(what, quoted);
  }

  /** Records an anomaly that leaves the text usable but not the calls. */
  suspect(what: string, quoted = ""): void {
    this.#suspicion ??= withQuote(what, quoted);
  }

  /** Returns why no call of the answer may run, or undefined. */
  doubt(content: readonly AssistantContent[]): string | undefined {
    if (this.#suspicion !== undefined) return this.#suspicion;
    if (this.#calls.some(({ isClosed }) => !isClosed))
      return "the stream did not close one of them";
    if (this.#calls.some(({ hasArguments }) => !hasArguments))
      return "the stream sent no arguments for one of them";
    return this.#hasRepetition(content) ? "the stream sent one of them twice" : undefined;
  }

  /**
   * Returns whether a call occurs twice. Equal calls of one tool are distinct only if their ids or
   * places differ. Two calls that share both id and place are the same call, sent again. So are two
   * that share one of them if one of the calls is empty.
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
