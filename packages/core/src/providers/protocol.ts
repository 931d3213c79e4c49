/**
 * A wire protocol is sans-I/O: from (model, context, options) to a request, and from bytes to
 * events, synchronously. No socket, no promise, no clock. `stream.ts` joins it to the transport.
 */
import type { BowlineError } from "../errors.ts";
import type { Context } from "../llm/message.ts";
import type { Compat, Model, StreamOptions } from "../llm/model.ts";
import type { MessageWriter } from "../llm/writer.ts";
import type { PostRequest } from "../transport/request.ts";
import type { CallProof } from "./call-proof.ts";

/** A request as its wire has it. */
export interface WireRequest extends Omit<PostRequest, "body"> {
  /**
   * Sent as the JSON that `toWireJson` makes of it: here it may still hold half characters and NUL.
   */
  // Q130, Q131
  readonly body: Record<string, unknown>;
}

export interface Protocol {
  /** The name models carry in `api`. */
  readonly api: string;
  /** The field of the body that lists the transcript. */
  readonly transcript: string;
  /**
   * The request. `continued` says that others stand before these messages, which begin with a turn
   * that calls tools and follows results: then the list has nothing that only its beginning has.
   * Throws `invalid_argument` for what cannot be said on this wire.
   */
  encode(model: Model, context: Context, options: StreamOptions, continued?: boolean): WireRequest;
  /**
   * The model as this wire knows it by now, from what its server refused. Absent: a wire that
   * learns nothing.
   */
  asLearned?(model: Model): Model;
  /** The model as it is to be asked instead, when `error` says what was wrong with `asked`. */
  learn?(model: Model, asked: Model, error: BowlineError): Model | undefined;
  /** What reads one answer's events and writes its message. */
  createReader(writer: MessageWriter, facts: ReaderFacts): ProtocolReader;
}

export interface ReaderFacts {
  /** The tools that were declared, for quirks that need to know. */
  // Q043, Q070
  readonly toolNames: readonly string[];
  /** The model's, in tokens. */
  readonly contextWindow?: number | undefined;
  /** The model's switches. */
  readonly compat?: Compat | undefined;
  /** Whether the request ends with the results of tools: then a model may have no more to say. */
  readonly followsResults?: boolean | undefined;
  /** Hears of the answer's calls, and says whether they may run. */
  readonly proof: CallProof;
  /** The id of a call for which the server gave this one, or none: see `createCallIds`. */
  callId(given?: string): string;
  /** A part of the event that is being read, with the digits of its numbers as they came. */
  exactly(part: unknown): unknown;
}

/**
 * Reads parsed events. Throws a `BowlineError` when the stream reports one or cannot be trusted.
 */
export interface ProtocolReader {
  event(data: Record<string, unknown>, name: string): void;
  /**
   * `[DONE]` came, whatever its spacing and case: in protocols that do not know it, it says
   * nothing.
   */
  // Q015, Q017, Q179
  done?(): void;
  /** The body ended. Writes `done`, or throws when no terminal signal was seen. */
  end(): void;
}
