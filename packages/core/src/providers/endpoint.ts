/** Where a request goes, and what it says of itself. */
import { BowlineError } from "../errors.ts";
import type { Model, StreamOptions } from "../llm/model.ts";

/**
 * The base URL and a path, with one slash between; a query such as Azure's `api-version` stays last. Throws `invalid_argument` without one.
 */
// Q135
export function joinUrl(baseUrl: string, path: string): string {
  if (typeof baseUrl !== "string")
    throw new BowlineError("invalid_argument", "The model has no baseUrl.");
  return baseUrl.replace(/\/*(?=\?|$)/, `/${path}`);
}

/** No key, no header for it; what the model and the caller set wins. */
// Q136
export function wireHeaders(
  { headers, compat }: Model,
  options: StreamOptions,
  usualHeader: string,
  scheme = "",
): Record<string, string> {
  const apiKey = options.apiKey?.trim();
  const bare = compat?.keyHeader;
  return {
    "content-type": "application/json",
    accept: compat?.noStreaming ? "application/json" : "text/event-stream",
    "accept-encoding": "identity", // compression buffers a stream (Q027)
    ...(apiKey && { [bare ?? usualHeader]: bare ? apiKey : scheme + apiKey }),
    ...headers,
    ...options.headers,
  };
}
