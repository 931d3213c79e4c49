/** A scripted model behind the proxy's handler, and the requests that tests of both sides send. */
import type { AssistantMessageEvent } from "../../../src/llm/event.ts";
import type { AssistantMessage, Context } from "../../../src/llm/message.ts";
import type { AssistantMessageEventStream, StreamFn } from "../../../src/llm/model.ts";
import { getModel } from "../../../src/providers/vendors.ts";
import {
  createStreamProxyHandler,
  streamProxy,
  type ProxyHandlerOptions,
  type ProxyStreamOptions,
} from "../../../src/providers/proxy/index.ts";
import {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedStep,
} from "../../../src/testing/index.ts";

export const asked = getModel("acme", "fast", {
  baseUrl: "http://client.invalid/v1",
  headers: { "x-own": "header-secret" },
});

export const hello: Context = { messages: [{ role: "user", content: "Hi", timestamp: 1 }] };

export interface Served {
  readonly handler: (request: Request) => Promise<Response>;
  readonly script: ScriptedModel;
  /** The final messages of the server's own streams. */
  readonly own: Promise<AssistantMessage>[];
}

/** The handler over a script. The token is `token`; any model becomes the scripted one. */
export function serve(
  steps: readonly ScriptedStep[],
  options: Partial<ProxyHandlerOptions> = {},
  deltaLength: number = 8,
): Served {
  const script = createScriptedModel(steps, { deltaLength });
  const own: Promise<AssistantMessage>[] = [];
  const streamFn: StreamFn = (model, context, streamOptions) => {
    const stream = script.streamFn(model, context, streamOptions) as AssistantMessageEventStream;
    own.push(stream.result());
    return stream;
  };
  const handler = createStreamProxyHandler({
    streamFn,
    authorize: ({ headers }) => headers.get("authorization") === "Bearer token",
    allowModel: () => script.model,
    ...options,
  });
  return { handler, script, own };
}

export interface Outcome {
  readonly events: AssistantMessageEvent[];
  readonly message: AssistantMessage;
}

/** One call through a proxy, read to its end. */
export async function call(
  proxyUrl: string,
  options: ProxyStreamOptions = {},
  context: Context = hello,
): Promise<Outcome> {
  const stream = streamProxy(asked, context, {
    authToken: "token",
    proxyUrl,
    maxRetries: 0,
    ...options,
  });
  const events: AssistantMessageEvent[] = [];
  for await (const event of stream) events.push(event);
  return { events, message: await stream.result() };
}

/** A handler as `fetch`, without a socket. */
export function inProcess(handler: Served["handler"]): typeof globalThis.fetch {
  return (input, init) => handler(new Request(input, init));
}

/** A request as a client sends it. */
export function post(body: unknown, headers: Record<string, string> = {}): Request {
  return new Request("http://proxy.invalid/api/stream", {
    method: "POST",
    headers: { authorization: "Bearer token", "content-type": "application/json", ...headers },
    body: body instanceof Uint8Array ? new Blob([body as Uint8Array<ArrayBuffer>]) : asText(body),
  });
}

function asText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** The smallest valid call. */
export const smallBody = {
  model: { id: "fast", provider: "acme", api: "scripted" },
  context: hello,
};
