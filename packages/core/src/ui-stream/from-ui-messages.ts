/**
 * Reads what `useChat` posts. A page posts the whole conversation, and any of it may be forged:
 * only a new message of the user, or answers to approvals, are read.
 */
import { BowlineError } from "../errors.ts";
import { describe, isRecord } from "../json-value.ts";
import type { UserContent, UserMessage } from "../llm/message.ts";

/** A person's answer to an approval. The server must know the approval: see `ChatRuns`. */
export interface PostedAnswer {
  readonly approvalId: string;
  readonly isApproved: boolean;
  readonly reason?: string;
  /** The arguments that the page showed. An answer to other arguments does not count. */
  readonly input: unknown;
}

/** What a page asks for. */
export type PostedChat =
  | {
      readonly kind: "message";
      readonly chatId: string;
      readonly message: UserMessage;
    }
  | {
      readonly kind: "approvals";
      readonly chatId: string;
      /** At least one. */
      readonly answers: readonly PostedAnswer[];
    }
  | {
      /** The last answer is to be given again. */
      readonly kind: "regenerate";
      readonly chatId: string;
    };

export interface FromUIMessagesOptions {
  /** Number of UTF-16 units in all texts of a message. Default 100,000. */
  readonly maxTextLength?: number | undefined;
  /** Number of files of a message. Default 8. */
  readonly maxFiles?: number | undefined;
  /** Size of a file in bytes. Default 5,000,000. */
  readonly maxFileBytes?: number | undefined;
  /**
   * Media types of files, such as `application/pdf`. Default: PNG, JPEG, GIF and WebP, which all
   * models with vision read.
   */
  readonly mediaTypes?: readonly string[] | undefined;
  /** Returns the time of the message in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

const MAX_ID_LENGTH = 200;
const MAX_REASON_LENGTH = 1_000;
const MAX_NAME_LENGTH = 255;
/** Number of answers to approvals in a post, and of those that wait for their approval. */
export const MAX_ANSWERS = 100;
const MAX_INPUT_DEPTH = 100;
const MAX_INPUT_LENGTH = 1_000_000;
const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];

type Limits = Required<{
  [TName in keyof FromUIMessagesOptions]: NonNullable<FromUIMessagesOptions[TName]>;
}>;

/**
 * Returns what the body of a request asks for: a new message, answers to approvals, or another
 * answer. Of the posted messages only the last is read. Its metadata is ignored, and so are all
 * parts of an answer but the approvals. Throws `invalid_argument` for anything else, such as an
 * edited message, a file that is not a `data:` URL, or a part of an unknown type.
 */
export function fromUIMessages(body: unknown, options: FromUIMessagesOptions = {}): PostedChat {
  const limits: Limits = {
    maxTextLength: options.maxTextLength ?? 100_000,
    maxFiles: options.maxFiles ?? 8,
    maxFileBytes: options.maxFileBytes ?? 5_000_000,
    mediaTypes: options.mediaTypes ?? images,
    now: options.now ?? Date.now,
  };
  if (!isRecord(body)) throw refused(`The body must be an object, not ${describe(body)}.`);
  const { id, trigger = "submit-message", messageId, messages } = body;
  const chatId = idOf(id, "The chat's id");
  if (trigger === "regenerate-message") return { kind: "regenerate", chatId };
  if (trigger !== "submit-message")
    throw refused(
      `"trigger" must be submit-message or regenerate-message, not ${describe(trigger)}.`,
    );
  // Some pages post the last message alone.
  const last = Array.isArray(messages) ? (messages.at(-1) as unknown) : body.message;
  if (!isRecord(last) || !Array.isArray(last.parts))
    throw refused("The last message must be an object with parts.");
  const parts = last.parts as readonly unknown[];
  if (last.role === "assistant") return { kind: "approvals", chatId, answers: answersOf(parts) };
  if (last.role !== "user") throw refused(`The last message must be of the user or an answer.`);
  if (messageId !== undefined && messageId !== null)
    throw refused("An earlier message cannot be edited. Send a new one.");
  return { kind: "message", chatId, message: messageOf(parts, limits) };
}

