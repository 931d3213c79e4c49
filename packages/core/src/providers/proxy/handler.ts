/**
 * The server half of `streamProxy`: a function from a request to a response, for any framework that
 * uses `fetch` types.
 */
import type { Clock } from "../../clock.ts";
import { BowlineError, isBowlineError, toErrorInfo, type ErrorCode } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import type { Model, StreamFn, StreamOptions } from "../../llm/model.ts";
import { getModel } from "../vendors.ts";
import { parseProxyBody, type ProxyCall } from "./call.ts";
import { streamResponse } from "./response.ts";

/** Why `authorize` refuses a request. */
export interface ProxyRefusal {
  /** 400 to 599. Any other number becomes 403. */
  readonly status: number;
  /** Sent to the client. */
  readonly message: string;
}

export interface ProxyHandlerOptions {
  /** Calls the model, with the server's own model and options. */
  readonly streamFn: StreamFn;
  /**
   * Called first, before the body is read. `false` responds with 401. If it throws, the response is
   * a 500 without details, so catch errors about bad tokens inside.
   */
  readonly authorize: (
    request: Request,
  ) => boolean | ProxyRefusal | Promise<boolean | ProxyRefusal>;
  /**
   * Returns the server's own model for the one that the client named, or undefined to refuse it
   * with 403. An error with the code `invalid_argument`, as from `getModel`, refuses it too. The
   * client's model has no base URL, headers, compat or prices; this function must supply them.
   * Default: any model of a known vendor at the vendor's own base URL, including vendors on this
   * machine.
   */
  readonly allowModel?:
    | ((model: Model, request: Request) => Model | undefined | Promise<Model | undefined>)
    | undefined;
  /**
   * Options for every call, or a function of the request and the server's own model. They override
   * the client's. If the function throws, the response is a 500 without details. An `apiKey`
   * requires `allowModel`, or a client could have the key sent to any vendor. To choose between
   * several keys, do so in `streamFn`.
   */
  readonly options?:
    | StreamOptions
    | ((request: Request, model: Model) => StreamOptions | Promise<StreamOptions>)
    | undefined;
  /**
   * Whether to apply a client's `extraBody`. It can replace any field of the request, including the
   * model's name. Default false.
   */
  readonly acceptExtraBody?: boolean | undefined;
  /**
   * Whether a client may declare the vendor's own tools, such as a web search. They are billed
   * besides tokens, and some of them read files of the account. Default false: such a request is
   * refused with 403.
   */
  readonly acceptProviderTools?: boolean | undefined;
  /** The largest request body, in bytes. A larger one is refused with 413. Default 32 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * Creates the handler of `POST <proxyUrl>/api/stream`. Apply path, CORS and rate limits where you
 * mount it. The returned promise never rejects. An invalid request gets an error status with `{
 * error: { code, message } }`; a failed call ends the stream with an `error` event. If the client
 * disconnects, the model call is aborted. Throws `invalid_argument` for options that would expose
 * an API key.
 */
export function createStreamProxyHandler(
  options: ProxyHandlerOptions,
): (request: Request) => Promise<Response> {
  if (typeof options.options === "object") assertSafe(options.options, options);
  return async (request) => {
    try {
      const call = await accept(request, options);
      return streamResponse(call, request.signal, options);
    } catch (error) {
      return refusal(error);
    }
  };
}

/** Returns the call that the server will make. Throws a `BowlineError` with the response status. */
async function accept(request: Request, options: ProxyHandlerOptions): Promise<ProxyCall> {
  if (request.method !== "POST") throw refuse(405, `This path takes POST, not ${request.method}.`);
  const verdict = await guarded("authorize", () => options.authorize(request));
  if (verdict === false) throw refuse(401, "The token is missing or not accepted.");
  if (verdict !== true) throw refuse(errorStatus(verdict.status), verdict.message);
  // A page of another origin can post other types, but not JSON, without a preflight request.
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type))
    throw refuse(415, "The body must be application/json.");
  const call = parseProxyBody(
    await readText(request, options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES),
  );
  const { allowModel = vendorsModel } = options;
  const model = await guarded("allowModel", () => allowModel(call.model, request), undefined);
  if (model === undefined) {
    throw refuse(
      403,
      `The model ${JSON.stringify(`${call.model.provider}/${call.model.id}`)} is not allowed here.`,
    );
  }
  const { options: given } = options;
  const foreign = call.context.tools?.find(({ providerTool }) => providerTool);
  if (foreign && options.acceptProviderTools !== true)
    throw refuse(
      403,
      `The tool ${JSON.stringify(foreign.name)} of the vendor is not allowed here.`,
    );
  const own = typeof given === "function" ? await optionsOf(given, request, model, options) : given;
  const { extraBody, ...asked } = call.options;
  return {
    model,
    context: call.context,
    options: {
      ...asked,
      ...(options.acceptExtraBody === true && extraBody && { extraBody }),
      ...defined({ ...own }),
    },
  };
}

