/** Redacts secrets in whole values and in streamed text, where a secret may span several deltas. */
import { createRedactor, type RedactedStream } from "@bowline/core";
import { isSecretName, passwordsIn } from "./environment.ts";

/** Shorter secrets would also match harmless text. */
const MIN_LENGTH = 8;

/** An error, as thrown or as sent to a client. */
interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly data?: { readonly code: string };
}

export interface SecretFilter {
  text(text: string): string;
  /** Returns a copy with a redacted message. Errors of this process also lose absolute paths. */
  failure<T extends Failure>(failure: T): T;
  /** Returns a copy with every string redacted. */
  value<T>(value: T): T;
  /** Creates a redactor for one stream of text. */
  stream(): RedactedStream;
  /** Redacts an incomplete text and withholds an end that may become a secret. */
  unfinished(text: string): string;
}

/**
 * Codes of errors raised in this process, whose paths are local. In a model server's message, such
 * text is part of a URL.
 */
const ownCodes: ReadonlySet<unknown> = new Set([
  "storage_failed",
  "session_locked",
  "internal_error",
  "hook_failed",
  "listener_failed",
  "stream_function_failed",
  "invalid_state",
  "invalid_argument",
]);

/** Reduces absolute paths to the file name. */
function withoutFolders(message: string): string {
  return message.replaceAll(
    /(?<![^\s"'`(<[])(?:file:\/\/|~|[A-Za-z]:)?[\\/](?:[^\s"'`)>\]\\/]*[\\/])*/g,
    "",
  );
}

/** Collects the values of variables with secret names, passwords in other variables, and `more`. */
export function secretsOf(
  env: Readonly<Record<string, string | undefined>>,
  more: readonly string[],
): string[] {
  const named = Object.entries(env).flatMap(([name, value = ""]) => [
    ...(isSecretName(name) ? [value.trim()] : []),
    ...passwordsIn(value),
  ]);
  return [...new Set([...named, ...more])].filter((secret) => secret.length >= MIN_LENGTH);
}

export function createSecretFilter(secrets: readonly string[]): SecretFilter {
  const { text, stream } = createRedactor(secrets);
  const value = (given: unknown): unknown => {
    if (typeof given === "string") return text(given);
    if (Array.isArray(given)) return given.map(value);
    if (typeof given !== "object" || given === null) return given;
    return Object.fromEntries(
      Object.entries(given).map(([name, part]) => [text(name), value(part)]),
    );
  };
  return {
    text,
    failure(given) {
      const message = text(given.message);
      const isOwn = ownCodes.has(given.data?.code ?? given.code);
      return { ...given, message: isOwn ? withoutFolders(message) : message };
    },
    value: <T>(given: T) => value(given) as T,
    stream,
    unfinished: (given) => stream().push(given),
  };
}
