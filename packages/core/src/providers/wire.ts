/** What a wire is to the transport: how it is asked, and what reads the answer. */
import type { Model } from "../llm/model.ts";
import type { DecoderOptions, StreamDecoder } from "./decoder.ts";
import type { Protocol } from "./protocol.ts";
import type { FindSettled } from "./settled.ts";

/** What reads the bytes of one answer, as {@link StreamDecoder} does. */
export type Decoder = Pick<
  StreamDecoder,
  "message" | "started" | "ended" | "failure" | "push" | "end" | "fail"
>;

export interface Wire extends Pick<Protocol, "encode" | "asLearned" | "learn"> {
  /** Absent: every request is encoded whole. */
  readonly settled?: FindSettled;
  /** The body as it is sent. */
  stringify(body: unknown): string;
  createDecoder(model: Model, options: DecoderOptions): Decoder;
}
