/**
 * Workers, gateways and clients over a fake bus and a manual clock. Checks what each client gets: every
 * event once, in order, nothing of an attempt that was taken over, nothing after the end.
 */
import { Relay, RunPublisher, type RunAttempt } from "@bowline/cluster";
import { createMemoryStore, createSession, type Session, type Store } from "@bowline/core/session";
import { createSecretFilter, type Frame } from "bowline/engine";
import { defaultLimits } from "bowline/gateway";
import { Listeners, type Listener } from "../../../bowline/src/gateway/server/listeners.ts";
import { ManualClock, settle } from "../../../../test/support/manual-clock.ts";
import { answer, answered, delta, ended } from "../../../../test/support/agent-events.ts";
import { FakeNetwork, type FakeBus } from "./fake-bus.ts";

export const SESSION = "ann/any characters: \n*.> 日本";
export const RUN = "run 1";

interface Data {
  readonly seq: number;
  readonly text?: string;
  readonly state?: string;
  readonly blocks?: readonly { readonly type: string; readonly text?: string }[];
}

export class PlainClient implements Listener {
  readonly frames: { readonly name: string; readonly data: Data }[] = [];
  text = "";
  last: number | undefined;
  ends = 0;
  readonly faults: string[] = [];

  event(name: string, frame: Frame): void {
    const { data } = JSON.parse(frame.json) as { data: Data };
    this.frames.push({ name, data });
    const { seq } = data;
    const check = (fits: boolean, fault: string): void => {
      if (!fits) this.faults.push(`${name} ${seq} ${fault}`);
    };
    check(this.ends === 0, "after the end");
    if (name === "chat.snapshot") {
      check(seq >= (this.last ?? -1), `after ${this.last}`);
      this.text = (data.blocks ?? []).map(({ text = "" }) => text).join("");
    } else {
      check(seq === (this.last ?? -1) + 1, `after ${this.last}`);
      if (name === "chat.delta") this.text += data.text ?? "";
    }
    this.last = seq;
    if (/^chat\.(?:final|error|aborted)$/.test(name)) this.ends++;
  }
}

export interface Gateway {
  readonly bus: FakeBus;
  readonly listeners: Listeners;
  readonly relay: Relay;
}

interface Attempt {
  readonly publisher: RunPublisher;
  readonly about: RunAttempt;
}

/** One run of one session. Its attempts write what is committed to the store. */
export class World {
  readonly network = new FakeNetwork();
  readonly clock = new ManualClock();
  readonly store: Store = createMemoryStore();
  readonly gateways: Gateway[] = [];
  readonly #workers: { readonly bus: FakeBus; readonly publisher: RunPublisher }[] = [];
  readonly #attempts: Attempt[] = [];
  readonly #secret: string;
  #session: Session | undefined;
  /** The answers that are committed, and the one that streams. */
  readonly #answers: string[] = [];
  #streamed = "";
  #count = 0;
  isOver = false;

  constructor(secret = "a-secret-of-the-worker") {
    this.#secret = secret;
    for (let index = 0; index < 2; index++) {
      this.addGateway();
      this.addWorker();
    }
  }

  static async create(): Promise<World> {
    const world = new World();
    world.#session = await createSession(world.store, { id: SESSION });
    await world.#session.append({ type: "run_start", runId: RUN });
    return world;
  }

  get text(): string {
    return `${this.#answers.join("")}${this.#streamed}`;
  }

  get buses(): FakeBus[] {
    return [...this.gateways, ...this.#workers].map(({ bus }) => bus);
  }

  addGateway(): Gateway {
    const bus = this.network.node();
    const listeners = new Listeners();
    const { clock, store } = this;
    const filter = createSecretFilter([this.#secret]);
    const relay = new Relay({
      bus,
      clients: listeners,
      store,
      filter,
      limits: defaultLimits,
      clock,
    });
    const gateway = { bus, listeners, relay };
    this.gateways.push(gateway);
    return gateway;
  }

  addWorker(): void {
    const bus = this.network.node();
    const filter = createSecretFilter([this.#secret]);
    const { clock } = this;
    this.#workers.push({ bus, publisher: new RunPublisher({ bus, filter, clock }) });
  }

  /** Another attempt begins on a worker. It repeats what is committed. */
  begin(worker: number): void {
    const { publisher } = this.#workers[worker % this.#workers.length] as {
      publisher: RunPublisher;
    };
    const attempt = this.#attempts.length + 1;
    const about = { sessionKey: SESSION, runId: RUN, attempt, isRepeated: attempt > 1 };
    this.#attempts.push({ publisher, about });
    this.#streamed = "";
    for (const text of this.#answers) publisher.tell(about, answered(RUN, text));
  }

  get #current(): Attempt {
    if (this.#attempts.length === 0) this.begin(0);
    return this.#attempts.at(-1) as Attempt;
  }

  stream(): void {
    if (this.isOver) return;
    const { publisher, about } = this.#current;
    const text = `${this.#count++} `;
    this.#streamed += text;
    publisher.tell(about, delta(RUN, text));
  }

  async commit(): Promise<void> {
    if (this.isOver || this.#streamed === "") return;
    const { publisher, about } = this.#current;
    const text = this.#streamed;
    this.#answers.push(text);
    this.#streamed = "";
    publisher.tell(about, answered(RUN, text));
    await this.#session?.append({ type: "message", runId: RUN, message: answer(text) });
  }

  async end(): Promise<void> {
    if (this.isOver) return;
    await this.commit();
    const { publisher, about } = this.#current;
    this.isOver = true;
    publisher.tell(about, ended(RUN));
    await this.#session?.append({ type: "run_end", runId: RUN, reason: "done" });
  }

  /** The attempt ends, and loses the run to another one: its end is never stored. */
  endInVain(): void {
    const { publisher, about } = this.#current;
    publisher.tell(about, ended(RUN, "aborted"));
  }

  /** An attempt that was taken over, or whose run is over, goes on for a moment. */
  zombie(index: number): void {
    const others = this.isOver ? this.#attempts : this.#attempts.slice(0, -1);
    const attempt = others[index % Math.max(1, others.length)];
    if (attempt === undefined) return;
    attempt.publisher.tell(attempt.about, delta(RUN, "ZOMBIE"));
    if (index % 3 === 0) attempt.publisher.tell(attempt.about, ended(RUN, "error"));
  }

  async join(client: PlainClient, { relay, listeners }: Gateway): Promise<void> {
    const seq = client.last;
    const { missed } = await relay.follow({
      sessionKey: SESSION,
      runId: RUN,
      ...(seq !== undefined && { seq }),
    });
    listeners.add(client);
    for (const { event, frame } of missed()) client.event(event, frame);
    listeners.subscribe(client, SESSION);
  }

  /** Delivers everything and lets time pass, until nothing more comes. */
  async heal(): Promise<void> {
    for (const bus of this.buses) if (!bus.isConnected) bus.reconnect();
    for (let round = 0; round < 40; round++) {
      this.network.deliverAll();
      await settle();
      this.network.deliverAll();
      await this.clock.advance(1000);
    }
  }

  close(): void {
    for (const { relay } of this.gateways) relay.close();
    for (const { publisher } of this.#workers) publisher.close();
  }
}
