/** The OpenAI Chat Completions wire, spoken by most model servers. */
import type { StreamFn } from "../../llm/model.ts";
import type { AssistantMessageEventStream, Model, StreamOptions } from "../../llm/model.ts";
import type { Context } from "../../llm/message.ts";
import type { Protocol } from "../protocol.ts";
import { createStreamFn } from "../stream.ts";
import { encode } from "./request.ts";
import { ChatReader } from "./response.ts";

export { openaiCompatible, streamOpenaiCompatible } from "./compatible.ts";

/** The wire without I/O: requests from a context, events from bytes. */
export const openaiChat: Protocol = {
  api: "openai-chat",
  transcript: "messages",
  encode,
  createReader: (writer, facts) => new ChatReader(writer, facts),
};

/**
 * Makes one model call on this wire. Ignores the model's `Dialect`; use `streamOpenaiCompatible`
 * for that. Never throws or rejects: every failure is the stream's last event.
 */
export const streamOpenaiChat: (
  model: Model,
  context: Context,
  options?: StreamOptions,
) => AssistantMessageEventStream = createStreamFn(openaiChat) satisfies StreamFn;
