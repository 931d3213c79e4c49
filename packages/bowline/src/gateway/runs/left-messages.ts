/**
 * What an earlier process left and nobody goes on with here, since its agent is not there or its
 * session cannot be read: it waits on the disk for a start that can. Until then it can be seen,
 * stopped and deleted as what waits in a lane.
 */
import { keepAs, nameOf, type Pending, type PendingMessage, type PendingName } from "./pending.ts";

interface Left {
  readonly message: PendingMessage;
  /** Its message may be in the transcript: then the next process brings its run to its end. */
  readonly isBegun: boolean;
}

export class LeftMessages {
  readonly #pending: Pending;
  readonly #all = new Map<string, Left>();

  constructor(pending: Pending) {
    this.#pending = pending;
  }

  add(message: PendingMessage, isBegun: boolean): void {
    this.#all.set(nameOf(message), { message, isBegun });
  }

  /** It was sent again, and taken. */
  forget(message: PendingName): void {
    this.#all.delete(nameOf(message));
  }

  sessionOf(runId: string): string | undefined {
    return [...this.#all.values()].find(({ message }) => message.id === runId)?.message.sessionKey;
  }

  /** Those of a session that are in no transcript yet, oldest first. */
  waitingIn(sessionKey: string): PendingMessage[] {
    return this.#of(sessionKey).flatMap(({ message, isBegun }) => (isBegun ? [] : [message]));
  }

  /**
   * Gives the ids of those that would be runs, when it is on the disk. What was meant for a run is
   * held for the next.
   */
  async abort(sessionKey: string, runId?: string): Promise<string[]> {
    const meant = this.#of(sessionKey).filter(
      ({ message: { id } }) => runId === undefined || id === runId,
    );
    await Promise.all(meant.map((left) => this.#stop(left)));
    return meant.flatMap(({ message: { id, kind } }) => (kind === "send" ? [id] : []));
  }

  /** All of a session, for good. */
  async delete(sessionKey: string): Promise<void> {
    for (const { message } of this.#of(sessionKey)) await this.#remove(message);
  }

  async #stop({ message, isBegun }: Left): Promise<void> {
    if (message.kind !== "send")
      return this.add(await keepAs(this.#pending, "held", message), isBegun);
    if (!isBegun) return this.#remove(message);
    const stopped: PendingMessage = { ...message, isAborted: true };
    await this.#pending.add(stopped);
    this.add(stopped, isBegun);
  }

  async #remove(message: PendingName): Promise<void> {
    await this.#pending.remove(message);
    this.forget(message);
  }

  #of(sessionKey: string): Left[] {
    return [...this.#all.values()].filter(({ message }) => message.sessionKey === sessionKey);
  }
}
