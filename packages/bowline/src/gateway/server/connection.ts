/**
 * One client's WebSocket. The first frame authenticates the client; each later request gets one
 * response.
 */
import type { IncomingMessage } from "node:http";
import type { RawData, WebSocket } from "ws";
import type { Access, Entry } from "../access/access.ts";
import {
  authShape,
  idOf,
  parseFrame,
  toAuthFrame,
  toRequest,
  type ParsedRequest,
} from "../protocol/check.ts";
import {
  closeCodes,
  errorNumbers,
  plainEvents,
  type AuthReply,
  type Scope,
} from "../protocol/frame.ts";
import { GatewayError, toFrameError } from "../protocol/gateway-error.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import type { Listener, Listeners } from "./listeners.ts";
import { handlers, type Answered, type Caller, type DoorContext } from "./methods.ts";
import { Outbox, type Frame } from "../log/outbox.ts";
import { permit } from "../access/permit.ts";
import { userOf, type User } from "../access/user.ts";
import type { EventName, MethodName, Params } from "../protocol/protocol.ts";
import { methods } from "../protocol/schema.ts";
import {
  connectShape,
  createTypedFrames,
  plainFrames,
  toConnect,
  wrongProtocol,
  type Dialect,
} from "./typed-frames.ts";

export interface ConnectionOptions {
  readonly id: string;
  /** The HTTP upgrade request. */
  readonly request: IncomingMessage;
  readonly entry: Entry;
  readonly limits: GatewayLimits;
  readonly context: DoorContext;
  readonly welcome: (id: string, access: Access) => Promise<AuthReply>;
  readonly listeners: Listeners;
  /** Called when the socket has closed, not when closing begins. */
  readonly onClose: (connection: Connection) => void;
}

export class Connection implements Caller, Listener {
  scope: Scope = "read";
  sessions: string | undefined;
  user: User = {};
  name: string;
  /** Whether the client was authenticated. Stays true after the connection is closed. */
  hasEntered = false;
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #outbox: Outbox;
  readonly #stopTimer: () => void;
  #dialect: Dialect = plainFrames;
  #events: ReadonlySet<string> | undefined = new Set(plainEvents);
  #state: "stranger" | "entering" | "in" | "closed" = "stranger";
  #pending = 0;
  #badFrames = 0;
  #unanswered = 0;
  #looking: Promise<unknown> = Promise.resolve();
  /**
   * Frames that arrived after the auth frame, buffered until the auth frame is answered. The byte
   * limit before authentication bounds them too.
   */
  #early: string[] = [];

  constructor(socket: WebSocket, options: ConnectionOptions) {
    const { limits, context } = options;
    this.#socket = socket;
    this.#options = options;
    this.name = options.id;
    const out = {
      send: (json: string, done: () => void) => socket.send(this.#dialect.sent(json), done),
      get bufferedAmount() {
        return socket.bufferedAmount;
      },
    };
    this.#outbox = new Outbox(out, limits.maxBufferedBytes, () =>
      this.close(closeCodes.slow, "reads too slowly"),
    );
    this.#stopTimer = context.clock.setTimer(limits.authTimeoutMs, () => {
      if (this.#state !== "in") this.close(closeCodes.authTimeout, "no auth frame in time");
    });
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    socket.on("pong", () => (this.#unanswered = 0));
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => {
      this.#leave();
      options.onClose(this);
    });
  }

  get isIn(): boolean {
    return this.#state === "in";
  }

  subscribe(sessionKey: string): void {
    this.#options.listeners.subscribe(this, sessionKey);
  }

  unsubscribe(sessionKey: string): void {
    this.#options.listeners.unsubscribe(this, sessionKey);
  }

