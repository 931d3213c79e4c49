/**
 * The transcript's vocabulary. Three roles, typed content parts, JSON-safe throughout: what is in a
 * message is what is written to a file, sent to a page and replayed to a model. The system prompt
 * is a field of the context, never a message.
 */
import type { ErrorInfo } from "../errors.ts";
import { asRecord, asText } from "../json-value.ts";
import { addUsage, type Usage } from "./usage.ts";

export interface TextContent {
  type: "text";
  text: string;
  /** Opaque provider data of this part; replayed only to the model it came from. */
  textSignature?: string;
}

export interface ThinkingContent {
  type: "thinking";
  thinking: string;
  /**
   * Opaque provider data (a signature, or the encrypted form when `redacted`); replayed only to the
   * model it came from.
   */
  thinkingSignature?: string;
  /** The provider gave no readable text; `thinkingSignature` holds the encrypted form. */
  redacted?: boolean;
  /**
   * The wire field it came in (`reasoning_content`, `reasoning`, …), so that it goes back under the
   * same name.
   */
  // Q082
  field?: string;
}

export interface ImageContent {
  type: "image";
  /** Base64, without a `data:` prefix. */
  data: string;
  mimeType: string;
}

export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  /** The parsed arguments; `{}` while they stream and when `argumentsError` is set. */
  arguments: Record<string, unknown>;
  /** The arguments exactly as the model wrote them. */
  argumentsText?: string;
  /**
   * Set when the text is no valid JSON object: such a call is answered with an error and never run.
   */
  argumentsError?: string;
  /** Opaque provider data of this part; replayed only to the model it came from. */
  // Q089
  thoughtSignature?: string;
}

/**
 * A provider's own block (a server tool, a citation, a compaction): never executed, kept in order,
 * replayed to the same model only.
 */
export interface OpaqueContent {
  type: "opaque";
  /** The wire protocol whose shape `raw` has. */
  protocol: string;
  raw: unknown;
}

export type UserContent = TextContent | ImageContent;
export type AssistantContent = TextContent | ThinkingContent | ToolCall | OpaqueContent;

export interface UserMessage {
  role: "user";
  content: string | UserContent[];
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/**
 * `stop` finished; `toolUse` wants tools; `length` cut by a limit; `error` and `aborted` are
 * incomplete.
 */
export type StopReason = "stop" | "toolUse" | "length" | "error" | "aborted";

export interface AssistantMessage {
  role: "assistant";
  content: AssistantContent[];
  /** The wire protocol, the vendor and the model asked. */
  api: string;
  provider: string;
  model: string;
  /** The model that answered, when the server names another. */
  responseModel?: string;
  /** The server's id for the answer. */
  responseId?: string;
  /** Always there; a field that the server did not report is absent, never 0. */
  usage: Usage;
  /**
   * What tries before this answer were billed that came to nothing: failed, empty or retracted ones.
   * Absent when there was no such try, or none reported its usage. `billedUsage()` adds both.
   */
  discardedUsage?: Usage;
  stopReason: StopReason;
  /**
   * The provider's own tools are not done: the message is sent back as it is, and the next one goes
   * on.
   */
  // Q162
  paused?: boolean;
  /** What the wire said, verbatim; absent only when it said nothing. */
  rawStopReason?: string;
  /** With `error` and `aborted`: what happened, for people and for programs. */
  errorMessage?: string;
  error?: ErrorInfo;
  timestamp: number;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: UserContent[];
  /** For the program, never sent to the model. */
  details?: unknown;
  isError: boolean;
  timestamp: number;
}

/** The three roles a model understands. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** Whether a model understands it; an application may keep messages of its own beside these. */
export function isLlmMessage(message: { readonly role: string }): message is Message {
  return message.role === "user" || message.role === "assistant" || message.role === "toolResult";
}

/** Why a part of what a user or a tool says cannot be sent, or undefined. */
export function unsupported(part: unknown): string | undefined {
  const {
    text,
    type = typeof text === "string" ? "text" : undefined,
    data,
    mimeType,
    url,
  } = asRecord(part);
  if (typeof type !== "string") return "A content part must be an object with a type.";
  if (type === "text")
    return typeof text === "string" ? undefined : "A text part must have its text.";
  if (type !== "image")
    return `A content part of type ${JSON.stringify(type)} is not supported: only text and image are.`;
  if (typeof data === "string" && (typeof mimeType === "string" || data.startsWith("data:")))
    return undefined;
  const why = url === undefined ? "" : " An image is not sent by its url: load it first.";
  return `An image part must have its data in base64 and its mimeType.${why}`;
}

/** Whether an answer is no whole one. */
export function isCut({ stopReason }: AssistantMessage): boolean {
  return stopReason === "error" || stopReason === "aborted";
}

/** Notes the names that a server has for an answer and its model: of each the first counts. */
// Q077, Q187
export function noteSource(message: AssistantMessage, id: unknown, model: unknown): void {
  if (asText(id)) message.responseId ??= asText(id);
  if (asText(model) && model !== message.model) message.responseModel ??= asText(model);
}

/** The message, with what discarded tries before it were billed. */
export function withDiscarded(message: AssistantMessage, lost: Usage): AssistantMessage {
  if (Object.keys(lost).length === 0) return message;
  return { ...message, discardedUsage: addUsage(message.discardedUsage ?? {}, lost) };
}

/** What a model is told about a tool. */
export interface Tool {
  name: string;
  description: string;
  /** A JSON Schema, or a schema that can give one (see `schema.ts`). */
  parameters: unknown;
}

/** One model call's input. */
export interface Context {
  systemPrompt?: string | undefined;
  messages: Message[];
  tools?: Tool[] | undefined;
}

interface AnyPart {
  readonly type: string;
  readonly text?: string;
}

/**
 * The readable text of a message: its text parts, joined. Images, thinking and calls are left out.
 */
export function messageText({
  content,
}: {
  readonly content: string | readonly AnyPart[];
}): string {
  return typeof content === "string" ? content : joinTexts(content, "");
}

/** The texts of the text parts. */
export function joinTexts(parts: readonly AnyPart[], separator: string): string {
  let joined: string | undefined;
  for (const { type, text = "" } of parts)
    if (type === "text") joined = joined === undefined ? text : joined + separator + text;
  return joined ?? "";
}

/** The tool calls of a message, in source order. */
export function toolCallsOf(message: AssistantMessage): ToolCall[] {
  return message.content.filter((part) => part.type === "toolCall");
}
