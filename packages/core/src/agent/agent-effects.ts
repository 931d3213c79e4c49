/**
 * What the loop's effects are for an agent: events are folded into its state and handed to its
 * listeners, its queues are the inbox.
 */
import type { Effects, Hear, InboxKind } from "./contract/effects.ts";
import type { AgentEvent } from "./contract/event.ts";
import type { MessageQueue } from "./queue.ts";
import { applyToState, type MutableAgentState } from "./state.ts";

type Listener = Parameters<Hear>[0];

export interface AgentParts {
  readonly state: MutableAgentState;
  /** In the order of subscription. */
  readonly listeners: ReadonlyMap<unknown, Listener>;
  readonly queues: Readonly<Record<InboxKind, MessageQueue>>;
  /** Of the run that the effects are for. */
  readonly parentRunId: string | undefined;
  /** The run begins with steering messages that were taken: they count as its first poll. */
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
      // Events of nested runs pass through; the state is of the agent's own.
      if (event.parentRunId === parentRunId) applyToState(state, event);
      const rest = listeners.values();
      for (const listener of rest) {
        const waiting = hear(listener, event);
        if (waiting) return tellRest(waiting, rest, event, hear);
      }
      return undefined;
    },
    hasQueued: (kind) => queues[kind].size > 0,
    inbox: (kind) => {
      if (!skipSteering) return queues[kind].take();
      skipSteering = false; // the first poll is for steering messages
      return [];
    },
    giveBack: (kind, messages) => queues[kind].giveBack(messages),
  };
}

/** Goes on behind a listener that is waited for with those who are there then. */
async function tellRest(
  waiting: Promise<void>,
  rest: IterableIterator<Listener>,
  event: AgentEvent,
  hear: Hear,
): Promise<void> {
  await waiting;
  for (const listener of rest) await hear(listener, event);
}
