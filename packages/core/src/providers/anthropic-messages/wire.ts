/** The Anthropic Messages wire. */
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
import { MessagesReader } from "./response.ts";

/** The wire without I/O: requests from a context, events from bytes. */
export const anthropicMessages: Protocol = {
  api: "anthropic-messages",
  transcript: "messages",
  encode,
  createReader: (writer, facts) => new MessagesReader(writer, facts),
};

/**
 * Makes one model call on this wire. Never throws or rejects: every failure is the stream's last
 * event.
 */
export const streamAnthropicMessages: (
  model: Model,
  context: Context,
  options?: StreamOptions,
) => AssistantMessageEventStream = createStreamFn(anthropicMessages) satisfies StreamFn;
