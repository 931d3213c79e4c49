/**
 * Encodes the transcript as contents: alternating roles, the results of a turn first and together,
 * opaque data in place.
 */
import { asRecord, isRecord } from "../../json-value.ts";
import type { Message, ThinkingContent, ToolCall, UserContent } from "../../llm/message.ts";
import type { Model } from "../../llm/model.ts";
import { goOn, toReplay, type ReplayAssistant, type ReplayResult } from "../replay.ts";
import { isBlank } from "../is-blank.ts";
import type { Json } from "./fields.ts";
import { isEmptied, withData } from "./media.ts";
import { nameLimits, toGoogleName } from "./names.ts";
import { unpackOrigin } from "./signature.ts";

export interface WireContent {
  readonly role: "user" | "model";
  readonly parts: Json[];
}

/** A turn under construction. Tool results precede its other parts. */
interface Turn {
  readonly role: "user" | "model";
  readonly results: Json[];
  readonly parts: Json[];
}

/**
 * The signature that the reference defines for calls that another model made, or that lost their
 * signature.
 */
// Q206
const UNSIGNED = "skip_thought_signature_validator";

/**
 * Returns whether the model is Gemini 3 or later. These check signatures, accept images in results,
 * and think in levels. The `latest` names refer to them.
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
  /** The call ids that the server assigned. */
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
 * A call may only follow a user turn. A transcript that was shortened or begins with a greeting has
 * none.
 */
const opening: Turn = {
  role: "user",
  results: [],
  parts: [{ text: "(The conversation goes on.)" }],
};

/**
 * Adds a tool result. Strings are wrapped, since a response must be an object. Images and PDFs go
 * inside if the model accepts them there. They and other files go after all results otherwise.
 */
// Q217
function addResult(
  turn: Turn,
  result: ReplayResult,
  ids: ReadonlySet<string>,
  takesMedia: boolean,
): void {
  const parts = result.content.map(encodePart);
  const texts = parts.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
  const media = parts.filter(({ text }) => text === undefined);
  const inside = takesMedia ? media.filter(isResultMedia) : [];
  const [first] = result.content.filter(({ type }) => type !== "text");
  const seen = media.length > 0 ? `(see the ${first?.type})` : "(no output)";
  const output = texts.join("\n") || seen;
  turn.results.push({
    functionResponse: {
      ...(ids.has(result.toolCallId) && { id: result.toolCallId }),
      name: toGoogleName(result.toolName),
      response: result.isError ? { error: output } : { output },
      ...(inside.length > 0 && { parts: inside }),
    },
  });
  turn.parts.push(...media.filter((part) => !inside.includes(part)));
}

/** Returns whether a result may contain the part. Others are refused there. */
function isResultMedia({ inlineData }: Json): boolean {
  return /^(?:image|application)\//.test(String(asRecord(inlineData).mimeType));
}

function encodeAssistant(message: ReplayAssistant, ids: Set<string>): Json[] {
  return message.content.flatMap((part, index): Json[] => {
    switch (part.type) {
      case "text":
        return [{ text: part.text, ...signed(part.textSignature) }];
      case "thinking":
        return encodeThinkingPart(part);
      case "toolCall":
        return [encodeCall(part, ids)];
      case "opaque":
        return encodeRaw(part.raw, message.content[index + 1]);
      case "image":
      case "file":
        return []; // sent with the opaque part before it
    }
  });
}

/**
 * Encodes thinking. Replay keeps it only for the model that wrote it, so no further check is
 * needed.
 */
function encodeThinkingPart({ thinking: text, thinkingSignature }: ThinkingContent): Json[] {
  const signature = signed(thinkingSignature);
  return isBlank(text) && !("thoughtSignature" in signature)
    ? []
    : [{ thought: true, text, ...signature }];
}

/** Encodes a call. An id that Bowline made up is not sent. */
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
 * Encodes an opaque part. Parts that look like calls or results are dropped, since they would break
 * the pairing.
 */
function encodeRaw(raw: unknown, next: ReplayAssistant["content"][number] | undefined): Json[] {
  if (!isRecord(raw) || Object.keys(raw).length === 0) return [];
  if (Object.keys(raw).some((name) => /^function_?(?:call|response)$/i.test(name))) return [];
  if (!isEmptied(raw)) return [raw];
  // Its image may have been removed from the transcript.
  const data = next?.type === "image" || next?.type === "file" ? next.data : undefined;
  return data === undefined ? [] : [withData(raw, data)];
}

function signed(thoughtSignature: string | undefined): Json {
  return thoughtSignature === undefined || thoughtSignature === "" ? {} : { thoughtSignature };
}

/** Signs the first call of a step. The server requires a signature there and on no other call. */
// Q206
function signFirstCall(parts: readonly Json[]): Json[] {
  const first = parts.findIndex((part) => "functionCall" in part);
  return parts.map((part, index) =>
    index === first ? { thoughtSignature: UNSIGNED, ...part } : part,
  );
}

function encodePart(part: UserContent): Json {
  if (part.type === "text") return { text: part.text };
  const { mimeType, data, url } = part;
  return url === undefined
    ? { inlineData: { mimeType, data } }
    : { fileData: { mimeType, fileUri: url } };
}
