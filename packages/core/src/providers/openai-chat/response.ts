/**
 * Turns Chat Completions chunks into a message. Validates only the fields that it uses, so an odd
 * field does not affect others.
 */
// Q076
import { BowlineError } from "../../errors.ts";
import { noteSource, type AssistantMessage } from "../../llm/message.ts";
import type { Usage } from "../../llm/usage.ts";
import { asRecord, asText, isRecord, list } from "../../json-value.ts";
import { truncated } from "../../llm/stream.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { errorOfEnvelope, isError, isErrorObject } from "../../transport/http-error.ts";
import { AnswerEnd, endAnswer } from "../end-answer.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { OtherChoices } from "./other-choices.ts";
import { reasoningFields } from "./request.ts";
import { ToolCallAssembler, type CallWriter } from "./tool-calls.ts";
import { findUsage } from "./usage.ts";

type Json = Record<string, unknown>;

/** Receives the answer: a {@link MessageWriter}, or a filter before one. */
export type ChatWriter = CallWriter &
  Pick<
    MessageWriter,
    "message" | "started" | "say" | "endSaying" | "opaque" | "whole" | "describe" | "done"
  > & {
    /** Writes the held text. Called when the answer is over. */
    settle?(isCut: boolean): void;
  };

/** Reads what a server adds to the reference. */
export interface ChatExtras {
  /** Reads a chunk and the delta, or the message, of its answer. */
  read(chunk: Json, delta: Json): void;
  /** Writes what belongs after the text. */
  finish(): void;
}

/**
 * Finish reasons of a complete answer: those of the reference, of TGI, of Cohere, and those of
 * other wires that bridges pass through.
 */
// Q061
const completeWords =
  /^(?:stop|tool_(?:calls?|use)|function_call|end_turn|stop_sequence|eos(?:_token)?|end|completed?)$/i;

export class ChatReader implements ProtocolReader {
  readonly #writer: ChatWriter;
  readonly #facts: ReaderFacts;
  readonly #extras: ChatExtras | undefined;
  readonly #calls: ToolCallAssembler;
  readonly #answer: AssistantMessage;
  readonly #details: Json[] = [];
  readonly #end = new AnswerEnd(completeWords);
  #others: OtherChoices | undefined;
  #choiceIndex: unknown;
  /** The values of the last chunk. */
  #id: unknown;
  #model: unknown;
  #usage: Usage = {};
  #refused = false;
  /** Whether the server uses the old form, which allows one call per answer. */
  #isSingle = false;

  constructor(writer: ChatWriter, facts: ReaderFacts, extras?: ChatExtras) {
    this.#writer = writer;
    this.#facts = facts;
    this.#extras = extras;
    this.#calls = new ToolCallAssembler(writer, facts);
    this.#answer = writer.message;
  }

