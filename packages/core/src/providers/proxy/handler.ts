/**
 * The server's half of `streamProxy`: a function from a request to a response, for any framework
 * that speaks `fetch`.
 */
import type { Clock } from "../../clock.ts";
import { BowlineError, isBowlineError, toErrorInfo, type ErrorCode } from "../../errors.ts";
import { defined } from "../../json-value.ts";
import type { Model, StreamFn, StreamOptions } from "../../llm/model.ts";
import { getModel } from "../vendors.ts";
import { parseProxyBody, type ProxyCall } from "./call.ts";
import { streamResponse } from "./response.ts";

/** Why a request is turned away. */
export interface ProxyRefusal {
  /** 400 to 599. */
  readonly status: number;
  /** For the client to read. */
  readonly message: string;
}

export interface ProxyHandlerOptions {
  /** Calls the model. It is given the server's own model and options. */
  readonly streamFn: StreamFn;
  /**
   * Called first, before the body is read; `false` is a 401. One that throws is a 500 that says no
   * more, so a check that throws for a bad token is to be caught inside.
   */
  readonly authorize: (
    request: Request,
  ) => boolean | ProxyRefusal | Promise<boolean | ProxyRefusal>;
  /**
   * The server's own model for the one that the client names, or undefined to refuse it (403; so is
   * a throw of `invalid_argument`, as of `getModel`). What the client names has no base URL, no
   * headers, no compat and no prices: they are for this function to give. Default: the vendor of
   * that name at its own base URL, whatever the model; vendors on this machine among them.
   */
  readonly allowModel?:
    | ((model: Model, request: Request) => Model | undefined | Promise<Model | undefined>)
    | undefined;
  /**
   * For every call, or for each by its request and the server's own model (a throw is a 500 that
   * says no more); an option that is set here wins over the client's. An `apiKey` needs
   * `allowModel`, or a client could have it sent to any vendor; several keys are for `streamFn` to
   * choose from.
   */
  readonly options?:
    | StreamOptions
    | ((request: Request, model: Model) => StreamOptions | Promise<StreamOptions>)
    | undefined;
  /**
   * Whether a client's `extraBody` is obeyed. It can replace any field of the request, the model's
   * name too. Default false.
   */
  readonly acceptExtraBody?: boolean | undefined;
  /** Above it a 413. Default 32 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
}

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * The handler of `POST <proxyUrl>/api/stream`. The path, CORS and rate limits are for the mount.
 * Its promise never rejects: what is wrong with a request is a status with `{ error: { code,
 * message } }`, what goes wrong in a call is the stream's last event. When the client goes away the
 * model call is aborted. Throws `invalid_argument` for options that would give a key away.
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

/** The call as the server will make it. Throws a `BowlineError` with the status to answer. */
async function accept(request: Request, options: ProxyHandlerOptions): Promise<ProxyCall> {
  if (request.method !== "POST") throw refuse(405, `This path takes POST, not ${request.method}.`);
  const verdict = await guarded("authorize", () => options.authorize(request));
  if (verdict === false) throw refuse(401, "The token is missing or not accepted.");
  if (verdict !== true) throw refuse(errorStatus(verdict.status), verdict.message);
  // A page of another origin can post anything but JSON without asking.
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

/** Throws `invalid_argument` for options that would give a key away. */
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
 * What the server's own code throws stays here: it may hold anything. `misuse` stands in for an
 * `invalid_argument`.
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

/** A status that is no error would pass for an answer. */
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