  event(name: EventName, frame: Frame): void {
    if (this.#state === "in" && (this.#events === undefined || this.#events.has(name)))
      this.#outbox.push(frame);
  }

  /** Pings the client. Closes the connection if the last two pings were not answered. */
  ping(): void {
    if (this.#state === "closed") return;
    if (this.#unanswered === 2) return this.close(closeCodes.silent, "no answer to two pings");
    this.#unanswered++;
    this.#socket.ping();
  }

  close(code: number, reason: string): void {
    if (this.#state === "closed") return;
    this.#leave();
    this.#socket.close(code, reason);
    // A client that does not read never completes the close handshake.
    const { clock, limits } = this.#options.context;
    const stop = clock.setTimer(limits.closeGraceMs, () => this.#socket.terminate());
    this.#socket.once("close", stop);
  }

  #leave(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#stopTimer();
    this.#outbox.close();
    this.#early = [];
    this.#options.listeners.delete(this);
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#state === "closed") return;
    if (isBinary) return this.close(closeCodes.unsupported, "frames are text");
    const text = (data as Buffer).toString();
    if (this.#state === "in") void this.#answer(text);
    else if (this.#state === "stranger") void this.#enter(text);
    else if (this.#early.push(text) > this.#options.limits.maxPendingRequests)
      this.close(closeCodes.secondAuth, "wait for the answer to the auth frame");
  }

  async #enter(text: string): Promise<void> {
    this.#state = "entering";
    const { id, request, entry, limits, listeners, welcome } = this.#options;
    if (Buffer.byteLength(text) > limits.maxAuthFrameBytes)
      return this.close(closeCodes.tooLarge, "the auth frame is too large");
    let frame: unknown;
    try {
      frame = parseFrame(text);
    } catch (error) {
      return this.#refuse(error, closeCodes.unauthorized);
    }
    const connect = toConnect(frame);
    if (connect !== undefined) this.#dialect = createTypedFrames(connect.id);
    if (connect?.fits === false)
      return this.#refuse(new GatewayError("bad_params", wrongProtocol), closeCodes.badFrames);
    const auth = connect === undefined ? toAuthFrame(frame) : connect.auth;
    if (auth === undefined) {
      const shape = connect === undefined ? authShape : connectShape;
      return this.#refuse(new GatewayError("bad_request", shape), closeCodes.unauthorized);
    }
    let access;
    try {
      access = await entry.accessOf(auth.token, request);
    } catch (error) {
      const isWrong = toFrameError(error).code === errorNumbers.unauthorized;
      return this.#refuse(error, isWrong ? closeCodes.unauthorized : closeCodes.tooMany);
    }
    let reply;
    try {
      reply = await welcome(id, access);
    } catch (error) {
      return this.#refuse(error, closeCodes.failed);
    }
    if (this.#state !== "entering") return;
    this.scope = access.scope;
    this.sessions = access.sessions;
    this.user = userOf(access);
    this.name = auth.client ?? id;
    this.#events = auth.events === "all" ? undefined : new Set(auth.events ?? plainEvents);
    this.#stopTimer();
    this.#outbox.push({ json: this.#dialect.reply(reply) });
    this.#state = "in";
    this.hasEntered = true;
    listeners.add(this);
    for (const early of this.#early.splice(0)) if (this.isIn) void this.#answer(early);
  }

  #refuse(error: unknown, code: number): void {
    if (this.#state === "closed") return;
    const refusal = this.#options.context.filter.failure(toFrameError(error));
    this.#socket.send(this.#dialect.reply({ type: "auth", ok: false, error: refusal }));
    this.close(code, "not authorized");
  }

  async #answer(text: string): Promise<void> {
    const { limits } = this.#options;
    let frame: unknown;
    try {
      frame = parseFrame(text);
      if ((frame as { type?: unknown } | null)?.type === "auth" || toConnect(frame) !== undefined)
        return this.close(closeCodes.secondAuth, "one auth frame is enough");
      this.#dialect.check(frame);
      const request = toRequest(frame);
      this.#badFrames = 0;
      if (this.#pending >= limits.maxPendingRequests)
        throw new GatewayError("busy", "Too many requests wait for their answer.", {
          retryable: true,
        });
      this.#pending++;
      try {
        await (methods[request.method].access === "read"
          ? this.#inTurn(() => this.#call(request))
          : this.#call(request));
      } finally {
        this.#pending--;
      }
    } catch (error) {
      const refusal = this.#options.context.filter.failure(toFrameError(error));
      this.#outbox.push({ json: this.#dialect.error(idOf(frame), refusal) });
      const isBad = refusal.data?.code === "parse" || refusal.data?.code === "bad_request";
      if (isBad && ++this.#badFrames >= limits.maxBadFrames)
        this.close(closeCodes.badFrames, "too many bad frames");
    }
  }

  /**
   * Queues a read-only request, since its response may be long. It runs when the client has
   * received the earlier responses. Requests that change something are not queued.
   */
  #inTurn(look: () => Promise<void>): Promise<void> {
    const done = this.#looking
      .then(() => this.#outbox.room())
      .then(() => (this.#state === "in" ? look() : undefined));
    this.#looking = done.catch(() => {});
    return done;
  }

  async #call({ id, method, params }: ParsedRequest): Promise<void> {
    const handle = handlers[method] as (
      context: DoorContext,
      params: unknown,
      caller: Caller,
    ) => Answered<unknown> | Promise<Answered<unknown>>;
    const { context } = this.#options;
    const permitted = permit(context, method, params as Params<MethodName>, this);
    const { result, after } = await handle(
      context,
      permitted instanceof Promise ? await permitted : permitted,
      this,
    );
    this.#outbox.push({ json: this.#dialect.result(id, result) });
    // Runs after the response is queued, so that the response precedes the events that it causes.
    // Also runs if the client has disconnected.
    after?.();
  }
}
