/**
 * Sessions for durable engines: epochs, appends that are idempotent by a key, and an inbox. Each call
 * is one transaction under the row lock of the session, and holds nothing afterwards.
 */
import {
  checkSessionId,
  sessionNotFound,
  type AnyEntry,
  type EntryBody,
  type QueueKind,
  type SessionHeader,
  type SessionMessage,
} from "@bowline/core/session";
import {
  naming,
  selectSession,
  takeEpoch,
  toSessionRow,
  type SessionRow,
  type StoreContext,
} from "../context.ts";
import { createSession } from "../create-session.ts";
import { sessionFenced } from "../errors.ts";
import { invalid } from "../options.ts";
import { toColumn } from "../rows/column-text.ts";
import type { Run } from "../sql/database.ts";
import { appendByKey } from "./append-by-key.ts";
import * as inbox from "./inbox.ts";

/** An entry to append. Its id is the key. */
export interface DurableItem {
  /** Unique in the session, the same in every attempt: 1 to 512 characters. */
  readonly key: string;
  readonly body: EntryBody;
  /** Milliseconds since the epoch. Default: now. */
  readonly timestamp?: number | undefined;
  /** Id of the entry before. `null`: none. Default: the last entry of the session. */
  readonly parentId?: string | null | undefined;
}

/** A message that waits for a run. */
export interface QueuedInput {
  /** The client's id of the message: 1 to 512 characters. */
  readonly id: string;
  readonly queue: QueueKind;
  readonly message: SessionMessage;
}

export interface InboxMessage extends QueuedInput {
  /** When it was pushed first, in milliseconds since the epoch. */
  readonly at: number;
}

/** Names a drain for ever. */
export interface DrainName {
  readonly runId: string;
  /** Unique in the run, the same in every attempt, such as the number of the turn. */
  readonly name: string;
}

/** Where a client's message is. */
export type MessagePlace =
  /** In its queue. */
  | { readonly state: "pending" }
  /** In this run, which it began or which took it from its queue. */
  | { readonly state: "taken"; readonly runId: string };

/**
 * For engines that know which of their processes runs. Every method may be called again with the
 * same arguments, and then changes nothing. Rejects with `not_found` for a missing session, with
 * `session_locked` for an old epoch (see {@link isSessionFenced}), and with `storage_failed` when the
 * database fails.
 */
export interface DurableSessions {
  /** Creates a session unless it exists. Resolves with its header as stored. Takes no lock. */
  ensure(header: SessionHeader): Promise<SessionHeader>;
  /**
   * Takes the next epoch of a session. From then on, every other writer is refused. Called again, it
   * takes another one.
   */
  takeEpoch(sessionId: string): Promise<number>;
  /**
   * Appends entries in one transaction. An entry whose key exists is not written again: the stored
   * one is returned, whatever its body. The others get the next `seq`. With an undefined epoch the
   * append is not refused, and refuses a {@link SessionWriter} that is open: for a title or an
   * answer to an approval during a run.
   */
  append(
    sessionId: string,
    epoch: number | undefined,
    items: readonly DurableItem[],
  ): Promise<readonly AnyEntry[]>;
  /**
   * Puts a message into the inbox, once for its id. Returns where the message is: a run may have it
   * already.
   */
  push(sessionId: string, input: QueuedInput): Promise<MessagePlace>;
  /**
   * Takes all waiting messages of both queues, in order. The same drain, called again, returns the
   * same messages, also if there were none.
   */
  drain(sessionId: string, epoch: number, by: DrainName): Promise<readonly InboxMessage[]>;
  /** Returns the number of waiting messages. */
  pending(sessionId: string): Promise<number>;
  /**
   * Gives a client's message to a run, once and for ever. Returns the run that has it: this one, or
   * an earlier one, whose message must not run again.
   */
  claimRun(sessionId: string, messageId: string, runId: string): Promise<string>;
  /** Returns where a client's message is. Undefined for an unknown one. */
  findMessage(sessionId: string, messageId: string): Promise<MessagePlace | undefined>;
}

