/**
 * Reads a session's messages for a client: the last ones with a size limit, or one whole message in
 * pieces.
 */
import type { FileContent } from "@bowline/core";
import { openSession, type AnyEntry, type SessionMessage, type Store } from "@bowline/core/session";
import { GatewayError } from "../protocol/gateway-error.ts";
import { isMissing } from "../../is-missing.ts";
import type { HistoryEntry, Params, Result } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";
import { shownMessage } from "./shown.ts";

const DEFAULT_LIMIT = 100;
const MAX_TEXT = 20_000;
/** Size limit of all messages in one response, as JSON characters. */
const MAX_TOTAL = 600_000;
/** Size of a piece, in characters. A frame of it is far below the client's buffer limit. */
const MAX_PIECE = 400_000;

/**
 * Returns messages, oldest first; none for a session that does not exist. Rejects with `not_found`
 * if `before` is not one of its messages.
 */
export async function readHistory(
  store: Store,
  filter: SecretFilter,
  { sessionKey, limit = DEFAULT_LIMIT, before }: Params<"chat.history">,
): Promise<Omit<Result<"chat.history">, "waiting">> {
  const entries = await messageEntries(store, sessionKey);
  const at = before === undefined ? -1 : entries.findIndex(({ id }) => id === before);
  if (before !== undefined && at < 0 && entries.length > 0)
    throw new GatewayError(
      "not_found",
      `The session has no message ${JSON.stringify(before)} to page back from.`,
    );
  const earlier = at < 0 ? entries : entries.slice(0, at);
  const messages: HistoryEntry[] = [];
  let total = 0;
  for (const { id, runId, message } of earlier.slice(-limit).toReversed()) {
    const { message: shown, cutLength: length } = shownMessage(message, filter, MAX_TEXT);
    total += JSON.stringify(shown).length;
    if (total > MAX_TOTAL && messages.length > 0) break;
    const truncated = length > 0 && { truncated: { length } };
    messages.unshift({ id, ...(runId !== undefined && { runId }), message: shown, ...truncated });
  }
  return { sessionKey, messages, hasMore: messages.length < earlier.length };
}

/** Rejects with `not_found` if `id` is not one of the session's messages. */
export async function readMessage(
  store: Store,
  filter: SecretFilter,
  { sessionKey, id, offset = 0 }: Params<"chat.message">,
): Promise<Result<"chat.message">> {
  const entries = await messageEntries(store, sessionKey);
  const entry = entries.find((one) => one.id === id);
  if (entry === undefined)
    throw new GatewayError("not_found", `The session has no message ${JSON.stringify(id)}.`);
  const whole = JSON.stringify(shownMessage(entry.message, filter).message);
  // Do not split a surrogate pair.
  const json = whole.slice(offset, offset + MAX_PIECE).replace(/(?<=.)[\uD800-\uDBFF]$/s, "");
  return { sessionKey, id, offset, json, length: whole.length };
}

/** A file of a message, as the client gets it. */
export interface HistoryData {
  readonly mimeType: string;
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Reads an image or a file of a message, by its position in the content. Rejects with `not_found` if
 * the session has none there.
 */
export async function readData(
  store: Store,
  sessionKey: string,
  { id, part }: { readonly id: string; readonly part: number },
): Promise<HistoryData> {
  const { seq } = (await messageEntries(store, sessionKey)).find((one) => one.id === id) ?? {};
  const missing = new GatewayError("not_found", "The message has no such image or file.");
  if (seq === undefined) throw missing;
  for await (const [entry] of store.read(sessionKey, { from: seq })) {
    const { message } = entry as MessageEntry;
    const { content } = message as { readonly content?: unknown };
    const found = (Array.isArray(content) ? (content as unknown[])[part] : undefined) as
      | Partial<FileContent>
      | undefined;
    const { type, data, mimeType = "", name = "file" } = found ?? {};
    if (!/^(?:image|file)$/.test(type ?? "") || typeof data !== "string") break;
    return { mimeType, name, bytes: Buffer.from(data, "base64") };
  }
  throw missing;
}

interface MessageEntry extends AnyEntry {
  readonly runId?: string;
  readonly message: SessionMessage;
}

async function messageEntries(store: Store, key: string): Promise<MessageEntry[]> {
  try {
    const session = await openSession(store, key, { readOnly: true });
    const path = await session.path(undefined, { files: false });
    return path.filter((entry): entry is MessageEntry => entry.type === "message");
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
