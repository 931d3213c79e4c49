/** Short streams of each wire, for tests of its acceptor. */

type Json = { readonly [key: string]: unknown };

/** A body of these events. Strings are written unchanged. */
export function body(...events: readonly (string | Json)[]): Uint8Array {
  const lines = events.map((event) =>
    typeof event === "string" ? event : `${nameOf(event)}data: ${JSON.stringify(event)}\n\n`,
  );
  return new TextEncoder().encode(lines.join(""));
}

/** The event name: the type, for events that have one. */
function nameOf({ type }: Json): string {
  return typeof type === "string" ? `event: ${type}\n` : "";
}

export const done = "data: [DONE]\n\n";

/** A chat chunk. */
export function chunk(delta: Json, reason: string | null = null, index = 0): Json {
  return { id: "chatcmpl-1", choices: [{ index, delta, finish_reason: reason }] };
}

/** A fragment of a chat call; the first has a name. */
export function fragment(index: number, args: string, name?: string, id = `call_${index}`): Json {
  const start = name === undefined ? {} : { id, type: "function" };
  return { tool_calls: [{ index, ...start, function: { name, arguments: args } }] };
}

export const messageStart: Json = { type: "message_start", message: { id: "msg_1", content: [] } };
export const messageStop: Json = { type: "message_stop" };

export function blockStart(index: number, block: Json): Json {
  return { type: "content_block_start", index, content_block: block };
}

export function toolStart(index: number, id = `toolu_${index}`): Json {
  return blockStart(index, { type: "tool_use", id, name: "f", input: {} });
}

export function textStart(index: number): Json {
  return blockStart(index, { type: "text", text: "" });
}

export function textDelta(index: number, text: string): Json {
  return { type: "content_block_delta", index, delta: { type: "text_delta", text } };
}

export function inputDelta(index: number, json: string): Json {
  const delta = { type: "input_json_delta", partial_json: json };
  return { type: "content_block_delta", index, delta };
}

export function blockStop(index: number): Json {
  return { type: "content_block_stop", index };
}

export function messageDelta(reason: string | null): Json {
  return { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 1 } };
}

/** Events of Responses, numbered in their order. */
export function numbered(...events: readonly Json[]): Json[] {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

export const created: Json = { type: "response.created", response: { id: "resp_1", output: [] } };

export function callItem(args: string, id = "fc_0", call_id = "call_0"): Json {
  return { type: "function_call", id, call_id, name: "f", arguments: args };
}

export function messageItem(...texts: string[]): Json {
  const content = texts.map((text) => ({ type: "output_text", text, annotations: [] }));
  return { type: "message", id: "msg_0", role: "assistant", content };
}

export function itemAdded(output_index: number, item: Json): Json {
  return { type: "response.output_item.added", output_index, item };
}

export function itemDone(output_index: number, item: Json): Json {
  return { type: "response.output_item.done", output_index, item };
}

/** An event for the arguments or text of an item. */
export function of(kind: string, output_index: number, fields: Json): Json {
  return { type: `response.${kind}`, output_index, ...fields };
}

export function completed(...output: readonly Json[]): Json {
  return { type: "response.completed", response: { id: "resp_1", status: "completed", output } };
}

/** A Gemini chunk. */
export function generated(parts: readonly Json[], reason?: string): Json {
  const candidate = { content: { role: "model", parts }, ...(reason && { finishReason: reason }) };
  return { candidates: [candidate], responseId: "resp_1" };
}

export function functionCall(fields: Json): Json {
  return { functionCall: fields };
}

/** A part of a streamed argument. */
export function streamed(jsonPath: string, stringValue: string, more: boolean): Json {
  const part = { jsonPath, stringValue, ...(more && { willContinue: true }) };
  return functionCall({ partialArgs: [part], willContinue: true });
}
