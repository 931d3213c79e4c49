/** Messages that wait for the loop: all at once, or one a turn. */
import type { AgentMessage } from "./event.ts";

export type QueueMode = "one-at-a-time" | "all";

export class MessageQueue {
  mode: QueueMode;
  #messages: AgentMessage[] = [];

  constructor(mode: QueueMode = "one-at-a-time") {
    this.mode = mode;
  }

  get size(): number {
    return this.#messages.length;
  }

  push(message: AgentMessage): void {
    this.#messages.push(message);
  }

  /** Removes and gives what is due now. */
  take(): AgentMessage[] {
    return this.#messages.splice(0, this.mode === "all" ? this.#messages.length : 1);
  }

  /** Puts what was taken back in its place. */
  giveBack(messages: readonly AgentMessage[]): void {
    this.#messages.unshift(...messages);
  }

  clear(): void {
    this.#messages = [];
  }
}
