/**
 * The gateway over HTTP: its health and readiness, and runs as server-sent events for clients without WebSockets.
 */
import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { Hono, type Context } from "hono";
import type { Access, Entry } from "../access/access.ts";
import { assertParams } from "../protocol/check.ts";
import { GatewayError, toFrameError } from "../protocol/gateway-error.ts";
import { errorNumbers, type FrameError } from "../protocol/frame.ts";
import type { Listeners } from "./listeners.ts";
import type { DoorContext } from "./methods.ts";
import { originRefusal } from "../access/origin.ts";
import { assertScope, permit, sessionOfRun } from "../access/permit.ts";
import { userOf } from "../access/user.ts";
import type { SendParams } from "../protocol/protocol.ts";
import type { FollowedRun, Readiness } from "../engine/engine.ts";
import { isOpen } from "../log/run-log.ts";
import { readData } from "../sessions/history.ts";
import { streamRun } from "./run-stream.ts";

interface HttpOptions {
  readonly context: DoorContext;
  readonly ready: () => Promise<Readiness>;
  readonly entry: Entry;
  readonly listeners: Listeners;
  readonly exposed: boolean;
  /** Returns the reason for the shutdown. Returns undefined while the server is open. */
  readonly closing: () => string | undefined;
  /** Returns the reason for which a new stream is refused. Returns undefined if there is room. */
  readonly noRoom: () => string | undefined;
  /** The responses that stream a run. */
  readonly streams: Set<ServerResponse>;
  /** The path under which the gateway is mounted. */
  readonly path: string;
  readonly page: ((request: Request) => Response | Promise<Response>) | undefined;
}

type Asked = Context<{ Bindings: HttpBindings }>;

const statuses: Readonly<Record<number, number>> = {
  [errorNumbers.parse]: 400,
  [errorNumbers.bad_request]: 400,
  [errorNumbers.bad_params]: 400,
  [errorNumbers.unauthorized]: 401,
  [errorNumbers.forbidden]: 403,
  [errorNumbers.not_found]: 404,
  [errorNumbers.conflict]: 409,
  [errorNumbers.busy]: 429,
};

/** Responses are private and must not be cached. Browsers must not guess their type. */
const ownHeaders = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

export function createHttp(
  options: HttpOptions,
): (request: Request, bindings: HttpBindings) => Response | Promise<Response> {
  const { context, exposed, page, closing, ready } = options;
  const { clock, startedAt, version } = context;
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.onError((error) => toResponse(context.filter.failure(toFrameError(error))));
  for (const own of ["/health", "/ready", "/api/*"])
    app.use(own, async (http, next) => {
      await next();
      for (const [name, value] of Object.entries(ownHeaders)) http.res.headers.set(name, value);
    });
  app.use(async (http, next) => {
    const { origin, host } = Object.fromEntries(http.req.raw.headers);
    const refusal = originRefusal({ origin, host }, exposed);
    if (refusal !== undefined) throw new GatewayError("forbidden", refusal);
    // The server of the application may stay open. /ready and the routes below /api report the
    // shutdown themselves.
    const { path } = http.req;
    if (closing() !== undefined && path !== "/ready" && !path.startsWith("/api/"))
      throw new GatewayError("busy", "The server is shutting down.", { retryable: true });
    return next();
  });
  app.get("/health", (http) =>
    http.json({ status: "ok", version, uptimeMs: clock.now() - startedAt }),
  );
  app.get("/ready", async (http) => {
    const isClosing = closing() !== undefined;
    const readiness = isClosing
      ? { isReady: false, message: "shutting down", parts: [] }
      : await ready();
    return http.json(readiness, readiness.isReady ? 200 : 503);
  });
  app.post("/api/chat", (http) => takeMessage(http, options));
  app.get("/api/runs/:id/events", (http) => readRun(http, options));
  app.get("/api/files", (http) => sendFile(http, options));
  app.all("/api/*", () => {
    const message =
      "Not found. The routes are POST /api/chat, GET /api/runs/<id>/events and GET /api/files.";
    return toResponse(new GatewayError("not_found", message).frame);
  });
  app.notFound(async (http) =>
    page === undefined ? http.text("Not found", 404, ownHeaders) : page(http.req.raw),
  );
  return (request, bindings) => app.fetch(request, bindings);
}

