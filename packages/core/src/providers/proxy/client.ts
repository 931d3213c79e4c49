/**
 * Makes model calls through your own server, so that a page holds no API key. The server half is
 * `handler.ts`.
 */
import { BowlineError } from "../../errors.ts";
import type { Context } from "../../llm/message.ts";
import type {
  AssistantMessageEventStream,
  Model,
  StreamFn,
  StreamOptions,
  StreamTimeouts,
} from "../../llm/model.ts";
import type { WireRequest } from "../protocol.ts";
import { streamWire } from "../stream.ts";
import { limitsOf } from "../timeouts.ts";
import { toProxyBody } from "./body.ts";
import { ProxyDecoder } from "./decoder.ts";

/**
 * The options of `streamProxy`. The proxy receives those that are data. `apiKey`, `headers`, the
 * signal and the callbacks stay in the page. `onPayload` and `onResponse` see the request to the
 * proxy and its response.
 */
export interface ProxyStreamOptions extends StreamOptions {
  /**
   * The credential for the proxy, sent as `Authorization: Bearer`. If it is missing, the call fails
   * with `invalid_argument`. Pass "" if the proxy needs none, for example because it uses a cookie.
   */
  authToken?: string | undefined;
  /**
   * The proxy's URL without `/api/stream`. If it is missing, the call fails with
   * `invalid_argument`.
   */
  proxyUrl?: string | undefined;
}

/**
 * Makes one model call through a proxy. Never throws or rejects: every failure is the stream's last
 * event. The proxy retries the model. This function retries only if the proxy cannot be reached or
 * is overloaded.
 */
export function streamProxy(
  model: Model,
  context: Context,
  options: ProxyStreamOptions = {},
): AssistantMessageEventStream {
  const { authToken = "", extraBody: _, ...rest } = options;
  return streamWire(
    {
      encode: () => encode(model, context, options),
      stringify: JSON.stringify, // unchanged, since the proxy's wire decides what cannot be sent
      createDecoder: (asked, decoderOptions) => new ProxyDecoder(asked, decoderOptions),
    },
    model,
    context,
    // The token is passed as the call's key, so that it is redacted in errors.
    { ...rest, apiKey: authToken, timeouts: limits(options) },
  );
}

streamProxy satisfies StreamFn;

function encode(model: Model, context: Context, options: ProxyStreamOptions): WireRequest {
  const token = options.authToken?.trim() ?? required(undefined, "authToken");
  const proxyUrl = required(options.proxyUrl, "proxyUrl");
  return {
    url: `${proxyUrl.replace(/\/+$/, "")}/api/stream`,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      ...(token !== "" && { authorization: `Bearer ${token}` }),
    },
    body: toProxyBody(model, context, options),
  };
}

function required(value: string | undefined, name: string): string {
  const text = value?.trim() ?? "";
  if (text !== "") return text;
  throw new BowlineError(
    "invalid_argument",
    `streamProxy needs ${name}: pass streamFn: (model, context, options) => streamProxy(model, context, { ...options, authToken, proxyUrl }).`,
  );
}

/**
 * Returns the time limits. The proxy answers at once and applies the limits to the model, so the
 * model's time to its first byte is added here to `progressMs`.
 */
function limits(options: StreamOptions): StreamTimeouts {
  const all = limitsOf(options);
  const { firstByteMs, progressMs } = all;
  return { ...all, progressMs: firstByteMs > 0 && progressMs > 0 ? firstByteMs + progressMs : 0 };
}
