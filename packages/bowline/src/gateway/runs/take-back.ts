/** Messages that waited in an earlier process, in the queues of the agent that goes on. */
import type { AgentMessage } from "@bowline/core";
import type { Agent } from "@bowline/core/agent";
import type { Session } from "@bowline/core/session";
import { sameness, type Incoming } from "./incoming.ts";

/**
 * The log has what waited in an earlier process; what is still kept for it is given by us, once,
 * so that it is left over when the run does not take it. What nothing is kept of waits as it did.
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
