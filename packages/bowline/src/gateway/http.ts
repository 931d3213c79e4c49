/** The gateway over plain HTTP: health, and the same runs with server-sent events for those without sockets. */
import { Hono, type Context } from "hono";
import { issuesOf } from "./check.ts";
import { isTerminal } from "./run-log.ts";
import { GatewayError, toFrameError } from "./gateway-error.ts";
import { errorNumbers, type Scope } from "./frame.ts";
import type { Listener, Listeners } from "./listeners.ts";
import type { MethodContext } from "./methods.ts";
import { isAllowedOrigin } from "./origin.ts";
import type { Frame } from "./outbox.ts";
import type { EventName, SendParams } from "./protocol.ts";
import type { RunLog } from "./run-log.ts";
import { methods } from "./schema.ts";
import { scopeOf, type FailedTries, type Tokens } from "./tokens.ts";

interface HttpOptions {
  readonly context: MethodContext;
  readonly tokens: Tokens;
  readonly failures: FailedTries;
  readonly listeners: Listeners;
  readonly isLoopback: boolean;
  readonly page: ((request: Request) => Response | Promise<Response>) | undefined;
}

const statuses: Readonly<Record<number, 400 | 401 | 403 | 404 | 409 | 429>> = {
  [errorNumbers.parse]: 400,
  [errorNumbers.bad_request]: 400,
  [errorNumbers.bad_params]: 400,
  [errorNumbers.unauthorized]: 401,
  [errorNumbers.forbidden]: 403,
  [errorNumbers.not_found]: 404,
  [errorNumbers.conflict]: 409,
  [errorNumbers.busy]: 429,
};

export function createHttp(options: HttpOptions): (request: Request) => Response | Promise<Response> {
  const { context, isLoopback, page } = options;
  const { limits, clock, startedAt, version, runs } = context;
  const app = new Hono();
  app.onError((error, http) => {
    const frame = toFrameError(error);
    const { retryAfterMs } = frame.data ?? {};
    if (retryAfterMs !== undefined) http.header("retry-after", String(Math.ceil(retryAfterMs / 1000)));
    return http.json({ error: frame }, statuses[frame.code] ?? 500);
  });
  app.use(async (http, next) => {
    const { origin, host } = Object.fromEntries(http.req.raw.headers);
    if (!isAllowedOrigin({ origin, host }, isLoopback)) return http.text("Forbidden", 403);
    return next();
  });
  app.get("/health", (http) => http.json({ status: "ok", version, uptimeMs: clock.now() - startedAt }));
  app.post("/api/chat", async (http) => {
    if (admit(http, options) === "read") throw new GatewayError("forbidden", "The token is for reading only.");
    const { result, start } = await runs.accept(await bodyOf(http, limits.maxFrameBytes), "send");
    start();
    return http.json({ ...result, events: `/api/runs/${encodeURIComponent(result.runId)}/events` }, 202);
  });
  app.get("/api/runs/:id/events", async (http) => {
    admit(http, options);
    const runId = http.req.param("id");
    const log = await runs.log(runId, http.req.query("sessionKey") ?? runs.sessionOf(runId) ?? "");
    if (log === undefined) throw new GatewayError("not_found", "There is no such run; give its sessionKey, too.");
    const last = Number(http.req.header("last-event-id") ?? http.req.query("seq"));
    return new Response(streamOf(log, Number.isInteger(last) ? last : undefined, options), {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
  });
  app.all("/api/*", (http) => http.json({ error: new GatewayError("not_found", "There is nothing here.").frame }, 404));
  app.notFound(async (http) => (page === undefined ? http.text("Not found", 404) : page(http.req.raw)));
  return (request) => app.fetch(request);
}

/** The scope of the request's token. Throws `unauthorized`, or `busy` after too many wrong ones. */
function admit(http: Context, { tokens, failures }: HttpOptions): Scope {
  const { incoming } = (http.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  const address = incoming?.socket?.remoteAddress ?? "";
  const retryAfterMs = failures.waitOf(address);
  if (retryAfterMs > 0) throw new GatewayError("busy", "Too many wrong tokens.", { retryable: true, retryAfterMs });
  const token = /^Bearer (.+)$/i.exec(http.req.header("authorization") ?? "")?.[1];
  const scope = token === undefined ? undefined : scopeOf(token, tokens);
  if (scope !== undefined) return scope;
  if (token !== undefined) failures.add(address);
  throw new GatewayError("unauthorized", "The request needs the token: Authorization: Bearer …");
}

async function bodyOf(http: Context, maxBytes: number): Promise<SendParams> {
  const length = Number(http.req.header("content-length"));
  if (!(length <= maxBytes))
    throw new GatewayError("bad_request", `A body says its length, ${maxBytes} bytes at most.`);
  let body: unknown;
  try {
    body = JSON.parse(await http.req.text());
  } catch {
    throw new GatewayError("parse", "The body is no JSON.");
  }
  const issues = issuesOf(methods["chat.send"].params, body);
  if (issues.length > 0) throw new GatewayError("bad_params", "The body does not fit.", { issues });
  return body as SendParams;
}

/** The run's events after `seq`, then those that come, to its last. A reader that is too slow is cut off: it can go on from there. */
function streamOf(
  log: RunLog,
  seq: number | undefined,
  { context, listeners }: HttpOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let leave = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (event: EventName, frame: Frame): void => {
          const { data } = JSON.parse(frame.json) as { data: { seq?: number } };
          const id = data.seq === undefined ? "" : `id: ${data.seq}\n`;
          controller.enqueue(encoder.encode(`${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
          const isSlow = -(controller.desiredSize ?? 0) > context.limits.maxBufferedBytes;
          if (!isTerminal(event) && !isSlow) return;
          leave();
          controller.close();
        };
        const listener: Listener = {
          event: (event, frame) => {
            if (frame.runId === log.runId) send(event, frame);
          },
        };
        leave = () => listeners.delete(listener);
        listeners.add(listener);
        listeners.subscribe(listener, log.sessionKey);
        for (const { event, frame } of log.since(seq)) send(event, frame);
      },
      cancel: () => leave(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
}
