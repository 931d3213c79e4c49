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
 * then Gemini's `retryDelay` in the body (Q216). Past and unreadable hints are none.
 */
export function retryAfterMs(headers: Headers, body: string, now: number): number | undefined {
  const ms = positive(headers.get("retry-after-ms"));
  if (ms !== undefined) return ms;
  const after = headers.get("retry-after");
  const seconds = positive(after);
  if (seconds !== undefined) return seconds * 1000;
  if (after !== null && /[a-z]/i.test(after)) {
    // Dates count whole seconds, and the server's clock is the one that matters.
    const server = Date.parse(headers.get("date") ?? "");
    const delay = Date.parse(after) - (Number.isNaN(server) ? now : server) + 1000;
    if (delay > 1000) return delay;
  }
  const inBody = positive(/"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1] ?? null);
  return inBody === undefined ? undefined : Math.ceil(inBody * 1000);
}

function positive(text: string | null): number | undefined {
  if (text === null || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}
