/** A message of a transcript as a client may see it. */
import type { SessionMessage } from "@bowline/core/session";
import { bytesOf } from "../protocol/images.ts";
import { cut } from "../log/blocks.ts";
import type { HistoryMessage } from "../protocol/history-message.ts";
import type { SecretFilter } from "../../secrets.ts";

/** Levels of a message that are looked into. */
const MAX_DEPTH = 12;

/** Of a long text so much more is looked through for secrets than is shown: none is longer. */
const MARGIN = 10_000;

export interface Shown {
  readonly message: HistoryMessage;
  /** How long the texts are that were cut, before that; 0 when none is. */
  readonly cutLength: number;
}

/**
 * Without secrets, with texts of so many characters at most; images become their type and size, and
 * what is the model's own is left out.
 */
export function shownMessage(
  message: SessionMessage,
  filter: SecretFilter,
  maxText: number = Infinity,
): Shown {
  let cutLength = 0;
  const shown = shorten(withoutFolders(message, filter), 0);
  return { message: shown as HistoryMessage, cutLength };

  function shorten(value: unknown, depth: number): unknown {
    if (typeof value === "string") {
      if (value.length > maxText) cutLength += value.length;
      // Secrets first: of one that is cut in two the halves would be shown.
      if (value.length <= maxText + MARGIN) return cut(filter.text(value), maxText);
      return cut(filter.unfinished(value.slice(0, maxText + MARGIN)), maxText, value.length);
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) return "[more]";
    if (Array.isArray(value)) return value.map((item) => shorten(item, depth + 1));
    const { type, data, mimeType } = value as Record<string, unknown>;
    if (type === "image" && typeof data === "string")
      return { type, mimeType, bytes: bytesOf(data) };
    // Signatures are the model's own, and of no use to a reader.
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, part]) =>
        name.endsWith("Signature") || name === "argumentsText"
          ? []
          : [[filter.text(name), shorten(part, depth + 1)]],
      ),
    );
  }
}

/** An answer that failed says why, as `chat.error` does. */
function withoutFolders(message: SessionMessage, filter: SecretFilter): SessionMessage {
  if (message.role !== "assistant") return message;
  const { error, errorMessage } = message as Extract<HistoryMessage, { role: "assistant" }>;
  if (error === undefined || errorMessage === undefined) return message;
  const told = filter.failure({ ...error, message: errorMessage });
  return { ...message, error: told, errorMessage: told.message } as SessionMessage;
}
