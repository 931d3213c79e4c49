/** The events of two wires, written one at a time, so that a script can pause between them. */

type Json = Record<string, unknown>;
export type Api = "chat" | "messages";

/** Encodes one answer. Each method returns the bytes of its events. */
export interface Encoder {
  text(token: string): string;
  thinking(token: string): string;
  call(name: string, args: object): string;
  end(): string;
}

/** Creates the encoder of answer `number` to a request of `bytes` bytes. */
export const encoders: Readonly<Record<Api, (number: number, bytes: number) => Encoder>> = {
  chat: chatEncoder,
  messages: messagesEncoder,
};

const BYTES_PER_TOKEN = 4;

function chatEncoder(number: number, bytes: number): Encoder {
  let calls = 0;
  let tokens = 0;
  const event = (data: Json | string): string =>
    `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
  const chunk = (delta: Json, reason: string | null = null): Json => ({
    id: `chatcmpl-${number}`,
    object: "chat.completion.chunk",
    created: 0,
    model: "thinker-1",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  return {
    text(content) {
      tokens += 1;
      return event(chunk({ content }));
    },
    thinking(reasoning_content) {
      tokens += 1;
      return event(chunk({ reasoning_content }));
    },
    call(name, args) {
      const index = calls++;
      const id = `call_${number}_${index}`;
      tokens += 10;
      const fields = { name, arguments: JSON.stringify(args) };
      return event(chunk({ tool_calls: [{ index, id, type: "function", function: fields }] }));
    },
    end() {
      const prompt = Math.ceil(bytes / BYTES_PER_TOKEN);
      const usage = {
        prompt_tokens: prompt,
        completion_tokens: tokens,
        total_tokens: prompt + tokens,
      };
      return [
        chunk({}, calls > 0 ? "tool_calls" : "stop"),
        { ...chunk({}), choices: [], usage },
        "[DONE]",
      ]
        .map(event)
        .join("");
    },
  };
}

function messagesEncoder(number: number, bytes: number): Encoder {
  let index = -1;
  let open: "text" | "thinking" | undefined;
  let calls = 0;
  let tokens = 0;
  const event = (data: Json & { readonly type: string }): string =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const start = once(() =>
    event({
      type: "message_start",
      message: {
        id: `msg_${number}`,
        type: "message",
        role: "assistant",
        model: "thinker-1",
        content: [],
        usage: { input_tokens: Math.ceil(bytes / BYTES_PER_TOKEN), output_tokens: 1 },
      },
    }),
  );
  const closed = (): string => {
    if (open === undefined) return "";
    const signature = event({
      type: "content_block_delta",
      index,
      delta: { type: "signature_delta", signature: `signature-${number}` },
    });
    const end = `${open === "thinking" ? signature : ""}${event({ type: "content_block_stop", index })}`;
    open = undefined;
    return end;
  };
  const delta = (kind: "text" | "thinking", token: string): string => {
    tokens += 1;
    let before = start();
    if (open !== kind) {
      before += closed();
      open = kind;
      index += 1;
      const block = kind === "text" ? { text: "" } : { thinking: "", signature: "" };
      before += event({
        type: "content_block_start",
        index,
        content_block: { type: kind, ...block },
      });
    }
    const piece = { type: `${kind}_delta`, [kind]: token };
    return before + event({ type: "content_block_delta", index, delta: piece });
  };
  return {
    text: (token) => delta("text", token),
    thinking: (token) => delta("thinking", token),
    call(name, args) {
      const before = start() + closed();
      index += 1;
      tokens += 10;
      const id = `toolu_${number}_${calls++}`;
      const partial_json = JSON.stringify(args);
      return [
        before,
        event({
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", id, name, input: {} },
        }),
        event({
          type: "content_block_delta",
          index,
          delta: { type: "input_json_delta", partial_json },
        }),
        event({ type: "content_block_stop", index }),
      ].join("");
    },
    end: () =>
      [
        start(),
        closed(),
        event({
          type: "message_delta",
          delta: { stop_reason: calls > 0 ? "tool_use" : "end_turn", stop_sequence: null },
          usage: { output_tokens: tokens },
        }),
        event({ type: "message_stop" }),
      ].join(""),
  };
}

/** Returns the value at the first call, and "" later. */
function once(make: () => string): () => string {
  let isDone = false;
  return () => {
    if (isDone) return "";
    isDone = true;
    return make();
  };
}
