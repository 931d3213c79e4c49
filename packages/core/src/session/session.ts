/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A transcript that is kept: a thin handle on a store's log. It holds no copy of the log; what is
 * asked for is read.
 */
import { randomId, systemClock, type Clock } from "../clock.ts";
import { BowlineError, isBowlineError, type ErrorCode } from "../errors.ts";
import { defined, type Filled } from "../json-value.ts";
import {
  isKnownEntry,
  type AnyEntry,
  type Entry,
  type EntryBody,
  type SessionHeader,
  type SessionMessage,
} from "./entry.ts";
import { allMessages, contextEntries, type MessageEntry } from "./messages.ts";
import { pathTo, type ReadEntries } from "./path.ts";
import { sessionState, type SessionState } from "./session-state.ts";
import type { FollowOptions, ReadOptions, SessionDamage, SessionWriter, Store } from "./store.ts";

export interface SessionOptions {
  readonly clock?: Clock | undefined;
  /** Makes the ids of entries and of sessions. Default: random UUIDs. */
  readonly createId?: (() => string) | undefined;
}

/** What a new session may be given. */
export interface NewSession {
  /** Default: `createId()`. */
  readonly id?: string | undefined;
  /** Default: none, and for a fork that of the session it comes from. */
  readonly metadata?: SessionHeader["metadata"] | undefined;
}

export interface ForkOptions extends NewSession {
  /** The entry after which the fork goes its own way. Default: the head. */
  readonly at?: string | undefined;
}

/** A new session, held for writing. Rejects as {@link Store.create} does. */
export async function createSession(
  store: Store,
  options: SessionOptions & NewSession = {},
): Promise<Session> {
  return new Session(store, await store.create(newHeader(options)), options);
}

export interface OpenOptions extends SessionOptions {
  /** Reads the session without holding it. Default false. */
  readonly readOnly?: boolean | undefined;
  /** Creates the session if there is none. Default false. Excludes `readOnly`. */
  readonly create?: boolean | undefined;
  /** Of a session that is created. Default: none. */
  readonly metadata?: SessionHeader["metadata"] | undefined;
}

/**
 * Opens a session, held for writing unless `readOnly`. Rejects with `not_found` if there is none and
 * `create` is not set, with `session_locked` while another writer holds it, and as
 * {@link Store.open} and {@link Store.load} do.
 */
export async function openSession(
  store: Store,
  id: string,
  options: OpenOptions = {},
): Promise<Session> {
  const { readOnly = false, create = false } = options;
  if (readOnly && create)
    throw new BowlineError("invalid_argument", "A session that is created is not readOnly.");
  if (readOnly) return new Session(store, await store.load(id), options);
  try {
    return new Session(store, await store.open(id), options);
  } catch (error) {
    if (!create || !hasCode(error, "not_found")) throw error;
  }
  try {
    return await createSession(store, { ...options, id });
  } catch (error) {
    if (!hasCode(error, "invalid_state")) throw error;
    // Another writer has created it since.
    return new Session(store, await store.open(id), options);
  }
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return isBowlineError(error) && error.code === code;
}

function newHeader(
  options: SessionOptions & NewSession,
  origin?: SessionHeader["origin"],
): SessionHeader {
  const { clock = systemClock, createId = randomId, id = createId(), metadata } = options;
  return { id, createdAt: clock.now(), ...(origin && { origin }), ...(metadata && { metadata }) };
}

export class Session implements AsyncDisposable {
  readonly header: SessionHeader;
  readonly #store: Store;
  readonly #writer: SessionWriter | undefined;
  readonly #options: Filled<SessionOptions>;
  readonly #damage: SessionDamage[];
  /** Where the next entry goes instead of behind the last one. */
  #rewound: string | null | undefined;
  #appended: Promise<unknown> = Promise.resolve();
  #isClaimed = false;

  /** For {@link createSession} and {@link openSession}. */
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

  /** What was found broken so far, on opening and in what was read since. */
  get damage(): readonly SessionDamage[] {
    return this.#damage;
  }

