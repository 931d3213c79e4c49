/** The model of a server for which none was named: the first of its list that chats. */
import type { Vendor } from "@bowline/core";
import { CommandError } from "../command-error.ts";
import { firstToAsk, listedModels, modelsUrl } from "../doctor/index.ts";
import { keyAdvice, sourceOf } from "./key-advice.ts";

const LIST_TIMEOUT_MS = 10_000;
/** A server on this machine answers at once, or is none. */
const LOCAL_TIMEOUT_MS = 400;

/** Undefined where no server of the vendor runs on this machine. */
export async function localModel({ baseUrl = "" }: Vendor): Promise<string | undefined> {
  try {
    return await askForFirst(baseUrl, undefined, LOCAL_TIMEOUT_MS);
  } catch {
    return undefined; // nothing there, or something else: looked for, not asked for
  }
}

/** Throws `CommandError` where the server lists none. */
export async function firstModel(
  { fetch }: { readonly fetch: typeof globalThis.fetch },
  baseUrl: string,
  apiKey: string | undefined,
  variable: string | undefined,
  preferred?: string,
): Promise<string> {
  let first: string | undefined;
  try {
    first = await askForFirst(baseUrl, apiKey, LIST_TIMEOUT_MS, fetch, preferred);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    if (/^HTTP 40[13]$/.test(message)) {
      const what = apiKey === undefined ? "wants a key" : "refused the key";
      const advice = keyAdvice({ ...sourceOf(variable, apiKey), baseUrl });
      throw new CommandError(
        `The server at ${baseUrl} ${what} (${message} for the model list). ${advice}`,
      );
    }
    throw new CommandError(
      `Could not list the models at ${baseUrl} (${cause?.code ?? message}): name one with --model.`,
    );
  }
  if (first === undefined)
    throw new CommandError(`The server at ${baseUrl} lists no model: name one with --model.`);
  return first;
}

/** The preferred one, if it is there. Undefined when the list is empty. Throws for what is none. */
async function askForFirst(
  baseUrl: string,
  apiKey: string | undefined,
  timeoutMs: number,
  fetch = globalThis.fetch,
  preferred?: string,
): Promise<string | undefined> {
  const response = await fetch(modelsUrl(baseUrl), {
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) {
    await response.body?.cancel(); // a rest that is never read would keep the process waiting
    throw new Error(`HTTP ${response.status}`);
  }
  const models = listedModels(await response.json());
  if (models === undefined) throw new Error("the answer is no list");
  return models.some(({ id }) => id === preferred) ? preferred : firstToAsk(models);
}
