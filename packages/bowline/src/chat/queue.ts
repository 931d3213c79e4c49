/**
 * The messages that were typed during a run and wait for their moment. The agent's queues hold the
 * same messages, so that a session has them; this list knows how they were typed.
 */
import type { Agent, UserMessage } from "@bowline/core";
import type { Moment } from "./block.ts";
import type { Draft } from "../screen/editor/draft.ts";

export interface QueuedMessage {
  readonly id: number;
  readonly moment: Moment;
  readonly draft: Draft;
  readonly message: UserMessage;
}

type Queues = Pick<
  Agent,
  "steer" | "followUp" | "clearSteeringQueue" | "clearFollowUpQueue" | "clearAllQueues"
>;

export class MessageQueue {
  readonly #agent: Queues;
  #items: readonly QueuedMessage[] = [];
  #next = 1;

  constructor(agent: Queues) {
    this.#agent = agent;
  }

  get items(): readonly QueuedMessage[] {
    return this.#items;
  }

  add(moment: Moment, message: UserMessage, draft: Draft): QueuedMessage {
    const item = { id: this.#next++, moment, message, draft };
    this.#items = [...this.#items, item];
    this.#send(item);
    return item;
  }

  /** Forgets a message that the agent has taken. Returns its id. */
  taken(message: unknown): number | undefined {
    const item = this.#items.find((one) => one.message === message);
    this.#items = this.#items.filter((one) => one !== item);
    return item?.id;
  }

  /** Takes the last message back, so that it is not sent. */
  takeLast(): QueuedMessage | undefined {
    const last = this.#items.at(-1);
    if (last === undefined) return undefined;
    this.#items = this.#items.slice(0, -1);
    // The agent's queues can only be cleared as a whole.
    if (last.moment === "steering") this.#agent.clearSteeringQueue();
    else this.#agent.clearFollowUpQueue();
    for (const item of this.#items) if (item.moment === last.moment) this.#send(item);
    return last;
  }

  /** Takes all messages back. None of them is sent. */
  takeAll(): readonly QueuedMessage[] {
    const all = this.#items;
    this.#items = [];
    this.#agent.clearAllQueues();
    return all;
  }

  #send({ moment, message }: QueuedMessage): void {
    if (moment === "steering") this.#agent.steer(message);
    else this.#agent.followUp(message);
  }
}
