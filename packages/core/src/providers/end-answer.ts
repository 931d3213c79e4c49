/** How answers end, on all wires. */
import { BowlineError } from "../errors.ts";
import { asRecord } from "../json-value.ts";
import type { AssistantContent, AssistantMessage } from "../llm/message.ts";
import { corrupt } from "../llm/stream.ts";
import type { MessageWriter } from "../llm/writer.ts";
import type { ReaderFacts } from "./protocol.ts";

/**
 * The meanings of a finish reason, from best to worst. `unknown` is a reason in none of the lists:
 * the text of such an answer is whole, and its calls do not run.
 */
const meanings = ["complete", "unknown", "cut", "filtered", "refused", "failed"] as const;
type Meaning = (typeof meanings)[number];

/** Finish reasons that servers send while an answer is still in progress. */
// Q060, Q211
const unfinished = /^(?:null|not_finished|in_progress)$|unspecified$/i;
const failures = /error|abort|cancel|insufficient|malformed|call_filter|fail|time_?out|rate_limit/i;
const refusals = /refus/i;
const filters =
  /filter|safety|sensitive|block[le]|prohibited|recitation|spii|guardrail|moderation/i;
const limits = /length|limit|max_\w*tokens|context_window|incomplete/i;
/** Finish reasons of an answer that calls tools. */
const callWords = /^(?:tool_?(?:calls?|use)|function_call)$/i;

/** The finish reasons of an answer. If a server sends several, the worst counts. */
// Q062, Q064
export class AnswerEnd {
  readonly #complete: RegExp;
  #word = "";
  #isTakenBack = false;
  #more = ".";
  #meaning: Meaning = "complete";

  /** `complete` matches the finish reasons that mean a complete answer on this wire. */
  constructor(complete: RegExp) {
    this.#complete = complete;
  }

  /**
   * The finish reason that counts. Empty if there was none and the stream ended with a terminal
   * event.
   */
  get word(): string {
    return this.#word;
  }

  /** Set when the server first ended the answer and then said that it continues. */
  get contradiction(): string | undefined {
    return this.#isTakenBack
      ? `the stream continued after its finish reason "${this.#word}"`
      : undefined;
  }

  get isComplete(): boolean {
    return this.#meaning === "complete";
  }

  /** Whether a token limit cut the answer. */
  get isCut(): boolean {
    return this.#meaning === "cut";
  }

  /** Whether the finish reason says that the answer calls tools. */
  get saysCalls(): boolean {
    return callWords.test(this.#word);
  }

  /** The finish reason for an error message, with the server's explanation. */
  get reason(): string {
    return `(finish reason "${this.#word}")${this.#more}`;
  }

  /**
   * Adds a finish reason and returns whether it counts now. `common` is its equivalent in the words
   * that all wires share. `more` is appended to it in error messages.
   */
  add(word: string, common: string = word, more = "."): boolean {
    if (word === "" || unfinished.test(word)) {
      this.#isTakenBack ||= word !== "" && this.#word !== "";
      return false;
    }
    const meaning = this.#meaningOf(common);
    const isWorse = meanings.indexOf(meaning) > meanings.indexOf(this.#meaning);
    if (this.#word !== "" && !isWorse) return false;
    this.#word = word;
    this.#more = more;
    this.#meaning = meaning;
    return true;
  }

  /**
   * Adds a finish reason from another field than the protocol's. It counts only if it is worse than
   * `unknown`.
   */
  addOther(word: string): boolean {
    return meanings.indexOf(this.#meaningOf(word)) > meanings.indexOf("unknown") && this.add(word);
  }

  /** Throws `server_error`, `refusal` or `content_filtered` if the answer ended that way. */
  check(): void {
    const { reason } = this;
    if (this.#meaning === "failed")
      throw new BowlineError("server_error", `The answer failed ${reason}`, { retryable: true });
    if (this.#meaning === "refused")
      throw new BowlineError("refusal", `The model refused to answer ${reason}`);
    if (this.#meaning === "filtered")
      throw new BowlineError("content_filtered", `A content filter stopped the answer ${reason}`);
  }

  #meaningOf(word: string): Meaning {
    if (failures.test(word)) return "failed";
    if (refusals.test(word)) return "refused";
    if (filters.test(word)) return "filtered";
    if (limits.test(word)) return "cut";
    return this.#complete.test(word) ? "complete" : "unknown";
  }
}

/**
 * Ends an answer after `end.check()`. Calls run with any good finish reason, but only if they are
 * proved. Throws `stream_corrupt` if the answer contradicts itself or its calls are not proved.
 * Throws `empty_response` if there is neither text nor call. Throws `context_overflow` if the
 * server reports no error, but its token counts show that the conversation did not fit.
 */
// Q058, Q059, Q166, Q204, Q092, Q244
export function endAnswer(
  writer: Pick<MessageWriter, "message" | "done">,
  facts: ReaderFacts,
  end: AnswerEnd,
  isCut: boolean = end.isCut,
): void {
  const { message } = writer;
  const { content } = message;
  const { count, contradiction = end.contradiction } = facts.proof;
  assertFits(message, facts, isCut);
  if (contradiction !== undefined) throw corrupt(`The answer cannot be trusted: ${contradiction}.`);
  if (isCut) return writer.done("length");
  if (!content.some(isAnswer) && !isDone(message, facts, end)) {
    const what =
      content.length > 0 ? "returned thinking but no answer" : "returned an empty answer";
    const why = end.word === "" ? "." : ` ${end.reason}`;
    throw new BowlineError("empty_response", `The model ${what}${why}`, { retryable: true });
  }
  if (count > 0) assertProved(facts, content, end);
  writer.done(count > 0 ? "toolUse" : "stop");
}

function assertFits(
  { content, usage }: AssistantMessage,
  { contextWindow = Infinity, compat }: ReaderFacts,
  isCut: boolean,
): void {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output } = usage;
  const read = input + cacheRead + cacheWrite;
  const isPart = compat?.cutsPrompt === true && read > contextWindow;
  if (!isPart && !(isCut && content.length === 0 && output === 0)) return;
  const why = isPart ? `with a contextWindow of ${contextWindow}` : "and none written";
  throw new BowlineError(
    "context_overflow",
    `The conversation is too long: ${read} tokens were read, ${why}.`,
  );
}

/** Returns false for thinking and its data, and true for all other parts. */
function isAnswer(part: AssistantContent): boolean {
  if (part.type !== "opaque") return part.type !== "thinking" && part.type !== "source";
  const { text, reasoning_details } = asRecord(part.raw);
  return text !== "" && reasoning_details === undefined;
}

/** Returns whether an empty answer is the model's way of saying that the work is done. */
function isDone(
  { content, usage }: AssistantMessage,
  { followsResults }: ReaderFacts,
  end: AnswerEnd,
): boolean {
  const isKnown = (end.word !== "" && end.isComplete) || usage.output !== undefined;
  return followsResults === true && content.length === 0 && isKnown && !end.saysCalls;
}

function assertProved(
  { proof }: ReaderFacts,
  content: readonly AssistantContent[],
  end: AnswerEnd,
): void {
  const doubt = proof.doubt(content);
  if (doubt !== undefined) throw corrupt(`The tool calls cannot be trusted: ${doubt}.`);
  if (end.isComplete) return;
  throw new BowlineError(
    "unexpected_response",
    `The tool calls cannot be trusted: the answer is not known to be complete ${end.reason}`,
  );
}
