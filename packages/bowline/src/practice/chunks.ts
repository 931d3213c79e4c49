/** Converts a reply to OpenAI's chat completion formats: whole, or as stream chunks. */
import type { PracticeReply, PracticeRequest, PracticeToolCall } from "./request.ts";

export const MODEL = "practice";

/** The fields of a chat request that are read. */
export interface ChatRequest extends PracticeRequest {
  readonly stream?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
  readonly tool_choice?: unknown;
}

/** Fields shared by all bodies and chunks of one answer. `created` is in seconds. */
export interface Frame {
  readonly id: string;
  readonly created: number;
  readonly usage: Readonly<Record<"prompt_tokens" | "completion_tokens" | "total_tokens", number>>;
}

export function toCompletion(reply: PracticeReply, { usage, ...frame }: Frame): object {
  const calls = reply.toolCalls.map((call) => toWireCall(call, JSON.stringify(call.arguments)));
  const message = {
    role: "assistant",
    content: reply.text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: toFinish(reply) }];
  return { ...frame, object: "chat.completion", model: MODEL, choices, usage };
}

export function toChunks(
  reply: PracticeReply,
  { usage, ...frame }: Frame,
  withUsage: boolean,
): object[] {
  const toChunk = (choices: object[]): object => ({
    ...frame,
    object: "chat.completion.chunk",
    model: MODEL,
    choices,
  });
  const chunks = toDeltas(reply).map((delta) =>
    toChunk([{ index: 0, delta, finish_reason: null }]),
  );
  chunks.push(toChunk([{ index: 0, delta: {}, finish_reason: toFinish(reply) }]));
  return withUsage ? [...chunks, { ...toChunk([]), usage }] : chunks;
}

/** More calls than this are sent in one chunk, because each chunk is delayed. */
const MANY_CALLS = 20;

/**
 * Returns the role, then a few words at a time, then each call's name and its arguments in
 * fragments. At most a few hundred deltas.
 */
function toDeltas({ text, toolCalls }: PracticeReply): object[] {
  const deltas: object[] = [{ role: "assistant", content: "" }];
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  const step = Math.ceil(words.length / 200);
  for (let at = 0; at < words.length; at += step)
    deltas.push({ content: words.slice(at, at + step).join("") });
  if (toolCalls.length > MANY_CALLS) {
    const whole = toolCalls.map((call, index) => ({
      index,
      ...toWireCall(call, JSON.stringify(call.arguments)),
    }));
    return [...deltas, { tool_calls: whole }];
  }
  for (const [index, call] of toolCalls.entries()) {
    const json = JSON.stringify(call.arguments);
    const size = Math.max(12, Math.ceil(json.length / 40));
    deltas.push({ tool_calls: [{ index, ...toWireCall(call, "") }] });
    for (let at = 0; at < json.length; at += size)
      deltas.push({ tool_calls: [{ index, function: { arguments: json.slice(at, at + size) } }] });
  }
  return deltas;
}

function toWireCall({ id, name }: PracticeToolCall, text: string): object {
  return { id, type: "function", function: { name, arguments: text } };
}

function toFinish({ toolCalls }: PracticeReply): string {
  return toolCalls.length > 0 ? "tool_calls" : "stop";
}
