/**
 * Connects a protocol to the transport: one model call with its retries, as a stream that always
 * ends with `done` or `error`.
 */
import type { Context } from "../llm/message.ts";
import type { AssistantMessageEventStream, Model, StreamOptions } from "../llm/model.ts";
import { EventStream } from "../llm/stream.ts";
import { StreamDecoder } from "./decoder.ts";
import type { Protocol } from "./protocol.ts";
import { createSettled } from "./settled.ts";
import { WireCall } from "./wire-call.ts";
import { toWireJson } from "./wire-json.ts";
import type { Wire } from "./wire.ts";

/**
 * Returns the stream function of a protocol. It never throws or rejects: every failure is the
 * stream's last event.
 */
export function createStreamFn(
  protocol: Protocol,
): (model: Model, context: Context, options?: StreamOptions) => AssistantMessageEventStream {
  const wire: Wire = {
    ...protocol,
    settled: createSettled(protocol),
    stringify: toWireJson,
    createDecoder: (model, facts) => new StreamDecoder(protocol, model, facts),
  };
  return (model, context, options = {}) => streamWire(wire, model, context, options);
}

/** Makes one model call. Never throws or rejects: every failure is the stream's last event. */
export function streamWire(
  wire: Wire,
  model: Model,
  context: Context,
  options: StreamOptions,
): AssistantMessageEventStream {
  return new EventStream(
    async (push, signal) => new WireCall(wire, model, context, options, push, signal).answer(),
    options.signal,
  );
}
