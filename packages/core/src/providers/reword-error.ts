/** Redacts errors whose message may quote a server. */
import { BowlineError, toErrorInfo } from "../errors.ts";
import { shorten } from "../json-value.ts";
import { MIN_SECRET_LENGTH, secretsInUrls } from "../transport/redact.ts";

/** How much of a server's text a message keeps, and how much of it is searched for keys. */
const MAX_MESSAGE_LENGTH = 600;
const MAX_QUOTE_LENGTH = 10_000;

/**
 * Returns the error without the keys that were sent, since servers quote a key that they refuse.
 * `sent` maps header names to values. The message is shortened afterwards, because the first half
 * of a key would not be recognised.
 */
export function withoutKeys(
  error: BowlineError,
  sent: Readonly<Record<string, string | undefined>>,
): BowlineError {
  let text = error.message.slice(0, MAX_QUOTE_LENGTH).replace(secretsInUrls, "[key]");
  for (const name in sent) {
    const key = (sent[name] ?? "").replace(/^\w+ /, "").trim();
    if (/auth|key/i.test(name) && key.length >= MIN_SECRET_LENGTH)
      text = text.replaceAll(key, "[key]");
  }
  return reworded(error, shorten(text, MAX_MESSAGE_LENGTH));
}

/** Returns the error with another message. Drops the cause, which may hold what was redacted. */
export function reworded(error: BowlineError, message: string): BowlineError {
  return new BowlineError(error.code, message, toErrorInfo(error));
}