function answersOf(parts: readonly unknown[]): PostedAnswer[] {
  let length = 0;
  const answers = parts.filter(isRecord).flatMap(({ type, state, approval, input }) => {
    const isTool =
      typeof type === "string" && (type === "dynamic-tool" || type.startsWith("tool-"));
    if (!isTool || state !== "approval-responded" || !isRecord(approval)) return [];
    const { id, approved, reason } = approval;
    if (typeof approved !== "boolean") throw refused("An approval's answer must be true or false.");
    const approvalId = idOf(id, "An approval's id");
    length += lengthOf(input, MAX_INPUT_LENGTH - length);
    const why = typeof reason === "string" ? reason.slice(0, MAX_REASON_LENGTH) : undefined;
    return [{ approvalId, isApproved: approved, input, ...(why !== undefined && { reason: why }) }];
  });
  if (answers.length === 0) throw refused("The last message is an answer without a new approval.");
  if (answers.length > MAX_ANSWERS)
    throw refused(`At most ${MAX_ANSWERS} approvals are answered at once.`);
  return answers;
}

/**
 * Returns the number of characters and values. Does not recurse, because a page chooses the depth.
 */
function lengthOf(input: unknown, maxLength: number): number {
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value: input, depth: 0 }];
  let length = 0;
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, depth } = next;
    length += typeof value === "string" ? value.length + 1 : 1;
    if (typeof value === "object" && value !== null) {
      if (depth >= MAX_INPUT_DEPTH)
        throw refused(`The input of an approval is nested at most ${MAX_INPUT_DEPTH} deep.`);
      for (const [name, part] of Object.entries(value)) {
        if (!Array.isArray(value)) length += name.length;
        left.push({ value: part, depth: depth + 1 });
      }
    }
    if (length > maxLength)
      throw refused(`The inputs of approvals have at most ${MAX_INPUT_LENGTH} characters in all.`);
  }
  return length;
}

function messageOf(parts: readonly unknown[], limits: Limits): UserMessage {
  let length = 0;
  let files = 0;
  const content = parts.map((part): UserContent => {
    const { type, text, url, mediaType, filename } = isRecord(part) ? part : {};
    if (type === "text" && typeof text === "string") {
      length += text.length;
      if (length > limits.maxTextLength)
        throw refused(`A message has at most ${limits.maxTextLength} characters.`);
      return { type, text };
    }
    if (type !== "file") throw refused(`A part of the type ${describe(type)} cannot be sent.`);
    files += 1;
    if (files > limits.maxFiles) throw refused(`A message has at most ${limits.maxFiles} files.`);
    return fileOf({ url, mediaType, filename }, limits);
  });
  if (!content.some((part) => part.type !== "text" || part.text.trim() !== ""))
    throw refused("The message is empty.");
  const [only] = content;
  const isText = content.length === 1 && only?.type === "text";
  return { role: "user", content: isText ? only.text : content, timestamp: limits.now() };
}

function fileOf(
  { url, mediaType, filename }: Readonly<Record<string, unknown>>,
  limits: Limits,
): UserContent {
  const { mediaTypes, maxFileBytes } = limits;
  const prefix = `data:${String(mediaType)};base64,`;
  if (typeof mediaType !== "string" || !mediaTypes.includes(mediaType))
    throw refused(`A file must be one of ${mediaTypes.join(", ")}.`);
  if (typeof url !== "string" || !url.startsWith(prefix))
    throw refused("A file must be a data: URL in Base64 of its media type.");
  const length = url.length - prefix.length;
  if (length > Math.ceil(maxFileBytes / 3) * 4)
    throw refused(`A file has at most ${maxFileBytes} bytes.`);
  const data = url.slice(prefix.length);
  if (length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw refused("A file's Base64 is invalid.");
  if (mediaType.startsWith("image/")) return { type: "image", data, mimeType: mediaType };
  const name = typeof filename === "string" ? filename.slice(0, MAX_NAME_LENGTH) : undefined;
  return { type: "file", data, mimeType: mediaType, ...(name !== undefined && { name }) };
}

function idOf(id: unknown, what: string): string {
  if (typeof id === "string" && id.length > 0 && id.length <= MAX_ID_LENGTH) return id;
  throw refused(`${what} must be a text of 1 to ${MAX_ID_LENGTH} characters.`);
}

function refused(why: string): BowlineError {
  return new BowlineError("invalid_argument", why);
}
