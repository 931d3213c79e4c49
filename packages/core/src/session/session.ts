/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A stored transcript: a handle on a store's log. It holds no copy of the log and reads from the
 * store on each call.
 */
import { randomId, systemClock } from "../clock.ts";
import { BowlineError } from "../errors.ts";
import { defined, type Filled } from "../json-value.ts";
import {
  isKnownEntry,
  type AnyEntry,
  type Entry,
  type EntryBody,
  type SessionHeader,
  type SessionMessage,
} from "./entry.ts";
import { forkEnds } from "./fork-ends.ts";
import {
  allMessages,
  compactionAt,
  contextEntries,
  type CompactionEntry,
  type MessageEntry,
} from "./messages.ts";
import { pathTo, type ReadEntries } from "./path.ts";
import {
  newHeader,
  type ContextOptions,
  type ForkOptions,
  type SessionOptions,
} from "./session-options.ts";
import { sessionState, type SessionState } from "./session-state.ts";
import type { FollowOptions, ReadOptions, SessionDamage, SessionWriter, Store } from "./store.ts";

export class Session implements AsyncDisposable {
  readonly header: SessionHeader;
  readonly #store: Store;
  readonly #writer: SessionWriter | undefined;
  readonly #options: Filled<SessionOptions>;
  readonly #damage: SessionDamage[];
  /** The parent of the next entry after a rewind. Undefined if not rewound. */
  #rewound: string | null | undefined;
  #appended: Promise<unknown> = Promise.resolve();
  #isClaimed = false;

  /** Use {@link createSession} or {@link openSession} instead. */
  constructor(store: Store, held: SessionWriter | SessionHeader, options: SessionOptions) {
    this.#store = store;
    const { clock = systemClock, createId = randomId } = options;
    this.#options = { clock, createId };
    this.#writer = "append" in held ? held : undefined;
    this.header = "append" in held ? held.header : held;
    this.#damage = [...(this.#writer?.damage ?? [])];
  }

  get id(): string {
    return this.header.id;
  }

  /** Damage found so far, on opening and in all reads since. */
  get damage(): readonly SessionDamage[] {
    return this.#damage;
  }

