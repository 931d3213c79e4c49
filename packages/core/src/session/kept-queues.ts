/**
 * An agent's queues, kept in its session: a message is in the log from when it is queued, and its
 * own entry in the transcript says that it waits no more. Put around the agent's methods, so that
 * an agent without a session has nothing of it.
 */
import type { Agent } from "../agent/agent.ts";
import type { AgentMessage } from "../agent/contract/agent-message.ts";
import type { EntryBody, QueueKind } from "./entry.ts";
import type { Session } from "./session.ts";
import type { QueuedMessage } from "./session-state.ts";

type Methods = Pick<Agent, "steer" | "followUp" | "clearSteeringQueue" | "clearFollowUpQueue">;

/** Writes an entry under an id that is known before. */
type Add = (body: EntryBody, instead: undefined, id: string) => Promise<unknown>;

export interface KeptQueues {
  /** What a run that begins has to name. */
  ids(): { readonly queuedIds?: readonly string[] };
  /** The entry as which the message waited, once. */
  take(message: AgentMessage): string | undefined;
  /** Resolves when all that was queued is in the log. */
  written(this: void): Promise<void>;
  /** Gives the agent its methods back; the log then says that nothing waits. */
  release(): void;
}

/** Puts what waits in the log into the agent's queues. */
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
      // Not enumerable: what is, an agent hands to its runs as settings.
      Object.defineProperty(agent, name, { value, configurable: true, writable: true });
    }
  };
  requeue(agent, queued);
  let waiting: readonly QueuedMessage[] = queued;
  let written: Promise<unknown> = Promise.resolve();
  const write = (body: EntryBody, id: string): void => {
    written = add(body, undefined, id);
    written.catch(() => {}); // the next run says so, and who asks
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
      before.steer(message); // which may refuse it
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
