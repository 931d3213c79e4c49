/**
 * Records an agent's queues in its session. A message is written to the log when it is queued, and
 * its later `message` entry marks it as taken. The agent's methods are wrapped, so that an agent
 * without a session does not load this code.
 */
import type { Agent } from "../agent/agent.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import { defined } from "../json-value.ts";
import type { EntryBody, QueueKind } from "./entry.ts";
import type { Session } from "./session.ts";
import type { QueuedMessage } from "./session-state.ts";

type Methods = Pick<
  Agent,
  "steer" | "followUp" | "unqueue" | "clearSteeringQueue" | "clearFollowUpQueue"
>;

/** Writes an entry with a given id. */
type Add = (body: EntryBody, instead: undefined, id: string) => Promise<unknown>;

export interface KeptQueues {
  /** Returns the ids of pending messages, for `run_start`. */
  ids(): { readonly queuedIds?: readonly string[] };
  /**
   * Removes a message from the pending ones. Returns the id of its `queued` entry, if it had one.
   */
  take(message: AgentMessage): string | undefined;
  /** Resolves when all queued messages are in the log. */
  written(this: void): Promise<void>;
  /** Restores the agent's methods and clears the queues in the log. */
  release(): void;
}

/** Queues the pending messages of the log in the agent and wraps the agent's methods. */
export function keepQueues<TContext>(
  agent: Agent<TContext>,
  session: Session,
  queued: readonly QueuedMessage[],
  add: Add,
): KeptQueues {
  const own: Methods = {
    steer: agent.steer.bind(agent),
    followUp: agent.followUp.bind(agent),
    unqueue: agent.unqueue.bind(agent),
    clearSteeringQueue: agent.clearSteeringQueue.bind(agent),
    clearFollowUpQueue: agent.clearFollowUpQueue.bind(agent),
  };
  const put = (methods: Methods): void => {
    for (const [name, value] of Object.entries(methods)) {
      // Not enumerable, because an agent passes its enumerable properties to runs as settings.
      Object.defineProperty(agent, name, { value, configurable: true, writable: true });
    }
  };
  requeue(agent, queued);
  const pending = new PendingMessages(queued, () => session.newId(), add);
  put({
    steer(message, options) {
      own.steer(message, options); // throws for an invalid message
      pending.push("steering", message, options?.before);
    },
    followUp(message, options) {
      own.followUp(message, options);
      pending.push("followUp", message, options?.before);
    },
    unqueue(message) {
      const isRemoved = own.unqueue(message);
      if (isRemoved) pending.remove(message);
      return isRemoved;
    },
    clearSteeringQueue() {
      pending.clear("steering");
      own.clearSteeringQueue();
    },
    clearFollowUpQueue() {
      pending.clear("followUp");
      own.clearFollowUpQueue();
    },
  });
  return {
    ids: () => pending.ids(),
    take: (message) => pending.take(message),
    written: () => pending.written(),
    release() {
      put(own);
      pending.clear("steering");
      pending.clear("followUp");
    },
  };
}

/** The messages that are pending in the log, in order. Each change writes an entry. */
class PendingMessages {
  readonly #newId: () => string;
  readonly #add: Add;
  #messages: readonly QueuedMessage[];
  #written: Promise<unknown> = Promise.resolve();

  constructor(queued: readonly QueuedMessage[], newId: () => string, add: Add) {
    this.#messages = queued;
    this.#newId = newId;
    this.#add = add;
  }

  ids(): { readonly queuedIds?: readonly string[] } {
    const ids = this.#messages.map(({ id }) => id);
    return ids.length === 0 ? {} : { queuedIds: ids };
  }

  push(queue: QueueKind, message: AgentMessage, before: AgentMessage | undefined): void {
    const id = this.#newId();
    const place = placeBefore(this.#messages, queue, before);
    const beforeId = this.#messages[place]?.id;
    this.#messages = this.#messages.toSpliced(place, 0, { id, queue, message });
    this.#write({ type: "queued", queue, message, ...defined({ beforeId }) }, id);
  }

  remove(message: AgentMessage): void {
    const queuedId = this.take(message);
    if (queuedId !== undefined) this.#write({ type: "queue_remove", queuedId });
  }

  clear(queue: QueueKind): void {
    if (!this.#messages.some((one) => one.queue === queue)) return;
    this.#messages = this.#messages.filter((one) => one.queue !== queue);
    this.#write({ type: "queue_clear", queue });
  }

  /** Forgets a message without an entry. Returns the id of its entry. */
  take(message: AgentMessage): string | undefined {
    const taken = this.#messages.find((one) => one.message === message);
    this.#messages = this.#messages.filter((one) => one !== taken);
    return taken?.id;
  }

  async written(): Promise<void> {
    await this.#written;
  }

  #write(body: EntryBody, id = this.#newId()): void {
    this.#written = this.#add(body, undefined, id);
    this.#written.catch(() => {}); // the next run and `written()` report the error
  }
}

/** Returns the index of `before` in its queue, else of the queue's first message, else the end. */
function placeBefore(
  waiting: readonly QueuedMessage[],
  queue: QueueKind,
  before: AgentMessage | undefined,
): number {
  if (before === undefined) return waiting.length;
  const own = waiting.filter((one) => one.queue === queue);
  const next = own.find(({ message }) => message === before) ?? own[0];
  return next === undefined ? waiting.length : waiting.indexOf(next);
}

function requeue(agent: Methods, queued: readonly QueuedMessage[]): void {
  for (const { queue, message } of queued) {
    if (queue === "steering") agent.steer(message as AgentMessage);
    else agent.followUp(message as AgentMessage);
  }
}
