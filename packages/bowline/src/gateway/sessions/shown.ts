/** Converts a message of a transcript for a client. */
import { isStoredFile, type SessionMessage } from "@bowline/core/session";
import { bytesOf } from "../protocol/images.ts";
import { cut } from "../log/blocks.ts";
import type { HistoryMessage } from "../protocol/history-message.ts";
import type { SecretFilter } from "../../secrets.ts";

/** Deepest level of a message that is converted. */
const MAX_DEPTH = 12;

/** Characters beyond the cut that are also searched for secrets. No secret is longer. */
const MARGIN = 10_000;

export interface Shown {
  readonly message: HistoryMessage;
  /** Total length of the cut texts before cutting; 0 if none was cut. */
  readonly cutLength: number;
}

/**
 * Redacts secrets, cuts texts to `maxText` characters and replaces the data of images and files by
 * its size. Omits fields that only a model server needs.
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
      // Redact before cutting: a cut secret would no longer match.
      if (value.length <= maxText + MARGIN) return cut(filter.text(value), maxText);
      return cut(filter.unfinished(value.slice(0, maxText + MARGIN)), maxText, value.length);
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) return "[more]";
    if (Array.isArray(value)) return value.map((item) => shorten(item, depth + 1));
    const { type, data, ...others } = value as Record<string, unknown>;
    const bytes = isStoredFile(data) ? data.bytes : typeof data === "string" && bytesOf(data);
    if ((type === "image" || type === "file") && bytes !== false)
      return { type, ...(shorten(others, depth) as object), bytes };
    // Signatures are only of use to the model server.
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, part]) =>
        name.endsWith("Signature") || name === "argumentsText"
          ? []
          : [[filter.text(name), shorten(part, depth + 1)]],
      ),
    );
  }
}

/** Redacts the error of a failed answer as `chat.error` does. */
function withoutFolders(message: SessionMessage, filter: SecretFilter): SessionMessage {
  if (message.role !== "assistant") return message;
  const { error, errorMessage } = message as Extract<HistoryMessage, { role: "assistant" }>;
  if (error === undefined || errorMessage === undefined) return message;
  const told = filter.failure({ ...error, message: errorMessage });
  return { ...message, error: told, errorMessage: told.message } as SessionMessage;
}
