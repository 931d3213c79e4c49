/** When to ask again. Hints of the server come first; otherwise full jitter on a doubling delay. */

const BASE_MS = 500;
const CAP_MS = 8_000;

/** The pause before the next try: the server's hint, else 0 to 0.5 s × 2^(attempt-1), at most 8 s. `attempt` counts from 1. */
export function backoffMs(attempt: number, hint: number | undefined, random: number): number {
  if (hint !== undefined) return hint;
  return Math.round(random * Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1)));
}

/**
 * The delay a server asks for, in milliseconds: `retry-after-ms`, then `retry-after` in seconds or as a date (Q220, Q221, Q245),
 * then `x-ratelimit-reset-*` (Q222), then `retryDelay` in the body (Q216), then the message (Q223). Past and unreadable hints
 * are none.
 */
export function retryAfterMs(headers: Headers, body: string, now: number): number | undefined {
  const after = headers.get("retry-after") ?? "";
  const inBody = /"retryDelay"\s*:\s*"([^"]+)"/.exec(body) ?? /(?:try again|retry) in ([\d.hms]+[hms])/i.exec(body);
  return (
    duration(headers.get("retry-after-ms"), 1) ??
    duration(after, 1000) ??
    untilDate(after, headers.get("date"), now) ??
    resetMs(headers, now) ??
    duration(inBody?.[1], 1000)
  );
}

const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** `13`, `1.5s`, `120ms`, `1m26.4s` in milliseconds; a bare number is counted in `unit`. */
function duration(text: string | null | undefined, unit: number): number | undefined {
  const parts = [...(text ?? "").matchAll(/([\d.]+)(h|ms|m|s)?/g)];
  if (parts.map(([part]) => part).join("") !== text) return undefined;
  let ms = 0;
  for (const [, number, name] of parts) ms += Number(number) * (unitMs[name ?? ""] ?? unit);
  return ms > 0 ? Math.ceil(ms) : undefined;
}

/** Dates count whole seconds, and the server's clock is the one that matters. */
function untilDate(text: string, date: string | null, now: number): number | undefined {
  const server = Date.parse(date ?? "");
  const delay = Date.parse(/[a-z-]/i.test(text) ? text : "") - (Number.isNaN(server) ? now : server) + 1000;
  return delay > 1000 ? delay : undefined;
}

/** The latest reset that the limits name, as a duration, a date or an epoch. */
function resetMs(headers: Headers, now: number): number | undefined {
  const resets = [...headers].flatMap(([name, value]) => {
    if (!/ratelimit-.*reset/.test(name)) return [];
    const epoch = Number(value);
    if (epoch > 1e9) return [(epoch > 1e12 ? epoch : epoch * 1000) - now];
    return [duration(value, 1000) ?? untilDate(value, headers.get("date"), now) ?? 0];
  });
  const latest = Math.max(0, ...resets);
  return latest > 0 ? latest : undefined;
}
