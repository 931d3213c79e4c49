/** Restores the messages that an earlier process did not finish. */
import { agentOf } from "../agents/session-agent.ts";
import type { Host } from "./host.ts";
import { incomingOf } from "./incoming.ts";
import type { Lanes } from "./lanes.ts";
import type { LeftMessages } from "./left-messages.ts";
import { keepAs } from "./pending.ts";
import { lastEntries, takeUp, wasStarted } from "./revive.ts";
import { Run } from "./run.ts";
import type { Schedule } from "./schedule.ts";

export async function restoreRuns(
  host: Host,
  lanes: Lanes,
  schedule: Schedule,
  left: LeftMessages,
): Promise<void> {
  for (const message of await host.pending.list()) {
    const { sessionKey, kind, agentId } = message;
    const agent = await agentOf(host, sessionKey, agentId).catch(() => undefined);
    const entries = await lastEntries(host.store, sessionKey).catch(() => undefined);
    if (entries === undefined) {
      left.add(message, true);
      continue;
    }
    const state = wasStarted(entries, message);
    const lane = lanes.of(sessionKey);
    const [next] = lane.waiting;
    if (state === "done") await host.pending.remove(message);
    else if (agent === undefined) left.add(message, state === "open");
    else if (kind === "held" || state === "held")
      lane.held.push(incomingOf(await keepAs(host.pending, "held", message)));
    else if (kind !== "send" && next !== undefined) next.add(kind, incomingOf(message));
    else {
      const { restarts = 0 } = message;
      const own = { ...(await keepAs(host.pending, "send", message)), restarts };
      const run = schedule.enqueue(lane, new Run(host, own, agent, state === "open"));
      takeUp(host, run.log, entries); // now, since it may be aborted before it continues
      run.makeReady();
      run.announce();
    }
  }
  for (const lane of lanes.all) schedule.pump(lane);
}
