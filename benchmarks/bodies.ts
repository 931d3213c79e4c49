/** Response bodies in the formats of model servers, and the baseline for decoders. */

/** Returns an answer of `count` deltas on the chat wire, one event per delta. */
export function chatBody(count: number): Uint8Array[] {
  const events = [chatChunk({ role: "assistant", content: "" })];
  for (let i = 0; i < count; i++) events.push(chatChunk({ content: ` word${i % 10}` }));
  events.push(chatChunk({}, "stop"), "data: [DONE]\n\n");
  return encode(events);
}

/** Returns the same answer, but most deltas are arguments of a tool call. */
export function callBody(count: number): Uint8Array[] {
  const call = (fields: object): string => chatChunk({ tool_calls: [{ index: 0, ...fields }] });
  const events = [
    call({ id: "call_1", type: "function", function: { name: "write", arguments: '{"text":"' } }),
  ];
  for (let i = 0; i < count; i++) events.push(call({ function: { arguments: ` word${i % 10}` } }));
  events.push(
    call({ function: { arguments: '"}' } }),
    chatChunk({}, "tool_calls"),
    "data: [DONE]\n\n",
  );
  return encode(events);
}

function chatChunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

/** Returns the same answer on the Messages wire. */
export function messagesBody(count: number): Uint8Array[] {
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = { input_tokens: 10, output_tokens: 1 };
  const events = [
    event("message_start", {
      message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  ];
  for (let i = 0; i < count; i++)
    events.push(
      event("content_block_delta", {
        index: 0,
        delta: { type: "text_delta", text: ` word${i % 10}` },
      }),
    );
  events.push(
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: count } }),
    event("message_stop", {}),
  );
  return encode(events);
}

/**
 * Returns the same answer on the Responses wire, with ids, sequence numbers and padding as OpenAI
 * sends them.
 */
export function responsesBody(count: number): Uint8Array[] {
  let sequence_number = 0;
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...fields })}\n\n`;
  const response = {
    id: "resp_1",
    object: "response",
    status: "in_progress",
    model: "m",
    output: [],
  };
  const item = {
    id: `msg_${"0123456789abcdef".repeat(3)}`,
    type: "message",
    status: "in_progress",
    role: "assistant",
  };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const words = Array.from({ length: count }, (_, index) => ` word${index % 10}`);
  const part = { type: "output_text", text: words.join(""), annotations: [], logprobs: [] };
  const whole = { ...item, status: "completed", content: [part] };
  const usage = { input_tokens: 10, output_tokens: count, total_tokens: count + 10 };
  return encode([
    event("response.created", { response }),
    event("response.in_progress", { response }),
    event("response.output_item.added", { output_index: 0, item: { ...item, content: [] } }),
    event("response.content_part.added", { ...place, part: { ...part, text: "" } }),
    ...words.map((delta) =>
      event("response.output_text.delta", {
        ...place,
        delta,
        logprobs: [],
        obfuscation: "kT3vQ9xB1n",
      }),
    ),
    event("response.output_text.done", { ...place, text: part.text, logprobs: [] }),
    event("response.content_part.done", { ...place, part }),
    event("response.output_item.done", { output_index: 0, item: whole }),
    event("response.completed", {
      response: { ...response, status: "completed", output: [whole], usage },
    }),
  ]);
}

/**
 * Returns the same answer on Gemini's wire. Every chunk repeats the token counts, the model and the
 * id.
 */
export function generateBody(count: number): Uint8Array[] {
  const chunk = (text: string, at: number, finish?: string): string => {
    const tokens = { promptTokenCount: 10, candidatesTokenCount: at, totalTokenCount: at + 10 };
    const data = {
      candidates: [
        { content: { parts: [{ text }], role: "model" }, finishReason: finish, index: 0 },
      ],
      usageMetadata: { ...tokens, promptTokensDetails: [{ modality: "TEXT", tokenCount: 10 }] },
      modelVersion: "m",
      responseId: "Xa1zZ8vXKqWn1MkP3rGjsAo",
    };
    return `data: ${JSON.stringify(data)}\r\n\r\n`;
  };
  const words = Array.from({ length: count }, (_, index) => chunk(` word${index % 10}`, index + 1));
  return encode([...words, chunk("", count, "STOP")]);
}

/** Splits lines and parses JSON. Every decoder must do at least this. */
export function parseOnly(chunks: readonly Uint8Array[]): number {
  const decoder = new TextDecoder();
  let tail = "";
  let parsed = 0;
  for (const chunk of chunks) {
    const lines = (tail + decoder.decode(chunk, { stream: true })).split("\n");
    tail = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      JSON.parse(line.slice(6));
      parsed++;
    }
  }
  return parsed;
}

/** Returns the same bytes in chunks of `size`, as a busy socket delivers them. */
export function rechunk(chunks: readonly Uint8Array[], size: number): Uint8Array[] {
  const whole = Buffer.concat(chunks);
  return Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
    whole.subarray(index * size, (index + 1) * size),
  );
}

function encode(events: readonly string[]): Uint8Array[] {
  const encoder = new TextEncoder();
  return events.map((event) => encoder.encode(event));
}
