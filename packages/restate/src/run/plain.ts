/** Makes values JSON-safe. */

/** Returns the value as JSON represents it, or a description if JSON cannot. */
export function toPlain(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as unknown);
  } catch {
    return String(value);
  }
}
