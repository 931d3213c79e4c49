/** The check of zombies finds what an attempt that is over writes and says, and nothing else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AuditRow, Outage } from "../evidence.ts";
import { NOW, SESSION } from "./forged.ts";
import { after, assertFound, found } from "./judged.ts";

describe("the check of zombies", () => {
  it("find a write by a process that lost the session", () => {
    const evidence = after(({ audit }) => {
      const epoch: AuditRow = {
        at: NOW,
        session: SESSION,
        by: "worker-2",
        what: "epoch",
        epoch: 2,
      };
      (audit as AuditRow[]).splice(-1, 0, epoch);
    });
    assertFound(
      evidence,
      /zombies: worker-1 wrote run-s0-0:13 to a session that belongs to worker-2 since epoch 2/,
    );
  });

  it("accept what a gateway writes, such as a title", () => {
    const evidence = after(({ audit }) => {
      (audit as AuditRow[]).push({
        at: NOW,
        session: SESSION,
        by: "gateway-1",
        what: "entry",
        key: "title",
      });
    });
    assert.deepEqual(found(evidence), []);
  });

  it("find an attempt that speaks on, unless its process could not notice", () => {
    const speaking = (outage?: Pick<Outage, "name" | "kind" | "how">, by = "worker-1") =>
      after((one) => {
        (one.audit as AuditRow[]).push({
          at: NOW,
          session: SESSION,
          by,
          what: "epoch",
          epoch: 2,
        });
        (one.bus as unknown[]).push({ ...one.bus[0], at: NOW + 5000 });
        if (outage !== undefined) one.outages = [{ ...outage, from: NOW, to: NOW + 4900 }];
      });
    const pattern =
      /zombies: attempt 1 of the run run-s0-0 published chat.user 0, 5000 ms after attempt 2/;
    assertFound(speaking(), pattern);
    assertFound(speaking({ name: "balancer", kind: "balancer", how: "killed" }), pattern);
    assertFound(speaking({ name: "worker-2", kind: "worker", how: "stopped" }), pattern);
    assertFound(speaking({ name: "gateway-1 from nats-1", kind: "gateway", how: "cut" }), pattern);
    for (const outage of [
      { name: "worker-1", kind: "worker", how: "stopped" },
      { name: "worker-1 from balancer", kind: "worker", how: "cut" },
      { name: "restate-2 from balancer", kind: "restate", how: "cut" },
      { name: "restate-2", kind: "restate", how: "killed" },
    ] as const)
      assert.deepEqual(found(speaking(outage)), []);
    // It slept, and took the epoch when it woke.
    const woken = { name: "worker-2", kind: "worker", how: "stopped" } as const;
    assert.deepEqual(found(speaking(woken, "worker-2")), []);
    assertFound(speaking({ ...woken, how: "killed" }, "worker-2"), pattern);
  });
});