async function takeMessage(http: Asked, { context, entry, path }: HttpOptions): Promise<Response> {
  const { limits, runs } = context;
  const access = await admit(http, entry);
  assertScope(access.scope, "chat.send");
  const body = await bodyOf(http, limits.maxFrameBytes);
  const params = await permit(context, "chat.send", body, access);
  const { result, start } = await runs.accept({ ...params, user: userOf(access) }, "send");
  start();
  const [id, key] = [result.runId, result.sessionKey].map(encodeURIComponent);
  // The whole path, so that a browser resolves it. A client may also append it to the origin of the
  // server.
  const root = `${entry.proxies.prefixOf(http.env.incoming)}${path}`;
  return http.json({ ...result, events: `${root}/api/runs/${id}/events?sessionKey=${key}` }, 202);
}

async function readRun(http: Asked, options: HttpOptions): Promise<Response> {
  const seq = numberIn(http.req.header("last-event-id") ?? http.req.query("seq"));
  const run = await askedRun(http, options, seq);
  try {
    return streamOf(run, seq, http, options);
  } finally {
    run.release();
  }
}

function streamOf(
  run: FollowedRun,
  seq: number | undefined,
  http: Asked,
  { context, listeners, closing, noRoom, streams }: HttpOptions,
): Response {
  // The client is up to date and the run has ended. The status 204 tells an EventSource not to
  // reconnect (HTML, 9.2).
  if (!isOpen(run.info.state) && seq === run.info.seq) return new Response(null, { status: 204 });
  const headers = {
    "content-type": "text/event-stream",
    "x-accel-buffering": "no", // otherwise nginx buffers the events
  };
  if (http.req.method === "HEAD") return new Response(null, { headers });
  // An EventSource does not reconnect after an error status. It reconnects after this response, and
  // reaches the next server.
  const reason = closing();
  if (reason !== undefined)
    return new Response(`event: shutdown\ndata: ${JSON.stringify({ reason })}\n\n`, { headers });
  const why = noRoom();
  if (why !== undefined) throw new GatewayError("busy", why, { retryable: true });
  const { outgoing } = http.env as { readonly outgoing: ServerResponse };
  // If the client disconnected while the session was being read, "close" has already fired; adding
  // it now would leak a slot.
  if (!outgoing.destroyed) streams.add(outgoing);
  outgoing.once("close", () => streams.delete(outgoing));
  const cutOff = (): void => void outgoing.destroy();
  const maxBytes = context.limits.maxBufferedBytes;
  return new Response(streamRun(run, { listeners, maxBytes, cutOff }), { headers });
}

const maxNameLength = 255;
/** Characters that reorder or break a name, so that it hides its extension. */
const hiding = /[\p{Bidi_Control}\p{Cc}\p{Zl}\p{Zp}]/gu;

/** Returns the name as a header can carry it: well-formed, and short. */
function shownName(name: string): string {
  const whole = Buffer.from(name.slice(0, 4 * maxNameLength)).toString();
  return Array.from(whole.replaceAll(hiding, "")).slice(0, maxNameLength).join("");
}

/** Types that a browser shows without running anything. Others are sent as bytes. */
const shownTypes = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf|audio\/\w+|video\/\w+)$/;

/**
 * Sends an image or a file of a message as a download. The access check is that of the history:
 * callers get files of their own sessions only.
 */
