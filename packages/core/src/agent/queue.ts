/** Messages that wait for the loop: all at once, or one a turn. */
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

  /** Throws `invalid_argument` for what would spoil the transcript, such as a text. */
  push(message: AgentMessage): void {
    if (!(message as AgentMessage | undefined)?.role)
      throw new BowlineError(
        "invalid_argument",
        'A queue takes messages, such as { role: "user", content: "…" }.',
      );
    this.#messages.push(message);
  }

  /** Removes and gives what is due now. */
  take(): AgentMessage[] {
    const due = this.#messages.splice(0, this.mode === "all" ? this.#messages.length : 1);
    this.#taken.add(due);
    return due;
  }

  /**
   * Puts what was taken back in its place, unless the queue was cleared meanwhile. What was not
   * taken here is no concern of it.
   */
  giveBack(taken: readonly AgentMessage[]): void {
    if (this.#taken.has(taken)) this.#messages.unshift(...taken);
  }

  clear(): void {
    this.#messages = [];
    this.#taken = new WeakSet();
  }
}
