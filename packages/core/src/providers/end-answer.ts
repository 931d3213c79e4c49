/** How answers end, on every wire. */
import { BowlineError } from "../errors.ts";
import { asRecord } from "../json-value.ts";
import type { AssistantContent, AssistantMessage } from "../llm/message.ts";
import { corrupt } from "../llm/stream.ts";
import type { MessageWriter } from "../llm/writer.ts";
import type { ReaderFacts } from "./protocol.ts";

/**
 * What a word for the end of an answer says of it, from the best to the worst. `unknown` is any
 * word that no list has: the text of such an answer is whole, and its calls do not run.
 */
const meanings = ["complete", "unknown", "cut", "filtered", "refused", "failed"] as const;
type Meaning = (typeof meanings)[number];

/** Words that servers write while an answer goes on. */
// Q060, Q211
const unfinished = /^(?:null|not_finished|in_progress)$|unspecified$/i;
const failures = /error|abort|cancel|insufficient|malformed|call_filter|fail|time_?out|rate_limit/i;
const refusals = /refus/i;
const filters =
  /filter|safety|sensitive|block[le]|prohibited|recitation|spii|guardrail|moderation/i;
const limits = /length|limit|max_\w*tokens|context_window|incomplete/i;
/** Words for an answer that calls tools. */
const callWords = /^(?:tool_?(?:calls?|use)|function_call)$/i;

/** The words with which a server ends an answer, of which the worst counts. */
// Q062, Q064
export class AnswerEnd {
  readonly #complete: RegExp;
  #word = "";
  #isTakenBack = false;
  #more = ".";
  #meaning: Meaning = "complete";

  /** `complete` matches the words that say on this wire that an answer is whole. */
  constructor(complete: RegExp) {
    this.#complete = complete;
  }

  /** The word that counts. Empty: there was none, and the stream ended by a terminal event. */
  get word(): string {
    return this.#word;
  }

  /** Set where the server said, behind a word that ends the answer, that it goes on. */
  get contradiction(): string | undefined {
    return this.#isTakenBack ? `the stream took its end "${this.#word}" back` : undefined;
  }

  get isComplete(): boolean {
    return this.#meaning === "complete";
  }

  /** Whether a limit cut the answer. */
  get isCut(): boolean {
    return this.#meaning === "cut";
  }

  /** Whether the word says that the answer calls tools. */
  get saysCalls(): boolean {
    return callWords.test(this.#word);
  }

  /** The word for a person, with what the server said beside it. */
  get reason(): string {
    return `(finish reason "${this.#word}")${this.#more}`;
  }

  /**
   * Takes one more word; `common` is the same in words that the wires share, and `more` goes behind
   * it for a person. Returns whether it is the one that counts now.
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
   * Takes a word beside the one that the protocol asks for, which counts only where it is worse
   * than unknown.
   */
  addOther(word: string): boolean {
    return meanings.indexOf(this.#meaningOf(word)) > meanings.indexOf("unknown") && this.add(word);
  }

  /** Throws `server_error`, `refusal` or `content_filtered` where the answer ended so. */
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
 * Ends an answer whose end word was checked. Calls run whatever a good word says, and none without proof. Throws `stream_corrupt` for an answer that contradicts itself or
 * whose calls are not proved, `empty_response` for one without text or call, and `context_overflow` where the server names no error, but by its own numbers the conversation
 * did not fit.
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
    const what = content.length > 0 ? "thought and did not answer" : "answered with nothing";
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

/** Whether a part is an answer, and not thinking or what belongs to it. */
function isAnswer(part: AssistantContent): boolean {
  if (part.type !== "opaque") return part.type !== "thinking";
  const { text, reasoning_details } = asRecord(part.raw);
  return text !== "" && reasoning_details === undefined;
}

/** Whether an answer without anything is a model's way to say that the work is done. */
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
