/**
 * The choices beside the one that is read. Alternatives to it are left out (Q074); but proxies put
 * the text of one answer and each of its calls into choices of their own.
 */
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
   * with a text of their own, it is not known whose they are.
   */
  join(calls: ToolCallAssembler, end: AnswerEnd): void {
    for (const { hasText, words, calls: own } of this.#choices.values()) {
      if (end.word === "" && words.length > 0) {
        for (const word of words) end.add(word);
        if (calls.count > 0 || hasText)
          this.#facts.proof.contradict("another choice ended the answer");
      }
      if (words.length === 0 && (hasText || own.length > 0) && !this.#isUnnumbered)
        this.#facts.proof.contradict("a choice beside the answer's has no end");
    }
    const calling = [...this.#choices.values()].filter((choice) => choice.calls.length > 0);
    if (calling.length === 0 || (calls.count > 0 && !this.#isUnnumbered)) return;
    if ((!this.#isUnnumbered && !end.saysCalls) || calling.some(({ hasText }) => hasText))
      this.#facts.proof.suspect("they came in a choice that is not the answer's");
    for (const choice of calling) {
      calls.nextChoice();
      for (const call of choice.calls) calls.add(call);
      for (const word of choice.words) end.add(word);
    }
  }
}
