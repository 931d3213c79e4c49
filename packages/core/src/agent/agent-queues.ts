/** The two queues of an agent. */
import type { AgentMessage } from "./contract/agent-message.ts";
import type { InboxKind } from "./contract/effects.ts";
import { MessageQueue, type QueueMode } from "./queue.ts";

export class AgentQueues implements Readonly<Record<InboxKind, MessageQueue>> {
  readonly steering: MessageQueue;
  readonly followUp: MessageQueue;

  constructor(steeringMode?: QueueMode, followUpMode?: QueueMode) {
    this.steering = new MessageQueue(steeringMode);
    this.followUp = new MessageQueue(followUpMode);
  }

  get size(): number {
    return this.steering.size + this.followUp.size;
  }

  /**
   * Takes the messages that a run without a prompt begins with: steering messages, otherwise
   * follow-ups.
   */
  takeFirst(): { readonly messages: AgentMessage[]; readonly areSteering: boolean } {
    const steered = this.steering.take();
    if (steered.length > 0) return { messages: steered, areSteering: true };
    return { messages: this.followUp.take(), areSteering: false };
  }

  giveBack(messages: readonly AgentMessage[]): void {
    this.steering.giveBack(messages);
    this.followUp.giveBack(messages);
  }
}
