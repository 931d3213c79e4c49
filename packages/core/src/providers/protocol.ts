/**
 * A wire protocol without I/O: it turns (model, context, options) into a request and bytes into
 * events, synchronously. No socket, no promise, no clock. `stream.ts` connects it to the transport.
 */
import type { BowlineError } from "../errors.ts";
import type { Context } from "../llm/message.ts";
import type { Compat, Model, StreamOptions } from "../llm/model.ts";
import type { MessageWriter } from "../llm/writer.ts";
import type { PostRequest } from "../transport/request.ts";
import type { CallProof } from "./call-proof.ts";

/** A request in the shape of its wire. */
export interface WireRequest extends Omit<PostRequest, "body"> {
  /**
   * Sent as the JSON that `toWireJson` produces. Here it may still hold NUL and half surrogate
   * pairs.
   */
  // Q130, Q131
  readonly body: Record<string, unknown>;
}

export interface Protocol {
  /** The value of `Model.api` for this protocol. */
  readonly api: string;
  /** The body field that holds the transcript. */
  readonly transcript: string;
  /**
   * Returns the request. With `continued`, the context is a later part of a transcript. Its first
   * message is an assistant message that calls tools, and the message before it is a tool result.
   * The list then omits what belongs only at its start. Throws `invalid_argument` for what this wire cannot express.
   */
  encode(model: Model, context: Context, options: StreamOptions, continued?: boolean): WireRequest;
  /**
   * Returns the model with what the wire learned from its server's refusals. Absent if the wire
   * learns nothing.
   */
  asLearned?(model: Model): Model;
  /** Returns a changed model to retry with, if `error` explains what was wrong with `asked`. */
  learn?(model: Model, asked: Model, error: BowlineError): Model | undefined;
  /** Creates the reader that turns one answer's events into a message. */
  createReader(writer: MessageWriter, facts: ReaderFacts): ProtocolReader;
}

export interface ReaderFacts {
  /** The declared tools, for server quirks that depend on them. */
  // Q043, Q070
  readonly toolNames: readonly string[];
  /** The model's context window, in tokens. */
  readonly contextWindow?: number | undefined;
  /** The model's compat switches. */
  readonly compat?: Compat | undefined;
  /** Whether the request ends with tool results. The model may then legitimately answer nothing. */
  readonly followsResults?: boolean | undefined;
  /** Records the answer's calls and decides whether they may run. */
  readonly proof: CallProof;
  /** Returns the id for a call, given the server's id if there is one: see `createCallIds`. */
  callId(given?: string): string;
  /** Returns a part of the current event with the original digits of its numbers. */
  exactly(part: unknown): unknown;
}

/**
 * Reads parsed events. Throws a `BowlineError` if the stream reports an error or cannot be trusted.
 */
export interface ProtocolReader {
  event(data: Record<string, unknown>, name: string): void;
  /** Called for `[DONE]`, whatever its spacing and case. Absent in protocols that do not use it. */
  // Q015, Q017, Q179
  done?(): void;
  /** Ends the body. Writes `done`, or throws if no terminal event was seen. */
  end(): void;
}
