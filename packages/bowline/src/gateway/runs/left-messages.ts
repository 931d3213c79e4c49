/**
 * Pending messages of an earlier process that this process cannot continue, because their agent is
 * missing or their session cannot be read. They stay stored for a later start. Until then clients
 * can list, stop and delete them as they do queued messages.
 */
import { keepAs, nameOf, type Pending, type PendingMessage, type PendingName } from "./pending.ts";

interface Left {
  readonly message: PendingMessage;
  /** The message may be in the transcript. A later process then brings its run to an end. */
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

  /** Removes a message that was resent and accepted. */
  forget(message: PendingName): void {
    this.#all.delete(nameOf(message));
  }

  sessionOf(runId: string): string | undefined {
    return [...this.#all.values()].find(({ message }) => message.id === runId)?.message.sessionKey;
  }

  /** Returns the session's messages that are in no transcript yet, oldest first. */
  waitingIn(sessionKey: string): PendingMessage[] {
    return this.#of(sessionKey).flatMap(({ message, isBegun }) => (isBegun ? [] : [message]));
  }

  /**
   * Stops messages, and resolves when that is stored. Returns the ids of those that would begin a
   * run. Messages for a running run are held for the next run.
   */
  async abort(sessionKey: string, runId?: string): Promise<string[]> {
    const meant = this.#of(sessionKey).filter(
      ({ message: { id } }) => runId === undefined || id === runId,
    );
    await Promise.all(meant.map((left) => this.#stop(left)));
    return meant.flatMap(({ message: { id, kind } }) => (kind === "send" ? [id] : []));
  }

  /** Deletes all messages of a session. */
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