  /**
   * Adds an entry behind the head. Resolves when it is as durable as the store promises; entries
   * are in the order of the calls, awaited or not. Rejects as {@link SessionWriter.append} does,
   * and with `invalid_state` if the session was opened to read. `id` is one of {@link newId}, for
   * who has to know it before.
   */
  async append(body: EntryBody, id: string = this.newId()): Promise<Entry> {
    const writer = this.#writer;
    if (writer === undefined)
      throw new BowlineError("invalid_state", "The session is open for reading only.");
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
   * Claims the session for one agent, whose messages would mix with those of another. Returns what
   * gives it back. Throws `invalid_state` while it is claimed.
   */
  claim(): () => void {
    if (this.#isClaimed)
      throw new BowlineError(
        "invalid_state",
        "The session has an agent already: detach that one first.",
      );
    this.#isClaimed = true;
    return () => {
      this.#isClaimed = false;
    };
  }

  /** An id for an entry to come. */
  newId(): string {
    return this.#options.createId();
  }

  /** What is there now, of all branches, by `seq`. */
  async *entries(options: Pick<ReadOptions, "from" | "reverse"> = {}): AsyncGenerator<AnyEntry> {
    for await (const batch of this.#read(options)) yield* batch;
  }

  /**
   * What is there, then what comes, whoever writes it, until `signal` fires. See {@link
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
   * The entry that the next one would follow: the last, unless rewound. `null` before the first.
   */
  async head(): Promise<string | null> {
    if (this.#rewound !== undefined) return this.#rewound;
    for await (const entry of this.entries({ reverse: true })) return entry.id;
    return null;
  }

  /** The `seq` of the last entry, of whatever branch; -1 before the first. */
  async lastSeq(): Promise<number> {
    for await (const { seq } of this.entries({ reverse: true })) return seq;
    return -1;
  }

  /** The entries that lead to `at` (default: the head), oldest first. */
  path(at?: string): Promise<AnyEntry[]> {
    return this.#at(at, [], pathTo);
  }

  /**
   * What a model is shown: the last compaction's summary as a user's message, what it kept, and
   * what came after.
   */
  async contextMessages(at?: string): Promise<SessionMessage[]> {
    return (await this.contextEntries(at)).map(({ message }) => message);
  }

  /** {@link contextMessages}, each with the id of its entry; the summary has none. */
  contextEntries(at?: string): Promise<MessageEntry[]> {
    return this.#at(at, [], contextEntries);
  }

  /** Every message that leads to `at` (default: the head), whatever was compacted. */
  allMessages(at?: string): Promise<SessionMessage[]> {
    return this.#at(at, [], allMessages);
  }

  /** The model and the last run, as they were at `at` (default: the head). */
  state(at?: string): Promise<SessionState> {
    return this.#at(at, {}, sessionState);
  }

  /** Labels by the entry that has them. Reads the whole log. */
  async labels(): Promise<ReadonlyMap<string, string>> {
    const labels = new Map<string, string>();
    for await (const entry of this.entries()) {
      if (!isKnownEntry(entry) || entry.type !== "label") continue;
      if (entry.label === "") labels.delete(entry.targetId);
      else labels.set(entry.targetId, entry.label);
    }
    return labels;
  }

  /**
   * The next entry becomes a child of this one (`null`: a new beginning). Nothing is written until
   * then, and nothing lost.
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
   * A new session, held for writing, that begins with copies of the entries that lead to `at`. A
   * run that was open there is `interrupted` in the fork: it goes on here, under the same keys, and
   * so do messages that wait.
   */
  async fork({ at, id, metadata = this.header.metadata }: ForkOptions = {}): Promise<Session> {
    const path = await this.path(at);
    const copies = path.map((entry, seq) => ({
      ...entry,
      seq,
      parentId: path[seq - 1]?.id ?? null,
    }));
    const last = copies.at(-1);
    const { run, queued = [] } = last === undefined ? {} : await this.state(last.id);
    const ends: EntryBody[] = [...new Set(queued.map(({ queue }) => queue))].map((queue) => ({
      type: "queue_clear",
      queue,
    }));
    if (run !== undefined && run.reason === undefined)
      ends.push({ type: "run_end", runId: run.runId, reason: "interrupted" });
    for (const end of ends)
      copies.push(this.#entry(copies.length, copies.at(-1)?.id ?? null, end, this.newId()));
    const options = { ...this.#options, ...defined({ id, metadata }) };
    const header = newHeader(options, last && { sessionId: this.id, entryId: last.id });
    return new Session(this.#store, await this.#store.create(header, copies), this.#options);
  }

  /** Waits for what was appended and lets the session go. */
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
      (options) => this.#read(options),
      entryId,
      () => true,
    );
  }

  #entry(seq: number, parentId: string | null, body: EntryBody, id: string): Entry {
    return { seq, id, parentId, timestamp: this.#options.clock.now(), ...body };
  }

  /** Sees every append that was called before. */
  async *#read(options: ReadOptions): AsyncGenerator<readonly AnyEntry[]> {
    await this.#appended;
    yield* this.#store.read(this.id, { ...options, onDamage: this.#onDamage });
  }

  readonly #onDamage = (damage: SessionDamage): void => {
    if (!this.#damage.some(({ message }) => message === damage.message)) this.#damage.push(damage);
  };
}
