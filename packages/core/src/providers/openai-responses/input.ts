/**
 * Encodes the transcript as input items in their original order: a turn's reasoning precedes what
 * it led to.
 */
// Q195
import { isRecord } from "../../json-value.ts";
import type {
  Message,
  OpaqueContent,
  ThinkingContent,
  ToolCall,
  UserContent,
} from "../../llm/message.ts";
import type { Model } from "../../llm/model.ts";
import {
  goOn,
  toReplay,
  type ReplayAssistant,
  type ReplayMessage,
  type ReplayResult,
  type WireLimits,
} from "../replay.ts";
import { isBlank } from "../is-blank.ts";
import { toWireJson } from "../wire-json.ts";
import { encodeScreenshot } from "./computer.ts";
import { fromSignature } from "./signature.ts";

type Json = Record<string, unknown>;

export interface WireItem {
  readonly type: string;
  readonly [field: string]: unknown;
}

export const nameLimits: WireLimits = {
  idLength: 64,
  nameLength: 64,
  files:
    /^(?:https?:(?:image\/|text\/|application\/(?:pdf|json)$)|data:(?:image\/(?:jpeg|png|gif|webp)|application\/pdf)$)/,
};

/**
 * Encodes the input. `stored` means that the server stores the items; only then are their ids sent.
 * The server refuses the id of an item that it did not store. It also refuses an item without its
 * reasoning if the id shows that there was some.
 */
// Q193, Q196
export function encodeInput(
  messages: readonly Message[],
  model: Model,
  stored: boolean,
): WireItem[] {
  const replay = goOn(toReplay(messages, model, nameLimits), model);
  const whole = sendable(replay);
  const callers = new Map<string, unknown>();
  const computers = new Map<string, Json>();
  return replay.flatMap((message): WireItem[] => {
    switch (message.role) {
      case "user":
        return [{ type: "message", role: "user", content: message.content.map(encodePart) }];
      case "assistant":
        return encodeAssistant(message, {
          whole,
          callers,
          computers,
          stored,
          readable: model.compat?.replayReasoning === true,
        });
      case "toolResult": {
        const call = computers.get(message.toolCallId);
        return call ? encodeScreenshot(message, call) : [encodeResult(message, callers)];
      }
    }
  });
}

interface Rules {
  /** The opaque items that may be sent. */
  readonly whole: ReadonlySet<unknown>;
  /** The server's programs that made calls, by call id. They receive the results. */
  readonly callers: Map<string, unknown>;
  /** The items of calls of a computer, by call id. */
  readonly computers: Map<string, Json>;
  readonly stored: boolean;
  /** Whether reasoning is sent back as text. */
  // Q132, Q133
  readonly readable: boolean;
}

function encodeAssistant(message: ReplayAssistant, rules: Rules): WireItem[] {
  const items: WireItem[] = [];
  let open: { readonly id: unknown; readonly content: unknown[] } | undefined;
  for (const part of message.content) {
    if (part.type === "text") {
      const { id, phase, annotations } = fromSignature(part.textSignature);
      const cited: unknown[] = Array.isArray(annotations) ? annotations : [];
      const content = { type: "output_text", text: part.text, annotations: cited };
      if (open !== undefined && id !== undefined && open.id === id) {
        open.content.push(content); // another part of the same message
        continue;
      }
      open = { id, content: [content] };
      items.push({
        type: "message",
        role: "assistant",
        content: open.content,
        ...idOf(id, rules),
        ...(typeof phase === "string" && { phase }),
      });
      continue;
    }
    open = undefined;
    if (part.type === "thinking") items.push(...encodeThinking(part, rules));
    else if (part.type === "toolCall") items.push(encodeCall(part, rules));
    else if (part.type !== "opaque") attachImage(items, part);
    else if (rules.whole.has(part.raw)) items.push(part.raw as WireItem);
  }
  // An item whose image was removed from the transcript.
  const sent = items.filter(({ type, result }) => type !== IMAGE_CALL || result !== "");
  items.splice(0, items.length, ...sent);
  // The server refuses reasoning without what it led to (Q195).
  while (items.at(-1)?.type === "reasoning") items.pop();
  return items;
}

/** The item of a generated image. Its image is the next part. */
const IMAGE_CALL = "image_generation_call";

