/**
 * Prepares a transcript for a model. All encoders use it, so pairing and provenance hold on every
 * wire: each call is directly followed by exactly one result, failed answers are left out, and
 * opaque data goes back only to the model that produced it.
 */
import {
  isCut,
  toolCallsOf,
  unsupported,
  type AssistantContent,
  type AssistantMessage,
  type FileContent,
  type ImageContent,
  type Message,
  type SourceContent,
  type ToolCall,
  type ToolResultMessage,
  type UserContent,
  type UserMessage,
} from "../llm/message.ts";
import { BowlineError } from "../errors.ts";
import type { Model } from "../llm/model.ts";
import { cleanFile } from "./clean-file.ts";
import { withCutNotes } from "./cut-notes.ts";
import { isBlank } from "./is-blank.ts";
import { createWireIds, toWireName, type NameLimits } from "./tool-names.ts";

/** What differs between wires when a transcript is prepared. */
export interface WireLimits extends NameLimits {
  /** The images and files that the wire takes: see {@link cleanFile}. */
  readonly files: RegExp;
}

/** A user message whose content is always a list of parts. */
interface ReplayUser {
  readonly role: "user";
  readonly content: readonly UserContent[];
}
/** A part that may be sent back. Images and files follow the opaque part that they came with. */
type ReplayPart = Exclude<AssistantContent, SourceContent>;
export interface ReplayAssistant {
  readonly role: "assistant";
  readonly content: readonly ReplayPart[];
}
export interface ReplayResult {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly UserContent[];
  readonly isError: boolean;
}
export type ReplayMessage = ReplayUser | ReplayAssistant | ReplayResult;

/**
 * Returns the transcript for `model`, with ids and names valid on its wire. Does not modify the
 * transcript. Throws `invalid_argument` if nothing can be sent, or for a part that the wire does not
 * take.
 */
export function toReplay(
  messages: readonly Message[],
  model: Model,
  limits: WireLimits,
): ReplayMessage[] {
  const results = pairResults(messages);
  const nextId = createWireIds(limits.idLength);
  // A result is placed after its call. A result without a call (after a crash or a compaction) is
  // left out (Q127).
  const replay: ReplayMessage[] = [];
  for (const message of withCutNotes(messages)) {
    if (message.role === "assistant") addAssistant(message);
    else if (message.role === "user") addUser(message.content);
  }
  assertSendable(replay);
  return replay;

  function addUser(content: UserMessage["content"]): void {
    const parts = cleanParts(
      typeof content === "string" ? [{ type: "text", text: content }] : content,
      model,
      limits.files,
    );
    if (parts.length > 0) replay.push({ role: "user", content: parts });
  }

  // Every request passes the whole transcript through here, so unchanged parts are not copied.
  function addAssistant(message: AssistantMessage): void {
    // A failed answer is not part of the conversation (Q163).
    if (message.stopReason === "error") return;
    const { api, provider, id } = model;
    const isWhole = !isCut(message);
    const own =
      isWhole && message.api === api && message.provider === provider && message.model === id;
    const content: ReplayPart[] = [];
    const answers: ReplayResult[] = [];
    const media: (ImageContent | FileContent)[] = [];
    const sources = new Set<string>();
    for (const part of message.content) {
      switch (part.type) {
        case "text":
          if (!isBlank(part.text)) content.push(own ? part : { type: "text", text: part.text });
          break;
        case "thinking":
          if (own) content.push(part);
          break;
        case "opaque":
          if (own && part.protocol === api) content.push(part);
          break;
        case "source":
          if (!own) sources.add(sourceLine(part));
          break;
        case "image":
        case "file":
          if (own && content.at(-1)?.type === "opaque") content.push(part);
          else media.push(part);
          break;
        case "toolCall":
          // Of an aborted answer only what the user saw is sent.
          if (!isWhole) break;
          content.push(replayCall(part, nextId(part.id), own, limits));
          answers.push(
            replayResult(content.at(-1) as ToolCall, model, limits.files, results.get(part)),
          );
      }
    }
    addSources(content, sources);
    if (!content.every(({ type }) => type === "thinking"))
      replay.push({ role: "assistant", content }, ...answers);
    // Elsewhere an answer has no images, so the user shows them.
    const shown = media.flatMap((part) => shownMedia(part, model, limits.files));
    const heading = { type: "text", text: "Images and files of the answer above:" } as const;
    if (shown.length > 0) replay.push({ role: "user", content: [heading, ...shown] });
  }
}

