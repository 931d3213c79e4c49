/** The queue of messages for the loop: delivers all at once, or one per turn. */
import { BowlineError } from "../errors.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

export type QueueMode = "one-at-a-time" | "all";

export interface QueueOptions {
  /**
   * A message of the same queue that the new one goes in front of. If it is no longer queued, the new
   * one is the first. Default: the new one is the last.
   */
  readonly before?: AgentMessage | undefined;
}

export class MessageQueue {
  mode: QueueMode;
  #messages: AgentMessage[] = [];
  #taken = new WeakSet<readonly AgentMessage[]>();

  constructor(mode: QueueMode = "one-at-a-time") {
    this.mode = mode;
  }

  get size(): number {
    return this.#messages.length;
  }

  /**
   * Adds a message at the end, or in front of `before`. If that one is no longer queued, it was
   * taken with all messages in front of it: the new one is then the first. Throws
   * `invalid_argument` for a value that is not a message, such as a string.
   */
  push(message: AgentMessage, before?: AgentMessage): void {
    if (!(message as AgentMessage | undefined)?.role)
      throw new BowlineError(
        "invalid_argument",
        'A queue accepts only messages, such as { role: "user", content: "…" }.',
      );
    const { length } = this.#messages;
    const place = before === undefined ? length : Math.max(0, this.#messages.indexOf(before));
    this.#messages.splice(place, 0, message);
  }

  /** Removes one message. Returns false if it is not queued. */
  remove(message: AgentMessage): boolean {
    const place = this.#messages.indexOf(message);
    if (place < 0) return false;
    this.#messages.splice(place, 1);
    return true;
  }

  /** Removes and returns the messages that are due now. */
  take(): AgentMessage[] {
    const due = this.#messages.splice(0, this.mode === "all" ? this.#messages.length : 1);
    this.#taken.add(due);
    return due;
  }

  /**
   * Puts a batch back at the front, unless the queue was cleared since. Ignores batches that this
   * queue did not hand out.
   */
  giveBack(taken: readonly AgentMessage[]): void {
    if (this.#taken.has(taken)) this.#messages.unshift(...taken);
  }

  clear(): void {
    this.#messages = [];
    this.#taken = new WeakSet();
  }
}
