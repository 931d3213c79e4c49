/** Replaces queued messages of an earlier process that are pending here as well. */
import type { AgentMessage } from "@bowline/core";
import type { Agent } from "@bowline/core/agent";
import type { Session } from "@bowline/core/session";
import { sameness, type Incoming } from "./incoming.ts";

/**
 * Attaching the session puts the messages of its log into the agent's queues. Some are also pending
 * in this process, which hands them over itself. Removes those from the queues, so that none is
 * delivered twice. Other messages stay queued.
 */
export async function takeBack(
  agent: Agent,
  session: Session,
  own: readonly Incoming[],
): Promise<void> {
  if (!agent.hasQueuedMessages()) return;
  const { queued = [] } = await session.state();
  const known = new Set(own.map(({ message }) => sameness(message)));
  const others = queued.filter(({ message }) => !known.has(sameness(message)));
  if (others.length === queued.length) return;
  agent.clearAllQueues();
  for (const { queue, message } of others) {
    if (queue === "steering") agent.steer(message as AgentMessage);
    else agent.followUp(message as AgentMessage);
  }
}
