/** Implements {@link DurableSessions}: each method is one transaction under the session's row lock. */
import {
  checkSessionId,
  sessionNotFound,
  type AnyEntry,
  type SessionHeader,
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
import { checkAnswer, checkInput, checkKey } from "./check-input.ts";
import { beginRun } from "./begin-run.ts";
import type {
  BegunRun,
  DrainName,
  DurableItem,
  DurableSessions,
  InboxMessage,
  MessagePlace,
  QueuedInput,
  RunBeginning,
  RunClosing,
} from "./contract.ts";
import * as inbox from "./inbox.ts";
import { findAnswer, storeAnswer } from "./answers.ts";
import { DurableLists } from "./durable-lists.ts";
import type {
  AnswerPlace,
  ApprovalAnswer,
  CancelledInput,
  StartInput,
  StoredAnswer,
  WaitingInput,
} from "./run-types.ts";
import type { Inbox } from "./session-inbox.ts";
import { cancel, waiting } from "./waiting.ts";

export class DurableLog extends DurableLists implements DurableSessions {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    super(context);
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
    const isNew = await createSession(this.#context, {
      number,
      header,
      entries: [],
      holder: null,
    });
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

  async rewind(sessionId: string, items: readonly DurableItem[]): Promise<boolean> {
    for (const { key } of items) checkKey("key", key);
    const now = this.#context.clock.now();
    const [first, ...rest] = items;
    if (first === undefined) throw invalid("A conversation begins with at least one entry.");
    const anew = [{ ...first, parentId: null }, ...rest];
    return this.#locked("Writing to", sessionId, undefined, async (run, session) => {
      const [running] = await run(
        `select 1 from ${this.#context.schema}.runs where session = $1 and state = 'running'`,
        [session.number],
      );
      if (running !== undefined) return false;
      await appendByKey(this.#context, run, { id: sessionId, session, items: anew, now });
      return true;
    });
  }

  async push(sessionId: string, input: QueuedInput | StartInput): Promise<MessagePlace> {
    checkInput(input);
    const at = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, undefined, (run, session) =>
      inbox.push(this.#inbox(run, session), input, at),
    );
  }

  async drain(sessionId: string, epoch: number, by: DrainName): Promise<readonly InboxMessage[]> {
    checkKey("id of a run", by.runId);
    checkKey("name of a drain", by.name);
    return this.#locked("Reading", sessionId, epoch, (run, session) =>
      inbox.drain(this.#inbox(run, session), by),
    );
  }

  async begin(sessionId: string, epoch: number, about: RunBeginning): Promise<BegunRun> {
    const { runId, name, by, messageId, items } = about;
    checkKey("id of a run", runId);
    checkKey("name of a drain", name);
    checkKey("name of an invocation", by);
    if (messageId !== undefined) checkKey("id of a message", messageId);
    for (const { key } of items) checkKey("key", key);
    const now = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, epoch, (run, session) =>
      beginRun(this.#context, run, { id: sessionId, session, now, about }),
    );
  }

  async end(
    sessionId: string,
    epoch: number,
    { runId, items, left, isHolding }: RunClosing,
  ): Promise<void> {
    checkKey("id of a run", runId);
    for (const id of left) checkKey("id of a message", id);
    for (const { key } of items) checkKey("key", key);
    const now = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, epoch, async (run, session) => {
      const own = this.#inbox(run, session);
      if (items.length > 0) {
        const about = { id: sessionId, session, items, now };
        const entries = await appendByKey(this.#context, run, about);
        // Called again. Messages that were sent since are not held.
        if (entries.every(({ seq }) => seq < session.nextSeq)) return;
      }
      if (left.length > 0) await inbox.putBack(own, runId, left);
      if (isHolding) await inbox.hold(own);
    });
  }

  async pending(sessionId: string): Promise<number> {
    return this.#locked("Reading", sessionId, undefined, (run, session) =>
      inbox.pending(this.#inbox(run, session)),
    );
  }

  async claimRun(
    sessionId: string,
    messageId: string,
    runId: string,
  ): ReturnType<DurableSessions["claimRun"]> {
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

  async waiting(
    sessionId: string,
    { isTaken = false }: { readonly isTaken?: boolean } = {},
  ): Promise<readonly WaitingInput[]> {
    return this.#locked("Reading", sessionId, undefined, (run, session) =>
      waiting(this.#inbox(run, session), isTaken),
    );
  }

  async cancel(sessionId: string, ids?: readonly string[]): Promise<readonly CancelledInput[]> {
    for (const id of ids ?? []) checkKey("id of a message", id);
    const at = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, undefined, (run, session) =>
      cancel(this.#inbox(run, session), ids, at),
    );
  }

  async answer(
    sessionId: string,
    approvalId: string,
    answer: ApprovalAnswer,
  ): Promise<AnswerPlace> {
    checkAnswer(answer);
    const at = this.#context.clock.now();
    return this.#locked("Writing to", sessionId, undefined, (run, session) =>
      storeAnswer(this.#inbox(run, session), approvalId, answer, at),
    );
  }

  async findAnswer(
    sessionId: string,
    approvalId: string,
    { isClosing = false }: { readonly isClosing?: boolean } = {},
  ): Promise<StoredAnswer | undefined> {
    return this.#locked("Reading", sessionId, undefined, (run, session) =>
      findAnswer(this.#inbox(run, session), approvalId, isClosing),
    );
  }

  #inbox(run: Run, { number }: SessionRow): Inbox {
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
