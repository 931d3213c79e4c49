/**
 * Records an agent's queues in its session. A message is written to the log when it is queued, and
 * its later `message` entry marks it as taken. The agent's methods are wrapped, so that an agent
 * without a session does not load this code.
 */
import type { Agent } from "../agent/agent.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import type { EntryBody, QueueKind } from "./entry.ts";
import type { Session } from "./session.ts";
import type { QueuedMessage } from "./session-state.ts";

type Methods = Pick<Agent, "steer" | "followUp" | "clearSteeringQueue" | "clearFollowUpQueue">;

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
  const push = (queue: QueueKind, message: AgentMessage): void => {
    const id = session.newId();
    waiting = [...waiting, { id, queue, message }];
    write({ type: "queued", queue, message }, id);
  };
  const clear = (queue: QueueKind): void => {
    if (!waiting.some((one) => one.queue === queue)) return;
    waiting = waiting.filter((one) => one.queue !== queue);
    write({ type: "queue_clear", queue }, session.newId());
  };
  put({
    steer(message: AgentMessage) {
      before.steer(message); // throws for an invalid message
      push("steering", message);
    },
    followUp(message: AgentMessage) {
      before.followUp(message);
      push("followUp", message);
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

function requeue(agent: Methods, queued: readonly QueuedMessage[]): void {
  for (const { queue, message } of queued) {
    if (queue === "steering") agent.steer(message as AgentMessage);
    else agent.followUp(message as AgentMessage);
  }
}
