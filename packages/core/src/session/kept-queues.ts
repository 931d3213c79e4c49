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
  const before: Methods = {
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
  let waiting: readonly QueuedMessage[] = queued;
  let written: Promise<unknown> = Promise.resolve();
  const write = (body: EntryBody, id: string): void => {
    written = add(body, undefined, id);
    written.catch(() => {}); // the next run and `written()` report the error
  };
  const push = (queue: QueueKind, message: AgentMessage, before?: AgentMessage): void => {
    const id = session.newId();
    const place = placeBefore(waiting, queue, before);
    const beforeId = waiting[place]?.id;
    waiting = waiting.toSpliced(place, 0, { id, queue, message });
    write({ type: "queued", queue, message, ...defined({ beforeId }) }, id);
  };
  const remove = (message: AgentMessage): void => {
    const removed = waiting.find((one) => one.message === message);
    if (removed === undefined) return;
    waiting = waiting.filter((one) => one !== removed);
    write({ type: "queue_remove", queuedId: removed.id }, session.newId());
  };
  const clear = (queue: QueueKind): void => {
    if (!waiting.some((one) => one.queue === queue)) return;
    waiting = waiting.filter((one) => one.queue !== queue);
    write({ type: "queue_clear", queue }, session.newId());
  };
  put({
    steer(message, options) {
      before.steer(message, options); // throws for an invalid message
      push("steering", message, options?.before);
    },
    followUp(message, options) {
      before.followUp(message, options);
      push("followUp", message, options?.before);
    },
    unqueue(message) {
      const isRemoved = before.unqueue(message);
      if (isRemoved) remove(message);
      return isRemoved;
    },
    clearSteeringQueue() {
      clear("steering");
      before.clearSteeringQueue();
    },
    clearFollowUpQueue() {
      clear("followUp");
      before.clearFollowUpQueue();
    },
  });
  return {
    ids: () => (waiting.length === 0 ? {} : { queuedIds: waiting.map(({ id }) => id) }),
    take(message) {
      const taken = waiting.find((one) => one.message === message);
      waiting = waiting.filter((one) => one !== taken);
      return taken?.id;
    },
    written: async () => void (await written),
    release() {
      put(before);
      clear("steering");
      clear("followUp");
    },
  };
}

/** Returns the index of `before`, else of the first message of its queue, else the end. */
function placeBefore(
  waiting: readonly QueuedMessage[],
  queue: QueueKind,
  before: AgentMessage | undefined,
): number {
  if (before === undefined) return waiting.length;
  const place = waiting.findIndex(({ message }) => message === before);
  const first = place < 0 ? waiting.findIndex((one) => one.queue === queue) : place;
  return first < 0 ? waiting.length : first;
}

function requeue(agent: Methods, queued: readonly QueuedMessage[]): void {
  for (const { queue, message } of queued) {
    if (queue === "steering") agent.steer(message as AgentMessage);
    else agent.followUp(message as AgentMessage);
  }
}