  event(chunk: Json, name: string): void {
    const choice = this.#choose(chunk.choices);
    const found = findUsage(chunk, choice);
    if (found) this.#noteUsage(found);
    if (isErrorEnvelope(chunk, name)) throw errorOfEnvelope(chunk);
    if (asText(chunk.type).startsWith("response.")) {
      throw new BowlineError(
        "unexpected_response",
        "The server speaks openai-responses here, not openai-chat.",
      ); // Q192
    }
    if (chunk.id !== this.#id || chunk.model !== this.#model) this.#noteOrigin(chunk);
    if (!choice) return this.#extras?.read(chunk, {});
    if (choice.error !== undefined && isError(choice.error)) throw errorOfEnvelope(choice);
    const { delta } = choice;
    const said = isRecord(delta) ? delta : this.#unstreamed(asRecord(choice.message));
    // First, since the same chunk may have the finish reason (Q056).
    this.#read(said);
    this.#extras?.read(chunk, said);
    if (choice.finish_reason) this.#noteFinish(choice);
  }

  end(): void {
    if (this.#end.word === "") throw truncated();
    this.done();
  }

  /** Ends the answer. Data after `[DONE]` is ignored. */
  // Q016
  done(): void {
    this.#others?.join(this.#calls, this.#end);
    this.#end.check();
    if (this.#refused) throw new BowlineError("refusal", "The model refused to answer.");
    this.#writer.endSaying();
    const details = this.#details;
    if (details[0])
      this.#writer.opaque({
        type: "opaque",
        protocol: "openai-chat",
        raw: { reasoning_details: details },
      });
    this.#extras?.finish();
    this.#calls.close();
    if (this.#isSingle && this.#calls.count > 1)
      this.#facts.proof.contradict("the stream began a second call where only one is possible");
    this.#writer.settle?.(this.#end.isCut);
    endAnswer(this.#writer, this.#facts, this.#end);
  }

  /**
   * Returns what to read of a whole `message`: all of it if nothing was streamed, otherwise only
   * its calls, if none were streamed.
   */
  // Q079, Q081
  #unstreamed(message: Json): Json {
    const { tool_calls, function_call } = message;
    if (this.#calls.count > 0) return {};
    return this.#writer.started ? { tool_calls, function_call } : message;
  }

  /**
   * Returns the choice to read: choice 0, or the first if there is no 0. Other choices may hold
   * parts of the same answer.
   */
  // Q074, Q075
  #choose(choices: unknown): Json | undefined {
    const all = list(choices) as readonly Json[];
    // The usual case.
    if (this.#choiceIndex === 0 && all.length === 1 && all[0]?.index === 0) return all[0];
    const known = all.filter(isRecord);
    if (known[0])
      this.#choiceIndex ??= known.some(({ index = 0 }) => index === 0) ? 0 : known[0].index;
    const chosen = known.find(({ index = 0 }) => index === this.#choiceIndex);
    for (const [place, choice] of known.entries())
      if (choice !== chosen) (this.#others ??= new OtherChoices(this.#facts)).add(choice, place);
    return chosen;
  }

  /** Records the id and model. An id that changes within the stream is not an error. */
  // Q077
  #noteOrigin({ id, model }: Json): void {
    this.#id = id;
    this.#model = model;
    noteSource(this.#answer, id, model);
  }

  /** Updates the usage. Counts are cumulative: later values win, and missing ones keep theirs. */
  // Q095, Q098
  #noteUsage(found: Usage): void {
    this.#usage = { ...this.#usage, ...found };
    this.#writer.describe({ usage: this.#usage });
  }

  #read(delta: Json): void {
    // Few deltas have any of these fields, so they are tested together first. The names are those
    // of `reasoningFields`.
    const hasAny =
      delta.reasoning_content || delta.reasoning || delta.reasoning_text || delta.thinking;
    const field = hasAny
      ? reasoningFields.find((known) => reasoningText(delta[known]) !== "")
      : undefined;
    if (field) this.#writer.say("thinking", reasoningText(delta[field]), field);
    if (delta.reasoning_details) this.#noteDetails(list(delta.reasoning_details), !field);
    const { content } = delta;
    if (Array.isArray(content)) this.#readParts(content);
    else if (content) this.#writer.say("text", asText(content));
    if (delta.refusal) this.#refuse(asText(delta.refusal));
    if (delta.tool_calls) for (const call of list(delta.tool_calls)) this.#addCall(asRecord(call));
    if (delta.function_call) {
      this.#isSingle = true;
      this.#addCall({ index: 0, function: delta.function_call }); // the old form (Q068)
    }
  }

  #addCall(wire: Json): void {
    this.#writer.endSaying();
    this.#calls.add(wire);
  }

  /**
   * Collects signed or encrypted reasoning, to send it back with its pieces joined. Shows its text
   * if no other field has it.
   */
  // Q086
  #noteDetails(pieces: readonly unknown[], show: boolean): void {
    const details = this.#details;
    for (const value of pieces) {
      const piece = asRecord(value);
      if (show) this.#writer.say("thinking", reasoningText(piece));
      const last = details.at(-1);
      if (
        !last ||
        last.type !== piece.type ||
        last.index !== piece.index ||
        piece.data !== undefined
      ) {
        details.push({ ...piece });
        continue;
      }
      for (const [key, more] of Object.entries(piece)) {
        last[key] = key === "text" || key === "summary" ? asText(last[key]) + asText(more) : more;
      }
    }
  }

  /** Reads content given as parts: text, thinking or refusal. Unknown types are ignored. */
  // Q073
  #readParts(pieces: readonly unknown[]): void {
    for (const part of pieces) {
      const { type, text, thinking, refusal } = asRecord(part);
      if (type === "thinking" || type === "reasoning")
        this.#writer.say("thinking", reasoningText(thinking ?? text));
      else {
        this.#refuse(asText(refusal));
        this.#writer.say("text", asText(text));
      }
    }
  }

  #refuse(text: string): void {
    this.#refused ||= text !== "";
    this.#writer.say("text", text);
  }

  /** Records the worst finish reason. It does not end the answer yet. */
  // Q060, Q062, Q064, Q057, Q094
  #noteFinish({ finish_reason: reason, native_finish_reason: native }: Json): void {
    const end = this.#end;
    const isNews = end.add(asText(reason) || JSON.stringify(reason));
    if (end.addOther(asText(native)) || isNews) this.#answer.rawStopReason = end.word;
  }
}

/**
 * Returns whether a chunk reports an error. An `error` field takes precedence over choices, and
 * `event: error` is an error whatever its shape.
 */
// Q100, Q101, Q102
function isErrorEnvelope(chunk: Json, name: string): boolean {
  const { error, choices } = chunk;
  if (error === undefined && choices !== undefined && name === "") return false; // the usual case
  if (isError(error) || name === "error") return true;
  return list(choices).length === 0 && isErrorObject(chunk);
}

/** Returns the text of a string, a list of text parts, or an object with a text field. */
// Q085
function reasoningText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(reasoningText).join("");
  const { content, text, summary } = asRecord(value);
  return asText(content) || asText(text) || asText(summary);
}
