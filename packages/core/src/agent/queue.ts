/** The queue of messages for the loop: delivers all at once, or one per turn. */
import { BowlineError } from "../errors.ts";
import type { AgentMessage } from "./contract/agent-message.ts";

export type QueueMode = "one-at-a-time" | "all";

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
   * Adds a message. Throws `invalid_argument` for a value that is not a message, such as a string.
   */
  push(message: AgentMessage): void {
    if (!(message as AgentMessage | undefined)?.role)
      throw new BowlineError(
        "invalid_argument",
        'A queue accepts only messages, such as { role: "user", content: "…" }.',
      );
    this.#messages.push(message);
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
