/** A session's messages for a client: the last ones, none of them huge. */
import { openSession, type AnyEntry, type SessionMessage, type Store } from "@bowline/core/session";
import { bytesOf } from "../protocol/images.ts";
import { cut } from "../log/blocks.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import { isMissing } from "../../is-missing.ts";
import type { HistoryEntry, Params, Result } from "../protocol/protocol.ts";
import type { SecretFilter } from "../../secrets.ts";

const DEFAULT_LIMIT = 100;
const MAX_TEXT = 20_000;
/** Of all messages of one answer together, as JSON. */
const MAX_TOTAL = 600_000;
/** Levels of a message that are looked into. */
const MAX_DEPTH = 12;

/**
 * Oldest first. A session that is not there has no messages. Rejects with `not_found` for a
 * `before` that is none of its messages.
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
    const shown = shorten(message, filter, 0) as SessionMessage;
    total += JSON.stringify(shown).length;
    if (total > MAX_TOTAL && messages.length > 0) break;
    messages.unshift({ id, ...(runId !== undefined && { runId }), message: shown });
  }
  return { sessionKey, messages, hasMore: messages.length < earlier.length };
}

interface MessageEntry extends AnyEntry {
  readonly runId?: string;
  readonly message: SessionMessage;
}

async function messageEntries(store: Store, key: string): Promise<MessageEntry[]> {
  try {
    const session = await openSession(store, key, { readOnly: true });
    const path = await session.path();
    return path.filter((entry): entry is MessageEntry => entry.type === "message");
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Secrets are replaced, then long texts are cut; images become their type and size. */
function shorten(value: unknown, filter: SecretFilter, depth: number): unknown {
  if (typeof value === "string") return cut(filter.text(value), MAX_TEXT);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "[more]";
  if (Array.isArray(value)) return value.map((item) => shorten(item, filter, depth + 1));
  const { type, data, mimeType } = value as Record<string, unknown>;
  if (type === "image" && typeof data === "string") return { type, mimeType, bytes: bytesOf(data) };
  // Signatures are the model's own, and of no use to a reader.
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      name.endsWith("Signature") || name === "argumentsText"
        ? []
        : [[filter.text(name), shorten(part, filter, depth + 1)]],
    ),
  );
}
