/** A wire as the transport sees it: an encoder and a decoder. */
import type { Model } from "../llm/model.ts";
import type { DecoderOptions, StreamDecoder } from "./decoder.ts";
import type { Protocol } from "./protocol.ts";
import type { FindSettled } from "./settled.ts";

/** Reads the bytes of one answer, as {@link StreamDecoder} does. */
export type Decoder = Pick<
  StreamDecoder,
  "message" | "started" | "ended" | "failure" | "push" | "end" | "fail"
>;

export interface Wire extends Pick<Protocol, "encode" | "asLearned" | "learn"> {
  /** If absent, every request is encoded from scratch. */
  readonly settled?: FindSettled;
  /** Returns the body as it is sent. */
  stringify(body: unknown): string;
  createDecoder(model: Model, options: DecoderOptions): Decoder;
}
