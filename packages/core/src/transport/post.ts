/**
 * Sends one POST and streams its response body. Every failure is a typed error, and every wait can
 * be aborted.
 */
import { BowlineError, errorText, isBowlineError } from "../errors.ts";
import { asRecord } from "../json-value.ts";
import { Exchange } from "./exchange.ts";
import { errorOfResponse } from "./http-error.ts";
import type { PostOptions, PostRequest } from "./request.ts";

/**
 * Sends the request and passes the body to `onChunk`, chunk by chunk. Resolves when the body ends
 * or `onChunk` returns `complete`. Rejects with a `BowlineError`.
 */
export async function postForStream(request: PostRequest, options: PostOptions): Promise<void> {
  const exchange = new Exchange(request, options);
  let failure: BowlineError | undefined;
  try {
    await exchange.run();
  } catch (error) {
    failure = isBowlineError(error) ? error : connectionError(error, exchange, request.url);
  }
  const { response } = exchange;
  // An error status is reported even if reading its body failed.
  if (response && !response.ok && failure?.code !== "aborted")
    throw refusalError(response, exchange.words, request, options);
  if (failure) throw failure;
}

function refusalError(
  { status, headers: fields }: Response,
  body: string,
  { url, headers: sent }: PostRequest,
  { model, clock }: PostOptions,
): BowlineError {
  const headers = Object.fromEntries(fields);
  if (status >= 400) {
    const now = clock.now();
    return errorOfResponse({ status, headers, sent: Object.keys(sent), body, url, model, now });
  }
  // Browsers hide both the target and the status.
  const target = headers.location ?? "another address";
  const message = `The server at ${url} redirects to ${target}: use that base URL.`;
  return new BowlineError("unexpected_response", message, { status });
}

/** Reports the `cause` that Node attaches to "fetch failed", which alone explains nothing. */
function connectionError(error: unknown, { response }: Exchange, url: string): BowlineError {
  const failing = response ? "Lost the connection to" : "Could not reach";
  const { cause, name } = asRecord(error);
  const { code: reason, message } = asRecord(cause);
  const why = errorText(reason ?? message ?? error);
  // `fetch` has time limits of its own (Q236). Node reports undici's codes; Bun and
  // `AbortSignal.timeout` use the standard error name.
  const isTimeout = name === "TimeoutError" || why.includes("_TIMEOUT");
  const code = isTimeout ? "timeout" : "connection_failed";
  return new BowlineError(code, `${failing} ${url}: ${why}`, { retryable: true, cause: error });
}
