/** The bus over NATS core: no stream, no acknowledgement, no storage. */
import {
  connect,
  createInbox,
  credsAuthenticator,
  type NatsConnection,
} from "@nats-io/transport-node";
import { BowlineError } from "@bowline/core";
import { checkNames } from "@bowline/core/agent";
import type { Bus, BusListener } from "./bus.ts";

/** Status of a message by which the server says that nobody listens. */
const NO_RESPONDERS = 503;
const DEFAULT_MAX_PAYLOAD = 1024 * 1024;

export interface NatsOptions {
  /** Addresses of servers, such as `nats://10.0.0.7:4222`. Default `127.0.0.1:4222`. */
  readonly servers?: string | readonly string[];
  readonly user?: string;
  /** The password of `user`. */
  readonly pass?: string;
  readonly token?: string;
  /** The content of a credentials file (JWT and seed). */
  readonly credentials?: string;
  /** Demands TLS. The files are read by each connection. Default: TLS if the server demands it. */
  readonly tls?: {
    readonly caFile?: string;
    readonly certFile?: string;
    readonly keyFile?: string;
  };
  /** The name that the server shows for this connection. */
  readonly name?: string;
  /** The first part of the subjects of replies. Default `_INBOX`. */
  readonly inboxPrefix?: string;
  /** Time limit of the first connection, in milliseconds. Default 20,000. */
  readonly timeoutMs?: number;
}

const names: Readonly<Record<keyof NatsOptions, true>> = {
  servers: true,
  user: true,
  pass: true,
  token: true,
  credentials: true,
  tls: true,
  name: true,
  inboxPrefix: true,
  timeoutMs: true,
};

/**
 * Connects to NATS, and reconnects for ever once it was connected. Rejects with `invalid_argument` for
 * an unknown option, and with `connection_failed` if the first connection fails.
 */
export async function connectNats(options: NatsOptions = {}): Promise<Bus> {
  checkNames(options, Object.keys(names));
  const { servers, credentials, timeoutMs: timeout, inboxPrefix, ...others } = options;
  try {
    const connection = await connect({
      ...others,
      ...(servers !== undefined && { servers: [servers].flat() }),
      ...(credentials !== undefined && {
        authenticator: credsAuthenticator(new TextEncoder().encode(credentials)),
      }),
      ...(inboxPrefix !== undefined && { inboxPrefix }),
      ...(timeout !== undefined && { timeout }),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 10_000,
      // A worker hears the attempts of others on its own subjects, not its own events.
      noEcho: true,
      ignoreAuthErrorAbort: true,
    });
    return new NatsBus(connection, inboxPrefix);
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown";
    throw new BowlineError("connection_failed", `NATS cannot be reached: ${why}.`, {
      cause: error,
      retryable: true,
    });
  }
}

class NatsBus implements Bus {
  readonly #connection: NatsConnection;
  readonly #inboxPrefix: string | undefined;
  readonly #reconnected = new Set<() => void>();
  #isConnected = true;

  constructor(connection: NatsConnection, inboxPrefix: string | undefined) {
    this.#connection = connection;
    this.#inboxPrefix = inboxPrefix;
    void this.#watch();
  }

  get maxPayload(): number {
    return this.#connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  publish(subject: string, payload: Uint8Array, reply?: string): void {
    // The library would buffer without a limit.
    if (!this.#isConnected) return;
    try {
      this.#connection.publish(subject, payload, reply === undefined ? undefined : { reply });
    } catch {
      // It was closed meanwhile, or the new server takes only smaller messages. Both are losses,
      // which gateways notice by the numbers.
    }
  }

  subscribe(subject: string, listener: BusListener): () => void {
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => {
        // An error here is a refused subscription: nothing arrives, as with a lost connection.
        if (error !== null) return;
        const isUnheard = message.headers?.code === NO_RESPONDERS && message.data.length === 0;
        const { data: payload, reply } = message;
        listener({ subject: message.subject, payload, reply, isUnheard });
      },
    });
    return () => subscription.unsubscribe();
  }

  async flush(): Promise<void> {
    await this.#connection.flush();
  }

  onReconnect(listener: () => void): () => void {
    this.#reconnected.add(listener);
    return () => void this.#reconnected.delete(listener);
  }

  createInbox(): string {
    return createInbox(this.#inboxPrefix);
  }

  async close(): Promise<void> {
    this.#isConnected = false;
    await this.#connection.close();
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect" || type === "close") this.#isConnected = false;
      if (type !== "reconnect") continue;
      this.#isConnected = true;
      for (const listener of this.#reconnected) listener();
    }
  }
}
