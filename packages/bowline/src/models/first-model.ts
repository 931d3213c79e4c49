/** Chooses a model for a server when none is named: the first in its list that can chat. */
import type { ErrorInfo, Vendor } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { firstToAsk, listedModels, modelsUrl } from "../doctor/index.ts";
import { keyAdvice, sourceOf } from "./key-advice.ts";
import { retrying, type Patience } from "./patience.ts";

const LIST_TIMEOUT_MS = 10_000;
/** A server on this machine answers at once. */
const LOCAL_TIMEOUT_MS = 400;

/** Returns undefined if the vendor's server does not run on this machine. */
export async function localModel({ baseUrl = "" }: Vendor): Promise<string | undefined> {
  try {
    return await askForFirst({ baseUrl, signal: AbortSignal.timeout(LOCAL_TIMEOUT_MS) });
  } catch {
    return undefined; // no such server; it was only probed for
  }
}

/** Options for requesting a list. */
export interface ListOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Default: no retries. */
  readonly patience?: Patience | undefined;
}

/**
 * Throws `CommandError` if the server lists no models, and the signal's reason if `patience` is
 * aborted.
 */
export async function firstModel(
  { fetch, patience }: ListOptions,
  baseUrl: string,
  apiKey: string | undefined,
  variable: string | undefined,
  preferred?: string,
): Promise<string> {
  let first: string | undefined;
  try {
    first = await retrying(
      new URL(baseUrl).host,
      async (stop) => {
        const late = AbortSignal.timeout(LIST_TIMEOUT_MS);
        const signal = stop === undefined ? late : AbortSignal.any([late, stop]);
        return askForFirst({ baseUrl, apiKey, signal, fetch, preferred });
      },
      failureOf,
      patience,
    );
  } catch (error) {
    if (patience?.signal?.aborted === true) throw error;
    const { cause, message } = error as Error & { cause?: { code?: string } };
    if (/^HTTP 40[13]$/.test(message)) {
      const what = apiKey === undefined ? "wants a key" : "refused the key";
      const advice = keyAdvice({ ...sourceOf(variable, apiKey), baseUrl });
      throw new CommandError(
        `The server at ${baseUrl} ${what} (${message} for the model list). ${advice}`,
      );
    }
    throw new CommandError(
      `Could not list the models at ${baseUrl} (${cause?.code ?? message}). Name one with --model.`,
    );
  }
  if (first === undefined)
    throw new CommandError(`The server at ${baseUrl} lists no models. Name one with --model.`);
  return first;
}

interface Ask {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly signal: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  readonly preferred?: string | undefined;
}

/** A response with an error status. */
class StatusError extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor({ status, headers }: Response) {
    super(`HTTP ${status}`);
    this.status = status;
    const seconds = Number(headers.get("retry-after") || Number.NaN);
    this.retryAfterMs = seconds >= 0 ? seconds * 1000 : undefined;
  }
}

/**
 * Returns the preferred model if it is listed, or else the first. Returns undefined for an empty
 * list. Throws if the response is not a list.
 */
async function askForFirst({
  baseUrl,
  apiKey,
  signal,
  fetch = globalThis.fetch,
  preferred,
}: Ask): Promise<string | undefined> {
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const response = await fetch(modelsUrl(baseUrl), { headers, signal });
  if (!response.ok) {
    await response.body?.cancel(); // an unread body would keep the process alive
    throw new StatusError(response);
  }
  const models = listedModels(await response.json());
  if (models === undefined) throw new Error("the answer is not a list");
  return models.some(({ id }) => id === preferred) ? preferred : firstToAsk(models);
}

/** Returns the failure if a retry may succeed, else undefined. */
function failureOf(error: unknown): ErrorInfo | undefined {
  const { message } = error as Error;
  const retryable = true;
  if (error instanceof StatusError) {
    const { status, retryAfterMs } = error;
    const about = {
      message,
      retryable,
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
    if (status === 429) return { code: "rate_limited", ...about };
    // 501: the server has no list, so a retry cannot help.
    const isPassing = status === 408 || (status >= 500 && status !== 501);
    return isPassing ? { code: "server_error", ...about } : undefined;
  }
  if ((error as Error).name === "TimeoutError") return { code: "timeout", message, retryable };
  // fetch throws a TypeError if there is no connection or it is cut.
  return error instanceof TypeError ? { code: "connection_failed", message, retryable } : undefined;
}