/**
 * Returns an image or file of an answer as the user's. What the wire cannot send becomes a note:
 * the user did not choose it, and an error would end the conversation.
 */
function shownMedia(part: ImageContent | FileContent, model: Model, files: RegExp): UserContent[] {
  try {
    return cleanParts([part], model, files);
  } catch {
    return [{ type: "text", text: `[the ${part.type} (${part.mimeType}) was left out]` }];
  }
}

function sourceLine({ title, name = title, url = name }: SourceContent): string {
  return `- ${title === undefined || title === url ? url : `${title}: ${url}`}`;
}

/** Adds the sources of an answer to its last text, for a model that does not get its citations. */
function addSources(content: ReplayPart[], sources: ReadonlySet<string>): void {
  const last = content.findLast((part) => part.type === "text");
  if (last && sources.size > 0) last.text += `\n\nSources:\n${[...sources].join("\n")}`;
}

function replayCall(call: ToolCall, id: string, own: boolean, limits: NameLimits): ToolCall {
  const name = toWireName(call.name, limits.nameLength);
  const bare = own || call.thoughtSignature === undefined ? call : withoutSignature(call);
  return id === bare.id && name === bare.name ? bare : { ...bare, id, name };
}

function replayResult(
  { id: toolCallId, name: toolName }: ToolCall,
  model: Model,
  files: RegExp,
  result: ToolResultMessage | undefined,
): ReplayResult {
  const given = result?.content ?? [
    { type: "text", text: "No result was recorded for this call." },
  ];
  const isError = result?.isError ?? true;
  const content = cleanParts(given, model, files);
  return { role: "toolResult", toolCallId, toolName, content, isError };
}

/**
 * Appends a user message if the transcript ends with an answer and `compat.prefill` forbids that.
 * Returns the same list.
 */
export function goOn(replay: ReplayMessage[], { compat }: Model): ReplayMessage[] {
  if (compat?.prefill === "none" && replay.at(-1)?.role === "assistant")
    replay.push({ role: "user", content: [{ type: "text", text: "Go on." }] });
  return replay;
}

function withoutSignature(call: ToolCall): ToolCall {
  const { thoughtSignature: _, ...bare } = call;
  return bare;
}

/** Throws `invalid_argument` if there is no message to send. */
export function assertSendable(messages: readonly unknown[]): void {
  if (messages.length > 0) return;
  throw new BowlineError("invalid_argument", "There is no message to send.");
}

/**
 * Pairs each call with its result. A result belongs to the latest preceding call with its id that
 * has none yet, since servers reuse ids.
 */
// Q041
function pairResults(messages: readonly Message[]): ReadonlyMap<ToolCall, ToolResultMessage> {
  const results = new Map<ToolCall, ToolResultMessage>();
  /** The calls of one message that have no result yet. */
  const open = new Map<string, ToolCall[]>();
  for (const message of messages) {
    if (message.role === "toolResult") {
      const call = open.get(message.toolCallId)?.shift();
      if (call) results.set(call, message);
    } else if (message.role === "assistant") {
      const calls = toolCallsOf(message);
      for (const { id } of calls) open.set(id, []);
      for (const call of calls) open.get(call.id)?.push(call);
    }
  }
  return results;
}

/** Removes empty text, which several servers refuse, and prepares images and files. */
// Q171
function cleanParts(parts: readonly UserContent[], model: Model, files: RegExp): UserContent[] {
  return parts.flatMap((part) => {
    const fault = unsupported(part);
    if (fault !== undefined) throw new BowlineError("invalid_argument", fault);
    if (part.type === "image" || part.type === "file") return cleanFile(part, model, files);
    const { text } = part;
    return isBlank(text) ? [] : { type: "text", text };
  });
}
