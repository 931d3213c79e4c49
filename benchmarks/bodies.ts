/** Bodies as model servers send them, and the floor that a decoder is measured against. */

/** One answer of `count` deltas on the chat wire, an event a delta. */
export function chatBody(count: number): Uint8Array[] {
  const delta = (fields: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: fields, finish_reason: finish }] })}\n\n`;
  const events = [delta({ role: "assistant", content: "" })];
  for (let i = 0; i < count; i++) events.push(delta({ content: ` word${i % 10}` }));
  events.push(delta({}, "stop"), "data: [DONE]\n\n");
  return encode(events);
}

/** The same on the Messages wire. */
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
    events.push(event("content_block_delta", { index: 0, delta: { type: "text_delta", text: ` word${i % 10}` } }));
  events.push(
    event("content_block_stop", { index: 0 }),
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: count } }),
    event("message_stop", {}),
  );
  return encode(events);
}

/** Split lines and parse JSON: what no decoder can do without. */
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

/** The same bytes in chunks of `size`, as a busy socket gives them. */
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
