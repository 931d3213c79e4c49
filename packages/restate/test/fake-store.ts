/** The part of `@bowline/postgres` that runs use, in memory. */
import { BowlineError } from "@bowline/core";
import {
  createMemoryStore,
  sessionNotFound,
  type AnyEntry,
  type SessionHeader,
} from "@bowline/core/session";
import type {
  BegunRun,
  CancelledInput,
  DurableItem,
  DurableSessions,
  InboxMessage,
  MessagePlace,
  PostgresStore,
  QueuedInput,
  RunBeginning,
  RunClosing,
  StartInput,
  WaitingInput,
  WaitingMessage,
} from "@bowline/postgres";

import type { RunInput } from "../src/wire.ts";

interface Row {
  input: QueuedInput | StartInput;
  runId?: string;
  drain?: string;
  isCancelled?: boolean;
  isHeld?: boolean;
  /** Whether the transcript has the message. */
  isRead?: boolean;
}

interface Released {
  readonly type: string;
  readonly runId: string;
  readonly reason?: string;
}

/** Runs, approvals and rules are found in the database alone. */
type Used = Omit<
  DurableSessions,
  | "openRuns"
  | "runningSince"
  | "countRuns"
  | "findRun"
  | "openApprovals"
  | "findApproval"
  | "answer"
  | "rewind"
  | "answeredSince"
  | "addRule"
  | "removeRule"
  | "rules"
>;

class FakeSession implements Used {
  readonly entries: AnyEntry[] = [];
  readonly inbox: Row[] = [];
  readonly claims = new Map<string, string>();
  readonly begunBy = new Map<string, string>();
  epoch = 0;
  isDeleted = false;
  /** Number of entries that were written without the session's epoch. */
  unfenced = 0;
  header: SessionHeader = { id: "s", createdAt: 1 };

  ensure(header: SessionHeader): Promise<SessionHeader> {
    this.header = header;
    return Promise.resolve(header);
  }

  async takeEpoch(): Promise<number> {
    await this.#check(undefined);
    return ++this.epoch;
  }

  async append(
    _id: string,
    epoch: number | undefined,
    items: readonly DurableItem[],
  ): Promise<readonly AnyEntry[]> {
    await this.#check(epoch);
    return items.map(({ key, body, timestamp = 1, messageId }) => {
      const known = this.entries.find(({ id }) => id === key);
      if (known !== undefined) return known;
      const base = { seq: this.entries.length, id: key, timestamp };
      const parentId = this.entries.at(-1)?.id ?? null;
      const entry = { ...(JSON.parse(JSON.stringify(body)) as object), ...base, parentId };
      if (epoch !== this.epoch) this.unfenced++;
      this.#release(entry as unknown as Released);
      this.entries.push(entry as AnyEntry);
      const read = this.inbox.find(({ input }) => input.id === messageId);
      if (read !== undefined) read.isRead = true;
      return entry as AnyEntry;
    });
  }

  /** Pushes the message of a run unless it is known, as clients do before the run. */
  accept({ messageId, message, runId = "random" }: RunInput): void {
    if (this.claims.has(messageId) || this.inbox.some(({ input }) => input.id === messageId))
      return;
    this.inbox.push({ input: { id: messageId, queue: "start", message, runId } });
  }

  async push(_id: string, input: QueuedInput | StartInput): Promise<MessagePlace> {
    await this.#check(undefined);
    if (!this.inbox.some((row) => row.input.id === input.id)) this.inbox.push({ input });
    return (await this.findMessage("", input.id)) ?? { state: "pending" };
  }

  async drain(
    _id: string,
    epoch: number,
    { runId, name }: { runId: string; name: string },
  ): Promise<readonly InboxMessage[]> {
    await this.#check(epoch);
    const drain = `${runId}:${name}`;
    if (!this.claims.has(drain)) {
      this.claims.set(drain, runId);
      for (const row of this.inbox)
        if (row.runId === undefined && row.input.queue !== "start")
          Object.assign(row, { runId, drain });
    }
    const rows = this.inbox.filter((row) => row.drain === drain);
    return rows
      .toSorted((a, b) => Number(b.isHeld === true) - Number(a.isHeld === true))
      .map(({ input: { id, queue, message }, isHeld }) => ({
        id,
        queue: queue as InboxMessage["queue"],
        message,
        at: 1,
        ...(isHeld === true && { isHeld }),
      }));
  }

