/**
 * Handles the choices other than the one that is read. Alternatives are ignored. Some proxies,
 * however, split the text and the calls of one answer into separate choices.
 */
// Q074
import { asRecord, asText, isRecord, list } from "../../json-value.ts";
import { errorOfEnvelope, isError } from "../../transport/http-error.ts";
import type { AnswerEnd } from "../end-answer.ts";
import type { ReaderFacts } from "../protocol.ts";
import type { ToolCallAssembler } from "./tool-calls.ts";

type Json = Record<string, unknown>;

interface Choice {
  /** The entries of `tool_calls`. */
  readonly calls: Json[];
  readonly words: string[];
  hasText: boolean;
}

export class OtherChoices {
  readonly #facts: ReaderFacts;
  readonly #choices = new Map<unknown, Choice>();
  /** Whether any choice came without an index. Such choices are not alternatives. */
  #isUnnumbered = false;

  constructor(facts: ReaderFacts) {
    this.#facts = facts;
  }

  /**
   * Adds a choice of a chunk. It is identified by its index, or else by its position in the chunk.
   */
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
   * Adds the calls that belong to the answer. These are the calls of choices without an index. If
   * the answer has no call of its own, they are those of any choice. If the answer does not say
   * that it calls tools, or a choice with calls also has text, the calls are suspect. Any other
   * choice is an alternative, with its own finish reason.
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
      this.#facts.proof.suspect("they came in another choice than the answer");
    for (const choice of calling) {
      calls.nextChoice();
      for (const call of choice.calls) calls.add(call);
      for (const word of choice.words) end.add(word);
    }
  }

  /** Checks that an alternative and the answer each have a finish reason. */
  #check({ hasText, words, calls }: Choice, isCalling: boolean, end: string): void {
    if (this.#isUnnumbered) return;
    if (words.length === 0 && (hasText || calls.length > 0))
      this.#facts.proof.contradict("another choice has no finish reason");
    if (words.length > 0 && end === "" && (isCalling || hasText))
      this.#facts.proof.contradict("another choice ended the answer");
  }
}
