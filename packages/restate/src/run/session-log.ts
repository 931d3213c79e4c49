/**
 * Writes to the session, with the epoch of one attempt. Called in closures only. Retries while the
 * database is away, because a closure that throws ends the attempt and the closures beside it.
 */
import { setTimeout } from "node:timers/promises";
import { isBowlineError } from "@bowline/core";
import type { AnyEntry } from "@bowline/core/session";
import {
  isSessionFenced,
  type DurableItem,
  type DurableSessions,
  type InboxMessage,
  type RunBeginning,
  type RunClosing,
} from "@bowline/postgres";

export interface SessionLogParts {
  readonly durable: DurableSessions;
  readonly sessionId: string;
  /** The attempt's epoch. */
  readonly epoch: number;
  /** How long to retry, in milliseconds. */
  readonly retryMs: number;
  /** Fires when the attempt is over. */
  readonly ended: AbortSignal;
}

const PAUSE_MS = 250;

export class SessionLog {
  readonly #parts: SessionLogParts;

  constructor(parts: SessionLogParts) {
    this.#parts = parts;
  }

  /** Also the number of the attempt: a later one has a higher number. */
  get epoch(): number {
    return this.#parts.epoch;
  }

  get sessionId(): string {
    return this.#parts.sessionId;
  }

  append(items: readonly DurableItem[]): Promise<readonly AnyEntry[]> {
    const { durable, sessionId, epoch } = this.#parts;
    if (items.length === 0) return Promise.resolve([]);
    return this.#retrying(() => durable.append(sessionId, epoch, items));
  }

  drain(runId: string, name: string): Promise<readonly InboxMessage[]> {
    const { durable, sessionId, epoch } = this.#parts;
    return this.#retrying(() => durable.drain(sessionId, epoch, { runId, name }));
  }

  /** Writes the end of a run, and puts messages back that it has not shown to the model. */
  end(run: RunClosing): Promise<void> {
    const { durable, sessionId, epoch } = this.#parts;
    return this.#retrying(() => durable.end(sessionId, epoch, run));
  }

  /** Returns where the message is, without taking it. */
  find(messageId: string): ReturnType<DurableSessions["findMessage"]> {
    const { durable, sessionId } = this.#parts;
    return this.#retrying(() => durable.findMessage(sessionId, messageId));
  }

  /** Returns the answer of a person, if there is one. With `isClosing`, none counts from then on. */
  findAnswer(approvalId: string, isClosing: boolean): ReturnType<DurableSessions["findAnswer"]> {
    const { durable, sessionId } = this.#parts;
    return this.#retrying(() => durable.findAnswer(sessionId, approvalId, { isClosing }));
  }

  /** Takes the messages of a run and writes its start, unless there is none for it. */
  begin(run: RunBeginning): ReturnType<DurableSessions["begin"]> {
    const { durable, sessionId, epoch } = this.#parts;
    return this.#retrying(() => durable.begin(sessionId, epoch, run));
  }

  async #retrying<T>(work: () => Promise<T>): Promise<T> {
    const { retryMs, ended } = this.#parts;
    const end = performance.now() + retryMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const mayPass = isBowlineError(error) && error.retryable && !isSessionFenced(error);
        if (!mayPass || ended.aborted || performance.now() > end) throw error;
        await setTimeout(PAUSE_MS);
      }
    }
  }
}
