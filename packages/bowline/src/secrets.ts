/**
 * Secrets out of what is sent: in whole values, and in a stream of text, where a secret may lie
 * across deltas.
 */
import { createRedactor, type Redactor } from "@bowline/core";
import { isSecretName } from "./environment.ts";

/** A shorter one would be found in harmless text. */
const MIN_LENGTH = 8;
const MARK = "[redacted]";
/** The beginnings of vendors' keys, as the redactor knows them, and what may follow. */
const beginnings = ["sk-", "gsk_", "xai-", "AIza"];
const openKey = /(?<![A-Za-z0-9])(?:sk-|gsk_|xai-|AIza)[\w-]*$/;
/** A run of such characters this long is surely a key; what follows belongs to it. */
const SURELY = 256;

export interface SecretFilter {
  text(text: string): string;
  /** A copy in which every text is filtered. */
  value<T>(value: T): T;
  /** For one stream of text. */
  stream(): SecretStream;
}

export interface SecretStream {
  /** What can be shown of all that came so far and was not shown yet. */
  push(delta: string): string;
  /** The rest. */
  end(): string;
}

/** The values of variables whose names say that they are secret, and `more`. */
export function secretsOf(
  env: Readonly<Record<string, string | undefined>>,
  more: readonly string[],
): string[] {
  const named = Object.entries(env).flatMap(([name, value]) =>
    isSecretName(name) ? [value?.trim() ?? ""] : [],
  );
  return [...new Set([...named, ...more])].filter((secret) => secret.length >= MIN_LENGTH);
}

export function createSecretFilter(secrets: readonly string[]): SecretFilter {
  const redactor = createRedactor(secrets);
  const value = (given: unknown): unknown => {
    if (typeof given === "string") return redactor.text(given);
    if (Array.isArray(given)) return given.map(value);
    if (typeof given !== "object" || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([name, part]) => [name, value(part)]));
  };
  return {
    text: redactor.text,
    value: <T>(given: T) => value(given) as T,
    stream: () => createTextFilter(secrets, redactor),
  };
}

function createTextFilter(secrets: readonly string[], redactor: Redactor): SecretStream {
  const starts = [...secrets, ...beginnings];
  const longest = Math.max(...starts.map(({ length }) => length));
  /** The character before what is held: whether a key begins there depends on it. */
  let before = "";
  let held = "";
  let insideKey = false;
  return {
    push(delta) {
      held += delta;
      if (insideKey) {
        held = held.replace(/^[\w-]+/, "");
        if (held === "") return "";
        insideKey = false;
      }
      const from = holdFrom(held);
      if (held.length - from <= longest + SURELY) return take(from);
      const shown = `${take(from)}${MARK}`;
      held = "";
      before = "";
      insideKey = true;
      return shown;
    },
    end() {
      insideKey = false;
      const rest = take(held.length);
      before = "";
      return rest;
    },
  };

  function take(length: number): string {
    const shown = redactor.text(before + held.slice(0, length)).slice(before.length);
    before = length > 0 ? (held[length - 1] as string) : before;
    held = held.slice(length);
    return shown;
  }

  /** Where something begins that may become a secret. */
  function holdFrom(text: string): number {
    const key = openKey.exec(before + text);
    let from = key === null ? text.length : key.index - before.length;
    for (let at = Math.max(0, text.length - longest); at < from; at++) {
      const tail = text.slice(at);
      if (starts.some((start) => start.length > tail.length && start.startsWith(tail))) from = at;
    }
    return from;
  }
}
