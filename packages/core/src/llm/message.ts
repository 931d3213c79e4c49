/**
 * The types of a transcript: three roles, typed content parts, JSON-safe throughout. The same shape
 * is stored in files, sent to pages and replayed to models. The system prompt is a field of the
 * context, never a message.
 */
import type { ErrorInfo } from "../errors.ts";
import { asRecord, asText } from "../json-value.ts";
import { addUsage, type Usage } from "./usage.ts";

export interface TextContent {
  type: "text";
  text: string;
  /**
   * What transcripts, titles and exports show for this part: a program added its text to a person's
   * message, such as the content of a file. Models get `text` as they get any other.
   */
  shownAs?: string;
  /**
   * With `shownAs`: the path of the file or folder that the text is from. Pages show it as an attached
   * file. Absent for a note.
   */
  shownFile?: string;
  /** Opaque provider data of this part, replayed only to the model that produced it. */
  textSignature?: string;
}

export interface ThinkingContent {
  type: "thinking";
  thinking: string;
  /**
   * Opaque provider data: a signature, or the encrypted thinking when `redacted`. Replayed only to
   * the model that produced it.
   */
  thinkingSignature?: string;
  /**
   * Whether the provider returned no readable text. `thinkingSignature` then holds the encrypted
   * form.
   */
  redacted?: boolean;
  /**
   * The wire field of the thinking (`reasoning_content`, `reasoning`, …), so that it is sent back
   * under the same name.
   */
  // Q082
  field?: string;
}

/** An image: base64 `data` without a `data:` prefix, or a `url` that the model's server loads. */
export type ImageContent =
  | { type: "image"; data: string; mimeType: string; url?: undefined }
  | { type: "image"; url: string; mimeType?: string; data?: undefined };

/**
 * A PDF, a text, audio or video: base64 `data` without a `data:` prefix, or a `url` that the
 * model's server loads. Bowline never loads a `url` itself.
 */
export type FileContent = {
  type: "file";
  mimeType: string;
  /** Shown to the model, if the wire has a field for it. */
  name?: string;
} & ({ data: string; url?: undefined } | { url: string; data?: undefined });

export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  /** The parsed arguments; `{}` while they stream and when `argumentsError` is set. */
  arguments: Record<string, unknown>;
  /** The arguments exactly as the model wrote them. */
  argumentsText?: string;
  /**
   * Set when the text is not a valid JSON object. Such a call is answered with an error and never
   * run.
   */
  argumentsError?: string;
  /** Opaque provider data of this part, replayed only to the model that produced it. */
  // Q089
  thoughtSignature?: string;
}

/**
 * A provider-specific block, such as a server tool, a citation or a compaction. It is never
 * executed, keeps its position, and is replayed only to the same model.
 */
export interface OpaqueContent {
  type: "opaque";
  /** The wire protocol that defines the shape of `raw`. */
  protocol: string;
  raw: unknown;
}

/**
 * A source that the answer cites. Derived from what the server sent, so it is never sent back as it
 * is: a model of another kind gets the sources as text.
 */
export interface SourceContent {
  type: "source";
  /** Absent for a document, which has a `name` or a `title`. */
  url?: string;
  title?: string;
  /** The type of a document, if the server reports it. */
  mimeType?: string;
  /** The file or the id of a document. */
  name?: string;
  /** The words of the source, if the server quotes them. */
  citedText?: string;
  /** The words of the answer that the source supports, if the server marks them. */
  supportedText?: string;
  /** The index in the message's content of the text part that the source supports. */
  textIndex?: number;
}

/** A part of an answer that arrives whole. */
export type WholeContent = SourceContent | ImageContent | FileContent;

/** Content of user messages and tool results. */
export type UserContent = TextContent | ImageContent | FileContent;
export type AssistantContent =
  | TextContent
  | ThinkingContent
  | ToolCall
  | OpaqueContent
  | WholeContent;

