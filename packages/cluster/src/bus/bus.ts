/** The message bus between workers and gateways. It may lose, repeat and delay messages. */

export interface BusMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** Where to send replies. Undefined: the sender expects none. */
  readonly reply: string | undefined;
  /** True if this is the bus itself, which says that a request has no listener. */
  readonly isUnheard: boolean;
}

export type BusListener = (message: BusMessage) => void;

export interface Bus {
  /** The largest payload of a message, in bytes. */
  readonly maxPayload: number;
  /** False while the connection is lost. Messages that are published then are dropped. */
  readonly isConnected: boolean;
  /** Sends a message, or drops it. Never throws. */
  publish(subject: string, payload: Uint8Array, reply?: string): void;
  /** Returns a function that ends the subscription. A subject may end with `*`. */
  subscribe(subject: string, listener: BusListener): () => void;
  /**
   * Resolves when the subscriptions so far are in effect. Rejects if the connection is lost meanwhile.
   */
  flush(): Promise<void>;
  /** Calls the listener after each reconnect. Returns a function that removes it. */
  onReconnect(listener: () => void): () => void;
  /** Returns a subject for replies that nobody else uses. */
  createInbox(): string;
  close(): Promise<void>;
}
