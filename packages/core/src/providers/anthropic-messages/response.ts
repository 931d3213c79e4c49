/**
 * Turns Messages events into a message. The event type is read from the JSON, and from the SSE
 * event name only if the JSON has none.
 */
// Q030
import { BowlineError } from "../../errors.ts";
import { asRecord, asText, list } from "../../json-value.ts";
import type { Usage } from "../../llm/usage.ts";
import { noteSource } from "../../llm/message.ts";
import { corrupt, truncated } from "../../llm/stream.ts";
import type { MessageWriter } from "../../llm/writer.ts";
import { errorOfEnvelope, isError, isErrorObject } from "../../transport/http-error.ts";
import { AnswerEnd, endAnswer } from "../end-answer.ts";
import type { ProtocolReader, ReaderFacts } from "../protocol.ts";
import { BlockAssembler } from "./blocks.ts";
import { toUsage } from "./usage.ts";

type Json = Record<string, unknown>;

/**
 * Stop reasons of a complete answer: those of the reference, and those of other wires that bridges
 * pass through.
 */
const completeWords = /^(?:end_turn|tool_use|stop_sequence|pause_turn|stop|tool_calls)$/i;

export class MessagesReader implements ProtocolReader {
  readonly #writer: MessageWriter;
  readonly #facts: ReaderFacts;
  readonly #blocks: BlockAssembler;
  readonly #usage: Usage = {};
  readonly #end = new AnswerEnd(completeWords);
  #started = false;
  /** Whether a `message_delta` arrived, even with a null stop reason. */
  // Q165
  #isEnding = false;
  #explanation = "";

  constructor(writer: MessageWriter, facts: ReaderFacts) {
    this.#writer = writer;
    this.#facts = facts;
    this.#blocks = new BlockAssembler(writer, facts);
  }

  event(data: Json, name: string): void {
    const type = typeof data.type === "string" ? data.type : name;
    if (!this.#started && (type.startsWith("content_") || type === "message_delta"))
      this.#facts.proof.contradict("the stream went on before it began");
    // Most events are deltas, so they are tested first.
    if (type === "content_block_delta" && name !== "error" && !isError(data.error))
      this.#blocks.delta(data.index, asRecord(data.delta));
    else this.#other(data, type, name);
  }

  #other(data: Json, type: string, name: string): void {
    // An error ends the answer. No `message_stop` follows it (Q139 to Q141).
    if (type === "error" || name === "error" || isError(data.error)) {
      throw errorOfEnvelope(data);
    }
    switch (type) {
      case "message_start":
        return this.#start(asRecord(data.message));
      case "content_block_start": {
        const block = asRecord(data.content_block);
        if (typeof block.type === "string") this.#blocks.start(data.index, block);
        return;
      }
      case "content_block_stop":
        return this.#blocks.stop(data.index);
      case "message_delta":
        this.#isEnding = true;
        this.#noteUsage(data.usage);
        return this.#noteStop(asRecord(data.delta));
      case "message_stop":
        if (!this.#isEnding) this.#facts.proof.contradict("the stream has no stop reason");
        return this.#finish();
      case "message":
        return this.#whole(data);
    }
    // Pings and unknown event types are ignored (Q138, Q160).
    if (isErrorObject(data)) throw errorOfEnvelope(data);
  }

  /** Ends the body. A stop reason is enough; `message_stop` may be missing. */
  // Q142
  end(): void {
    if (this.#end.word === "") throw truncated();
    this.#finish();
  }

  #start(message: Json): void {
    const answer = this.#writer.message;
    const { responseId } = answer;
    const id = asText(message.id);
    if (responseId !== undefined && id !== "" && id !== responseId) {
      throw corrupt("Two answers were spliced into one stream."); // Q144
    }
    if (this.#started) return; // a repeated start (Q143)
    this.#started = true;
    this.#noteUsage(message.usage);
    noteSource(answer, id, message.model);
  }

  /** Reads an answer from a server that does not stream. */
  // Q018
  #whole(message: Json): void {
    this.#start(message);
    for (const [index, value] of list(message.content).entries()) {
      const block = asRecord(value);
      if (typeof block.type !== "string") continue;
      this.#blocks.start(index, block);
      this.#blocks.stop(index);
    }
    this.#noteStop(message);
  }

  /**
   * Updates the usage. Counts are cumulative and may come in parts, so each overwrites its own
   * field.
   */
  // Q145, Q146
  #noteUsage(usage: unknown): void {
    Object.assign(this.#usage, toUsage(asRecord(usage)));
    this.#writer.describe({ usage: { ...this.#usage } });
  }

  /**
   * Records the stop reason and closes open blocks. An empty reason does not remove an earlier one.
   */
  // Q147, Q153
  #noteStop({ stop_reason: reason, stop_details: details }: Json): void {
    if (typeof reason !== "string" || reason === "") return;
    if (this.#end.add(reason)) this.#writer.describe({ rawStopReason: reason });
    this.#explanation = asText(asRecord(details).explanation) || this.#explanation;
    if (this.#end.word !== "") this.#blocks.close(true);
  }

  #finish(): void {
    this.#blocks.close(false);
    const why = this.#explanation === "" ? "." : `: ${this.#explanation}`;
    if (this.#end.word.toLowerCase() === "refusal")
      throw new BowlineError("refusal", `The model refused to answer${why}`); // Q163
    this.#end.check();
    if (this.#end.word === "pause_turn" && this.#facts.proof.count === 0 && this.#writer.started)
      this.#writer.describe({ paused: true });
    endAnswer(this.#writer, this.#facts, this.#end); // Q151, Q164
  }
}
