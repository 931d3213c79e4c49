/**
 * gai's transport: one function from a request to a response. The wire's `fetch` is built on it.
 */
import { err, ok, type GaiError, type Result } from "./result.ts";

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

type Sent = Result<HttpResponse, GaiError>;

export interface Runtime {
  readonly send: (request: HttpRequest) => Sent | Promise<Sent>;
}

export const Runtime = { new: (send: Runtime["send"]): Runtime => ({ send }) };

/**
 * Creates a runtime that uses `fetch`. A request without a response returns an `HttpError` with
 * status 0 and the cause's message.
 */
export function fetchRuntime(fetch: typeof globalThis.fetch = globalThis.fetch): Runtime {
  return Runtime.new(async ({ url, ...init }) => {
    try {
      const response = await fetch(url, init);
      const headers = Object.fromEntries(response.headers);
      return ok({ status: response.status, headers, body: await response.text() });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? cause.message : message;
      return err({ type: "HttpError", status: 0, message: `HTTP request failed: ${why}` });
    }
  });
}

/**
 * Returns a `fetch` for the wire, which treats an error as a lost connection. `onSent` is called
 * after each request, with its error if it failed.
 */
export function toFetch(
  runtime: Runtime,
  onSent: (error?: GaiError) => void,
): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { method, url, signal } = request;
    const headers = Object.fromEntries(request.headers);
    const sent = await runtime.send({ method, url, headers, body: await request.text(), signal });
    onSent(sent.ok ? undefined : sent.error);
    if (!sent.ok) throw new Error(sent.error.message);
    return new Response(sent.value.body || null, sent.value);
  };
}
