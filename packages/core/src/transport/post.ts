/**
 * One POST and its streamed body. Everything that can go wrong is thrown as a typed error; every
 * wait can be aborted.
 */
import { BowlineError, errorText, isBowlineError } from "../errors.ts";
import { asRecord } from "../json-value.ts";
import { Exchange } from "./exchange.ts";
import { errorOfResponse } from "./http-error.ts";
import type { PostOptions, PostRequest } from "./request.ts";

/**
 * Posts, then hands over the body chunk by chunk. Resolves when the body ended or `onChunk` said
 * that the answer is complete.
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
  // A refusal is one, whatever became of its words.
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
  const target = headers.location ?? "another address"; // which browsers do not tell, nor the status
  const message = `The server at ${url} redirects to ${target}: use that base URL.`;
  return new BowlineError("unexpected_response", message, { status });
}

/** Node hides the reason in `cause`; without it "fetch failed" says nothing. */
function connectionError(error: unknown, { response }: Exchange, url: string): BowlineError {
  const failing = response ? "Lost the connection to" : "Could not reach";
  const { cause, name } = asRecord(error);
  const { code: reason, message } = asRecord(cause);
  const why = errorText(reason ?? message ?? error);
  // A fetch has limits of its own (Q236): Node's are undici's, Bun's and an `AbortSignal.timeout`
  // have the standard's name.
  const isTimeout = name === "TimeoutError" || why.includes("_TIMEOUT");
  const code = isTimeout ? "timeout" : "connection_failed";
  return new BowlineError(code, `${failing} ${url}: ${why}`, { retryable: true, cause: error });
}