  /**
   * Appends an entry after the head. Resolves when it is as durable as the store promises. Entries
   * are in the order of the calls, awaited or not. Pass an `id` from {@link newId} if you need the
   * id before the entry is written. Rejects as {@link SessionWriter.append} does, and with
   * `invalid_state` if the session is read-only.
   */
  async append(body: EntryBody, id: string = this.newId()): Promise<Entry> {
    const writer = this.#writer;
    if (writer === undefined)
      throw new BowlineError(
        "invalid_state",
        "The session is open for reading only. Open it without readOnly.",
      );
    const rewound = this.#rewound;
    const parentId = rewound === undefined ? (writer.last?.id ?? null) : rewound;
    const entry = this.#entry(writer.nextSeq, parentId, body, id);
    this.#rewound = undefined;
    const written = writer.append([entry]);
    this.#appended = written.catch(() => {});
    try {
      await written;
    } catch (error) {
      if (this.#rewound === undefined) this.#rewound = rewound;
      throw error;
    }
    return entry;
  }

  /**
   * Claims the session for one agent, so that messages of two agents do not mix. Returns a function
   * that releases the claim. Throws `invalid_state` while it is claimed.
   */
  claim(): () => void {
    if (this.#isClaimed)
      throw new BowlineError(
        "invalid_state",
        "The session already has an agent. Detach that one first.",
      );
    this.#isClaimed = true;
    return () => {
      this.#isClaimed = false;
    };
  }

  /** Returns a new id for a later entry. */
  newId(): string {
    return this.#options.createId();
  }

  /** Yields the current entries of all branches, by `seq`. */
  async *entries(
    options: Pick<ReadOptions, "from" | "reverse" | "files"> = {},
  ): AsyncGenerator<AnyEntry> {
    for await (const batch of this.#read(options)) yield* batch;
  }

  /**
   * Yields the current entries, then new ones from any writer, until `signal` fires. See {@link
   * Store.follow}.
   */
  async *follow(options: Omit<FollowOptions, "onDamage"> = {}): AsyncGenerator<AnyEntry> {
    const { signal } = options;
    for await (const batch of this.#store.follow(this.id, {
      ...options,
      onDamage: this.#onDamage,
    })) {
      for (const entry of batch) {
        if (signal?.aborted === true) return;
        yield entry;
      }
    }
  }

  /**
   * Resolves with the id of the entry that the next one will follow: the last entry, unless
   * rewound. `null` before the first entry.
   */
  async head(): Promise<string | null> {
    if (this.#rewound !== undefined) return this.#rewound;
    for await (const entry of this.entries({ reverse: true, files: false })) return entry.id;
    return null;
  }

  /** Resolves with the `seq` of the last entry of any branch, or -1 before the first entry. */
  async lastSeq(): Promise<number> {
    for await (const { seq } of this.entries({ reverse: true, files: false })) return seq;
    return -1;
  }

  /**
   * Resolves with the entries that lead to `at` (default: the head), oldest first. `files` is that of
   * {@link ReadOptions}.
   */
  path(at?: string, { files }: Pick<ReadOptions, "files"> = {}): Promise<AnyEntry[]> {
    return this.#at(at, [], (read, from) => pathTo((options) => read({ ...options, files }), from));
  }

  /**
   * Resolves with what a model sees: the summary of the last compaction that was not undone as a user
   * message, the messages that it kept, and all later ones.
   */
  async contextMessages(at?: string): Promise<SessionMessage[]> {
    return (await this.contextEntries(at)).map(({ message }) => message);
  }

  /**
   * Like {@link contextMessages}, with the entry id of each message. A summary has no id. `without`
   * is the id of a `compaction` entry: the result is then what a model would see if it was undone.
   */
  contextEntries(at?: string, { without }: ContextOptions = {}): Promise<MessageEntry[]> {
    return this.#at(at, [], (read, from) => contextEntries(read, from, without));
  }

  /**
   * Resolves with the compaction in force at the entry `at` (default: the head): the last one that
   * was not undone. Undefined if there is none.
   */
  compaction(at?: string): Promise<CompactionEntry | undefined> {
    return this.#at<CompactionEntry | undefined>(at, undefined, (read, from) =>
      compactionAt((options) => read({ ...options, files: false }), from),
    );
  }

  /**
   * Resolves with every message that leads to `at` (default: the head), including compacted ones.
   */
  allMessages(at?: string): Promise<SessionMessage[]> {
    return this.#at(at, [], allMessages);
  }

  /**
   * Resolves with the model, the last run and the queued messages at the entry `at` (default: the
   * head).
   */
  state(at?: string): Promise<SessionState> {
    return this.#at(at, {}, sessionState);
  }

  /** Resolves with the labels, keyed by entry id. Reads the whole log. */
  async labels(): Promise<ReadonlyMap<string, string>> {
    const labels = new Map<string, string>();
    for await (const entry of this.entries({ files: false })) {
      if (!isKnownEntry(entry) || entry.type !== "label") continue;
      if (entry.label === "") labels.delete(entry.targetId);
      else labels.set(entry.targetId, entry.label);
    }
    return labels;
  }

  /**
   * Makes the next entry a child of this one (`null`: a new root). Writes and deletes nothing
   * itself. Rejects with `not_found` for an unknown entry.
   */
  async rewind(entryId: string | null): Promise<void> {
    if (entryId !== null) await this.#find(entryId);
    this.#rewound = entryId;
  }

  async label(entryId: string, label: string): Promise<void> {
    await this.#find(entryId);
    await this.append({ type: "label", targetId: entryId, label });
  }

  async rename(title: string): Promise<void> {
    await this.append({ type: "title", title });
  }

  /**
   * Creates a session, open for writing, that begins with copies of the entries that lead to `at`.
   * An unfinished run at that point ends as `interrupted` in the fork, and the fork's queues are
   * empty. Both continue in the original session, under the same idempotency keys.
   */
  async fork({ at, id, metadata = this.header.metadata }: ForkOptions = {}): Promise<Session> {
    const path = await this.path(at);
    const copies = path.map((entry, seq) => ({
      ...entry,
      seq,
      parentId: path[seq - 1]?.id ?? null,
    }));
    const last = copies.at(-1);
    const ends = last === undefined ? [] : forkEnds(await this.state(last.id));
    for (const end of ends)
      copies.push(this.#entry(copies.length, copies.at(-1)?.id ?? null, end, this.newId()));
    const options = { ...this.#options, ...defined({ id, metadata }) };
    const header = newHeader(options, last && { sessionId: this.id, entryId: last.id });
    return new Session(this.#store, await this.#store.create(header, copies), this.#options);
  }

  /** Waits for pending appends and releases the session. */
  async close(): Promise<void> {
    await this.#writer?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #at<T>(
    at: string | undefined,
    nothing: T,
    fold: (read: ReadEntries, at?: string) => Promise<T>,
  ): Promise<T> {
    const from = at ?? this.#rewound;
    return from === null ? nothing : fold((options) => this.#read(options), from);
  }

  async #find(entryId: string): Promise<void> {
    await pathTo(
      (options) => this.#read({ ...options, files: false }),
      entryId,
      () => true,
    );
  }

  #entry(seq: number, parentId: string | null, body: EntryBody, id: string): Entry {
    return { seq, id, parentId, timestamp: this.#options.clock.now(), ...body };
  }

  /** Reads after all earlier appends have settled. */
  async *#read(options: ReadOptions): AsyncGenerator<readonly AnyEntry[]> {
    await this.#appended;
    yield* this.#store.read(this.id, { ...options, onDamage: this.#onDamage });
  }

  readonly #onDamage = (damage: SessionDamage): void => {
    if (!this.#damage.some(({ message }) => message === damage.message)) this.#damage.push(damage);
  };
}
