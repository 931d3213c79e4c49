/** The time in which the application makes the agent of a run. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { within } from "../../../../test/support/within.ts";
import type { AgentHost } from "../../src/gateway/runs/agent-host.ts";
import { makeRunAgent, type MadeAgentRun } from "../../src/gateway/runs/made-agent.ts";

/** Makes an agent with a function that never returns. */
function making(signal: AbortSignal): { readonly made: Promise<unknown>; clock: ManualClock } {
  const clock = new ManualClock();
  const host = { clock, makers: { make: () => new Promise(() => {}) } } as unknown as AgentHost;
  const log = { sessionKey: "s", runId: "run" };
  const run: MadeAgentRun = { agentId: "assistant", user: {}, log, signal };
  return { made: within("it is given up", makeRunAgent(host, run)), clock };
}

describe("the making of a run's agent", () => {
  it("is given up at once if the run was aborted before", async () => {
    const { made, clock } = making(AbortSignal.abort());
    await assert.rejects(made, { code: "aborted" });
    assert.equal(clock.pending, 0);
  });

  it("is given up when the run is aborted", async () => {
    const run = new AbortController();
    const { made, clock } = making(run.signal);
    run.abort();
    await assert.rejects(made, { code: "aborted" });
    assert.equal(clock.pending, 0);
  });

  it("is given up after a minute", async () => {
    const { made, clock } = making(new AbortController().signal);
    const given = assert.rejects(made, { code: "timeout", message: /within 60 s/ });
    await clock.advance(60_000);
    await given;
  });
});
