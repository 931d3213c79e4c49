/**
 * The storage of a server in the random test: in memory, with random delays, and copied when the
 * server is killed.
 */
import {
  createMemoryStore,
  type AnyEntry,
  type SessionWriter,
  type Store,
} from "@bowline/core/session";
import {
  createMemoryPending,
  type Pending,
  type PendingMessage,
  type PendingName,
} from "../../src/gateway/runs/pending.ts";
import { wait } from "./gateway.ts";

export class Disk {
  readonly store: Store;
  readonly pending: Pending;
  readonly #inner: Store;
  readonly #messages: Pending;
  readonly #random: () => number;
  #held: Promise<void> = Promise.resolve();

  constructor(random: () => number, inner = createMemoryStore(), messages = createMemoryPending()) {
    this.#inner = inner;
    this.#messages = messages;
    this.#random = random;
    const late =
      <A extends unknown[], R>(write: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        await this.#pause();
        return write(...given);
      };
    const lateWriter = (writer: SessionWriter): SessionWriter => {
      let before: Promise<unknown> = Promise.resolve();
      let { last, nextSeq } = writer;
      const inOrder = (write: () => Promise<void>) => (): Promise<void> => {
        const done = before.then(late(write));
        before = done.catch(() => {});
        return done;
      };
      return Object.create(writer, {
        append: {
          value: (entries: readonly AnyEntry[]) => {
            [last, nextSeq] = [entries.at(-1) ?? last, nextSeq + entries.length];
            return inOrder(() => writer.append(entries))();
          },
        },
        last: { get: () => last },
        nextSeq: { get: () => nextSeq },
        close: { value: inOrder(() => writer.close()) },
      }) as SessionWriter;
    };
    this.store = {
      ...inner,
      create: late(async (...given: Parameters<Store["create"]>) =>
        lateWriter(await inner.create(...given)),
      ),
      open: late(async (id: string) => lateWriter(await inner.open(id))),
      delete: late((id: string) => inner.delete(id)),
    };
    this.pending = {
      add: late((message: PendingMessage) => messages.add(message)),
      remove: late((name: PendingName) => messages.remove(name)),
      list: () => messages.list(),
    };
  }

  /** Copies the current content. Writes wait during the copy. */
  async copy(): Promise<Disk> {
    let release = (): void => {};
    this.#held = new Promise((resolve) => (release = resolve));
    const [store, messages] = [createMemoryStore(), createMemoryPending()];
    for (const { id } of (await this.#inner.list({ limit: 10_000 })).sessions) {
      const writer = await store.create(await this.#inner.load(id), await this.entries(id));
      await writer.close();
    }
    for (const message of await this.#messages.list()) await messages.add(message);
    release();
    return new Disk(this.#random, store, messages);
  }

  /** Returns all entries of a session, rewound ones too, or none when it does not exist. */
  async entries(id: string): Promise<AnyEntry[]> {
    const entries: AnyEntry[] = [];
    try {
      for await (const batch of this.#inner.read(id)) entries.push(...batch);
    } catch {
      return [];
    }
    return entries;
  }

  /** Waits not at all, for a turn of the event loop, or for a few milliseconds. */
  async #pause(): Promise<void> {
    await this.#held;
    const chance = this.#random();
    if (chance < 0.1) await wait(1 + 40 * chance);
    else if (chance < 0.4) await new Promise((resolve) => setImmediate(resolve));
    await this.#held;
  }
}