export interface UserMessage {
  role: "user";
  content: string | UserContent[];
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/**
 * `stop`: the answer is complete. `toolUse`: the model calls tools. `length`: a token limit cut the
 * answer. `error` and `aborted`: the answer is incomplete.
 */
export type StopReason = "stop" | "toolUse" | "length" | "error" | "aborted";

export interface AssistantMessage {
  role: "assistant";
  content: AssistantContent[];
  /** The wire protocol, vendor and model of the request. */
  api: string;
  provider: string;
  model: string;
  /** The model that answered, if the server names a different one. */
  responseModel?: string;
  /** The server's id for the answer. */
  responseId?: string;
  /** Always present. A count that the server did not report is absent, never 0. */
  usage: Usage;
  /**
   * The billed usage of discarded tries before this answer (failed, empty or retracted). Absent
   * when there was none, or none reported usage. `billedUsage()` adds both.
   */
  discardedUsage?: Usage;
  stopReason: StopReason;
  /**
   * The provider's own tools have not finished. Send the message back unchanged, and the next
   * answer continues it.
   */
  // Q162
  paused?: boolean;
  /** The stop reason as the server sent it. Absent only when the server sent none. */
  rawStopReason?: string;
  /** With `error` and `aborted`: the failure, as text for people and as data for programs. */
  errorMessage?: string;
  error?: ErrorInfo;
  timestamp: number;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: UserContent[];
  /** Data for the program. Never sent to the model. */
  details?: unknown;
  isError: boolean;
  timestamp: number;
}

/** The three message roles that models understand. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/**
 * Returns whether a model understands the message. Applications may store messages of other roles
 * too.
 */
export function isLlmMessage(message: { readonly role: string }): message is Message {
  return message.role === "user" || message.role === "assistant" || message.role === "toolResult";
}

/** Returns why a content part of a user message or tool result cannot be sent, or undefined. */
export function unsupported(part: unknown): string | undefined {
  const {
    text,
    type = typeof text === "string" ? "text" : undefined,
    data,
    mimeType,
    name = "",
    url,
  } = asRecord(part);
  if (typeof type !== "string") return "A content part must be an object with a type.";
  if (type === "text")
    return typeof text === "string" ? undefined : "A text part must have its text.";
  if (type !== "image" && type !== "file")
    return `A content part of type ${JSON.stringify(type)} is not supported: only text, image and file are.`;
  const isTyped = typeof mimeType === "string";
  const isSound =
    url === undefined
      ? typeof data === "string" && (isTyped || data.startsWith("data:"))
      : typeof url === "string" &&
        /^(?:https?|gs):\/\/\S+$/.test(url) &&
        data === undefined &&
        (isTyped || (type === "image" && mimeType === undefined));
  if (isSound && typeof name === "string") return undefined;
  return `The ${type} part must have its data in base64 and its mimeType, or an http(s) url.`;
}

/** Returns whether an answer is incomplete. */
export function isCut({ stopReason }: AssistantMessage): boolean {
  return stopReason === "error" || stopReason === "aborted";
}

/**
 * Records the server's id of the answer and the name of its model. The first value of each wins.
 */
// Q077, Q187
export function noteSource(message: AssistantMessage, id: unknown, model: unknown): void {
  if (asText(id)) message.responseId ??= asText(id);
  if (asText(model) && model !== message.model) message.responseModel ??= asText(model);
}

/** Returns the message with the billed usage of discarded tries added. */
export function withDiscarded(message: AssistantMessage, lost: Usage): AssistantMessage {
  if (Object.keys(lost).length === 0) return message;
  return { ...message, discardedUsage: addUsage(message.discardedUsage ?? {}, lost) };
}

/** A tool as it is declared to the model. */
export interface Tool {
  name: string;
  description: string;
  /** A JSON Schema, or a schema that can give one (see `schema.ts`). */
  parameters: unknown;
  /**
   * Whether the server should force the arguments to fit the schema. Sent if `supportsOutput` says
   * that the server can, and if every object of the schema is closed and requires all its
   * properties. Otherwise the tool is sent without it. Default false.
   */
  // Q117
  strict?: boolean | undefined;
  /** Set for a tool that the model's vendor defines. Sent instead of the fields above. */
  providerTool?: ProviderToolEntry | undefined;
}

/** How a vendor's own tool is declared in a request. */
export interface ProviderToolEntry {
  /** The wire protocol that knows the tool. Other wires refuse it. */
  readonly api: string;
  /** The entry in the request's list of tools. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The beta feature that the request must name in a header. Only on `anthropic-messages`. */
  readonly beta?: string;
}

/** The input of one model call. */
export interface Context {
  systemPrompt?: string | undefined;
  messages: Message[];
  tools?: Tool[] | undefined;
}

interface AnyPart {
  readonly type: string;
  readonly text?: string;
}

/** Returns the text parts of a message, joined. Images, thinking and tool calls are left out. */
export function messageText({
  content,
}: {
  readonly content: string | readonly AnyPart[];
}): string {
  return typeof content === "string" ? content : joinTexts(content, "");
}

/** Joins the text of the text parts. */
export function joinTexts(parts: readonly AnyPart[], separator: string): string {
  let joined: string | undefined;
  for (const { type, text = "" } of parts)
    if (type === "text") joined = joined === undefined ? text : joined + separator + text;
  return joined ?? "";
}

/** Returns the tool calls of a message, in order. */
export function toolCallsOf(message: AssistantMessage): ToolCall[] {
  return message.content.filter((part) => part.type === "toolCall");
}
