/**
 * The transcript as contents: alternating roles, the results of a turn first and together, opaque
 * data in its place.
 */
import { isRecord } from "../../json-value.ts";
import type { Message, ThinkingContent, ToolCall, UserContent } from "../../llm/message.ts";
import type { Model } from "../../llm/model.ts";
import { goOn, isBlank, toReplay, type ReplayAssistant, type ReplayResult } from "../replay.ts";
import type { Json } from "./fields.ts";
import { nameLimits, toGoogleName } from "./names.ts";
import { unpackOrigin } from "./signature.ts";

export interface WireContent {
  readonly role: "user" | "model";
  readonly parts: Json[];
}

/** A turn while it is put together: results come before anything else of their turn. */
interface Turn {
  readonly role: "user" | "model";
  readonly results: Json[];
  readonly parts: Json[];
}

/**
 * What the reference gives for a call that another model made, or whose signature was lost.
 */
// Q206
const UNSIGNED = "skip_thought_signature_validator";

/**
 * Models from Gemini 3 on check signatures, take images in results, and think in levels. The
 * `latest` names are theirs.
 */
export function isGemini3(id: string): boolean {
  const version = /gemini-(?:[a-z-]*latest$|(\d+))/i.exec(id);
  return version !== null && Number(version[1] ?? 3) >= 3;
}

export function encodeContents(
  messages: readonly Message[],
  model: Model,
  continued: boolean,
): WireContent[] {
  const turns: Turn[] = [];
  const turn = (role: Turn["role"]): Turn => {
    let last = turns.at(-1);
    if (last?.role !== role) turns.push((last = { role, results: [], parts: [] }));
    return last;
  };
  const isRecent = isGemini3(model.id);
  /** Ids that the server gave. */
  const ids = new Set<string>();
  for (const message of goOn(toReplay(messages, model, nameLimits), model)) {
    if (message.role === "user") turn("user").parts.push(...message.content.map(encodePart));
    else if (message.role === "toolResult") addResult(turn("user"), message, ids, isRecent);
    else {
      const parts = encodeAssistant(message, ids);
      if (parts.length > 0) turn("model").parts.push(...parts);
    }
  }
  if (!continued && turns[0]?.role === "model") turns.unshift(opening);
  return turns.map(({ role, results, parts }) => ({
    role,
    parts: role === "model" && isRecent ? signFirstCall(parts) : [...results, ...parts],
  }));
}

/**
 * A call may only follow a turn of the user's; a transcript that was cut or begins with a greeting
 * has none.
 */
const opening: Turn = {
  role: "user",
  results: [],
  parts: [{ text: "(The conversation goes on.)" }],
};

/**
 * Strings are wrapped: a response is an object. Images go inside where the model takes them,
 * else behind all results.
 */
// Q217
function addResult(
  turn: Turn,
  result: ReplayResult,
  ids: ReadonlySet<string>,
  takesImages: boolean,
): void {
  const parts = result.content.map(encodePart);
  const texts = parts.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
  const images = parts.filter((part) => "inlineData" in part);
  const output = texts.join("\n") || (images.length > 0 ? "(see the image)" : "(no output)");
  turn.results.push({
    functionResponse: {
      ...(ids.has(result.toolCallId) && { id: result.toolCallId }),
      name: toGoogleName(result.toolName),
      response: result.isError ? { error: output } : { output },
      ...(takesImages && images.length > 0 && { parts: images }),
    },
  });
  if (!takesImages) turn.parts.push(...images);
}

function encodeAssistant(message: ReplayAssistant, ids: Set<string>): Json[] {
  return message.content.flatMap((part): Json[] => {
    switch (part.type) {
      case "text":
        return [{ text: part.text, ...signed(part.textSignature) }];
      case "thinking":
        return encodeThinkingPart(part);
      case "toolCall":
        return [encodeCall(part, ids)];
      case "opaque":
        return encodeRaw(part.raw);
    }
  });
}

/** Thoughts are replayed to their own model only, so they are there only if they may be. */
function encodeThinkingPart({ thinking: text, thinkingSignature }: ThinkingContent): Json[] {
  const signature = signed(thinkingSignature);
  return isBlank(text) && !("thoughtSignature" in signature)
    ? []
    : [{ thought: true, text, ...signature }];
}

/** An id that we made up is none of the server's business. */
// Q200
function encodeCall(call: ToolCall, ids: Set<string>): Json {
  const { signature, hasId } = unpackOrigin(call.thoughtSignature);
  if (hasId) ids.add(call.id);
  const { id, name } = call;
  return {
    functionCall: { ...(hasId && { id }), name: toGoogleName(name), args: call.arguments },
    ...signed(signature),
  };
}

/**
 * A part that is not ours to understand. One that looks like a call or a result would break their
 * pairing.
 */
function encodeRaw(raw: unknown): Json[] {
  if (!isRecord(raw) || Object.keys(raw).length === 0) return [];
  if (Object.keys(raw).some((name) => /^function_?(?:call|response)$/i.test(name))) return [];
  return [raw];
}

function signed(thoughtSignature: string | undefined): Json {
  return thoughtSignature === undefined || thoughtSignature === "" ? {} : { thoughtSignature };
}

/** Of the calls of one step the first, and no other, must have a signature. */
// Q206
function signFirstCall(parts: readonly Json[]): Json[] {
  const first = parts.findIndex((part) => "functionCall" in part);
  return parts.map((part, index) =>
    index === first ? { thoughtSignature: UNSIGNED, ...part } : part,
  );
}

const imageTypes = new Set(["image/jpeg", "image/png", "image/webp"]);

/** GIF, which other servers read, is refused. */
function encodePart(part: UserContent): Json {
  if (part.type === "text") return { text: part.text };
  const { mimeType, data } = part;
  if (imageTypes.has(mimeType)) return { inlineData: { mimeType, data } };
  return { text: `[an image (${mimeType}) was left out: Gemini reads JPEG, PNG and WebP]` };
}
