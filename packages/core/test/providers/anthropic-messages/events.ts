/** Hand-written streams of Messages events, and their decoded answers. */
import type { AssistantContent, AssistantMessage } from "../../../src/llm/message.ts";
import { anthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { decodeEveryWay, type Decoded } from "../decode.ts";

type Json = Record<string, unknown>;

/** Decodes a body whole and in every other way that must give the same result. */
export const read = (body: string, toolNames: readonly string[] = []): Decoded =>
  decodeEveryWay(anthropicMessages, body, toolNames);

export const answer = (...events: (object | string)[]): AssistantMessage =>
  read(sse(...events)).message;

/** Events with their names, as the reference server writes them. */
export const sse = (...events: (object | string)[]): string =>
  events
    .map((event) =>
      typeof event === "string"
        ? `data: ${event}\n\n`
        : `event: ${String((event as Json).type)}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join("");

export const begin = (message: object = { id: "msg_1", model: "recorded" }): object => ({
  type: "message_start",
  message,
});
export const start = (index: number, content_block: object): object => ({
  type: "content_block_start",
  index,
  content_block,
});
export const delta = (index: number, fields: object): object => ({
  type: "content_block_delta",
  index,
  delta: fields,
});
export const stop = (index: number): object => ({ type: "content_block_stop", index });
export const end = (stop_reason: unknown, usage?: object): object => ({
  type: "message_delta",
  delta: { stop_reason },
  usage,
});
export const over = { type: "message_stop" };

export const text = (index: number, ...pieces: string[]): object[] => [
  start(index, { type: "text", text: "" }),
  ...pieces.map((piece) => delta(index, { type: "text_delta", text: piece })),
  stop(index),
];
export const json = (index: number, partial_json: string): object =>
  delta(index, { type: "input_json_delta", partial_json });
export const toolUse = (id: unknown, name = "f", input: unknown = {}): object => ({
  type: "tool_use",
  id,
  name,
  input,
});
export const call = (index: number, id: unknown, ...pieces: string[]): object[] => [
  start(index, toolUse(id)),
  ...pieces.map((piece) => json(index, piece)),
  stop(index),
];
export const calls = (message: AssistantMessage): unknown[] =>
  message.content.flatMap((part) =>
    part.type === "toolCall" ? [[part.id, part.name, part.arguments]] : [],
  );
export const ending = (message: AssistantMessage): unknown[] => [
  message.stopReason,
  message.rawStopReason,
  message.error?.code,
];
export const hello = [begin(), ...text(0, "Hel", "lo")];
export const said: AssistantContent[] = [{ type: "text", text: "Hello" }];