async function sendFile(http: Asked, { context, entry }: HttpOptions): Promise<Response> {
  const access = await admit(http, entry);
  const { sessionKey, id, part = "" } = http.req.query();
  const params = { sessionKey: sessionKey ?? "", id: id ?? "" };
  assertParams("chat.message", params, "The query does");
  const asked = await permit(context, "chat.message", params, access);
  const position = /^\d{1,9}$/.test(part) ? Number(part) : -1;
  const file = await readData(context.store, asked.sessionKey, { id: asked.id, part: position });
  const { mimeType, name, bytes } = file;
  const told = shownName(context.filter.text(name));
  const shown = told.replaceAll(/[^\x20-\x7e]|["\\]/g, "_");
  const headers = {
    "content-type": shownTypes.test(mimeType) ? mimeType : "application/octet-stream",
    "content-disposition": `attachment; filename="${shown}"; filename*=UTF-8''${encodeURIComponent(told)}`,
    "content-security-policy": "default-src 'none'; sandbox",
  };
  return new Response(new Uint8Array(bytes), { headers });
}

/**
 * Returns the requested run, from after `seq`. Also throws `not_found` for a run in a session of
 * another user.
 */
async function askedRun(
  http: Asked,
  { context, entry }: HttpOptions,
  seq: number | undefined,
): Promise<FollowedRun> {
  const { runs } = context;
  const access = await admit(http, entry);
  const runId = http.req.param("id") ?? "";
  const sessionKey = http.req.query("sessionKey");
  const known = sessionKey ?? (await sessionOfRun(context, runId, access));
  const asked =
    known === undefined
      ? undefined
      : await permit(context, "chat.subscribe", { sessionKey: known, runId }, access);
  const run = asked && (await runs.followRun({ sessionKey: asked.sessionKey, runId, seq }));
  if (run !== undefined) return run;
  throw new GatewayError(
    "not_found",
    sessionKey === undefined
      ? "This server remembers no such run; ?sessionKey=… lets it look further."
      : "The session has no such run.",
  );
}

/** Returns the error as a response. The status follows from the error's number. */
export function toResponse(error: FrameError): Response {
  const { retryAfterMs } = error.data ?? {};
  const retry = retryAfterMs !== undefined && {
    "retry-after": String(Math.ceil(retryAfterMs / 1000)),
  };
  const headers = { ...ownHeaders, ...retry };
  return Response.json({ error }, { status: statuses[error.code] ?? 500, headers });
}

/**
 * Authenticates the request and returns its access. Throws `unauthorized`, or `busy` after too many
 * wrong tokens.
 */
async function admit(http: Asked, entry: Entry): Promise<Access> {
  const { incoming } = http.env;
  entry.assertMayTry(incoming);
  const token = /^Bearer (.+)$/i.exec(http.req.header("authorization") ?? "")?.[1];
  // An EventSource cannot send this header. The application's `authorize` hook may accept its
  // cookie instead.
  if (token === undefined && !entry.asksHook)
    throw new GatewayError("unauthorized", "The request needs the token: Authorization: Bearer …");
  return entry.accessOf(token ?? "", incoming);
}

async function bodyOf(http: Asked, maxBytes: number): Promise<SendParams> {
  const length = http.req.header("content-length");
  if (length === undefined)
    throw new GatewayError(
      "bad_request",
      "A body has to say its length: it cannot come in chunks.",
    );
  if (!(Number(length) <= maxBytes))
    throw new GatewayError(
      "bad_request",
      `The body has ${length.slice(0, 20)} bytes. At most ${maxBytes} are allowed.`,
    );
  let body: unknown;
  try {
    // Invalid UTF-8 is refused, not replaced. A WebSocket closes the connection for it.
    body = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(await http.req.arrayBuffer()),
    );
  } catch {
    throw new GatewayError("parse", "The body is not JSON in UTF-8.");
  }
  assertParams("chat.send", body, "The body does");
  return body as SendParams;
}

/** Returns undefined for a text that is not a whole number. */
function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}
