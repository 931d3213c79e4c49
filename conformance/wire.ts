/** Well-formed pieces of each wire, so that a fixture shows only its own oddity. */
type Json = Record<string, unknown>;

/** Encodes one event for each payload. Strings are sent unchanged. */
export function sse(...payloads: readonly unknown[]): string {
  return payloads
    .map(
      (payload) => `data: ${typeof payload === "string" ? payload : JSON.stringify(payload)}\n\n`,
    )
    .join("");
}

// Chat Completions

export function chunk(delta: unknown, reason: unknown = null, more: Json = {}): Json {
  const choice = { index: 0, delta, finish_reason: reason };
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [choice],
    ...more,
  };
}

export const begin = chunk({ role: "assistant", content: "" });

export function say(text: string): Json {
  return chunk({ content: text });
}

export function finish(reason: unknown = "stop", more: Json = {}): Json {
  return chunk({}, reason, more);
}

/** Returns one entry of `tool_calls`, by default with a valid index and type. */
function toolCall(fields: Json): Json {
  const { name, arguments: args, ...rest } = fields;
  const fn = {
    ...("name" in fields && { name }),
    ...("arguments" in fields && { arguments: args }),
  };
  return { index: 0, ...("id" in fields && { type: "function" }), ...rest, function: fn };
}

/** Returns a chunk of tool calls. A field that is `undefined` is left out. */
export function calls(...list: readonly Json[]): Json {
  return chunk({ tool_calls: list.map(toolCall) });
}

/** Returns a chat answer, with its first chunk and `[DONE]`. */
export function chat(...payloads: readonly unknown[]): string {
  return sse(begin, ...payloads, "[DONE]");
}

/** Returns a chat answer that only calls tools. */
export function chatCalls(...payloads: readonly unknown[]): string {
  return chat(...payloads, finish("tool_calls"));
}

/** An ordinary successful answer. */
export const chatHello = chat(say("Hel"), say("lo."), finish());

// Messages

export function named(...events: readonly Json[]): string {
  return events
    .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

export function messageStart(more: Json = {}): Json {
  const start = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
    ...more,
  };
  return { type: "message_start", message: start };
}

export function blockStart(index: number, block: Json): Json {
  return { type: "content_block_start", index, content_block: block };
}

export function blockDelta(index: number, delta: Json): Json {
  return { type: "content_block_delta", index, delta };
}

export function blockStop(index: number): Json {
  return { type: "content_block_stop", index };
}

export function textBlock(index: number, text: string): Json[] {
  return [
    blockStart(index, { type: "text", text: "" }),
    blockDelta(index, { type: "text_delta", text }),
    blockStop(index),
  ];
}

export function toolStart(index: number, more: Json = {}): Json {
  return blockStart(index, {
    type: "tool_use",
    id: `toolu_${index}`,
    name: "get_weather",
    input: {},
    ...more,
  });
}

export function inputDelta(index: number, text: string): Json {
  return blockDelta(index, { type: "input_json_delta", partial_json: text });
}

export function toolBlock(index: number, text: string, more: Json = {}): Json[] {
  return [toolStart(index, more), inputDelta(index, text), blockStop(index)];
}

export function messageDelta(
  reason: unknown = "end_turn",
  usage: Json = { output_tokens: 7 },
): Json {
  return { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage };
}

export const messageStop: Json = { type: "message_stop" };

/** Returns a Messages answer with these blocks. */
export function message(reason: unknown, ...events: readonly Json[]): string {
  return named(messageStart(), ...events, messageDelta(reason), messageStop);
}

// Responses

/** Numbers the events in order. */
export function numbered(...events: readonly Json[]): string {
  return named(...events.map((event, index) => ({ ...event, sequence_number: index })));
}

export function responseOf(status: string, output: unknown, more: Json = {}): Json {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "m",
    status,
    error: null,
    incomplete_details: null,
    output,
    usage: null,
    ...more,
  };
}

export const created: Json = { type: "response.created", response: responseOf("in_progress", []) };

export function completed(output: unknown, more: Json = {}): Json {
  return {
    type: "response.completed",
    response: responseOf("completed", output, { usage: responseUsage, ...more }),
  };
}

export const responseUsage: Json = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 17,
};

export function messageItem(text: string, more: Json = {}): Json {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content, ...more };
}

export function callItem(args: string, more: Json = {}): Json {
  return {
    id: "fc_1",
    type: "function_call",
    status: "completed",
    call_id: "call_1",
    name: "get_weather",
    arguments: args,
    ...more,
  };
}

export function itemAdded(index: number, item: Json): Json {
  return { type: "response.output_item.added", output_index: index, item };
}

export function itemDone(index: number, item: Json): Json {
  return { type: "response.output_item.done", output_index: index, item };
}

function at(index: number, itemId: string): Json {
  return { item_id: itemId, output_index: index, content_index: 0 };
}

export function partAdded(index: number, id = "msg_1"): Json {
  const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
  return { type: "response.content_part.added", ...at(index, id), part };
}

export function textDelta(index: number, delta: string, id = "msg_1"): Json {
  return { type: "response.output_text.delta", ...at(index, id), delta, logprobs: [] };
}

export function textDone(index: number, text: string, id = "msg_1"): Json {
  return { type: "response.output_text.done", ...at(index, id), text, logprobs: [] };
}

export function argumentsDelta(index: number, delta: string, id = "fc_1"): Json {
  return {
    type: "response.function_call_arguments.delta",
    item_id: id,
    output_index: index,
    delta,
  };
}

export function argumentsDone(
  index: number,
  text: string,
  id = "fc_1",
  name = "get_weather",
): Json {
  return {
    type: "response.function_call_arguments.done",
    item_id: id,
    output_index: index,
    name,
    arguments: text,
  };
}

/** Returns a complete message item. */
export function textItem(index: number, text: string): Json[] {
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  return [
    itemAdded(index, messageItem("", { content: [], status: "in_progress" })),
    partAdded(index),
    textDelta(index, text),
    textDone(index, text),
    { type: "response.content_part.done", ...at(index, "msg_1"), part },
    itemDone(index, messageItem(text)),
  ];
}

/** Returns a complete function call item. */
export function callEvents(
  index: number,
  text: string,
  more: Json & { readonly id?: string | undefined; readonly name?: string } = {},
): Json[] {
  const { name } = more;
  const id = "id" in more ? (more.id ?? "") : "fc_1";
  return [
    itemAdded(index, callItem("", { status: "in_progress", ...more })),
    argumentsDelta(index, text.slice(0, 6), id),
    argumentsDelta(index, text.slice(6), id),
    argumentsDone(index, text, id, name),
    itemDone(index, callItem(text, more)),
  ];
}

// generateContent

/** Google ends lines with CR LF. */
export function google(...chunks: readonly unknown[]): string {
  return chunks.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`).join("");
}

export function parts(list: unknown, reason?: string, more: Json = {}): Json {
  const candidate = {
    content: { role: "model", parts: list },
    index: 0,
    ...(reason !== undefined && { finishReason: reason }),
  };
  return {
    candidates: [candidate],
    usageMetadata: googleUsage,
    modelVersion: "m",
    responseId: "r1",
    ...more,
  };
}

export const googleUsage: Json = {
  promptTokenCount: 10,
  candidatesTokenCount: 7,
  totalTokenCount: 17,
};

export function functionCall(args: unknown, more: Json = {}): Json {
  return { functionCall: { name: "get_weather", args }, ...more };
}
