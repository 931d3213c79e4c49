/** The bus over NATS core: no stream, no acknowledgement, no storage. */
import { createInbox, type NatsConnection } from "@nats-io/transport-node";
import type { Bus, BusListener } from "./bus.ts";
import { openNats } from "./nats-connection.ts";
import type { NatsOptions } from "./nats-options.ts";

/** Status of a message by which the server says that nobody listens. */
const NO_RESPONDERS = 503;
const DEFAULT_MAX_PAYLOAD = 1024 * 1024;

/**
 * Connects to NATS, and reconnects for ever once it was connected. Rejects with `invalid_argument` for
 * an unknown option, and with `connection_failed` if the first connection fails.
 */
export async function connectNats(options: NatsOptions = {}): Promise<Bus> {
  return new NatsBus(await openNats(options), options.inboxPrefix);
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
