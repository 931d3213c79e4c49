/** A fetch that keeps what a server said when it refused a request: karl's error quotes it. */
import type { StreamOptions } from "@bowline/core";

const MAX_TEXT = 4096;
/** What is shorter stands in for a key and is a word of harmless texts, as in all errors. */
const MIN_KEY_LENGTH = 8;

export interface RefusalKeeper {
  readonly fetch: typeof globalThis.fetch;
  /** The last refusal's body, without the key; at most 4,096 characters. */
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
      // Cut when the key is out: its beginning would pass for another word.
      const body = await readText(response.body?.getReader(), MAX_TEXT + key.length);
      text = (key.length < MIN_KEY_LENGTH ? body : body.replaceAll(key, "[key]")).slice(
        0,
        MAX_TEXT,
      );
      return new Response(body, response);
    },
  };
}

/** To the end, or at least so many characters. */
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
