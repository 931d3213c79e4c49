/**
 * Model calls through a server of one's own, so that a page holds no key. The server's half is
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
 * What a proxy is told of a call's options is what can be data; `apiKey`, `headers`, the signal and
 * the callbacks stay here. `onPayload` and `onResponse` see the request to the proxy and its
 * response.
 */
export interface ProxyStreamOptions extends StreamOptions {
  /**
   * The proxy's own credential, sent as `Authorization: Bearer`. Without it the call fails with
   * `invalid_argument`; an empty one says that none is needed, as where a cookie tells the proxy who
   * asks.
   */
  authToken?: string | undefined;
  /** Up to, not including, `/api/stream`. Without it the call fails with `invalid_argument`. */
  proxyUrl?: string | undefined;
}

/**
 * One model call through a proxy. Never throws or rejects: every failure is the stream's last
 * event. The proxy retries the model; what is tried again from here is a proxy that cannot be
 * reached or is overloaded.
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
      stringify: JSON.stringify, // the transcript as it is: what of it cannot be sent, its wire decides
      createDecoder: (asked, decoderOptions) => new ProxyDecoder(asked, decoderOptions),
    },
    model,
    context,
    // As the key of this call the token is kept out of errors.
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
 * The proxy answers at once and keeps to the limits itself: from here its model may be as slow to
 * begin as a server may.
 */
function limits(options: StreamOptions): StreamTimeouts {
  const all = limitsOf(options);
  const { firstByteMs, progressMs } = all;
  return { ...all, progressMs: firstByteMs > 0 && progressMs > 0 ? firstByteMs + progressMs : 0 };
}
