/** When to ask again. Hints of the server come first; otherwise full jitter on a doubling delay. */
import type { BowlineError } from "../errors.ts";

const BASE_MS = 500;
/** A server that is overloaded gets more time. */
// Q227
const OVERLOADED_BASE_MS = 2000;
const CAP_MS = 8_000;

/**
 * The pause after the `count`-th failure of a kind: the server's hint, else 0 to 0.5 s ×
 * 2^(count-1), at most 8 s.
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
 * The delay a server asks for, in milliseconds: `retry-after-ms`, then `retry-after` in seconds or
 * as a date, then, of a 429, `x-ratelimit-reset-*`, then `retryDelay` in
 * the body, then the message. Past and unreadable hints are none.
 */
// Q220, Q221, Q245, Q222, Q216, Q223
export function retryAfterMs({ status, headers, body, now }: Hints): number | undefined {
  const serverNow = Date.parse(headers.date ?? "") || now; // the clock that the hints were made by
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
 * The latest reset of the limits that are used up; where no limit says what is left of it, of all.
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
 * As a duration in seconds, an epoch in seconds or milliseconds, or a date, which counts whole
 * seconds.
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

/** `13` and `13s`, `120ms`, `1m26.4s` in milliseconds. */
function duration(text: string | undefined): number | undefined {
  let ms = 0;
  const rest = text?.replace(/([\d.]+)(h|ms|m|s)?/g, (_, number: string, name: string) => {
    ms += Number(number) * (unitMs[name] ?? 1000);
    return "";
  });
  return rest === "" && ms > 0 ? Math.ceil(ms) : undefined;
}
