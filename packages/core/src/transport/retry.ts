/**
 * Retry delays: the server's hint if there is one, otherwise exponential backoff with full jitter.
 */
import type { BowlineError } from "../errors.ts";

const BASE_MS = 500;
/** An overloaded server gets more time. */
// Q227
const OVERLOADED_BASE_MS = 2000;
const CAP_MS = 8_000;

/**
 * Returns the delay in milliseconds after the `count`-th failure of a kind: the server's hint, else
 * a random delay of up to 0.5 s × 2^(count-1), at most 8 s. An overloaded server starts at 2 s.
 */
export function backoffMs(
  count: number,
  { retryAfterMs: hint, code }: BowlineError,
  random: number,
): number {
  const base = code === "overloaded" ? OVERLOADED_BASE_MS : BASE_MS;
  return hint ?? Math.round(random * Math.min(CAP_MS, base * 2 ** (count - 1)));
}

interface Hints {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly now: number;
}

/**
 * Returns the delay that a server asks for, in milliseconds, or undefined. Reads, in this order:
 * `retry-after-ms`, `retry-after` (seconds or a date), `x-ratelimit-reset-*` of a 429, `retryDelay`
 * in the body, and the message. Ignores hints that are past or unreadable.
 */
// Q220, Q221, Q245, Q222, Q216, Q223
export function retryAfterMs({ status, headers, body, now }: Hints): number | undefined {
  // Hints with a date refer to the server's clock.
  const serverNow = Date.parse(headers.date ?? "") || now;
  const inBody =
    /"retryDelay"\s*:\s*"([^"]+)"/.exec(body) ??
    /(?:try again|retry) in ([\d.hms]+[hms])/i.exec(body);
  return (
    duration(`${headers["retry-after-ms"]}ms`) ??
    delayOf(headers["retry-after"], serverNow) ??
    (status === 429 ? resetMs(headers, serverNow) : undefined) ??
    duration(inBody?.[1])
  );
}

/**
 * Returns the latest reset among the exhausted limits, or among all limits if none reports what
 * remains.
 */
function resetMs(headers: Hints["headers"], serverNow: number): number | undefined {
  const resets = Object.keys(headers).filter((name) => /ratelimit-.*reset/.test(name));
  const remainder = (name: string): string | undefined =>
    headers[name.replace("reset", "remaining")];
  const isTold = resets.some((name) => remainder(name) !== undefined);
  const delays = resets
    .filter((name) => !isTold || Number(remainder(name)) <= 0)
    .map((name) => delayOf(headers[name], serverNow) ?? 0);
  return Math.max(0, ...delays) || undefined;
}

/**
 * Reads a duration in seconds, an epoch in seconds or milliseconds, or a date. Dates are whole
 * seconds, so one second is added.
 */
// Q245
function delayOf(text: string | undefined, serverNow: number): number | undefined {
  const epoch = Number(text);
  const ms =
    epoch > 1e9
      ? (epoch > 1e12 ? epoch : epoch * 1000) - serverNow
      : (duration(text) ?? Date.parse(text ?? "") + 1000 - serverNow);
  return ms > 0 ? ms : undefined;
}

const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, ms: 1 };

/** Parses `13`, `13s`, `120ms` or `1m26.4s` into milliseconds. */
function duration(text: string | undefined): number | undefined {
  let ms = 0;
  const rest = text?.replace(/([\d.]+)(h|ms|m|s)?/g, (_, number: string, name: string) => {
    ms += Number(number) * (unitMs[name] ?? 1000);
    return "";
  });
  return rest === "" && ms > 0 ? Math.ceil(ms) : undefined;
}
