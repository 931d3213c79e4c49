/**
 * The run's view of the session's inbox. Each turn takes what is there, of both queues, in one step.
 * The run then reads its queues from what it has taken, so that each attempt reads the same.
 */
import type { AgentMessage, InboxKind, QueueMode } from "@bowline/core";
import type { InboxMessage } from "@bowline/postgres";
import type { Journal } from "./journal.ts";
import type { SessionLog } from "./session-log.ts";
import type { Transcript } from "./transcript.ts";

export interface InboxParts {
  readonly runId: string;
  readonly journal: Journal;
  readonly log: SessionLog;
  readonly transcript: Transcript;
  /** How many messages a read takes. */
  readonly modes: Readonly<Record<InboxKind, QueueMode>>;
  /** Messages that were taken with the start of the run. They count as the first turn's. */
  readonly taken: readonly InboxMessage[];
}

export class RunInbox {
  readonly #parts: InboxParts;
  /** Taken messages that the run has not read. */
  #waiting: InboxMessage[] = [];
  /** The messages of the last read of each queue, which may be given back. */
  readonly #read = new Map<InboxKind, readonly InboxMessage[]>();
  /** The last turn whose messages were taken. */
  #turn = 0;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#add(parts.taken);
  }

  /** Messages that no turn will read, for when the run has ended. */
  get left(): readonly InboxMessage[] {
    return this.#waiting;
  }

  async read(kind: InboxKind, turn: number): Promise<readonly AgentMessage[]> {
    if (turn > this.#turn) {
      this.#turn = turn;
      this.#add(await this.#take(turn));
    }
    const own = this.#waiting.filter(({ queue }) => queue === kind);
    const read = this.#parts.modes[kind] === "all" ? own : own.slice(0, 1);
    this.#waiting = this.#waiting.filter((message) => !read.includes(message));
    this.#read.set(kind, read);
    return read.map(({ message }) => message as AgentMessage);
  }

  /** Puts messages of the last read back, which the run has not used. */
  giveBack(kind: InboxKind, messages: readonly AgentMessage[]): void {
    const read = this.#read.get(kind) ?? [];
    const back = read.filter(({ message }) => messages.includes(message as AgentMessage));
    this.#waiting.unshift(...back);
  }

  #add(messages: readonly InboxMessage[]): void {
    for (const { id, message } of messages)
      this.#parts.transcript.expect(id, message as AgentMessage);
    this.#waiting.push(...messages);
  }

  #take(turn: number): Promise<readonly InboxMessage[]> {
    const { runId, journal, log, transcript } = this.#parts;
    const items = transcript.take();
    const name = `inbox:${turn}`;
    return journal.record(name, async () => {
      await log.append(items);
      return log.drain(runId, name);
    });
  }
}
