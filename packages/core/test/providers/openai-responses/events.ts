/** Hand-written streams of Responses events, and their decoded answers. */
import type { AssistantContent, AssistantMessage } from "../../../src/llm/message.ts";
import { openaiResponses } from "../../../src/providers/openai-responses/index.ts";
import { decodeEveryWay, type Decoded } from "../decode.ts";

type Json = Record<string, unknown>;

/** Decodes a body whole and in every other way that must give the same result. */
export const read = (body: string, toolNames: readonly string[] = []): Decoded =>
  decodeEveryWay(openaiResponses, body, toolNames);

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

export const created = (response: object = { id: "resp_1", model: "recorded" }): object => ({
  type: "response.created",
  response: { status: "in_progress", output: [], ...response },
});
export const completed = (response: object = {}): object => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", error: null, output: [], ...response },
});
export const incomplete = (reason: unknown, response: object = {}): object => ({
  type: "response.incomplete",
  response: { status: "incomplete", incomplete_details: { reason }, ...response },
});

/** An event of the item at this place; `undefined` if the server gives no place. */
export const at = (
  output_index: number | undefined,
  type: string,
  fields: object = {},
): object => ({
  type: `response.${type}`,
  output_index,
  ...fields,
});
export const added = (index: number | undefined, item: object): object =>
  at(index, "output_item.added", { item });
export const done = (index: number | undefined, item: object): object =>
  at(index, "output_item.done", { item });

export const message = (text: string, fields: object = {}): object => ({
  type: "message",
  role: "assistant",
  content: text === "" ? [] : [{ type: "output_text", text, annotations: [] }],
  ...fields,
});
export const piece = (index: number | undefined, delta: string, content_index = 0): object =>
  at(index, "output_text.delta", { content_index, delta });
/** A streamed message with all of its events. */
export const text = (index: number, ...pieces: string[]): object[] => [
  added(index, message("")),
  at(index, "content_part.added", { content_index: 0, part: { type: "output_text", text: "" } }),
  ...pieces.map((delta) => piece(index, delta)),
  at(index, "output_text.done", { content_index: 0, text: pieces.join("") }),
  at(index, "content_part.done", {
    content_index: 0,
    part: { type: "output_text", text: pieces.join("") },
  }),
  done(index, message(pieces.join(""), { status: "completed" })),
];

export const functionCall = (
  call_id: unknown,
  args: unknown = "",
  fields: object = {},
): object => ({
  type: "function_call",
  call_id,
  name: "f",
  arguments: args,
  ...fields,
});
export const json = (index: number | undefined, delta: string): object =>
  at(index, "function_call_arguments.delta", { delta });
export const jsonDone = (index: number | undefined, args: unknown, fields: object = {}): object =>
  at(index, "function_call_arguments.done", { arguments: args, ...fields });
/** A streamed call with all of its events. */
export const call = (index: number, id: unknown, ...pieces: string[]): object[] => [
  added(index, functionCall(id)),
  ...pieces.map((delta) => json(index, delta)),
  jsonDone(index, pieces.join("")),
  done(index, functionCall(id, pieces.join(""), { status: "completed" })),
];

export const reasoning = (summary: readonly string[] = [], fields: object = {}): object => ({
  type: "reasoning",
  summary: summary.map((words) => ({ type: "summary_text", text: words })),
  ...fields,
});
export const summary = (index: number | undefined, summary_index: number, delta: string): object =>
  at(index, "reasoning_summary_text.delta", { summary_index, delta });

export const opaque = (raw: object): AssistantContent => ({
  type: "opaque",
  protocol: "openai-responses",
  raw,
});
export const calls = (answered: AssistantMessage): unknown[] =>
  answered.content.flatMap((part) =>
    part.type === "toolCall" ? [[part.id, part.name, part.arguments]] : [],
  );
export const ending = (answered: AssistantMessage): unknown[] => [
  answered.stopReason,
  answered.rawStopReason,
  answered.error?.code,
];
export const hello = [created(), ...text(0, "Hel", "lo")];
export const said: AssistantContent[] = [{ type: "text", text: "Hello" }];
