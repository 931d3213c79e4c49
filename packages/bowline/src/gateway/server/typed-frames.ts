/**
 * The second frame format. A client whose first frame is the request `connect` uses typed frames
 * (`req`, `res`, `event`) from then on, as OpenClaw's clients do. Methods, events and their data
 * are the same. The server sends nothing before the client's first frame.
 */
import { idOf, toAuthFrame } from "../protocol/check.ts";
import type { AuthFrame, AuthReply, FrameError, Welcome } from "../protocol/frame.ts";
import { GatewayError } from "../protocol/gateway-error.ts";

/** The version of OpenClaw's protocol that has these frames. */
const PROTOCOL = 4;
const MAX_NAME_LENGTH = 200;
/** Matches the beginning of an event's frame in the plain format. */
const EVENT = /^\{"event":("[\w.]+"),"data":/;

type Id = string | number | null;

/** Encodes frames for a client. */
export interface Dialect {
  reply(reply: AuthReply): string;
  result(id: Id, result: unknown): string;
  error(id: Id, error: FrameError): string;
  /**
   * Converts a frame that is about to be sent. Event frames are encoded once for all clients, in
   * the plain format.
   */
  sent(json: string): string;
  /** Throws `bad_request` for a frame that is not a request. */
  check(frame: unknown): void;
}

export const plainFrames: Dialect = {
  reply: (reply) => JSON.stringify(reply),
  result: (id, result) => JSON.stringify({ id, result }),
  error: (id, error) => JSON.stringify({ id, error }),
  sent: (json) => json,
  check: () => {},
};

/**
 * `connectId` is the id of the `connect` request, to which the `hello-ok` frame is the response.
 */
export function createTypedFrames(connectId: Id): Dialect {
  let seq = 0;
  const result = (id: Id, payload: unknown): string =>
    JSON.stringify({ type: "res", id, ok: true, payload });
  const error = (id: Id, refusal: FrameError): string =>
    JSON.stringify({ type: "res", id, ok: false, error: typedError(refusal) });
  return {
    reply: (reply) =>
      reply.ok ? result(connectId, helloOf(reply)) : error(connectId, reply.error),
    result,
    error,
    // Events are numbered per connection, since these clients check for gaps. The run's sequence
    // numbers are in the payload.
    sent: (json) => {
      const [head = "", name = ""] = EVENT.exec(json) ?? [];
      if (head === "") return json;
      return `{"type":"event","event":${name},"seq":${seq++},"payload":${json.slice(head.length)}`;
    },
    check(frame) {
      const { type } = (frame ?? {}) as { readonly type?: unknown };
      if (type !== "req") throw new GatewayError("bad_request", 'A request has "type":"req".');
    },
  };
}

export interface Connect {
  readonly id: Id;
  /** Undefined if the params are invalid. */
  readonly auth: AuthFrame | undefined;
  /** Whether the client supports this protocol version. */
  readonly fits: boolean;
}

/** Returns undefined for a frame that is not a `connect` request. */
export function toConnect(frame: unknown): Connect | undefined {
  const { type, method, params } = objectIn(frame);
  if (type !== "req" || method !== "connect") return undefined;
  const {
    minProtocol = PROTOCOL,
    maxProtocol = PROTOCOL,
    auth,
    client,
    events = "all",
  } = objectIn(params);
  const { id: name, version } = objectIn(client);
  const names = [name, version].filter((part) => typeof part === "string").join(" ");
  const asked = { type: "auth", token: objectIn(auth).token, events };
  return {
    id: idOf(frame),
    auth: toAuthFrame(names === "" ? asked : { ...asked, client: names.slice(0, MAX_NAME_LENGTH) }),
    fits: Number(minProtocol) <= PROTOCOL && PROTOCOL <= Number(maxProtocol),
  };
}

export const connectShape: string = `The params of connect are {"minProtocol":${PROTOCOL},"maxProtocol":${PROTOCOL},"auth":{"token":"…"}}.`;
export const wrongProtocol: string = `This server speaks version ${PROTOCOL} of the protocol.`;

function helloOf({
  server,
  scope,
  sessions,
  methods,
  events,
  limits,
  model,
  notice,
}: Welcome): object {
  const { connectionId: connId, ...about } = server;
  const { maxFrameBytes: maxPayload, maxAuthFrameBytes: _, ...others } = limits;
  const scopes =
    scope === "read"
      ? ["operator.read"]
      : ["operator.read", "operator.write", "operator.approvals"];
  return {
    type: "hello-ok",
    protocol: PROTOCOL,
    server: { ...about, connId },
    features: { methods, events },
    auth: { role: "operator", scopes, ...(sessions !== undefined && { sessions }) },
    policy: { maxPayload, ...others },
    model,
    ...(notice !== undefined && { notice }),
  };
}

function typedError({ code: number, message, data }: FrameError): object {
  const { code = "internal", retryable = false, retryAfterMs, issues } = data ?? {};
  const details = { number, ...(issues && { issues }) };
  return { code, message, details, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
