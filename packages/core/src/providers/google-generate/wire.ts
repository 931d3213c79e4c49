/** The Gemini generateContent wire. */
import type { Context } from "../../llm/message.ts";
import type {
  AssistantMessageEventStream,
  Model,
  StreamFn,
  StreamOptions,
} from "../../llm/model.ts";
import type { Protocol } from "../protocol.ts";
import { createStreamFn } from "../stream.ts";
import { encode } from "./request.ts";
import { GenerateReader } from "./response.ts";

/** The wire without I/O: requests from a context, events from bytes. */
export const googleGenerate: Protocol = {
  api: "google-generate",
  transcript: "contents",
  encode,
  createReader: (writer, facts) => new GenerateReader(writer, facts),
};

/**
 * Makes one model call on this wire. Never throws or rejects: every failure is the stream's last
 * event.
 */
export const streamGoogleGenerate: (
  model: Model,
  context: Context,
  options?: StreamOptions,
) => AssistantMessageEventStream = createStreamFn(googleGenerate) satisfies StreamFn;
