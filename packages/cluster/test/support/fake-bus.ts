/** A bus in memory that loses, repeats, mixes and delays messages as a test says. */
import type { Bus, BusListener, BusMessage } from "@bowline/cluster";

interface Subscription {
  readonly node: FakeBus;
  readonly subject: string;
  readonly listener: BusListener;
}

interface Waiting {
  readonly to: Subscription;
  readonly message: BusMessage;
}

export class FakeNetwork {
  readonly subscriptions = new Set<Subscription>();
  readonly #waiting: Waiting[] = [];
  /** All payloads that were published, as text. */
  readonly published: string[] = [];
  #inboxes = 0;

  node(): FakeBus {
    return new FakeBus(this);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  createInbox(): string {
    return `_INBOX.${this.#inboxes++}`;
  }

  send(from: FakeBus, subject: string, payload: Uint8Array, reply: string | undefined): void {
    this.published.push(Buffer.from(payload).toString());
    const to = [...this.subscriptions].filter(
      (one) => one.node !== from && one.node.isConnected && matches(one.subject, subject),
    );
    const message = { subject, payload, reply, isUnheard: false };
    this.#waiting.push(...to.map((one) => ({ to: one, message })));
    if (to.length > 0 || reply === undefined) return;
    const back = [...this.subscriptions].filter((one) => matches(one.subject, reply));
    const unheard = {
      subject: reply,
      payload: new Uint8Array(),
      reply: undefined,
      isUnheard: true,
    };
    this.#waiting.push(...back.map((one) => ({ to: one, message: unheard })));
  }

  /** Delivers one of the waiting messages. */
  deliver(index = 0): void {
    const [next] = this.#waiting.splice(index % Math.max(1, this.#waiting.length), 1);
    if (next !== undefined && this.subscriptions.has(next.to) && next.to.node.isConnected)
      next.to.listener(next.message);
  }

  lose(index: number): void {
    this.#waiting.splice(index % Math.max(1, this.#waiting.length), 1);
  }

  repeat(index: number): void {
    const again = this.#waiting[index % Math.max(1, this.#waiting.length)];
    if (again !== undefined) this.#waiting.push(again);
  }

  deliverAll(): void {
    while (this.#waiting.length > 0) this.deliver();
  }
}

export class FakeBus implements Bus {
  maxPayload = 1024 * 1024;
  isConnected = true;
  readonly #network: FakeNetwork;
  readonly #reconnected = new Set<() => void>();

  constructor(network: FakeNetwork) {
    this.#network = network;
  }

  publish(subject: string, payload: Uint8Array, reply?: string): void {
    if (this.isConnected) this.#network.send(this, subject, payload, reply);
  }

  subscribe(subject: string, listener: BusListener): () => void {
    const subscription = { node: this, subject, listener };
    this.#network.subscriptions.add(subscription);
    return () => void this.#network.subscriptions.delete(subscription);
  }

  async flush(): Promise<void> {
    if (!this.isConnected) throw new Error("not connected");
  }

  onReconnect(listener: () => void): () => void {
    this.#reconnected.add(listener);
    return () => void this.#reconnected.delete(listener);
  }

  createInbox(): string {
    return this.#network.createInbox();
  }

  async close(): Promise<void> {
    this.isConnected = false;
  }

  disconnect(): void {
    this.isConnected = false;
  }

  reconnect(): void {
    this.isConnected = true;
    for (const listener of this.#reconnected) listener();
  }
}

function matches(pattern: string, subject: string): boolean {
  return pattern.endsWith(".*")
    ? subject.startsWith(pattern.slice(0, -1)) && !subject.slice(pattern.length - 1).includes(".")
    : pattern === subject;
}
