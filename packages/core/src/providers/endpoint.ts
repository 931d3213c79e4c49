/** The URL and the headers of a request. */
import { BowlineError } from "../errors.ts";
import type { Model, StreamOptions } from "../llm/model.ts";

/**
 * Joins the base URL and a path with one slash. A query such as Azure's `api-version` stays at the
 * end. Throws `invalid_argument` if there is no base URL.
 */
// Q135
export function joinUrl(baseUrl: string, path: string): string {
  if (typeof baseUrl !== "string")
    throw new BowlineError("invalid_argument", "The model has no baseUrl.");
  return baseUrl.replace(/\/*(?=\?|$)/, `/${path}`);
}

/**
 * Returns the headers. Without a key, no key header is sent. Headers of the model and the caller
 * override the rest.
 */
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
    "accept-encoding": "identity", // compressed streams are buffered (Q027)
    ...(apiKey && { [bare ?? usualHeader]: bare ? apiKey : scheme + apiKey }),
    ...headers,
    ...options.headers,
  };
}