  async begin(
    id: string,
    epoch: number,
    { runId, name, by, messageId, items }: RunBeginning,
  ): Promise<BegunRun> {
    await this.#check(epoch);
    if (messageId !== undefined) {
      if ((this.begunBy.get(runId) ?? by) !== by) return { state: "taken", runId };
      if (!this.inbox.some(({ input }) => input.id === messageId))
        return { state: "cancelled", runId };
      const place = await this.claimRun(id, messageId, runId);
      if (place.state === "cancelled" || place.runId !== runId) return place;
      this.begunBy.set(runId, by);
    }
    const ends = items.filter(({ body }) => body.type === "run_end");
    for (const { body } of ends) this.#release(body as unknown as Released);
    const taken = await this.drain(id, epoch, { runId, name });
    if (messageId === undefined && taken.length === 0) return { state: "idle" };
    return { state: "begun", taken, entries: await this.append(id, epoch, items) };
  }

  async end(
    id: string,
    epoch: number,
    { runId, items, left, isHolding }: RunClosing,
  ): Promise<void> {
    const count = this.entries.length;
    await this.append(id, epoch, items);
    if (items.length > 0 && this.entries.length === count) return;
    for (const row of this.inbox)
      if (row.runId === runId && row.drain !== undefined && left.includes(row.input.id)) {
        delete row.runId;
        delete row.drain;
        row.isHeld = false;
      }
    for (const row of this.inbox)
      if (isHolding && row.runId === undefined && row.input.queue !== "start") row.isHeld = true;
  }

  /** An interrupted run gives back what it has taken and what no entry has. */
  #release({ type, runId, reason = "interrupted" }: Released): void {
    if (type !== "run_end" || reason !== "interrupted") return;
    for (const row of this.inbox)
      if (row.runId === runId && row.isRead !== true) {
        delete row.runId;
        delete row.drain;
        row.isHeld = true;
        if (row.input.queue === "start") {
          const { id, message } = row.input;
          row.input = { id, message, queue: "followUp" };
        }
      }
  }

  pending(): Promise<number> {
    const waiting = this.inbox.filter((row) => row.runId === undefined && !row.isHeld);
    return Promise.resolve(waiting.filter(({ input }) => input.queue !== "start").length);
  }

  async claimRun(
    id: string,
    messageId: string,
    runId: string,
  ): ReturnType<DurableSessions["claimRun"]> {
    const place = await this.findMessage(id, messageId);
    if (place !== undefined && place.state !== "pending") return place;
    const row = this.inbox.find(({ input }) => input.id === messageId);
    if (row === undefined) this.claims.set(messageId, runId);
    else row.runId = runId;
    return { state: "taken", runId };
  }

  findMessage(_id: string, messageId: string): Promise<MessagePlace | undefined> {
    const row = this.inbox.find(({ input }) => input.id === messageId);
    const runId = row?.runId ?? this.claims.get(messageId);
    if (runId !== undefined)
      return Promise.resolve({ state: row?.isCancelled ? "cancelled" : "taken", runId });
    if (row === undefined) return Promise.resolve(undefined);
    return Promise.resolve({
      state: "pending",
      ...(row.input.queue === "start" && { runId: row.input.runId }),
    });
  }

  waiting(): Promise<readonly WaitingInput[]> {
    const rows = this.inbox.filter((row) => row.runId === undefined);
    return Promise.resolve(rows.map(({ input }) => ({ ...input, at: 1 }) as WaitingInput));
  }

  findAnswer(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async waitingSince(): Promise<readonly WaitingMessage[]> {
    return (await this.waiting()).map((one) => ({ ...one, sessionId: "s", position: "" }));
  }

  async cancel(): Promise<readonly CancelledInput[]> {
    const waiting = await this.waiting();
    for (const row of this.inbox)
      if (row.runId === undefined && row.input.queue === "start")
        Object.assign(row, { runId: row.input.runId, isCancelled: true });
    return waiting;
  }

  async #check(epoch: number | undefined): Promise<void> {
    await Promise.resolve();
    if (this.isDeleted) throw sessionNotFound("s");
    if (epoch === undefined || epoch === this.epoch) return;
    const error = new BowlineError("session_locked", "fenced", { retryable: true });
    throw Object.assign(error, { epoch, currentEpoch: this.epoch });
  }
}

export type FakeStore = PostgresStore & { readonly session: FakeSession };

/** A store with one session. */
export function createFakeStore(): FakeStore {
  const session = new FakeSession();
  const others = createMemoryStore();
  const store = {
    session,
    durable: session as Used as DurableSessions,
    load: () =>
      session.isDeleted ? Promise.reject(sessionNotFound("s")) : Promise.resolve(session.header),
    async *read(_id: string, { from, reverse = false }: { from?: number; reverse?: boolean } = {}) {
      await Promise.resolve();
      const { entries } = session;
      if (reverse) yield entries.slice(0, (from ?? entries.length) + 1).toReversed();
      else yield entries.slice(from ?? 0);
    },
  };
  return Object.assign(Object.create(others) as PostgresStore, store);
}
