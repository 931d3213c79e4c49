/** A `fetch` that stores the body of a refused request, which karl's error quotes. */
import type { StreamOptions } from "@bowline/core";

const MAX_TEXT = 4096;
/** Shorter keys are placeholders and may occur in harmless text, as in all errors. */
const MIN_KEY_LENGTH = 8;

export interface RefusalKeeper {
  readonly fetch: typeof globalThis.fetch;
  /** Returns the last refusal's body without the key; at most 4,096 characters. */
  readonly text: () => string | undefined;
}

export function keepRefusal({
  fetch = globalThis.fetch,
  apiKey = "",
}: StreamOptions): RefusalKeeper {
  const key = apiKey.trim();
  let text: string | undefined;
  return {
    text: () => text,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (response.status < 400) return response;
      // Cut after redaction: a cut key would no longer match.
      const body = await readText(response.body?.getReader(), MAX_TEXT + key.length);
      text = (key.length < MIN_KEY_LENGTH ? body : body.replaceAll(key, "[key]")).slice(
        0,
        MAX_TEXT,
      );
      return new Response(body, response);
    },
  };
}

/** Reads to the end, or at least `length` characters. */
async function readText(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  length: number,
): Promise<string> {
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  for (let text = ""; ;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    if (done) return text;
    if (text.length < length) continue;
    await reader.cancel();
    return text;
  }
}
