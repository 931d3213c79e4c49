/**
 * The choices beside the one that is read. Alternatives to it are left out; but proxies put
 * the text of one answer and each of its calls into choices of their own.
 */
// Q074
import { asRecord, asText, isRecord, list } from "../../json-value.ts";
import { errorOfEnvelope, isError } from "../../transport/http-error.ts";
import type { AnswerEnd } from "../end-answer.ts";
import type { ReaderFacts } from "../protocol.ts";
import type { ToolCallAssembler } from "./tool-calls.ts";

type Json = Record<string, unknown>;

interface Choice {
  /** Entries of `tool_calls`. */
  readonly calls: Json[];
  readonly words: string[];
  hasText: boolean;
}

export class OtherChoices {
  readonly #facts: ReaderFacts;
  readonly #choices = new Map<unknown, Choice>();
  /** Whether a choice had no index: then it is no alternative. */
  #isUnnumbered = false;

  constructor(facts: ReaderFacts) {
    this.#facts = facts;
  }

  /** Takes one of a chunk, which is known by its index, or its place in the chunk. */
  add(wire: Json, place: number): void {
    if (isError(wire.error)) throw errorOfEnvelope(wire);
    const { index, delta, message, finish_reason: word } = wire;
    this.#isUnnumbered ||= index === undefined;
    const key = index ?? place;
    const choice = this.#choices.get(key) ?? { calls: [], words: [], hasText: false };
    this.#choices.set(key, choice);
    const from = isRecord(delta) ? delta : asRecord(message);
    const { content, refusal, tool_calls: calls, function_call: old } = from;
    choice.calls.push(...list(this.#facts.exactly(calls)).map(asRecord));
    if (old) choice.calls.push({ index: 0, function: this.#facts.exactly(old) });
    choice.hasText ||= list(content).length > 0 || asText(content) + asText(refusal) !== "";
    if (word) choice.words.push(asText(word) || JSON.stringify(word));
  }

  /**
   * Adds the calls that belong to the answer: those of choices without an index, and any where the
   * answer says that it calls tools and has no call. Where it does not say so, or where they come
   * with a text of their own, it is not known whose they are. Any other choice is an alternative,
   * which says itself how it ends.
   */
  join(calls: ToolCallAssembler, end: AnswerEnd): void {
    const others = [...this.#choices.values()];
    const calling = others.filter((choice) => choice.calls.length > 0);
    const isJoined = calling.length > 0 && (calls.count === 0 || this.#isUnnumbered);
    for (const other of others)
      if (!isJoined || other.calls.length === 0) this.#check(other, calls.count > 0, end.word);
    if (end.word === "") for (const { words } of others) for (const word of words) end.add(word);
    if (!isJoined) return;
    if ((!this.#isUnnumbered && !end.saysCalls) || calling.some(({ hasText }) => hasText))
      this.#facts.proof.suspect("they came in a choice that is not the answer's");
    for (const choice of calling) {
      calls.nextChoice();
      for (const call of choice.calls) calls.add(call);
      for (const word of choice.words) end.add(word);
    }
  }

  /** An alternative to the answer has an end of its own, and so has the answer. */
  #check({ hasText, words, calls }: Choice, isCalling: boolean, end: string): void {
    if (this.#isUnnumbered) return;
    if (words.length === 0 && (hasText || calls.length > 0))
      this.#facts.proof.contradict("a choice beside the answer's has no end");
    if (words.length > 0 && end === "" && (isCalling || hasText))
      this.#facts.proof.contradict("another choice ended the answer");
  }
}