const LONGEST_KEY = 512;

export class DurableLog implements DurableSessions {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async ensure(header: SessionHeader): Promise<SessionHeader> {
    const { id } = header;
    checkSessionId(id);
    await this.#context.ready();
    const { database, schema } = this.#context;
    const doing = naming("Creating", id);
    const [row] = await database.query(
      doing,
      `select nextval('${schema}.session_numbers') as number`,
    );
    const number = Number(row?.number);
    const isNew = await createSession(this.#context, { number, header, entries: [], holder: null });
    if (isNew) return JSON.parse(JSON.stringify(header)) as SessionHeader;
    const rows = await database.query(doing, selectSession(schema, "id"), [toColumn(id)]);
    const stored = toSessionRow(rows[0]);
    if (stored === undefined) throw sessionNotFound(id); // deleted at this moment
    return JSON.parse(stored.header) as SessionHeader;
  }

  async takeEpoch(sessionId: string): Promise<number> {
    return this.#locked("Opening", sessionId, undefined, async (run, { number }) => {
      const rows = await run(takeEpoch(this.#context.schema), [number, null]);
      return Number(rows[0]?.epoch);
    });
  }

  async append(
    sessionId: string,
    epoch: number | undefined,
    items: readonly DurableItem[],
  ): Promise<readonly AnyEntry[]> {
    for (const { key } of items) checkKey("key", key);
    const now = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, epoch, (run, session) =>
      appendByKey(this.#context, run, { id: sessionId, session, items, now }),
    );
  }

  async push(sessionId: string, input: QueuedInput): Promise<MessagePlace> {
    checkKey("id of a message", input.id);
    const at = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, undefined, (run, session) =>
      inbox.push(this.#inbox(run, session), { ...input, at }),
    );
  }

  async drain(sessionId: string, epoch: number, by: DrainName): Promise<readonly InboxMessage[]> {
    checkKey("id of a run", by.runId);
    checkKey("name of a drain", by.name);
    return this.#locked("Reading", sessionId, epoch, (run, session) =>
      inbox.drain(this.#inbox(run, session), by),
    );
  }

  async pending(sessionId: string): Promise<number> {
    return this.#locked("Reading", sessionId, undefined, (run, session) =>
      inbox.pending(this.#inbox(run, session)),
    );
  }

  async claimRun(sessionId: string, messageId: string, runId: string): Promise<string> {
    checkKey("id of a message", messageId);
    checkKey("id of a run", runId);
    const at = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, undefined, (run, session) =>
      inbox.claim(this.#inbox(run, session), { messageId, runId, at }),
    );
  }

  async findMessage(sessionId: string, messageId: string): Promise<MessagePlace | undefined> {
    checkKey("id of a message", messageId);
    return this.#locked("Reading", sessionId, undefined, (run, session) =>
      inbox.find(this.#inbox(run, session), messageId),
    );
  }

  #inbox(run: Run, { number }: SessionRow): inbox.Inbox {
    return { run, schema: this.#context.schema, session: number };
  }

  /** Runs `work` under the row lock of the session. Refuses an old epoch. */
  async #locked<T>(
    doing: string,
    id: string,
    epoch: number | undefined,
    work: (run: Run, session: SessionRow) => Promise<T>,
  ): Promise<T> {
    checkSessionId(id);
    await this.#context.ready();
    const { database, schema } = this.#context;
    return database.transaction(naming(doing, id), async (run) => {
      const [row] = await run(selectSession(schema, "id", "for update"), [toColumn(id)]);
      const session = toSessionRow(row);
      if (session === undefined) throw sessionNotFound(id);
      if (epoch !== undefined && session.epoch !== epoch)
        throw sessionFenced(id, epoch, session.epoch);
      return work(run, session);
    });
  }
}

function checkKey(what: string, key: string): void {
  if (typeof key === "string" && key.length > 0 && key.length <= LONGEST_KEY) return;
  throw invalid(`The ${what} must be a string of 1 to ${LONGEST_KEY} characters.`);
}
