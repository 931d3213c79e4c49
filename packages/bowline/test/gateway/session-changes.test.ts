import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clock } from "@bowline/core";
import type { EventData } from "../../src/gateway/protocol/protocol.ts";
import { SessionChanges } from "../../src/gateway/runs/session-changes.ts";
import { gatewayWith, type AnyFrame } from "./gateway.ts";

type Change = EventData<"sessions.changed">;

/** Records what was sent and when, with a clock that is moved by hand. */
function start(): {
  changes: SessionChanges;
  sent: [number, Change][];
  goOn: (ms: number) => void;
  timers: Set<object>;
} {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  const clock: Clock = {
    now: () => now,
    setTimer(ms, fire) {
      const timer = { at: now + ms, fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  const sent: [number, Change][] = [];
  const goOn = (ms: number): void => {
    for (const end = now + ms; now < end; now++)
      for (const timer of timers) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.fire();
      }
  };
  return {
    changes: new SessionChanges(clock, (change) => sent.push([now, change])),
    sent,
    goOn,
    timers,
  };
}

const of = (change: Change["change"], sessionKey = "s"): Change => ({ sessionKey, change });

describe("changes of sessions", () => {
  it("are sent at once, then once per interval at most, the latest of each session", () => {
    const { changes, sent, goOn, timers } = start();
    changes.add(of("run"));
    changes.add(of("run", "other"));
    for (let time = 0; time < 1000; time += 10) {
      changes.add(of(time % 20 === 0 ? "updated" : "run"));
      goOn(10);
    }
    goOn(1000);
    assert.deepEqual(sent, [
      [0, of("run")],
      [0, of("run", "other")],
      [250, of("run")],
      [500, of("updated")],
      [750, of("run")],
      [1000, of("run")],
    ]);
    assert.equal(timers.size, 0);
    changes.add(of("updated"));
    assert.deepEqual(sent.at(-1), [2000, of("updated")]);
  });

  it("that invalidate client data are sent at once, and drop no others", () => {
    const { changes, sent, goOn } = start();
    for (const change of [
      "created",
      "run",
      "updated",
      "reset",
      "updated",
      "deleted",
      "created",
    ] as const)
      changes.add(of(change));
    goOn(1000);
    assert.deepEqual(
      sent.map(([time, { change }]) => `${time} ${change}`),
      ["0 created", "0 updated", "0 reset", "0 updated", "0 deleted", "0 created"],
    );
  });

  it("include the model and agent, also when another change followed", () => {
    const { changes, sent, goOn } = start();
    changes.add(of("run"));
    changes.add({ ...of("updated"), model: "house/large", agentId: "helper" });
    changes.add(of("updated"));
    goOn(300);
    assert.deepEqual(sent.at(-1)?.[1], {
      ...of("updated"),
      model: "house/large",
      agentId: "helper",
    });
  });

  it("that wait are sent when the server closes, and no timer remains", () => {
    const { changes, sent, timers } = start();
    for (const change of ["run", "updated"] as const) changes.add(of(change));
    changes.close();
    changes.add(of("run"));
    assert.deepEqual(
      sent.map(([, { change }]) => change),
      ["run", "updated", "run"],
    );
    assert.equal(timers.size, 0);
  });

  it("are sent to all clients less often than there are runs", async () => {
    await using server = await gatewayWith(Array.from({ length: 20 }, () => "Done."));
    const [client, other] = [await server.client(), await server.client()];
    const came = (): AnyFrame[] => other.frames.filter(({ event }) => event === "sessions.changed");
    const begun = performance.now();
    for (let count = 0; count < 20; count++)
      await client.end((await client.call("chat.send", { sessionKey: "s", message: "go" })).runId);
    // The end of the last run is sent after its interval.
    await other.until(() => came().at(-1)?.data?.change === "updated");
    const intervals = (performance.now() - begun) / 250;
    assert.ok(came().length <= intervals + 1, `${came().length} in ${intervals} intervals`);
    assert.equal(came()[0]?.data?.change, "run");
  });
});