async function optionsOf(
  given: Extract<ProxyHandlerOptions["options"], Function>,
  request: Request,
  model: Model,
  options: ProxyHandlerOptions,
): Promise<StreamOptions> {
  return guarded("options", async () => {
    const own = await given(request, model);
    assertSafe(own, options);
    return own;
  });
}

/** Throws `invalid_argument` for options that would expose an API key. */
function assertSafe({ apiKey }: StreamOptions, { allowModel }: ProxyHandlerOptions): void {
  if (apiKey === undefined || allowModel !== undefined) return;
  throw new BowlineError(
    "invalid_argument",
    "options.apiKey needs allowModel: without it a client could have the key sent to any vendor.",
  );
}

function vendorsModel({
  provider,
  id,
  name,
  api,
  reasoning,
  input,
  contextWindow,
  maxTokens,
}: Model): Model {
  return getModel(provider, id, {
    name,
    api,
    reasoning,
    input,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxTokens !== undefined && { maxTokens }),
  });
}

/**
 * Runs a hook of the server. Its errors are not sent to the client, since they may hold secrets.
 * Returns `misuse`, if given, for an `invalid_argument`.
 */
async function guarded<T>(name: string, hook: () => T | Promise<T>, ...misuse: T[]): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (misuse.length > 0 && isBowlineError(error) && error.code === "invalid_argument")
      return misuse[0] as T;
    throw new BowlineError("hook_failed", `${name} failed`, { status: 500, cause: error });
  }
}

async function readText(request: Request, limit: number): Promise<string> {
  const tooLarge = refuse(413, `The body is larger than ${limit} bytes.`);
  if (Number(request.headers.get("content-length")) > limit) throw tooLarge;
  const reader = request.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > limit) throw tooLarge;
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    throw isBowlineError(error) ? error : refuse(400, "The body cannot be read as UTF-8 text.");
  } finally {
    reader.releaseLock();
  }
}

const codeOfStatus: Readonly<Record<number, ErrorCode>> = {
  401: "authentication_failed",
  402: "quota_exceeded",
  403: "permission_denied",
  404: "not_found",
  413: "request_too_large",
  429: "rate_limited",
};

function refuse(status: number, message: string): BowlineError {
  const code = codeOfStatus[status] ?? (status < 500 ? "invalid_request" : "server_error");
  return new BowlineError(code, message, { status });
}

/** Returns the status, or 403 if it is not an error status and would pass for an answer. */
function errorStatus(status: number): number {
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : 403;
}

function refusal(error: unknown): Response {
  const known = isBowlineError(error)
    ? error
    : new BowlineError("internal_error", "The proxy failed.");
  const { code, message, status = 500 } = toErrorInfo(known);
  return new Response(JSON.stringify({ error: { code, message } }), {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(status === 405 && { allow: "POST" }),
      ...(status === 401 && { "www-authenticate": "Bearer" }),
    },
  });
}
