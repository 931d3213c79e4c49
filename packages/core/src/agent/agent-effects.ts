/**
 * The loop's effects for an agent: events update the agent's state and go to its listeners. The
 * agent's queues are the inbox.
 */
import type { Effects, Hear, InboxKind } from "./contract/effects.ts";
import type { AgentEvent } from "./contract/event.ts";
import type { MessageQueue } from "./queue.ts";
import { applyToState, type MutableAgentState } from "./state.ts";

type Listener = Parameters<Hear>[0];

export interface AgentParts {
  readonly state: MutableAgentState;
  /** In order of subscription. */
  readonly listeners: ReadonlyMap<unknown, Listener>;
  readonly queues: Readonly<Record<InboxKind, MessageQueue>>;
  /** Parent of the run that uses these effects. */
  readonly parentRunId: string | undefined;
  /** Whether the run begins with messages from the steering queue. They count as its first poll. */
  readonly steeringTaken: boolean;
}

export function createAgentEffects({
  state,
  listeners,
  queues,
  parentRunId,
  steeringTaken,
}: AgentParts): Pick<Effects, "publish" | "hasQueued" | "inbox" | "giveBack"> {
  let skipSteering = steeringTaken;
  return {
    publish(event, hear) {
      // Events of nested runs pass through and do not change this agent's state.
      if (event.parentRunId === parentRunId) applyToState(state, event);
      const rest = listeners.values();
      for (const listener of rest) {
        const waiting = hear(listener, event);
        if (waiting) return notifyRest(waiting, rest, event, hear);
      }
      return undefined;
    },
    hasQueued: (kind) => queues[kind].size > 0,
    inbox: (kind) => {
      if (!skipSteering) return queues[kind].take();
      skipSteering = false; // the first poll of a run is for steering messages
      return [];
    },
    giveBack: (kind, messages) => queues[kind].giveBack(messages),
  };
}

/** Awaits a listener, then calls the remaining ones, including any subscribed in the meantime. */
async function notifyRest(
  waiting: Promise<void>,
  rest: IterableIterator<Listener>,
  event: AgentEvent,
  hear: Hear,
): Promise<void> {
  await waiting;
  for (const listener of rest) await hear(listener, event);
}