/** Puts an image back into the item that it was taken from. */
function attachImage(items: WireItem[], { data }: { readonly data?: string | undefined }): void {
  const item = items.at(-1);
  if (item?.type === IMAGE_CALL && data !== undefined)
    items[items.length - 1] = { ...item, result: data };
}

/**
 * Sends reasoning in its encrypted form, with `summary` even if it is empty. Reasoning without an
 * encrypted form cannot be verified, and is left out unless the server stored it or reads it as
 * text.
 */
// Q197
function encodeThinking(
  { thinking: text, thinkingSignature, field }: ThinkingContent,
  rules: Rules,
): WireItem[] {
  const { id, encrypted_content: encrypted } = fromSignature(thinkingSignature);
  const known = idOf(id, rules);
  const hasText = !isBlank(text);
  if (typeof encrypted !== "string" && known === undefined && !(rules.readable && hasText))
    return [];
  const isSummary = field !== "reasoning_text";
  return [
    {
      type: "reasoning",
      ...known,
      summary: isSummary && hasText ? [{ type: "summary_text", text }] : [],
      ...(!isSummary &&
        hasText &&
        rules.readable && { content: [{ type: "reasoning_text", text }] }),
      ...(typeof encrypted === "string" && { encrypted_content: encrypted }),
    },
  ];
}

/** Encodes a call. Its arguments are always a JSON object. */
// Q129
function encodeCall(call: ToolCall, rules: Rules): WireItem {
  const { id, caller, namespace, computer } = fromSignature(call.thoughtSignature);
  if (isRecord(computer)) {
    rules.computers.set(call.id, computer);
    return { ...computer, call_id: call.id } as unknown as WireItem;
  }
  if (caller !== undefined) rules.callers.set(call.id, caller);
  return {
    type: "function_call",
    ...idOf(id, rules),
    call_id: call.id,
    name: call.name,
    arguments: toWireJson(call.arguments),
    ...(caller !== undefined && { caller }),
    ...(namespace !== undefined && { namespace }),
  };
}

/** Encodes a result, as a string if it is only text, since some servers accept nothing else. */
function encodeResult(
  { toolCallId, content }: ReplayResult,
  callers: ReadonlyMap<string, unknown>,
): WireItem {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const caller = callers.get(toolCallId);
  return {
    type: "function_call_output",
    call_id: toolCallId,
    output:
      text.length < content.length ? content.map(encodePart) : text.join("\n") || "(no output)",
    ...(caller !== undefined && { caller }),
  };
}

function encodePart(part: UserContent): WireItem {
  if (part.type === "text") return { type: "input_text", text: part.text };
  if (part.type === "file" && part.url !== undefined)
    return { type: "input_file", file_url: part.url };
  const url = part.url ?? `data:${part.mimeType};base64,${part.data}`;
  return part.type === "image"
    ? { type: "input_image", image_url: url, detail: "auto" }
    : { type: "input_file", filename: part.name?.trim() || "file.pdf", file_data: url };
}

function idOf(id: unknown, { stored }: Rules): { readonly id: string } | undefined {
  return stored && typeof id === "string" ? { id } : undefined;
}

/**
 * Returns the provider's own items that may be sent. An item that expects an output from us (a
 * custom tool, a local shell) is refused without it, and an output without its call. Items that the
 * server completed itself need no partner.
 */
// Q127
function sendable(replay: readonly ReplayMessage[]): ReadonlySet<unknown> {
  const whole = new Set<unknown>();
  const calls = new Map<string, WireItem>();
  const answered = new Set<string>();
  for (const message of replay) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      const item = part.type === "opaque" ? asItem(part) : undefined;
      if (item === undefined) continue;
      const { call_id: id } = item;
      if (typeof id !== "string") whole.add(item);
      else if (!item.type.endsWith("_output")) calls.set(id, item);
      else if (calls.has(id) && !answered.has(id)) {
        answered.add(id);
        whole.add(calls.get(id)).add(item);
      }
    }
  }
  return whole;
}

function asItem({ raw }: OpaqueContent): WireItem | undefined {
  return isRecord(raw) && typeof raw.type === "string" ? (raw as WireItem) : undefined;
}
