/** Errors whose message may hold what a server quoted. */
import { BowlineError, toErrorInfo } from "../errors.ts";
import { shorten } from "../json-value.ts";
import { MIN_SECRET_LENGTH, secretsInUrls } from "../transport/redact.ts";

/** How much is told of what a server said, and how much of it is looked at. */
const MAX_MESSAGE_LENGTH = 600;
const MAX_QUOTE_LENGTH = 10_000;

/**
 * The error without the keys that were sent, by the names of their headers: servers quote the key
 * that they refuse. The message is cut after that, since the beginning of a key looks like a word.
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

/** The cause is left behind: it may say what the message no longer does. */
export function reworded(error: BowlineError, message: string): BowlineError {
  return new BowlineError(error.code, message, toErrorInfo(error));
}
