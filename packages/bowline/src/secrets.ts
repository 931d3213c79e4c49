/**
 * Secrets out of what is sent: in whole values, and in a stream of text, where a secret may lie
 * across deltas.
 */
import { createRedactor, type RedactedStream } from "@bowline/core";
import { isSecretName, passwordsIn } from "./environment.ts";

/** A shorter one would be found in harmless text. */
const MIN_LENGTH = 8;

/** The message of an error, as it was thrown or as it is sent. */
interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly data?: { readonly code: string };
}

export interface SecretFilter {
  text(text: string): string;
  /** A copy whose message has no secrets, and of this machine's own errors no absolute paths. */
  failure<T extends Failure>(failure: T): T;
  /** A copy in which every text is filtered. */
  value<T>(value: T): T;
  /** For one stream of text. */
  stream(): RedactedStream;
  /** Of a text that is not complete: without what may become a secret at its end. */
  unfinished(text: string): string;
}

/**
 * Codes of errors that are made here, where a path is one of this machine. In the words of a
 * model's server it is a part of an address.
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

/** Of an absolute path only the name. */
function withoutFolders(message: string): string {
  return message.replaceAll(
    /(?<![^\s"'`(<[])(?:file:\/\/|~|[A-Za-z]:)?[\\/](?:[^\s"'`)>\]\\/]*[\\/])*/g,
    "",
  );
}

/** The values of variables whose names say that they are secret, passwords in others, and `more`. */
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
